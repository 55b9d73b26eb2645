"""A circuit breaker: a server that failed several times in a row is left alone for a while, then tried with one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from stillme.errors import InputError

__all__ = ["Breaker", "Call"]

State = Literal["closed", "open", "half-open"]


class Call:
    """A call that was let through; how it went is told once, and a call that is given up tells nothing."""

    __slots__ = ("_breaker", "_period")

    def __init__(self, breaker: Breaker, period: int) -> None:
        self._breaker: Breaker | None = breaker
        self._period = period

    def arrived(self) -> None:
        """The answer has begun: a server on trial is open to others again, and the next failure shuts it again."""
        if self._breaker is not None:
            self._period = self._breaker._arrived(self._period)

    def succeeded(self) -> None:
        """The answer is whole."""
        self._end(lambda breaker: breaker._succeeded(self._period))

    def failed(self) -> None:
        """There was no answer, or none that could be used."""
        self._end(lambda breaker: breaker._failed(self._period))

    def given_up(self) -> None:
        """Nobody waits for the answer any more, or the fault was the caller's: this says nothing about the server."""
        self._end(lambda breaker: breaker._given_up(self._period))

    def _end(self, tell: Callable[[Breaker], None]) -> None:
        breaker, self._breaker = self._breaker, None
        if breaker is not None:
            tell(breaker)


class Breaker:
    """Closed, it lets every call through; `failures` in a row open it; after `pause_s` one call may try, and its outcome decides.

    It never waits and never awaits, so that the tasks of one event loop can share it. What a call tells that was let through
    before the state last changed does not count: it speaks of another time.
    """

    def __init__(self, failures: int = 5, pause_s: float = 30.0, clock: Callable[[], float] = time.monotonic) -> None:
        if failures < 1 or not pause_s >= 0:
            raise InputError(
                f"a breaker opens after 1 failure or more and pauses 0 s or more, got {failures}, {pause_s}"
            )
        self._most = failures
        self._pause_s = pause_s
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._on_trial = False
        self._period = 0

    @property
    def state(self) -> State:
        if self._opened_at is None:
            return "closed"
        return "open" if self.wait_s > 0 else "half-open"

    @property
    def wait_s(self) -> float:
        """Seconds until a call may try; 0 where one may, or where the one that tries has not come back."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._pause_s - self._clock())

    def admit(self) -> Call | None:
        """A call that may go ahead, or None where the server is to be left alone."""
        if self._opened_at is not None:
            if self._on_trial or self.wait_s > 0:
                return None
            self._on_trial = True
        return Call(self, self._period)

    # what calls tell

    def _arrived(self, period: int) -> int:
        if period == self._period and self._opened_at is not None:
            self._close(self._most - 1)
            return self._period
        return period

    def _succeeded(self, period: int) -> None:
        if period != self._period:
            return
        if self._opened_at is not None:
            self._close(0)
        self._failures = 0

    def _failed(self, period: int) -> None:
        if period != self._period:
            return
        self._failures += 1
        if self._opened_at is not None or self._failures >= self._most:
            self._opened_at = self._clock()
            self._on_trial = False
            self._period += 1

    def _given_up(self, period: int) -> None:
        if period == self._period:
            self._on_trial = False

    def _close(self, failures: int) -> None:
        self._failures, self._opened_at, self._on_trial = failures, None, False
        self._period += 1
