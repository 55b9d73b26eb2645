"""Work in several processes: results in the order of the items, a bounded number under way, and an item that kills its process told apart.

Where the system can copy a process, one that has read the models is copied for each worker: the copies share its memory, so that the
weights are there once however many workers there are. Elsewhere each worker reads them for itself.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.context import BaseContext
from typing import Any, Final, Generic, TypeVar

from stillme.errors import BackendError
from stillme.models import bundle

__all__ = ["Workers"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Sequence[Any]], list[Any]]
AHEAD: Final = 4
"""So many chunks for each process are under way or wait to be taken."""
SHARED: Final = "stillme.batch.shared_weights"


@dataclass(frozen=True, slots=True)
class Workers(Generic[Item, Result]):
    """Processes that each do what `make_work` makes there: a list of items in, a list of as many results out."""

    make_work: Callable[[], Callable[[Sequence[Item]], list[Result]]]
    jobs: int
    lost: Callable[[Item], Result]
    """The result of an item whose process ended under it."""
    chunk: int = 16
    shares_weights: bool = False
    """Whether the models are read once, for all of them."""

    def results(self, items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items, as they are ready."""
        remaining = iter(items)
        waiting: deque[tuple[list[Item], Future[list[Result]]]] = deque()
        pool = self._pool(self.jobs)
        try:
            while True:
                while len(waiting) < self.jobs * AHEAD and (chunk := list(islice(remaining, self.chunk))):
                    waiting.append((chunk, _submitted(pool, chunk)))
                if not waiting:
                    return
                chunk, future = waiting.popleft()
                results = _result(future)
                if results is None:
                    pool.shutdown(cancel_futures=True)
                    pool = self._pool(self.jobs)
                    results = list(self._one_by_one(chunk))
                    waiting = deque((each, _submitted(pool, each)) for each, _ in waiting)
                yield from results
        finally:
            pool.shutdown(cancel_futures=True)

    def _one_by_one(self, items: Sequence[Item]) -> Iterator[Result]:
        """The results of a chunk that killed its process: one of its items did, and the others are told apart from it."""
        pool = self._pool(1)
        if _result(_submitted(pool, [])) is None:
            raise BackendError("no process can be started: run with one (--jobs 1)")
        try:
            for item in items:
                results = _result(_submitted(pool, [item]))
                if results is None:
                    pool.shutdown(cancel_futures=True)
                    pool = self._pool(1)
                yield from results or [self.lost(item)]
        finally:
            pool.shutdown(cancel_futures=True)

    def _pool(self, jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(jobs, self._context(), initializer=_begin, initargs=(self.make_work,))

    def _context(self) -> BaseContext:
        # A copy of this process might stand still, for its libraries may have threads. The server that is copied has none.
        if not self.shares_weights or "forkserver" not in get_all_start_methods():
            return get_context("spawn")
        context = get_context("forkserver")
        context.set_forkserver_preload([SHARED])
        return context


def _submitted(pool: ProcessPoolExecutor, items: list[Any]) -> Future[list[Any]]:
    try:
        return pool.submit(_run_chunk, items)
    except BrokenProcessPool as error:
        failed: Future[list[Any]] = Future()
        failed.set_exception(error)
        return failed


def _result(future: Future[list[Result]]) -> list[Result] | None:
    """The results of a chunk, None where its process ended before they were there."""
    try:
        return future.result()
    except BrokenProcessPool:
        return None


_work: list[Work] = []
"""What this process does for another."""


def _begin(make_work: Callable[[], Work]) -> None:
    # The process that started this one is interrupted as well, and ends it; where it was killed, this one ends by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    bundle.threads = 1
    _work.append(make_work())
    gc.freeze()  # what is there now stays, and looking at it again would copy what is shared


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_chunk(items: Sequence[Any]) -> list[Any]:
    return _work[0](items)
