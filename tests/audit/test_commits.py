"""Group commit: each caller's entries are committed exactly once or it is told, whoever is interrupted and whatever fails."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit import commits
from stillme.audit.chain.record import Entry
from stillme.audit.commits import MOST_AT_ONCE, Buffer, GroupCommit
from stillme.errors import BackendError, StillMeError
from stillme.storage.audit.database import RowsRefusedError
from tests.soak import examples, rounds
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]


def entries(*names: str) -> list[Entry]:
    return [Entry("verdict", name, "2026-02-01T09:00:00.000000Z", "{}") for name in names]


class Ledger:
    """A store that takes a moment, keeps each group, and fails where it is told to."""

    def __init__(
        self, takes_s: float = 0.0, fails: Callable[[list[str]], StillMeError | None] = lambda _: None
    ) -> None:
        self.groups: list[list[str]] = []
        self.takes_s = takes_s
        self.fails = fails
        self.gate = threading.Lock()  # no Event: an interruption may leave the lock inside it behind
        self.begun = 0

    def commit(self, group: Sequence[Entry]) -> None:
        """Keep the group whole or not at all."""
        self.begun += 1
        with self.gate:
            pass
        time.sleep(self.takes_s)  # noqa: TID251  (a disk that takes its time)
        names = [entry.id for entry in group]
        if error := self.fails(names):
            raise error
        self.groups.append(names)

    @property
    def names(self) -> list[str]:
        """Everything that was kept."""
        return [name for group in self.groups for name in group]


def run(*works: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def ended(threads: Sequence[threading.Thread], timeout_s: float = 600.0) -> bool:
    """Whether all of them came to their end."""
    until = time.monotonic() + timeout_s
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def waiting(group: GroupCommit, callers: int) -> bool:
    """Whether so many callers came to wait."""
    return eventually(lambda: len(group._waiting) == callers)


@settings(max_examples=examples(25), deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=8),
    failing=st.sets(st.integers(0, 40), max_size=15),
)
def test_every_entry_is_committed_once_or_its_caller_is_told(sizes: list[list[int]], failing: set[int]) -> None:
    """Whatever callers bring at the same time, and whichever commits fail."""
    ledger = Ledger(fails=lambda _: BackendError("no") if ledger.begun in failing else None)
    group, told = GroupCommit(ledger.commit), Counter[str]()
    brought = [[[f"{c}-{a}-{e}" for e in range(size)] for a, size in enumerate(adds)] for c, adds in enumerate(sizes)]

    def call(adds: list[list[str]]) -> None:
        for names in adds:
            try:
                group.add(entries(*names))
                told.update(names)
            except BackendError:
                pass

    assert ended(run(*(lambda adds=adds: call(adds) for adds in brought)))
    assert Counter(ledger.names) == told
    assert set(ledger.names) <= {name for adds in brought for names in adds for name in names}
    assert len(group._waiting) == 0


def test_callers_at_the_same_time_share_a_commit() -> None:
    """While one commit is under way, the others gather for the next."""
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    ledger.gate.acquire()

    first = run(lambda: group.add(entries("a")))
    assert eventually(lambda: ledger.begun > 0)
    others = run(*(lambda n=n: group.add(entries(n)) for n in "bcdefgh"))
    assert waiting(group, 7)
    ledger.gate.release()

    assert ended([*first, *others])
    assert [sorted(names) for names in ledger.groups] == [["a"], list("bcdefgh")]


def test_the_order_is_kept_and_a_huge_batch_stays_whole() -> None:
    """Those before a huge batch need not wait for it, those behind it come next, and nobody is passed over."""
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    ledger.gate.acquire()
    huge = [f"huge-{number}" for number in range(3 * MOST_AT_ONCE)]

    threads = run(lambda: group.add(entries("first")))
    assert eventually(lambda: ledger.begun > 0)
    for number, names in enumerate((["a"], ["b"], huge, ["c"], ["d"]), 1):
        threads += run(lambda names=names: group.add(entries(*names)))  # type: ignore[misc]
        assert waiting(group, number)
    ledger.gate.release()

    assert ended(threads)
    assert ledger.groups == [["first"], ["a", "b"], huge, ["c", "d"]]


def test_nobody_starves() -> None:
    """Under constant load each call comes to its end, and what one caller brings is kept in order."""
    ledger = Ledger(takes_s=0.001)
    group = GroupCommit(ledger.commit)

    def call(name: str) -> None:
        for number in range(25):
            group.add(entries(f"{name}-{number}"))

    assert ended(run(*(lambda n=n: call(n) for n in "abcdefgh")))
    for name in "abcdefgh":
        assert [n for n in ledger.names if n.startswith(name)] == [f"{name}-{number}" for number in range(25)]


def test_what_the_database_refuses_concerns_its_caller_alone() -> None:
    """The others of its group are committed, and only the one is told."""
    ledger = Ledger(fails=lambda names: RowsRefusedError("not this one") if "bad" in names else None)
    group, told = GroupCommit(ledger.commit), dict[str, str]()
    ledger.gate.acquire()

    def call(name: str) -> None:
        try:
            group.add(entries(name))
            told[name] = "kept"
        except RowsRefusedError as error:
            told[name] = str(error)

    threads = run(lambda: call("first"))
    assert eventually(lambda: ledger.begun > 0)
    threads += run(*(lambda n=n: call(n) for n in ("a", "bad", "b")))
    assert waiting(group, 3)
    ledger.gate.release()

    assert ended(threads)
    assert told == {"first": "kept", "a": "kept", "bad": "not this one", "b": "kept"}
    assert sorted(ledger.names) == ["a", "b", "first"]


def test_an_error_that_nobody_foresaw_reaches_everybody() -> None:
    """Whoever commits gets it as it is, those it committed for get a BackendError, and the next commit works."""
    ledger = Ledger()
    group, seen = GroupCommit(ledger.commit), list[str]()

    def fail(_: Sequence[Entry]) -> None:
        ledger.begun += 1
        with ledger.gate:
            raise ZeroDivisionError

    def call(name: str) -> None:
        try:
            group.add(entries(name))
        except (BackendError, ZeroDivisionError) as error:
            seen.append(type(error).__name__)

    group._commit = fail
    ledger.gate.acquire()
    threads = run(lambda: call("a"))
    assert eventually(lambda: ledger.begun > 0)
    threads += run(*(lambda n=n: call(n) for n in "bcd"))
    assert waiting(group, 3)
    ledger.gate.release()
    assert ended(threads)
    group._commit = ledger.commit
    group.add(entries("e"))

    assert sorted(seen) == ["BackendError", "BackendError", "ZeroDivisionError", "ZeroDivisionError"]
    assert ledger.names == ["e"]


INTERRUPTED = """
import random, signal, sys, threading, time
from collections import Counter
from tests.audit.test_commits import Ledger, ended, entries, run
from stillme.audit.commits import GroupCommit
from stillme.errors import BackendError

class Interruption(BaseException):
    pass

def interrupt(*_):
    raise Interruption

ledger = Ledger(takes_s=0.0002)
group = GroupCommit(ledger.commit)
returned, failed, is_over = Counter(), 0, threading.Event()

def work(name):
    global failed
    number = 0
    while not is_over.is_set():
        number += 1
        try:
            group.add(entries(f"{name}-{number}"))
            returned[f"{name}-{number}"] += 1
        except BackendError as error:
            assert "interrupted" in str(error)
            failed += 1

threads = run(*(lambda n=n: work(f"thread-{n}") for n in range(5)))
signal.signal(signal.SIGALRM, interrupt)
interruptions, number, wanted = 0, 0, int(sys.argv[1])
while interruptions < wanted or len(returned) < wanted:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00005, 0.003), 0.0004)
        while True:
            number += 1
            group.add(entries(f"main-{number}"))
            returned[f"main-{number}"] += 1
    except Interruption:
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                interruptions += 1
                break
            except Interruption:
                pass
is_over.set()
print(ended(threads, 20))
found = Counter(ledger.names)
print(set(found.values()) == {1}, set(returned) <= set(found), len(group._waiting))
print(interruptions, len(returned), failed, file=sys.stderr)
"""


def test_interrupted_by_real_signals_again_and_again() -> None:
    """Exceptions out of signal handlers, several in a row, in whoever leads or waits: nobody hangs, nothing is lost."""
    command = [sys.executable, "-c", INTERRUPTED, str(rounds(200, 40))]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)

    assert (done.returncode, done.stdout.splitlines()) == (0, ["True", "True True 0"]), done.stderr


# buffered


class Shelf:
    """Where a buffer writes: it keeps, or fails while it is told to."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.calls: list[tuple[int, bool, bool]] = []
        self.rescued: list[str] = []
        self.problem: BaseException | None = None
        self.keeps_first = False

    def write(self, given: Sequence[Entry], spools: bool, is_again: bool) -> None:
        """Keep them, or raise the problem, in some cases after they were kept all the same."""
        self.calls.append((len(given), spools, is_again))
        if self.problem is not None and not self.keeps_first:
            raise self.problem
        self.kept += [entry.id for entry in given if not is_again or entry.id not in self.kept]
        if self.problem is not None:
            raise self.problem

    def rescue(self, given: Sequence[Entry]) -> None:
        """What is left at the end."""
        self.rescued += [entry.id for entry in given]


@pytest.fixture
def shelf() -> Shelf:
    """An empty one."""
    return Shelf()


@pytest.fixture
def buffer(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Buffer:
    """A buffer that does nothing of itself for a long while."""
    monkeypatch.setattr(commits, "FLUSH_EVERY_S", 60.0)
    return Buffer(shelf.write, shelf.rescue)


def test_a_buffer_writes_by_itself(shelf: Shelf) -> None:
    """Soon after its caller went on, without being asked."""
    buffer = Buffer(shelf.write, shelf.rescue)

    buffer.add(entries("a", "b"), False)

    assert eventually(lambda: shelf.kept == ["a", "b"])
    buffer.close()


def test_a_buffer_keeps_the_order_and_what_may_be_spooled_apart(shelf: Shelf, buffer: Buffer) -> None:
    """Runs of entries of one kind are written together, in the order they came."""
    for name, spools in (("a", False), ("b", True), ("c", True), ("d", False)):
        buffer.add(entries(name), spools)
    buffer.close()

    assert shelf.kept == ["a", "b", "c", "d"]
    assert shelf.calls == [(1, False, False), (2, True, False), (1, False, False)]


@pytest.mark.parametrize("problem", [BackendError("down"), KeyboardInterrupt(), ZeroDivisionError()])
@pytest.mark.parametrize("keeps_first", [False, True], ids=["before it was kept", "after it was kept"])
def test_a_flush_that_fails_loses_nothing_and_repeats_nothing(
    shelf: Shelf, buffer: Buffer, problem: BaseException, keeps_first: bool
) -> None:
    """Whatever breaks a flush off, the entries stay, and the next attempt is told that some may be there already."""
    buffer.add(entries("a", "b"), False)
    shelf.problem, shelf.keeps_first = problem, keeps_first
    with pytest.raises(type(problem)):
        buffer.flush()

    shelf.problem = None
    buffer.flush()

    assert shelf.kept == ["a", "b"]
    assert [again for _, _, again in shelf.calls] == [False, True]
    buffer.close()


def test_the_next_caller_is_told_at_once(shelf: Shelf, buffer: Buffer) -> None:
    """It does not wait for another attempt, and its own entries are not taken."""
    buffer.add(entries("a"), False)
    shelf.problem = BackendError("down")
    with pytest.raises(BackendError):
        buffer.flush()

    with pytest.raises(BackendError, match="1 earlier verdicts wait to be written: down"):
        buffer.add(entries("b"), False)

    assert len(shelf.calls) == 1
    shelf.problem = None
    buffer.close()
    assert shelf.kept == ["a"]


def test_a_full_buffer_makes_its_caller_write(shelf: Shelf, buffer: Buffer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not grow without bounds."""
    monkeypatch.setattr(commits, "MOST_BUFFERED", 3)

    for name in "abcdef":
        buffer.add(entries(name), False)

    assert shelf.kept == ["a", "b", "c"]
    buffer.close()
    assert shelf.kept == list("abcdef")


def test_adding_while_it_is_closed_loses_nothing(shelf: Shelf) -> None:
    """Callers and closers at the same time: everything that was taken is written."""
    buffer = Buffer(shelf.write, shelf.rescue)

    def call(name: str) -> None:
        for number in range(100):
            buffer.add(entries(f"{name}{number}"), False)
            if number % 20 == 0:
                buffer.close()

    assert ended(run(*(lambda n=n: call(n) for n in "abcd")))
    buffer.close()

    assert sorted(shelf.kept) == sorted(f"{name}{number}" for name in "abcd" for number in range(100))
