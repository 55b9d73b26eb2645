"""Verdicts that are given again: only for the very same content, always recorded, never for what was not verified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stillme import Guard, Verdict
from stillme.guard import Occurrence
from stillme.validators.base import Finding

REQUEST: dict[str, Any] = {
    "query": "How many days of leave do new staff get?",
    "draft_answer": "New staff get 14 days of leave [1].",
    "retrieved_context": [
        {"source_id": "handbook", "text": "New staff get 14 days of leave in the first year.", "similarity": 0.8}
    ],
    "as_of": "2026-02-01T09:00:00Z",
}
POLICY = {"grounding": {"model": "none"}}


class Ledger:
    """Keeps occurrences, and so tells how many verdicts there were."""

    def __init__(self) -> None:
        self.kept: list[Occurrence] = []

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        self.kept += occurrences


def content(verdict: Verdict) -> dict[str, Any]:
    """The verdict without what is new each time it is worked out."""
    dumped = verdict.model_dump(mode="json", exclude={"request_id", "validator_trace_id"})
    dumped["metrics"].pop("elapsed_ms")
    for finding in dumped["findings"]:
        finding.pop("elapsed_ms")
    return dumped


def test_the_same_content_gets_the_same_verdict_under_an_id_of_its_own() -> None:
    """A verdict given again equals one that is worked out, and is recorded as the first one was."""
    ledger = Ledger()
    guard = Guard(POLICY, audit=ledger, remember=10)

    first, again, fresh = guard.verify(REQUEST), guard.verify(REQUEST), Guard(POLICY).verify(REQUEST)

    assert content(first) == content(again) == content(fresh)
    assert again.metrics.elapsed_ms == first.metrics.elapsed_ms
    assert len({first.validator_trace_id, again.validator_trace_id}) == 2
    assert [o.verdict.validator_trace_id for o in ledger.kept] == [first.validator_trace_id, again.validator_trace_id]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"query": "How many days of leave do old staff get?"}, id="another question"),
        pytest.param({"draft_answer": "New staff get 41 days of leave [1]."}, id="another answer to the same question"),
        pytest.param({"retrieved_context": []}, id="the same question and answer without passages"),
        pytest.param(
            {"retrieved_context": [REQUEST["retrieved_context"][0] | {"similarity": 0.2}]}, id="another similarity"
        ),
        pytest.param({"metadata": {"language": "vi"}}, id="another language"),
        pytest.param({"generation_confidence": 0.1}, id="a low confidence"),
        pytest.param({"as_of": "2020-02-01T09:00:00Z"}, id="another point in time"),
        pytest.param({"conversation": [{"role": "user", "content": "Hello"}]}, id="another conversation"),
    ],
)
def test_anything_a_verdict_rests_on_makes_it_another(change: dict[str, Any]) -> None:
    """A changed request is judged anew and gets what a guard without memory gives it."""
    guard = Guard(POLICY, remember=10)
    guard.verify(REQUEST)

    verdict = guard.verify(REQUEST | change)

    assert content(verdict) == content(Guard(POLICY).verify(REQUEST | change))


def test_who_asks_does_not_matter() -> None:
    """Ids and sessions tell requests apart for those who keep them; the verdict is the same one."""
    guard = Guard(POLICY, remember=10)

    first = guard.verify(REQUEST)
    again = guard.verify(REQUEST | {"request_id": "mine", "metadata": {"session_id": "s-2", "channel": "web"}})

    assert again.request_id == "mine"
    assert again.metrics.elapsed_ms == first.metrics.elapsed_ms


def test_a_request_without_a_time_is_judged_as_of_the_minute() -> None:
    """So that it can be given again within that minute, and its record says as of when."""
    verdict = Guard(POLICY, remember=10).verify({k: v for k, v in REQUEST.items() if k != "as_of"})

    assert (verdict.as_of.second, verdict.as_of.microsecond) == (0, 0)


def test_only_so_many_are_kept() -> None:
    """The one not asked for longest makes room."""
    guard = Guard(POLICY, remember=1)
    first = guard.verify(REQUEST)
    guard.verify(REQUEST | {"query": "What do new staff get?"})

    assert guard.verify(REQUEST).metrics.elapsed_ms != first.metrics.elapsed_ms


def test_a_batch_gives_known_verdicts_again() -> None:
    """In a batch as alone, in order."""
    guard = Guard(POLICY, remember=10)
    other = REQUEST | {"draft_answer": "New staff get 41 days of leave [1]."}
    known = guard.verify(REQUEST)

    verdicts = guard.verify_batch([other, REQUEST])

    assert [v.decision for v in verdicts] == ["refuse", "answer"]
    assert verdicts[1].metrics.elapsed_ms == known.metrics.elapsed_ms


class Counting:
    """A validator of the program's own that counts how often it ran."""

    name = "Counting"
    stage = "draft"

    def __init__(self) -> None:
        self.runs = 0

    def run(self, evidence: Any) -> Finding:
        self.runs += 1
        return Finding("Counting", "passed")


def test_validators_of_the_program_always_run() -> None:
    """What they see is not ours to know, so nothing is given again."""
    counting = Counting()
    guard = Guard(POLICY, validators=[counting], remember=10)

    guard.verify(REQUEST)
    guard.verify(REQUEST)

    assert counting.runs == 2


class Failing:
    """A grounder that fails the first time."""

    id = "failing"

    def __init__(self) -> None:
        self.calls = 0

    def judge(self, tasks: Any) -> Any:
        self.calls += 1
        raise RuntimeError("out of order")


def test_what_was_not_verified_is_tried_again() -> None:
    """A failure is not kept."""
    grounder = Failing()
    guard = Guard(POLICY, grounder=grounder, remember=10)

    first, calls = guard.verify(REQUEST), grounder.calls
    again = guard.verify(REQUEST)

    assert (first.verified, again.verified) == (False, False)
    assert grounder.calls > calls
