"""A claim is judged once as long as nothing has changed that its judgement rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stillme import Guard
from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.verification.memory import JudgedOnce

SOURCES = ["Parking costs 3 euros. The garage closes at 22:00.", "Bãi xe đóng cửa lúc 22 giờ. Giá gửi xe là 3 euro."]


class Counting:
    """The exact features, with what they were asked."""

    id = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self.asked.append([t.draft.text.raw[c.start : c.end] for t in tasks for c in t.claims])
        return ExactGrounder().judge(tasks)


def task(draft: str, query: str = "What does parking cost?", sources: Sequence[str] = SOURCES) -> GroundingTask:
    return Evidence.of(query, draft, sources).grounding_task


@pytest.mark.parametrize(
    ("first", "then", "asked"),
    [
        pytest.param("Parking costs 3 euros [1].", "Parking costs 3 euros [1].", [], id="the same draft"),
        pytest.param("Parking costs 3 euros [1].", "Parking costs 3 euros [1]. The garage closes at 22:00 [1].", ["The garage closes at 22:00 [1]."], id="a draft that goes on"),
        pytest.param("Giá gửi xe là 3 euro [2].", "Giá gửi xe là 3 euro [2]. Bãi xe đóng cửa lúc 22 giờ [2].", ["Bãi xe đóng cửa lúc 22 giờ [2]."], id="the same in Vietnamese"),
        pytest.param("Parking costs 3 euros [1].", "Parking costs 3 euros [2].", ["Parking costs 3 euros [2]."], id="another source cited"),
        pytest.param("Parking costs 3 euros [1].", "Parking costs 9 euros [1].", ["Parking costs 9 euros [1]."], id="another figure"),
        pytest.param("It costs 3 euros [1].", "The garage is old [1]. It costs 3 euros [1].", ["The garage is old [1].", "It costs 3 euros [1]."], id="another sentence before it"),
    ],
)  # fmt: skip
def test_only_what_is_new_is_asked(first: str, then: str, asked: list[str]) -> None:
    """Each claim whose words, context and sources are known is given again."""
    counting = Counting()
    memory = JudgedOnce(counting)

    memory.judge([task(first)])
    given = memory.judge([task(then)])

    assert counting.asked[1:] == ([asked] if asked else [])
    assert given == ExactGrounder().judge([task(then)])


@pytest.mark.parametrize(
    "changed", [{"query": "How late is it open?"}, {"sources": SOURCES[:1]}], ids=["question", "passages"]
)
def test_other_circumstances_are_judged_anew(changed: dict[str, Any]) -> None:
    """A judgement holds for its question and its passages."""
    counting = Counting()
    memory = JudgedOnce(counting)

    memory.judge([task("Parking costs 3 euros [1].")])
    memory.judge([task("Parking costs 3 euros [1].", **changed)])

    assert len(counting.asked) == 2


def test_a_batch_with_the_same_request_twice_has_a_judgement_for_each() -> None:
    """And so has one in which a claim is repeated."""
    memory, twice = JudgedOnce(ExactGrounder()), task("Parking costs 3 euros [1]. Parking costs 3 euros [1].")

    assert [len(judged) for judged in memory.judge([twice, twice])] == [2, 2]


def test_what_was_forgotten_is_judged_again() -> None:
    """Memory holds as much as its owner wants."""
    counting = Counting()
    memory = JudgedOnce(counting)

    memory.judge([task("Parking costs 3 euros [1].")])
    memory.forget()
    memory.judge([task("Parking costs 3 euros [1].")])

    assert len(counting.asked) == 2


class Careless:
    """Judges nothing."""

    id = "careless"

    def judge(self, tasks: Sequence[GroundingTask]) -> Any:
        return [[] for _ in tasks]


def test_what_is_no_judgement_is_not_remembered_as_one() -> None:
    """Whoever asks is told, once alone and once in a batch."""
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}}, grounder=Careless())
    request = {
        "query": "What does parking cost?",
        "draft_answer": "Parking costs 3 euros [1].",
        "retrieved_context": [{"source_id": "s", "text": SOURCES[0]}],
    }

    for verdict in (guard.verify(request), *guard.verify_batch([request, request])):
        assert (verdict.decision, verdict.verified, verdict.claims) == ("refuse", False, [])
        assert "careless did not judge each of 1 claims once" in str([f.detail for f in verdict.findings])
