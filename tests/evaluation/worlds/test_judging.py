"""Who judges claims in two worlds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stillme import Guard
from stillme.errors import InputError
from stillme.evaluation.worlds.documents import WorldClaim, WorldDocument
from stillme.evaluation.worlds.judging import answers_of, by_guard, by_shared_words, questions_for

PLAIN = {"grounding": {"model": "none"}}


def document(name: str, *worlds: str, claim: str, labels: tuple[str, ...], language: str = "en") -> WorldDocument:
    """One claim against one source in each world."""
    sources = tuple(({"source_id": "s", "text": text},) for text in worlds)
    return WorldDocument(name, language, sources, (WorldClaim(claim, language, "number", labels),))


OPENING = document(
    "opening",
    "The hall opens at 9 o'clock on Sundays.",
    "The hall opens at 11 o'clock on Sundays.",
    claim="The hall opens at 9 o'clock on Sundays.",
    labels=("supported", "contradicted"),
)
RENT = document(
    "rent",
    "Tiền thuê sân là 200.000 đồng một giờ.",
    "Tiền thuê sân là 250.000 đồng một giờ.",
    claim="Tiền thuê sân là 250.000 đồng một giờ.",
    labels=("contradicted", "supported"),
    language="vi",
)


@pytest.mark.parametrize("given", [OPENING, RENT], ids=["English", "Vietnamese"])
def test_a_guard_judges_each_claim_in_each_world(given: WorldDocument) -> None:
    """What the sources of one world say and those of the other deny."""
    (judged,) = by_guard(Guard(PLAIN), [given])

    said = [answer.supported for answer in judged.answers[0]]
    assert said == [label == "supported" for label in given.claims[0].labels]


def test_a_claim_about_sources_in_another_language_is_judged() -> None:
    """It is asked in its own language: the answer is not in the wrong one."""
    mixed = document("mixed", OPENING.worlds[0][0]["text"], claim=RENT.claims[0].text, labels=("unsupported",))

    (judged,) = by_guard(Guard(PLAIN), [mixed])

    assert [answer.supported for answer in judged.answers[0]] == [False]


def test_shared_words_cannot_tell_the_worlds_of_a_swap_apart() -> None:
    """The baseline gives one answer in both worlds."""
    swap = document("swap", "Ana pays Bo.", "Bo pays Ana.", claim="Bo pays Ana.", labels=("contradicted", "supported"))

    (judged,) = by_shared_words([swap])

    assert judged.answers[0][0] == judged.answers[0][1]


def test_another_tool_answers_what_was_written_for_it(tmp_path: Path) -> None:
    """Each question has the claim and the sources; each answer finds its place by id, claim and world."""
    asked = list(questions_for([OPENING, RENT]))
    path = tmp_path / "answers.jsonl"
    rows = [
        {**{k: q[k] for k in ("id", "claim", "world")}, "supported": q["text"] in q["sources"][0]["text"]}
        for q in asked
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in reversed(rows)), encoding="utf-8")

    judged = answers_of(path, [OPENING, RENT])

    assert [[answer.supported for answer in each.answers[0]] for each in judged] == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(
            '{"id": "opening", "claim": 0, "world": 0, "supported": 1}', "line 1 is no answer", id="not a truth value"
        ),
        pytest.param('{"id": "opening", "claim": 0, "supported": true}', "line 1 is no answer", id="no world"),
        pytest.param("[]", "line 1 is no answer", id="no object"),
        pytest.param(
            '{"id": "opening", "claim": 0, "world": 0, "supported": true}',
            "no answer for claim 0 of 'opening' in world 1",
            id="an answer is missing",
        ),
    ],
)
def test_answers_that_cannot_be_used_say_why(tmp_path: Path, line: str, problem: str) -> None:
    """The file and the line, or the claim that has no answer, are named."""
    path = tmp_path / "answers.jsonl"
    path.write_text(line, encoding="utf-8")

    with pytest.raises(InputError, match=problem):
        answers_of(path, [OPENING])
