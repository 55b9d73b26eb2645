"""Where verdicts of every endpoint come together: kept in the audit store first, then counted and told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby

from stillme.errors import BackendError, StillMeError
from stillme.guard import Occurrence, Opening, Recorder
from stillme.service.metrics import Metrics
from stillme.service.telemetry import Telemetry
from stillme.storage.audit.database import RowsRefusedError

__all__ = ["Recording"]

MOST_AT_ONCE = 256
UNKNOWN = "the record was interrupted: whether it was kept is not known"
log = logging.getLogger("stillme.verdicts")


@dataclass(frozen=True, slots=True, eq=False)
class _Ticket:
    """What one request wants kept, and who waits for it."""

    occurrences: Sequence[Occurrence]
    kept: asyncio.Future[None]

    def settle(self, problem: StillMeError | None) -> None:
        """Tell whoever still waits."""
        if self.kept.done():
            return
        if problem is None:
            self.kept.set_result(None)
        else:
            self.kept.set_exception(problem)


class Recording:
    """A recorder that counts only what was kept."""

    def __init__(self, store: Recorder | None, metrics: Metrics, telemetry: Telemetry | None = None) -> None:
        self.store, self.metrics, self.telemetry = store, metrics, telemetry
        self._waiting: list[_Ticket] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stillme-record")

    def open(self, opening: Opening) -> None:
        """Keep that an answer begins to go out; what becomes of it is counted with its verdict."""
        keeps = getattr(self.store, "open", None)
        if keeps is not None:
            keeps(opening)

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """Keep verdicts, then count and tell them."""
        if self.store is not None:
            self.store.record(occurrences)
        self._tell(occurrences)

    async def arecord(self, occurrences: Sequence[Occurrence]) -> None:
        """The same without a thread for each request: what arrives during one commit goes into the next, all of it together."""
        if self.store is not None and occurrences:
            ticket = _Ticket(occurrences, asyncio.get_running_loop().create_future())
            self._waiting.append(ticket)
            if self._writing is None:
                self._writing = asyncio.create_task(self._write())
            await ticket.kept
        self._tell(occurrences)

    async def aclose(self) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await self._writing
        self._thread.shutdown()

    async def _write(self) -> None:
        """Commit until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                group = self._waiting[:MOST_AT_ONCE]
                del self._waiting[:MOST_AT_ONCE]
                await self._commit(loop, group)
        finally:
            self._writing = None
            for ticket in self._waiting:
                ticket.settle(BackendError(UNKNOWN))
            self._waiting.clear()

    async def _commit(self, loop: asyncio.AbstractEventLoop, group: Sequence[_Ticket]) -> None:
        try:
            problems = await loop.run_in_executor(self._thread, lambda: list(self._problems(group)))
            for ticket, problem in zip(group, problems, strict=True):
                ticket.settle(problem)
        finally:
            for ticket in group:
                ticket.settle(BackendError(UNKNOWN))

    def _problems(self, group: Sequence[_Ticket]) -> Iterator[StillMeError | None]:
        """For each ticket why it was not kept; those whose policies keep alike are kept together."""
        for _, alike in groupby(group, lambda ticket: ticket.occurrences[0].policy.audit):
            tickets = list(alike)
            problem = self._problem([each for ticket in tickets for each in ticket.occurrences])
            if isinstance(problem, RowsRefusedError) and len(tickets) > 1:  # the others are not concerned
                yield from [self._problem(ticket.occurrences) for ticket in tickets]
            else:
                yield from [problem] * len(tickets)

    def _problem(self, occurrences: Sequence[Occurrence]) -> StillMeError | None:
        try:
            self.store.record(occurrences)  # type: ignore[union-attr]  # nobody waits where there is none
        except StillMeError as problem:
            return problem
        return None

    def _tell(self, occurrences: Sequence[Occurrence]) -> None:
        """Count, tell and log verdicts; the log has codes and ids, no texts."""
        self.metrics.verdicts(occurrences)
        if self.telemetry is not None:
            self.telemetry.verdicts(occurrences)
        for each in occurrences:
            verdict = each.verdict
            log.info(
                "%(decision)s %(action)s %(mode)s %(confidence_band)s %(reasons)s %(validator_trace_id)s",
                {
                    "decision": verdict.decision.value,
                    "action": verdict.action,
                    "mode": verdict.mode,
                    "confidence_band": verdict.confidence_band,
                    "reasons": ",".join(verdict.reasons) or "-",
                    "validator_trace_id": verdict.validator_trace_id,
                },
            )
