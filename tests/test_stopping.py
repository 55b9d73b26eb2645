"""Work that nobody waits for ends at its next step: no verdict, no record, the thread is free."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from stillme import Guard
from stillme.errors import StoppedError
from stillme.grounding.cascade import CascadeGrounder
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.guard import Occurrence
from stillme.stopping import Stop, checkpoint, watched

POLICY = {"grounding": {"model": "none"}}
EN = [f"Room {n} costs {n + 40} euros a night" for n in range(1, 41)]
VI = [f"Phòng {n} có giá {n + 40} nghìn đồng một đêm" for n in range(1, 41)]


def request(stated: Sequence[str]) -> dict[str, Any]:
    texts = [". ".join(stated[:20]), ". ".join(stated[20:])]
    return {
        "query": "How much is a night?",
        "draft_answer": ". ".join(stated) + ".",
        "retrieved_context": [{"source_id": str(n), "text": text} for n, text in enumerate(texts)],
    }


class Ledger:
    """Keeps occurrences."""

    def __init__(self) -> None:
        self.kept: list[Occurrence] = []

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        self.kept += occurrences


class Endless:
    """A grounder that works until it is stopped, and tells when it has begun and when it has ended."""

    id = "endless"

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self.begun.set()
        try:
            while True:
                checkpoint()
        finally:
            self.ended.set()


class StoppedHere:
    """A grounder that is told to stop while it works, and goes on with a real one."""

    id = "stopped"

    def __init__(self, stop: Stop, inner: Any) -> None:
        self._stop, self._inner = stop, inner

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self._stop.set()
        return list(self._inner.judge(tasks))


@pytest.mark.parametrize("stated", [EN, VI], ids=["en", "vi"])
@pytest.mark.parametrize("inner", [ExactGrounder(), CascadeGrounder()], ids=["exact", "with the model"])
def test_a_stopped_verification_gives_no_verdict_and_no_record(stated: list[str], inner: Any) -> None:
    """The grounders look between two claims; a stop is no crash, so that nothing makes a finding of it."""
    stop, ledger = Stop(), Ledger()
    guard = Guard(POLICY, grounder=StoppedHere(stop, inner), audit=ledger)

    with pytest.raises(StoppedError):
        stop.run(lambda: guard.verify(request(stated)))
    with pytest.raises(StoppedError):
        stop.run(lambda: guard.verify_batch([request(stated)]))

    assert ledger.kept == []


def test_what_was_stopped_before_it_began_never_begins() -> None:
    """It waited in a queue while whoever asked went away."""
    stop, begun = Stop(), list[int]()
    stop.set()

    with pytest.raises(StoppedError):
        stop.run(lambda: begun.append(1))

    assert begun == []


def test_a_stop_is_for_its_own_work_only() -> None:
    """Beside it, behind it and without one, work goes on."""
    stop, other = Stop(), Stop()
    stop.set()

    assert other.run(lambda: list(watched([1, 2]))) == [1, 2]
    assert list(watched([3])) == [3]
    checkpoint()


def test_a_cancelled_task_ends_its_verification() -> None:
    """`averify` in a task: whoever cancels it gets the thread back."""
    grounder, ledger = Endless(), Ledger()
    guard = Guard(POLICY, grounder=grounder, audit=ledger)

    async def scenario() -> None:
        task = asyncio.create_task(guard.averify(request(EN)))
        await asyncio.to_thread(grounder.begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(grounder.ended.wait)

    asyncio.run(scenario())

    assert ledger.kept == []
