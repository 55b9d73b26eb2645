"""Composed examples are consistent: labels, spans, passages, languages, order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from training.examples import NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example
from training.synthesis.compose import (
    Composer,
    Question,
    cross_language,
    passages_as_questions,
    shared_id,
    without_sentences,
    wrong_answers,
)

EN = (
    "Ada Quill founded the Tern Institute in Oslo in 1901. The institute moved to Bergen before the war and employed 45 people. "
    "Later Ivar Holm became its first director, and many scientists joined. It closed in 1950 because of a fire in the main hall."
)
VI = (
    "Nguyễn An thành lập Viện Sao Mai tại Huế vào năm 1901. Viện đã chuyển đến Đà Nẵng trước chiến tranh và có 45 nhân viên. "
    "Sau đó Trần Bình trở thành giám đốc đầu tiên và nhiều nhà khoa học gia nhập. Viện đóng cửa năm 1950 vì một vụ cháy lớn."
)


def question(lang: str, number: int = 1, answerable: bool = True) -> Question:
    passage, asked, answer = {
        "en": (EN, "Who founded the Tern Institute?", "Ada Quill"),
        "vi": (VI, "Ai thành lập Viện Sao Mai?", "Nguyễn An"),
    }[lang]
    return Question(
        f"xquad-{lang}-{number:x}", lang, passage, asked, (answer,) if answerable else (), answerable, f"T{number}"
    )


def composed(lang: str) -> list[Example]:
    other = Question(
        "o", lang, "Otto Lang wrote Faust in Kiel in 1808 and it was a success there.", "Who?", (), False, "Other"
    )
    return list(Composer([question(lang), other], seed=3, dataset=f"synthetic_{lang}").examples())


@pytest.mark.parametrize("lang", ["en", "vi"])
def test_spans_lie_in_the_claim_and_only_supported_claims_have_none(lang: str) -> None:
    """Spans are exact where they are known."""
    for example in composed(lang):
        if example.label == SUPPORTED:
            assert example.spans == ()
        elif example.spans is not None:
            assert example.spans
            assert all(0 <= s < e <= len(example.claim) for s, e in example.spans)


@pytest.mark.parametrize("lang", ["en", "vi"])
def test_mirrored_examples_hold_in_the_changed_passage(lang: str) -> None:
    """A change made in claim and passage alike leaves the claim supported by a passage that differs."""
    original = {"en": EN, "vi": VI}[lang]
    both = [e for e in composed(lang) if e.id.endswith("-both")]

    assert both
    assert all(e.label == SUPPORTED and e.passages != (original,) for e in both)


@pytest.mark.parametrize("lang", ["en", "vi"])
def test_the_same_seed_gives_the_same_examples(lang: str) -> None:
    """Composition is fixed by the seed."""
    assert composed(lang) == composed(lang)


def test_wrong_answers_are_of_the_passage_and_of_the_answers_kind() -> None:
    """Numbers for a number, names for a name, never the answer or what the question names."""
    chance = random.Random(0)

    found = wrong_answers(question("en"), "Ada Quill", chance, 10)
    counted = wrong_answers(question("en"), "45", chance, 10)

    assert "Ada Quill" not in found
    assert "Tern Institute" not in found
    assert {"Oslo", "Bergen", "Ivar Holm"} <= set(found)
    assert set(counted) == {"1901", "1950"}


def test_an_unanswerable_question_gives_an_unsupported_claim_without_spans() -> None:
    """Where the fault lies is not known, so no span is claimed."""
    made = [e for e in Composer([question("en", answerable=False)], 3, "s").examples() if e.id.endswith("unanswerable")]

    assert [e.label for e in made] == [NOT_SUPPORTED]
    assert made[0].spans is None


def test_without_sentences_drops_the_evidence() -> None:
    """No sentence with the answer is left."""
    rest = without_sentences(EN, ["Ada Quill"])

    assert rest is not None
    assert "Ada Quill" not in rest
    assert "Ivar Holm" in rest


def test_cross_language_sets_the_claim_against_the_other_passage() -> None:
    """The claim keeps its language and label; the passage is the parallel one."""
    claims = [e for e in Composer([question("vi", 7)], 3, "s").examples() if e.id.endswith("answer")]

    [crossed] = cross_language(claims, {"xquad-7": EN}, "vi")

    assert crossed.passages == (EN,)
    assert crossed.claim == claims[0].claim
    assert crossed.label == SUPPORTED


def test_cross_language_takes_only_answers_where_the_passages_are_not_parallel() -> None:
    """A sentence of one MLQA passage need not stand in the other."""
    asked = replace(question("vi"), id="mlqa-dev-vi-7")
    claims = list(Composer([asked], 3, "s").examples())

    crossed = list(cross_language(claims, {"mlqa-dev-7": EN}, "vi"))

    assert {e.id.rsplit("-", 1)[-1].rstrip("01") for e in crossed} == {"answer", "wrong"}


def test_a_sentence_of_another_passage_on_the_subject_is_unsupported() -> None:
    """Both passages have the title; the claim stands in one of them only."""
    first = question("en")
    second = replace(
        first, id="xquad-en-2", passage="The Tern Institute sold its library to a museum in Turin in 1951."
    )

    found = [e for e in Composer([first, second], 3, "s").examples() if e.id.endswith("elsewhere")]

    assert found
    assert all((e.label == UNSUPPORTED and e.spans == ((0, len(e.claim)),)) or "ccording" in e.claim for e in found)


def test_passages_of_other_sets_become_material() -> None:
    """Long enough, with capitals, each once, under the name of its document."""
    example = Example("1", "d", "en", "A claim.", (EN,), SUPPORTED, (), "document")
    lower = replace(example, passages=(EN.lower(),), id="2")

    [made] = passages_as_questions([example, replace(example, id="3"), lower], 5)

    assert (made.passage, made.title, made.answers) == (EN, "document", ())


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        ("xquad-vi-57ab-s1-kept", "xquad-57ab"),
        ("xquad-en-57ab", "xquad-57ab"),
        ("mlqa-dev-vi-1", "mlqa-dev-1"),
        ("squad2-1", ""),
    ],
)
def test_shared_id(id_: str, expected: str) -> None:
    """Only parallel sets share ids."""
    assert shared_id(id_) == expected


@pytest.mark.parametrize("lang", ["en", "vi"])
def test_premises_hold_in_the_questions_passage_only(lang: str) -> None:
    """True where the question was asked, unfounded without the evidence."""
    found = {e.id.split("premise", 1)[1]: e for e in Composer([question(lang)], 3, "p").premises()}

    assert found[""].label == SUPPORTED
    assert found["-absent"].label == UNSUPPORTED
    assert found["-absent"].spans is None
    assert found["-absent"].passages != found[""].passages
