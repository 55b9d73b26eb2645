"""The local journal: takes audit entries while their store cannot, and gives them back to it later.

A journal is a SQLite file of its own in a folder on a local disk, shared by all processes that write to the store; each
commit is on disk before it counts. A second file appears only where the first was damaged and had to be set aside.

Each entry has a number and a hash over both, not keyed: they find accidents, not a forger. Entries that are lost whole
from the end of a file are not noticed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stillme.errors import BackendError, InputError, shown
from stillme.storage.audit.database import Database, Writing
from stillme.storage.audit.sqlite import SqliteDatabase
from stillme.storage.sqlite import BUSY, DAMAGED, advice, error_code, make_private

__all__ = ["DamagedFile", "Drained", "Journal"]

OLD: Final = ".journal"
"""Files of versions that wrote lines of text."""
SCHEMA: Final = """CREATE TABLE IF NOT EXISTS entry
  (number INTEGER PRIMARY KEY AUTOINCREMENT, payload BLOB NOT NULL, digest TEXT NOT NULL)"""
MOST: Final = 2**63 - 1
LAST: Final = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entry'"
NEXT: Final = "SELECT number, payload, digest FROM entry WHERE number BETWEEN ? AND ? ORDER BY number LIMIT ?"

logger = logging.getLogger(__name__)
Deliver = Callable[[Sequence[bytes]], None]


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file set aside because entry `number` cannot be read as it was written; only what stood before was delivered."""

    path: Path
    number: int

    def __str__(self) -> str:
        return (
            f"the journal file {_named(self.path)} is damaged from entry {self.number} on: the entries before are delivered, "
            "the rest is kept there undelivered; compare it with a backup, and delete it only when the rest is accounted for"
        )


@dataclass(frozen=True, slots=True)
class Drained:
    """What one drain did: entries delivered, files set aside as damaged."""

    delivered: int = 0
    damaged: tuple[DamagedFile, ...] = ()

    def __add__(self, other: Drained) -> Drained:
        return Drained(self.delivered + other.delivered, self.damaged + other.damaged)


class Journal:
    """Entries appended here are on disk when `append` returns and stay until `drain` has delivered them.

    Safe to share between threads and processes. The folder is made at the first append.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()
        self._database: SqliteDatabase | None = None
        self._opening = threading.Lock()
        self.has_own = False
        """Whether this process has appended something since it last drained."""
        if self._folder.is_dir() and (problem := self._old_format()):
            logger.error("%s", problem)

    def append(self, payloads: Sequence[bytes]) -> None:
        """All payloads are on disk when this returns; BackendError: none is."""
        for payload in payloads:
            if not isinstance(payload, bytes):
                raise InputError(
                    f"a journal payload must be bytes, got {shown(payload)}; encode the JSON text as UTF-8"
                )
        if not payloads:
            return
        try:
            self._in_use().write(lambda writing: _append(writing, payloads))
        except (OSError, BackendError) as failure:
            self.close()  # the next append looks again for the file in use
            raise BackendError(
                f"{len(payloads)} audit entries were not written to the journal {_named(self._folder)}: {_cause(failure)}"
            ) from failure
        self.has_own = True

    def pending(self) -> int:
        """How many entries wait, damaged files left out."""
        return sum(self._count(path) for path in self.files())

    def files(self) -> tuple[Path, ...]:
        """The files in use, oldest first."""
        return self._listed(".db")

    def damaged(self) -> tuple[Path, ...]:
        """The files that a drain set aside because they are damaged, oldest first."""
        return self._listed(".damaged")

    def drain(self, deliver: Deliver, batch: int = 200) -> Drained:
        """Hand every entry to `deliver` in order and then forget it; while another process drains, nothing.

        What `deliver` raises goes on to the caller and its entries stay, so an entry can be delivered twice: `deliver` must
        be durable and idempotent. It may append to this journal but not drain it.
        """
        if batch < 1:
            raise InputError(f"batch must be 1 or more, got {shown(batch)}")
        drained = Drained()
        if self.files():
            with self._alone() as is_alone:
                for path in self.files() if is_alone else ():
                    drained += self._drain_file(path, deliver, batch)
        if problem := self._old_format():
            raise BackendError(problem)
        return drained

    def close(self) -> None:
        """Let go of the file; a later append opens it again."""
        with self._opening:
            database, self._database = self._database, None
        if database is not None:
            database.close()

    def _in_use(self) -> SqliteDatabase:
        with self._opening:
            if self._database is None:
                _make_folder(self._folder)
                new = self._folder / f"{time.time():.6f}-{secrets.token_hex(4)}.db"
                self._database = _database((*self.files(), new)[0])
            return self._database

    def _count(self, path: Path) -> int:
        database = _database(path)
        has_table = database.rows(database.table_query, ["entry"])
        return int(database.rows("SELECT count(*) FROM entry")[0][0]) if has_table else 0

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other thread or process drains; SQLite's lock on a file of its own goes with whoever holds it."""
        path = self._folder / "drain.lock"
        make_private(path)
        with ExitStack() as held:
            try:
                held.enter_context(closing(lock := sqlite3.connect(path, timeout=0, isolation_level=None)))
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as failure:
                if error_code(failure) != BUSY:
                    raise BackendError(
                        f"the journal {_named(self._folder)} cannot be drained: {advice(failure)}"
                    ) from failure
                yield False
                return
            yield True

    def _drain_file(self, path: Path, deliver: Deliver, batch: int) -> Drained:
        had_own, self.has_own = self.has_own, False
        with closing(_database(path)) as database, ExitStack() as unfinished:
            unfinished.callback(setattr, self, "has_own", had_own)
            start, last, delivered = 0, _last(database), 0
            while start <= last:
                entries, is_damaged = _read(database, start, last, batch)
                if entries:
                    deliver([payload for _, payload in entries])
                    start, delivered = entries[-1][0] + 1, delivered + len(entries)
                    _forget(database, start)
                if is_damaged:
                    return Drained(delivered, (self._set_aside(path, start),))
                if not entries:
                    break
            unfinished.pop_all()
            with suppress(BackendError):  # someone reads: the next drain cuts the log off
                database.forget()
        return Drained(delivered)

    def _set_aside(self, path: Path, number: int) -> DamagedFile:
        """Keep a damaged file under another name; whoever has it open notices, and goes on with a new one."""
        self.close()
        target = path.with_suffix(".damaged")
        if target.exists():  # a repaired copy that is damaged again must not replace the first evidence
            target = target.with_name(f"{target.stem}-{secrets.token_hex(4)}.damaged")
        try:
            for suffix in ("-wal", ""):
                with suppress(FileNotFoundError):
                    Path(f"{path}{suffix}").rename(f"{target}{suffix}")
            Path(f"{path}-shm").unlink(missing_ok=True)
        except OSError as failure:
            raise BackendError(
                f"the damaged journal file {_named(path)} cannot be set aside: {_cause(failure)}"
            ) from failure
        return DamagedFile(target, max(number, 1))

    def _old_format(self) -> str:
        old = self._listed(OLD)
        if not old:
            return ""
        return (
            f"{len(old)} files such as {_named(old[0])} hold entries in the format of an earlier version, which this one "
            "does not read: drain them with that version (`stillme audit drain`), then upgrade again"
        )

    def _listed(self, suffix: str) -> tuple[Path, ...]:
        try:
            return tuple(sorted(path for path in self._folder.iterdir() if path.suffix == suffix and path.is_file()))
        except FileNotFoundError:
            return ()
        except OSError as failure:
            raise BackendError(f"the journal {_named(self._folder)} cannot be listed: {_cause(failure)}") from failure


def _database(path: Path) -> SqliteDatabase:
    return SqliteDatabase(str(path), name=f"the journal file {_named(path)}", prepare=_prepare)


def _prepare(writing: Writing, _: Database) -> None:
    writing.rows(SCHEMA)


def _append(writing: Writing, payloads: Sequence[bytes]) -> None:
    first = writing.rows(LAST)[0][0] + 1
    rows = [(number, payload, _digest(number, payload)) for number, payload in enumerate(payloads, first)]
    writing.insert("entry", ("number", "payload", "digest"), rows)


def _last(database: SqliteDatabase) -> int:
    """The number of the last entry; where the file cannot even tell that, one that is never reached."""
    try:
        database.write(lambda _: None)  # a process may have died before it made the table
        return int(database.rows(LAST)[0][0])
    except BackendError as failure:
        if error_code(failure.__cause__) not in DAMAGED:
            raise
        return MOST


def _read(database: SqliteDatabase, start: int, last: int, most: int) -> tuple[list[tuple[int, bytes]], bool]:
    """The next entries, and whether the one behind them is not as it was written; 0 starts at the first there is."""
    try:
        rows = database.rows(NEXT, [start, last, most])
    except BackendError as failure:
        if error_code(failure.__cause__) not in DAMAGED:
            raise
        return ([], True) if most == 1 else _read(database, start, last, 1)
    entries: list[tuple[int, bytes]] = []
    for number, payload, digest in rows:
        expected = entries[-1][0] + 1 if entries else start or number
        if number != expected or not isinstance(payload, bytes) or digest != _digest(number, payload):
            return entries, True
        entries.append((number, payload))
    return entries, False


def _forget(database: SqliteDatabase, end: int) -> None:
    try:
        database.write(lambda writing: writing.rows("DELETE FROM entry WHERE number < ?", [end]))
    except BackendError as failure:
        raise BackendError(f"{failure}; entries were delivered and cannot be removed: they will be again") from failure


def _make_folder(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in missing:
        fd = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _digest(number: int, payload: bytes) -> str:
    return hashlib.sha256(b"%d %b" % (number, payload)).hexdigest()


def _named(path: Path) -> str:
    return shown(str(path), 500)


def _cause(failure: Exception) -> str:
    if isinstance(failure, OSError):
        return f"{failure.strerror or failure}; check the folder, its disk, and that the user of this process may write there"
    return str(failure)
