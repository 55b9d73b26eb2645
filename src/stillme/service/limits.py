"""Bounds on what one process takes on: size, time, how much at once. What is over a bound is told so, at once."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from stillme.service.problems import Problem, ProblemError

__all__ = ["Pool", "busy", "within"]

Result = TypeVar("Result")


def busy(retry_after_s: float = 1.0) -> ProblemError:
    """What a request is told that finds no place."""
    seconds = str(max(1, round(retry_after_s)))
    detail = f"the service is working to its limit: try again in {seconds} s"
    return ProblemError(Problem(429, detail, {"retry-after": seconds}))


class Pool:
    """Threads for work that would hold up everybody else: so many run, so many wait, the rest is turned away.

    Work that nobody waits for any more runs to its end all the same, and keeps its place until then: a place that was given away
    early would be two.
    """

    def __init__(self, threads: int, waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="stillme-work")
        self._threads = threads
        self._most = threads + waiting
        self._taken = 0
        self._usual_s = 0.01

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return self._taken

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises; a ProblemError (429) where there is no place."""
        if self._taken >= self._most:
            raise busy(self._taken * self._usual_s / self._threads)
        self._taken += 1
        context = contextvars.copy_context()  # a trace goes on in the thread
        future = asyncio.get_running_loop().run_in_executor(self._executor, context.run, self._timed, work)
        future.add_done_callback(self._free)
        return await asyncio.shield(future)

    def _timed(self, work: Callable[[], Result]) -> Result:
        """Do the work and learn how long work takes, without the time it waited: that is told to whoever is turned away."""
        started = time.monotonic()
        try:
            return work()
        finally:
            self._usual_s += 0.1 * (time.monotonic() - started - self._usual_s)

    def _free(self, done: asyncio.Future[Any]) -> None:
        self._taken -= 1
        if not done.cancelled():
            done.exception()  # somebody looked at it, even where whoever asked has gone

    def close(self) -> None:
        """Wait for what is running."""
        self._executor.shutdown(wait=True, cancel_futures=True)


async def within(seconds: float, work: Any, variable: str) -> Any:
    """What is awaited, or a ProblemError (408) when it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        detail = f"it took longer than {seconds:g} s: send less at once, or raise {variable}"
        raise ProblemError(Problem(408, detail, {"connection": "close"})) from None
