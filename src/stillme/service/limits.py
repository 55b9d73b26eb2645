"""Bounds on what one process takes on: size, time, how much at once, how often. What is over a bound is told so, at once."""

from __future__ import annotations

import asyncio
import contextvars
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, TypeVar

from stillme.service.problems import Problem, ProblemError
from stillme.stopping import Stop

__all__ = ["Pool", "Rate", "address_of", "busy", "within"]

Result = TypeVar("Result")
MINUTE_S: Final = 60.0
MOST_KNOWN: Final = 10_000


def busy(retry_after_s: float = 1.0) -> ProblemError:
    """What a request is told that finds no place."""
    seconds = str(max(1, round(retry_after_s)))
    detail = f"the service is working to its limit: try again in {seconds} s"
    return ProblemError(Problem(429, detail, {"retry-after": seconds}))


class Pool:
    """Threads for work that would hold up everybody else: so many run, so many wait, the rest is turned away.

    Work that nobody waits for any more is told to stop, and ends at its next step; one that has not begun never does. It keeps its
    place until then: a place that was given away early would be two.
    """

    def __init__(self, threads: int, waiting: int, name: str = "stillme-work") -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
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
        context, stop = contextvars.copy_context(), Stop()  # a trace goes on in the thread
        begun: Future[Result] = self._executor.submit(context.run, stop.run, lambda: self._timed(work))
        future = asyncio.wrap_future(begun)
        future.add_done_callback(self._free)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            begun.cancel()
            raise

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


class Rate:
    """How often one caller may ask: so many times a minute, at once or spread; 0 sets no bound. Used by one thread."""

    def __init__(self, a_minute: int, variable: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = a_minute
        self._variable = variable
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count a request of a caller; a ProblemError (429) where it comes too soon."""
        if not self._most:
            return
        now = self._clock()
        left, since = self._left.pop(caller, (float(self._most), now))
        left = min(float(self._most), left + (now - since) * self._most / MINUTE_S)
        self._left[caller] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_KNOWN:
            self._left.popitem(last=False)  # whoever has not asked for longest has all its requests again soon
        if left < 1:
            seconds = str(max(1, math.ceil(round((1 - left) * MINUTE_S / self._most, 6))))
            detail = f"more than {self._most} requests a minute ({self._variable}): try again in {seconds} s"
            raise ProblemError(Problem(429, detail, {"retry-after": seconds}))


def address_of(client: tuple[str, int] | None) -> str:
    """Whose address it is: of IPv6 the network, as one host has a whole one."""
    try:
        found = ip_address(client[0]) if client else None
    except ValueError:
        return str(client[0]) if client else ""
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
    return str(found or "")


async def within(seconds: float, work: Any, variable: str) -> Any:
    """What is awaited, or a ProblemError (408) when it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        detail = f"it took longer than {seconds:g} s: send less at once, or raise {variable}"
        raise ProblemError(Problem(408, detail, {"connection": "close"})) from None
