"""Patterns of an operator are taken where no text can stall them, and refused with the way out."""

from __future__ import annotations

import time
import types
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.errors import PolicyError
from stillme.redaction import Redactor, patterns
from tests.redaction.support import taken


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        pytest.param("KH-[0-9]{6}", "KH-123456, kh-123457, KH-12", ["KH-123456"], id="a fixed count"),
        pytest.param("(?i)kh-[0-9]{4,8}+", "kh-1234567", ["kh-1234567"], id="a possessive repetition, a flag"),
        pytest.param(r"\d{1,4}/\d{1,4}-[A-Z]{2}", "12/3456-AB", ["12/3456-AB"], id="short repetitions of characters"),
        pytest.param("(?:[0-9]{3} ){3}x", "123 456 789 x", ["123 456 789 x"], id="a group a fixed number of times"),
        pytest.param("(?>ab|cd){1,9}+!", "abcdab!", ["abcdab!"], id="atomic alternatives"),
        pytest.param(
            "(?<=PIN )[0-9]{4}(?![0-9])",
            "PIN 1234, 1234, 12345",
            ["1234", "1234"],
            id="a look-around; the context once is enough",
        ),
        pytest.param("hồ sơ [0-9]{2,6}+", "Hồ sơ 12, hồ sơ 123", ["hồ sơ 123"], id="Vietnamese"),
        pytest.param("(?x) A [0-9]{3}  # a comment+", "A123", ["A123"], id="the verbose form"),
        pytest.param("(a|b)c", "ac bc", ["ac bc"], id="a capture that nothing repeats"),
    ],
)
def test_patterns_that_are_taken(pattern: str, text: str, found: list[str]) -> None:
    """A pattern of one's own blanks what it matches."""
    assert taken({"own": pattern}, text) == found


ENDLESS = "audit.redact.own: the repetition `{}` has no upper bound: write `{}`, got {!r}"


GIVES_BACK = "audit.redact.own: the repetition `{}` of a group can give back what it took: write `{}`, got {!r}"


STEPS = "audit.redact.own may take {} steps at each character, at most 256: lower the bounds, make repetitions possessive (`{{1,16}}+`) and alternatives atomic (`(?>…|…)`), got {!r}"


SWALLOWS = "audit.redact.own: the repetition `{}` also takes the `{}` that must follow it, so that nothing matches: leave that out of the repetition, or write `{}` if the bound is small, got {!r}"


EMPTY = "audit.redact.own matches the empty text: let it begin with something that must be there, got {!r}"


UNREADABLE = "audit.redact.own: it is no regular expression that Python reads ({}): correct it, got {!r}"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        pytest.param(r"\d+", ENDLESS.format(r"\d+", r"\d{1,64}+", r"\d+"), id="no bound"),
        pytest.param(r"a[\w.-]*+b", ENDLESS.format(r"[\w\.\-]*+", r"[\w\.\-]{0,64}+", r"a[\w.-]*+b"), id="possessive without a bound"),
        pytest.param("(?:ab){3,}", ENDLESS.format("(?:ab){3,}", "(?:ab){3,64}+", "(?:ab){3,}"), id="a group without a bound"),
        pytest.param("(?:ab){1,3}", GIVES_BACK.format("(?:ab){1,3}", "(?:ab){1,3}+", "(?:ab){1,3}"), id="a group that gives back"),
        pytest.param("x(?:ab){1,3}?y", GIVES_BACK.format("(?:ab){1,3}?", "(?:ab){1,3}+", "x(?:ab){1,3}?y"), id="a lazy group"),
        pytest.param("x(?:ab)?", GIVES_BACK.format("(?:ab)?", "(?:ab)?+", "x(?:ab)?"), id="an optional group"),
        pytest.param("(?:a{1,9}){1,9}", GIVES_BACK.format("(?:a{1,9}){1,9}", "(?:a{1,9}){1,9}+", "(?:a{1,9}){1,9}"), id="nested"),
        pytest.param(r"\w{1,20}\d{1,20}!", STEPS.format("841", r"\w{1,20}\d{1,20}!"), id="two that can share the text in many ways"),
        pytest.param("(?:a|aa){30}b", STEPS.format("billions of", "(?:a|aa){30}b"), id="alternatives that overlap"),
        pytest.param("(?:a|b|ab)" * 12 + "c", STEPS.format("2,391,481", "(?:a|b|ab)" * 12 + "c")[:40], id="alternatives in a row"),
        pytest.param("a{1,999}+b", STEPS.format("1,000", "a{1,999}+b"), id="too large a bound"),
        pytest.param(r"(a)\1", r"audit.redact.own: `\1` refers back to a group: write what it repeats once more, got '(a)\\1'", id="a back-reference"),
        pytest.param("(?P<n>a)b(?P=n)", r"audit.redact.own: `\1` refers back to a group: write what it repeats once more, got '(?P<n>a)b(?P=n)'", id="a named back-reference"),
        pytest.param("(a)?+(?(1)b|c)d", "audit.redact.own: `(a)` captures inside a possessive part: write (?:…) for (…), got '(a)?+(?(1)b|c)d'", id="a capture in a possessive part"),
        pytest.param("(?=[0-9]{3})[0-9]", "audit.redact.own: `[0-9]{3}` repeats inside a look-around: write the characters out, such as `[0-9][0-9]`, got '(?=[0-9]{3})[0-9]'", id="a repetition in a look-around"),
        pytest.param(r"\w{1,30}+[0-9]", SWALLOWS.format(r"\w{1,30}+", "[0-9]", r"\w{1,30}", r"\w{1,30}+[0-9]"), id="a repetition that takes all that follows"),
        pytest.param(r"[\w.]{1,30}+(?:\.vn)", SWALLOWS.format(r"[\w\.]{1,30}+", r"\.", r"[\w\.]{1,30}", r"[\w.]{1,30}+(?:\.vn)"), id="the same before a group"),
        pytest.param("", EMPTY.format(""), id="nothing"),
        pytest.param("a?", EMPTY.format("a?"), id="something that may be missing"),
        pytest.param(r"\b|x", EMPTY.format(r"\b|x"), id="a place"),
        pytest.param("(?=a)", EMPTY.format("(?=a)"), id="a look-around"),
        pytest.param("(", UNREADABLE.format("missing ), unterminated subpattern at position 0", "("), id="an open group"),
        pytest.param("[[a]b]", UNREADABLE.format("Possible nested set at position 1", "[[a]b]"), id="what Python may read otherwise"),
        pytest.param("a{99999999999}", UNREADABLE.format("the repetition number is too large", "a{99999999999}"), id="a number too large"),
        pytest.param("a" * 501, "audit.redact.own has 501 characters, at most 500: split it into several names", id="too long"),
    ],
)  # fmt: skip
def test_patterns_that_are_refused(pattern: str, message: str) -> None:
    """What is wrong, in which part, and what to write instead."""
    with pytest.raises(PolicyError) as error:
        Redactor.of({"own": pattern})

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param({"emial": True}, "audit.redact.emial is no built-in kind: did you mean email? built in are email, phone, card, iban, ip, id_number; any other name needs a pattern", id="a slip"),
        pytest.param({"staff": False}, "audit.redact.staff is no built-in kind: built in are email, phone, card, iban, ip, id_number; any other name needs a pattern", id="no kind"),
        pytest.param({"a b": 3}, "audit.redact.'a b' must be true, false or a pattern, got 3", id="a number"),
        pytest.param({"x": None}, "audit.redact.x must be true, false or a pattern, got None", id="null"),
        pytest.param(["email"], "audit.redact must map names to true or to a pattern, got ['email']", id="a list"),
        pytest.param({f"n{i}": "a" for i in range(33)}, "audit.redact has 33 entries, at most 32: join some by `|`", id="too many"),
        pytest.param({f"n{i}": "a{1,200}+b" for i in range(3)}, "audit.redact: the patterns may take 606 steps at each character, at most 512: lower the bounds of their repetitions", id="too much in all"),
    ],
)  # fmt: skip
def test_entries_that_are_refused(entries: Any, message: str) -> None:
    """The key, the value, and the valid choices."""
    with pytest.raises(PolicyError) as error:
        Redactor.of(entries)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        pytest.param(types.SimpleNamespace(), "patterns cannot be checked", id="no parser"),
        pytest.param(types.SimpleNamespace(parse=lambda _: [7]), "patterns cannot be checked", id="another tree"),
        pytest.param(types.SimpleNamespace(parse=lambda _: [("NEW", 7)]), r"not known here \(NEW\)", id="another part"),
        pytest.param(
            types.SimpleNamespace(parse=lambda _: [("AT", "NEW")]), "patterns cannot be checked", id="another place"
        ),
    ],
)
def test_patterns_are_refused_where_the_parser_is_another(
    monkeypatch: pytest.MonkeyPatch, parser: object, message: str
) -> None:
    """The private parser of the standard library may change: then no pattern is trusted, the built-in kinds still work."""
    monkeypatch.setattr(patterns, "import_module", lambda _: parser)

    with pytest.raises(PolicyError, match=message):
        Redactor.of({"own": "unseen-[0-9]{3}"})
    assert Redactor.of({"email": True, "phone": True}).text("a@b.vn")[0] == "██████"


PIECES = st.lists(st.sampled_from(["a", "b", "(?:", "(", ")", "|", "?", "*", "+", "{1,3}", "{2}", "[ab]", r"\w", r"\1", "(?=", "(?<!", "(?>", "^", "."]), max_size=12)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(PIECES.map("".join))
def test_any_pattern_is_either_refused_or_harmless(pattern: str) -> None:
    """Never another exception; and what is taken matches something and ends soon on a hostile text."""
    try:
        redactor = Redactor.of({"own": pattern})
    except PolicyError:
        return
    text = "a" * 3_000 + "!"
    started = time.process_time()

    redacted, secrets = redactor.text(text)

    assert (len(redacted), "" in secrets) == (len(text), False)
    assert time.process_time() - started < 2
