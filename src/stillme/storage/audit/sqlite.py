"""The audit store in one SQLite file: WAL, every commit on disk before it counts, no server."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stillme.errors import BackendError, shown
from stillme.storage.audit.database import Database, Result, Row, RowsRefusedError, Writing, migrate, survive_forks
from stillme.storage.sqlite import advice, identity, keep_for_ever, make_private, write_ahead

__all__ = ["SqliteDatabase"]

# Pages that hold a whole record, a log of 32 MB before it is moved into the file, and half as much memory: pages of the
# indexes change again and again.
ROOM = ("page_size=16384", "wal_autocheckpoint=2000", "cache_size=-16000")
# FULL: the log is on disk when a commit returns (fullfsync: on macOS too). secure_delete: what is erased is
# overwritten, not only unlinked.
PRAGMAS = ("synchronous=FULL", "fullfsync=ON", "secure_delete=ON", "trusted_schema=OFF", *ROOM)
# The file, its log and the index of the log: all three belong to an open store.
SUFFIXES = ("", "-wal", "-shm")
RETRY_EVERY_S = 0.01
# How many rows one statement inserts: few sizes, so that each statement is prepared once.
TOGETHER = (64, 16, 4, 1)
# Files that this process must not open: SQLite has locks of its parent in its books.
_CUT_OFF: set[Path] = set()


@dataclass(frozen=True, slots=True)
class _Writer:
    """The connection that writes, and which files it has open."""

    connection: sqlite3.Connection
    files: dict[str, tuple[int, int]]


class SqliteDatabase:
    """One file; writers of all processes take turns, readers never wait for them."""

    key_type = "INTEGER PRIMARY KEY"
    table_query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"

    def __init__(
        self,
        path: str,
        timeout_s: float = 5.0,
        *,
        name: str | None = None,
        prepare: Callable[[Writing, Database], None] = migrate,
    ) -> None:
        self.path = Path(path).absolute()
        self.name = name or f"the audit store {shown(path)}"
        self._prepare_schema = prepare
        self._timeout_s = timeout_s
        self._writer: _Writer | None = None
        self._was_open = False
        self._lock = threading.Lock()
        self._gate = threading.Lock()
        self._reading: set[object] = set()
        self._held: list[threading.Lock] = []
        survive_forks(self)

    def write(self, work: Callable[[Writing], Result], *, is_long: bool = False) -> Result:  # noqa: ARG002
        """Do the work in a transaction under SQLite's one write lock; a disk is never asked to hurry."""
        with self._lock, self._translated():
            connection = self._opened()
            try:
                connection.execute("BEGIN IMMEDIATE")
                self._check_in_place()
                result = work(_Transaction(connection))
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            return result

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """The rows of a query, on a connection of its own: sqlite3 lets no two threads share a cursor."""
        with self._reader() as connection:
            return connection.execute(sql, values).fetchall()

    def bytes_used(self) -> int:
        """The file with its log."""
        files = [Path(f"{self.path}{suffix}") for suffix in SUFFIXES[:2]]
        return sum(file.stat().st_size for file in files if file.exists())

    def damage(self) -> str | None:
        """The first thing that SQLite's own check finds: a search through a damaged index would miss records."""
        found = str(self.rows("PRAGMA integrity_check(1)")[0][0])
        return None if found == "ok" else shown(found)

    def forget(self) -> None:
        """Move the log into the file and cut it off: it still held what the file has overwritten."""
        with self._reader() as connection:
            self._truncate_log(connection)

    def vacuum(self) -> None:
        """Rebuild the indexes and rewrite the file without its free pages; meanwhile writers wait, or fail in time."""
        with self._reader() as connection:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("REINDEX")
            connection.execute("VACUUM")
            self._truncate_log(connection)

    def backup(self, target: str) -> None:
        """A copy as of one moment, taken while others go on writing."""
        if Path(target).exists():
            raise BackendError(f"{shown(target)} exists: a backup never overwrites, choose another name")
        with self._reader() as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)  # in one step: page by page it would begin again with every commit

    def close(self) -> None:
        """Close the writing connection."""
        with self._lock:
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.connection.close()

    def before_fork(self) -> None:
        """Close every connection: SQLite believes in a child that it holds the locks of the parent, which it does not."""
        until = time.monotonic() + self._timeout_s
        self._held = [each for each in (self._gate, self._lock) if each.acquire(timeout=self._timeout_s)]
        while self._reading and time.monotonic() < until:
            time.sleep(RETRY_EVERY_S)
        if self._lock in self._held and self._writer is not None:
            self._writer.connection.close()
            self._writer = None

    def after_fork(self, *, is_child: bool) -> None:
        """Go on; a child that was forked off while the file was in use says so instead of using it."""
        if is_child:
            if len(self._held) < 2 or self._reading or self._writer is not None:
                _CUT_OFF.add(self.path)
            if self._writer is not None:
                keep_for_ever(self._writer.connection)
            self._writer, self._lock, self._gate, self._reading = None, threading.Lock(), threading.Lock(), set()
        else:
            for lock in self._held:
                lock.release()
        self._held = []

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        this = object()
        with self._gate:  # closed while this process forks
            self._reading.add(this)
        try:
            with self._translated(), closing(self._connect("rw")) as connection:
                yield connection
        finally:
            self._reading.discard(this)

    def _opened(self) -> sqlite3.Connection:
        if self._writer is None:
            # What was there once is not made anew: a store that vanished is a loss to be told, not a new beginning.
            if self._was_open and not self.path.exists():
                raise self._gone(self.path.name)
            connection = self._connect("rw" if self._was_open else "rwc")
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            names = [f"{self.path}{suffix}" for suffix in SUFFIXES]
            files = {name: found for name in names if (found := identity(name))}
            self._writer, self._was_open = _Writer(connection, files), True
        return self._writer.connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        write_ahead(connection, self._timeout_s)
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._prepare_schema(_Transaction(connection), self)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _check_in_place(self) -> None:
        """A file that was removed or replaced still takes every write, and keeps none."""
        writer = self._writer
        for name, opened in writer.files.items() if writer else ():
            if identity(name) != opened:
                self._writer = None
                keep_for_ever(writer.connection)  # type: ignore[union-attr]
                raise self._gone(Path(name).name)

    def _gone(self, file: str) -> BackendError:
        return BackendError(
            f"{self.name} failed: the file {shown(file)} was removed or replaced while in use; "
            "bring it back, or restart the writers after a restore"
        )

    def _truncate_log(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise BackendError(
                f"{self.name} is in use: what was deleted may still stand in its log; "
                "let the readers end, then run `stillme audit vacuum`"
            )

    def _connect(self, mode: str) -> sqlite3.Connection:
        # The mode is rw and not ro for readers too: reading a log may need its index file to be made.
        if self.path in _CUT_OFF:
            raise BackendError(
                f"{self.name} was in use when this process was forked off, and cannot be used here: "
                "fork before it is used, or start a new program instead"
            )
        if mode == "rwc":
            make_private(self.path)
        return sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.DataError, UnicodeEncodeError, OverflowError) as error:
            raise RowsRefusedError(f"{self.name} does not take this record: {advice(error)}") from error
        except sqlite3.Error as error:
            raise BackendError(f"{self.name} failed: {advice(error)}") from error
        except UnicodeDecodeError as error:  # so damaged that the driver cannot even decode the message about it
            raise BackendError(f"{self.name} is damaged: restore a backup") from error
        except OSError as error:
            raise BackendError(f"{self.name} failed: {error.strerror or error}") from error


class _Transaction:
    """What may be done while the write lock is held."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """Run a statement; the rows it gives."""
        return self._connection.execute(sql, values).fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows, several with one statement: for each one the interpreter's lock changes hands."""
        place = 0
        for size in TOGETHER:
            while place + size <= len(rows):
                values = [value for row in rows[place : place + size] for value in row]
                self._connection.execute(_insertion(table, tuple(columns), size), values)
                place += size


@cache
def _insertion(table: str, columns: tuple[str, ...], rows: int) -> str:
    row = f"({','.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({','.join(columns)}) VALUES {','.join([row] * rows)}"  # noqa: S608  (names of ours)
