"""Work that can be stopped: whoever waits for it tells it to, and it looks at every step that may take long.

stop = Stop()
stop.run(lambda: guard.verify(request))  # raises StoppedError once another thread has called stop.set()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar, copy_context
from typing import Final, TypeVar

from stillme.errors import StoppedError

__all__ = ["Stop", "checkpoint", "watched"]

Result = TypeVar("Result")
Item = TypeVar("Item")


class Stop:
    """Says once, to all work that runs under it, that nobody waits for that work any more."""

    __slots__ = ("is_set",)

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """Stop the work at its next step."""
        self.is_set = True

    def run(self, work: Callable[[], Result]) -> Result:
        """Do the work in this thread; a StoppedError where it was stopped."""
        context = copy_context()
        context.run(_CURRENT.set, self)
        return context.run(_begun, work)


_CURRENT: Final[ContextVar[Stop | None]] = ContextVar("stillme_stop", default=None)


def _begun(work: Callable[[], Result]) -> Result:
    checkpoint()
    return work()


def checkpoint() -> None:
    """Go on, or raise a StoppedError where whoever waits has given up."""
    stop = _CURRENT.get()
    if stop is not None and stop.is_set:
        raise StoppedError("the work was stopped: nobody waits for it any more")


def watched(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with a look before each whether to go on; where nobody can stop the work, as they are."""
    return iter(items) if _CURRENT.get() is None else _checked(items)


def _checked(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        checkpoint()
        yield item
