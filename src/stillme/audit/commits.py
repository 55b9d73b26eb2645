"""Group commit: what many threads record at the same time goes to disk in one transaction.

The first in the queue commits for all that wait behind it, its own entries among them. Alone, a caller pays for one
commit and no hand-over; together, callers share one. Nothing returns before its entries are on disk.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from queue import Empty, SimpleQueue

from stillme.audit.chain.record import Entry
from stillme.errors import BackendError, StillMeError
from stillme.storage.audit.database import RowsRefusedError

__all__ = ["Buffer", "GroupCommit"]

MOST_AT_ONCE = 512
MOST_BUFFERED = 10_000
FLUSH_EVERY_S = 0.05
RETRY_EVERY_S = 0.5
# After this long without news a follower looks for itself: whoever was to tell it may have been interrupted.
PATIENCE_S = 0.25
# The longest that a commit is put off for callers of the one before, who are likely to come back.
MOST_GATHERING_S = 0.01
GATHERING_STEP_S = 0.00005
INTERRUPTED = "the commit was interrupted: whether it took place is not known; record again what has to be kept"

Commit = Callable[[Sequence[Entry]], None]


class _Ticket:
    """The entries of one caller, and how they fared; its lock opens when there is something to learn."""

    __slots__ = ("entries", "error", "is_done", "is_told", "news")

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.is_done = self.is_told = False
        self.error: StillMeError | None = None
        self.news = threading.Lock()
        self.news.acquire()

    def settle(self, error: StillMeError | None) -> None:
        """The entries are committed, or are not, and their caller learns it."""
        self.error, self.is_done = error, True
        self.tell()

    def tell(self) -> None:
        """Let its caller look."""
        if not self.is_told:
            self.is_told = True
            self.news.release()


class GroupCommit:
    """Hands entries to `commit`, those of several callers together.

    A caller may be interrupted anywhere, more than once: only `with` holds locks here, and no one waits for a message
    alone. Those whose entries an interrupted caller was committing get a BackendError.
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._queue = threading.Lock()
        self._committing = threading.Lock()
        self._waiting: deque[_Ticket] = deque()
        self._last_callers = 1
        self._took_s = 0.0

    def add(self, entries: Sequence[Entry]) -> None:
        """Return when the entries are committed, or raise what kept them from it."""
        if not entries:
            return
        ticket = _Ticket(entries)
        try:
            with self._queue:
                self._waiting.append(ticket)
                is_first = len(self._waiting) == 1
            if not is_first:
                ticket.news.acquire(timeout=PATIENCE_S)
            while not ticket.is_done:
                with self._committing:
                    if not ticket.is_done:
                        self._lead(ticket)
        finally:
            if not ticket.is_done:
                self._withdraw(ticket)
        if ticket.error is not None:
            raise type(ticket.error)(*ticket.error.args) from ticket.error

    def _lead(self, own: _Ticket) -> None:
        """Commit for everybody who waits."""
        self._gather()
        tickets: list[_Ticket] = []
        try:
            with self._queue:
                if own not in self._waiting:  # an interrupted caller had taken it
                    own.settle(BackendError(INTERRUPTED))
                    return
                self._take(tickets)
            started = time.monotonic()
            self._commit_all(tickets)
            self._last_callers, self._took_s = len(tickets), time.monotonic() - started
        finally:
            for ticket in tickets:
                if not ticket.is_done:
                    ticket.settle(BackendError(INTERRUPTED))

    def _gather(self) -> None:
        """Wait until as many callers are back as the last commit had, but no longer than that commit took.

        Without it large groups take turns with commits for the one caller that is back first.
        """
        until = time.monotonic() + min(self._took_s, MOST_GATHERING_S)
        while len(self._waiting) < self._last_callers and time.monotonic() < until:
            time.sleep(GATHERING_STEP_S)

    def _take(self, tickets: list[_Ticket]) -> None:
        """Take from the queue what goes into one transaction, and let the first of the rest lead after it."""
        size = 0
        while self._waiting and (not tickets or size + len(self._waiting[0].entries) <= MOST_AT_ONCE):
            tickets.append(self._waiting.popleft())
            size += len(tickets[-1].entries)
        if self._waiting:
            self._waiting[0].tell()

    def _commit_all(self, tickets: Sequence[_Ticket]) -> None:
        """Commit together; where the database takes some rows and not others, each caller alone."""
        problem: StillMeError | None = None
        try:
            self._commit([entry for ticket in tickets for entry in ticket.entries])
        except RowsRefusedError as refused:
            if len(tickets) > 1:
                for ticket in tickets:
                    self._commit_all([ticket])
                return
            problem = refused
        except StillMeError as failure:
            problem = failure
        for ticket in tickets:
            ticket.settle(problem)

    def _withdraw(self, ticket: _Ticket) -> None:
        """An interrupted caller takes its entries back if nobody is committing them, and lets the next one lead."""
        with self._queue:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if self._waiting:
                self._waiting[0].tell()


class Buffer:
    """Entries that are written a moment after their caller went on (`audit.durability: buffered`).

    A killed process loses at most what the last `FLUSH_EVERY_S` seconds brought. What cannot be written stays here, and
    whoever comes next is told so instead of being given a verdict. `write` gets the entries, whether they may be
    spooled, and whether an earlier attempt may have written some of them; `rescue` gets what is left when the process
    ends and the store cannot take it.
    """

    def __init__(self, write: Callable[[Sequence[Entry], bool, bool], None], rescue: Commit) -> None:
        self._write = write
        self._rescue = rescue
        self._pending: list[tuple[Entry, bool]] = []
        self._taking = threading.Lock()
        self._flushing = threading.Lock()
        self._problem: StillMeError | None = None
        self._is_unsure = False
        # True for the thread: something came; False: it is to end. No Condition, which an interruption may leave locked.
        self._news: SimpleQueue[bool] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def add(self, entries: Sequence[Entry], spools: bool) -> None:
        """Take the entries; raises BackendError where earlier ones still cannot be written."""
        if len(self._pending) >= MOST_BUFFERED and self._problem is None:
            self.flush()
        with self._taking:
            if self._thread is None or not self._thread.is_alive():
                self._start()
            if (problem := self._problem) is not None:
                raise BackendError(f"{len(self._pending)} earlier verdicts wait to be written: {problem}") from problem
            self._pending += [(entry, spools) for entry in entries]
            self._news.put(True)

    def flush(self) -> None:
        """Write what is pending, or raise what keeps it from being written; then it is still pending."""
        with self._flushing:
            try:
                while self._pending:
                    self._flush_some()
                self._problem = None
            except StillMeError as problem:
                self._problem = problem
                raise

    def close(self) -> None:
        """Write the rest and stop."""
        self.flush()
        with self._taking:  # a thread that is here has been started
            thread, news = self._thread, self._news
        if thread is None:
            return
        news.put(False)
        thread.join()
        with self._taking:
            if self._thread is not thread:  # another caller closed it, and a third has begun anew
                return
            self._thread = None
            atexit.unregister(self._last_chance)
            if self._pending:  # it came in the meantime
                self._start()

    def _flush_some(self) -> None:
        """Entries leave the list only when they are written: an interruption in between cannot lose them."""
        spools = self._pending[0][1]
        alike = takewhile(lambda each: each[1] is spools, self._pending)
        entries = [entry for entry, _ in islice(alike, MOST_AT_ONCE)]
        is_again, self._is_unsure = self._is_unsure, True
        self._write(entries, spools, is_again)
        with self._taking:
            del self._pending[: len(entries)]
        self._is_unsure = False

    def _start(self) -> None:
        atexit.register(self._last_chance)
        self._news = SimpleQueue()
        self._news.put(True)
        self._thread = threading.Thread(target=self._run, args=(self._news,), name="stillme-audit-buffer", daemon=True)
        self._thread.start()

    def _run(self, news: SimpleQueue[bool]) -> None:
        pause, goes_on = FLUSH_EVERY_S, True
        while goes_on:
            goes_on = news.get() and _goes_on(news, pause)
            try:
                self.flush()
                pause = FLUSH_EVERY_S
            except StillMeError:  # the next caller is told
                pause = RETRY_EVERY_S
                news.put(True)

    def _last_chance(self) -> None:
        """At the end of the process."""
        try:
            self.flush()
        except StillMeError:
            self._rescue([entry for entry, _ in self._pending])
            self._pending.clear()


def _goes_on(news: SimpleQueue[bool], pause_s: float) -> bool:
    """Let more come for a moment; whether there will be a next time."""
    until = time.monotonic() + pause_s
    while (left := until - time.monotonic()) > 0:
        with suppress(Empty):
            if not news.get(timeout=left):
                return False
    return True
