"""Whether requests can be served now: everything the service depends on, tried in earnest, apart from the work of others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from stillme.audit import AuditStore
from stillme.errors import StillMeError
from stillme.guard import Guard
from stillme.service.auth import Keys
from stillme.service.limits import Pool

__all__ = ["FIRST", "POLICY_PROBLEM", "Readiness"]

FIRST: Final[dict[str, Any]] = {
    "query": "How many days does a refund take?",
    "draft_answer": "The money is back in less than two weeks.",
    "retrieved_context": [{"source_id": "first", "text": "A refund is paid out after ten days at most, or sooner."}],
}
POLICY_PROBLEM: Final = "the file cannot be used; the last good policy is in force"
PATIENCE_S: Final = 5.0
NOT_REACHABLE: Final = "not reachable"
LATE: Final = f"no answer within {PATIENCE_S:g} s"
LETTERS: Final = "bcdfghjklm"


class Readiness:
    """What the service depends on, each "ok" or in what way it is not; names of hosts and files stay inside.

    It has a thread of its own, so that it answers however busy the others are. Everybody may ask, so what was found is told for
    `fresh_s` seconds without a new look, and one look at a time is under way.
    """

    def __init__(
        self,
        guard: Guard,
        search: Callable[[], object],
        keys: Keys,
        store: AuditStore | None,
        fresh_s: float,
    ) -> None:
        self._guard, self._search, self._keys, self._store = guard, search, keys, store
        self._fresh_s = fresh_s
        self._pool = Pool(1, 1, "stillme-ready")
        self._numbers = count()
        self._found: dict[str, str] = {}
        self._until = 0.0
        self._looking: asyncio.Task[dict[str, str]] | None = None

    async def checks(self) -> dict[str, str]:
        """What was found, lately or now."""
        if not self._found or time.monotonic() >= self._until:
            self._found = await self._looked()
            self._until = time.monotonic() + self._fresh_s
        return self._policy() | self._found

    def tried(self) -> dict[str, str]:
        """A look at everything, in this thread."""
        return self._policy() | self._tried()

    def close(self) -> None:
        """Wait for a look that is under way."""
        self._pool.close()

    async def _looked(self) -> dict[str, str]:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._pool.run(self._tried))
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await asyncio.shield(self._looking)
        except TimeoutError:
            return dict.fromkeys(self._tries(), LATE)

    def _policy(self) -> dict[str, str]:
        problem = self._guard.policy_problem
        return {"policy": "ok" if problem is None else POLICY_PROBLEM}

    def _tries(self) -> dict[str, Callable[[], object]]:
        tries = {"model": self._judge, "knowledge": self._search, "keys": self._keys.all}
        return tries if self._store is None else {**tries, "audit": self._store.try_writing}

    def _tried(self) -> dict[str, str]:
        return {name: _outcome(work) for name, work in self._tries().items()}

    def _judge(self) -> None:
        """Have a draft judged that was not judged before, by the model that comes with us; a judge elsewhere may cost money."""
        number = str(next(self._numbers))
        word = "".join(LETTERS[int(digit)] + "a" for digit in number)
        asked = FIRST | {"draft_answer": f"The money of {word} is back in less than two weeks."}
        verdict = Guard(self._guard.policy).examine(asked, record=False).verdict
        failed = [finding.validator for finding in verdict.findings if finding.outcome == "errored"]
        if failed:
            raise StillMeError(f"{', '.join(failed)} failed")


def _outcome(work: Callable[[], object]) -> str:
    try:
        work()
    except StillMeError:
        return NOT_REACHABLE
    return "ok"
