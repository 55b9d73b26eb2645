"""Answers by what was asked: the same request gives the same answer, in this process and, with a file, in every later one."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from stillme.errors import BackendError, shown

__all__ = ["AnswerCache"]

BUSY_S: Final = 5.0
# "SMJ1" in the header of the file: no other database is taken for a cache, and none is written to by mistake.
APPLICATION_ID: Final = 0x534D4A31
TABLE: Final = "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID"


class AnswerCache:
    """Keeps the last `most` answers in memory and, if there is a file, all of them there; safe to share between threads."""

    def __init__(self, most: int, path: Path | None = None) -> None:
        self._most = most
        self._file = _AnswerFile(path) if path else None
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, str] = OrderedDict()
        self._asking: dict[str, Future[str]] = {}

    def answer(self, key: str, ask: Callable[[], str], deadline: float) -> str:
        """The answer that is kept, or else what `ask` returns; those who want the same at the same time ask once.

        Whoever waits for another's answer waits until `deadline`, by the monotonic clock.
        """
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            asking = self._asking.get(key)
            if asking is None:
                own = self._asking[key] = Future()
        if asking is not None:
            return _other_answer(asking, deadline)
        try:
            own.set_result(self._kept_or_asked(key, ask))
        except BackendError as error:
            own.set_exception(error)
            raise
        finally:
            self._settle(key, own)
        return own.result()

    def _kept_or_asked(self, key: str, ask: Callable[[], str]) -> str:
        if self._file is None:
            return ask()
        kept = self._file.find(key)
        return kept if kept is not None else self._file.keep(key, ask())

    def _settle(self, key: str, asked: Future[str]) -> None:
        """Remember what came out, before anybody else can ask again; whoever waits is not left waiting."""
        with self._lock:
            if not asked.done():
                asked.set_exception(BackendError("the request to the judge was interrupted: verify again"))
            if asked.exception() is None:
                self._answers[key] = asked.result()
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)
            del self._asking[key]


def _other_answer(asking: Future[str], deadline: float) -> str:
    """What another thread is being answered, its failure included."""
    try:
        return asking.result(timeout=max(0.0, deadline - time.monotonic()))
    except BackendError as error:
        raise BackendError(str(error)) from None
    except TimeoutError:
        raise BackendError("the same question to the judge is still unanswered: raise timeout_s") from None


class _AnswerFile:
    """One SQLite file, opened for each use: an answer costs a model seconds and this a millisecond."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._name = f"the judge cache {shown(str(path), 300)}"

    def find(self, key: str) -> str | None:
        """The answer that is kept, if it is whole."""
        if not self._path.exists():
            return None
        with self._opened() as connection:
            return self._read(connection, key)

    def keep(self, key: str, answer: str) -> str:
        """Keep an answer and return the one that is kept: where another process was faster, its answer holds."""
        with suppress(OSError):  # a new file is its owner's only; SQLite says what is wrong with the path
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with self._opened() as connection:
            connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (key, answer, _digest(key, answer)))
            return self._read(connection, key) or answer

    def _read(self, connection: sqlite3.Connection, key: str) -> str | None:
        row = connection.execute("SELECT answer, digest FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        answer, digest = row
        if not isinstance(answer, str) or digest != _digest(key, answer):
            raise BackendError(f"{self._name} holds an answer that was changed: delete the file, or restore a backup")
        return answer

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None)) as connection:
                connection.execute("PRAGMA trusted_schema=OFF")
                self._prepare(connection)
                yield connection
        except (sqlite3.Error, UnicodeError) as error:
            raise BackendError(
                f"{self._name} cannot be used ({shown(str(error))}): check its folder and disk"
            ) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make an empty file a cache; leave alone what is something else."""
        if self._kind(connection) == APPLICATION_ID:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            kind = self._kind(connection)  # another process may have made it meanwhile
            if kind == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.execute(TABLE)
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            elif kind != APPLICATION_ID:
                raise BackendError(f"{self._name} is another kind of database: choose another path")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _kind(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _digest(key: str, answer: str) -> str:
    return hashlib.sha256(f"{key}\n{answer}".encode("utf-8", "surrogatepass")).hexdigest()
