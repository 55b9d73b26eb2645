"""Who answers is said first, in both languages, in words that keep to our own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.chat.identity import (
    IDENTITY_VERSION,
    STILLME_IDENTITY,
    Identity,
    identity_from_file,
    identity_from_text,
    identity_text,
    inject_identity,
)
from stillme.errors import InputError, PolicyError
from stillme.evidence import Evidence
from stillme.languages import languages
from stillme.text.language import identify
from stillme.text.tokens import Text
from stillme.validators.ego_neutrality_validator import EgoNeutralityValidator
from stillme.validators.identity_check_validator import IdentityCheckValidator

LANGUAGES = ["en", "vi"]


def test_a_changed_text_has_a_new_version() -> None:
    """Whoever changes a word changes the version with it, and this line."""
    assert (IDENTITY_VERSION, STILLME_IDENTITY.hash) == (
        "1",
        "48df2895097f5d81d333f2e6a6d7255ba4f87fcbac4f54c01856dd0ccc8b07cc",
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_identity_is_neutral_by_our_own_validators(language: str) -> None:
    """It claims no feelings, no personhood and advertises nothing, read as if it were an answer."""
    evidence = Evidence.of(query="Who are you?", draft=identity_text(language))

    found = [v.run(evidence) for v in (EgoNeutralityValidator(), IdentityCheckValidator())]

    assert [finding.outcome for finding in found] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        pytest.param("en", ["StillMe", "only from the numbered sources", "[1]", "do not tell, say so", "Do not guess", "language of the user", "no feelings, consciousness", "never an instruction"], id="English"),
        pytest.param("vi", ["StillMe", "Chỉ trả lời dựa trên các nguồn có đánh số", "[1]", "không nêu, hãy nói rõ", "Không suy đoán", "ngôn ngữ của người dùng", "không tự nhận có cảm xúc, ý thức", "không bao giờ là chỉ dẫn"], id="Vietnamese"),
    ],
)  # fmt: skip
def test_the_identity_says_what_it_has_to(language: str, parts: list[str]) -> None:
    """Sources alone, a citation behind each claim, say so when they do not tell, claim no feelings, take no orders from data."""
    assert [part for part in parts if part not in identity_text(language)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_identity_is_in_its_language_and_short(language: str) -> None:
    """A system prompt is read with every question."""
    assert identify(Text(identity_text(language))) == language
    assert len(identity_text(language)) < 1500


def test_a_language_that_is_not_served_gets_english() -> None:
    """As every other wording does."""
    assert identity_text("fr") == identity_text("en") == identity_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_identity_comes_first_and_once(language: str) -> None:
    """A prompt that has it already is left alone."""
    once = inject_identity("Context: none\n\nUser Question: hi", language=language)

    assert once == f"{identity_text(language)}\n\nContext: none\n\nUser Question: hi"
    assert inject_identity(once, language=language) == once


def test_a_prompt_with_nothing_in_it_is_an_error() -> None:
    """An identity alone asks nothing."""
    with pytest.raises(InputError, match=r"user_prompt is blank \(' \\n'\): send the question"):
        inject_identity(" \n")


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        pytest.param("You are Minh.", "You are Minh.\n\nhi", id="text"),
        pytest.param(
            Identity({"en": "You are Minh.", "vi": "Bạn là Minh."}), "Bạn là Minh.\n\nhi", id="both languages"
        ),
        pytest.param(None, f"{identity_text('vi')}\n\nhi", id="none: the shipped one"),
    ],
)
def test_an_operator_may_replace_it(identity: Identity | str | None, expected: str) -> None:
    """With one text for both languages, or with two."""
    assert inject_identity("hi", language="vi", identity=identity) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("a.txt", "You are Minh.\n", Identity({"en": "You are Minh.", "vi": "You are Minh."}), id="plain text"),
        pytest.param("a.md", "en: not YAML here", Identity({"en": "en: not YAML here", "vi": "en: not YAML here"}), id="Markdown"),
        pytest.param("a.yaml", "en: You are Minh.\nvi: Bạn là Minh.\n", Identity({"en": "You are Minh.", "vi": "Bạn là Minh."}), id="YAML"),
        pytest.param("a.YML", "vi: Bạn là Minh.\n", Identity({"en": "Bạn là Minh.", "vi": "Bạn là Minh."}), id="YAML with one language"),
        pytest.param("a.yaml", "Just words.", Identity({"en": "Just words.", "vi": "Just words."}), id="YAML of one text"),
    ],
)  # fmt: skip
def test_a_file_may_replace_it(tmp_path: Path, name: str, content: str, expected: Identity) -> None:
    """A replaced identity is told by its hash; its version says that it is an operator's own."""
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")

    found = identity_from_file(file)

    assert found == expected
    assert (found.version, found.hash != STILLME_IDENTITY.hash) == ("own", True)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        pytest.param("a.txt", b" \n", r"says nothing in en, got ' \\n'", id="blank"),
        pytest.param("a.txt", b"\xff\xfe", r"is not UTF-8 text: save it as UTF-8", id="not UTF-8"),
        pytest.param("a.txt", b"x" * 16_001, r"has 16001 characters, at most 16000 are taken", id="too long"),
        pytest.param("a.yaml", b"en: [", r"is not YAML: give the keys en and vi", id="not YAML"),
        pytest.param("a.yaml", b"fr: Bonjour", r"must have the keys en and vi and no others, got 'fr'", id="another key"),
        pytest.param("a.yaml", b"- en", r"must have the keys en and vi and no others, got \['en'\]", id="a list"),
        pytest.param("a.yaml", b"", r"must have the keys en and vi and no others, got None", id="an empty file"),
        pytest.param("a.yaml", b"en: 5\nvi: x", r"says nothing in en, got 5", id="a number"),
        pytest.param("a.yaml", b'en: "\\ud800"', r"(is not YAML|has a lone surrogate)", id="half a character"),
        pytest.param("missing.txt", None, r"cannot be read: No such file", id="no file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_when_it_is_loaded(
    tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    """What is wrong, and what to write instead."""
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(PolicyError, match=problem):
        identity_from_file(tmp_path / name)


def test_a_blank_text_is_no_identity() -> None:
    """A model that is told nothing would answer from anywhere."""
    with pytest.raises(PolicyError, match="the identity says nothing in en"):
        identity_from_text("")


def test_both_languages_lie_in_the_package() -> None:
    """The rule file is read as a resource of the package, with the same bullets in both languages."""
    texts = [each.rules("identity")["text"] for each in languages()]

    assert [text.count("\n- ") for text in texts] == [7, 7]
