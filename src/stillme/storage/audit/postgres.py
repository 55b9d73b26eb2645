"""The audit store in PostgreSQL: many processes append to one chain, one transaction at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from stillme.errors import BackendError, StillMeError
from stillme.storage.audit.database import (
    ASSIGNMENT,
    BODY,
    POLICY,
    REASON,
    RECORD,
    SCHEMA_TABLE,
    SIGNATURE,
    Result,
    Row,
    RowsRefusedError,
    Writing,
    migrate,
    survive_forks,
)
from stillme.storage.postgres import TABLE_QUERY, Server

__all__ = ["PostgresDatabase"]

# Any number that other users of the database are unlikely to lock: "stillme" in ASCII.
WRITERS_LOCK: Final = 0x7374696C6C6D65
# From here on COPY is faster than INSERT.
COPY_FROM: Final = 8
# How many times the timeout an answer may take: a commit, and what reads or removes much.
SHORT: Final = 2
LONG: Final = 120
# `local`: valid until the transaction has ended, so that nothing of it stays behind in a pooled connection.
BEGIN: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;"
    "SET LOCAL synchronous_commit = on;"
    "SET LOCAL lock_timeout = {lock};"
    "SET LOCAL statement_timeout = {statement};"
    # A writer that was cut off from the network must not keep all others waiting.
    "SET LOCAL idle_in_transaction_session_timeout = {statement};"
    f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})"
)
_ABANDONED: list[object] = []


class PostgresDatabase:
    """One database by URL; writers of all replicas take turns under an advisory lock."""

    key_type = "BIGINT PRIMARY KEY"
    table_query = TABLE_QUERY.replace("%s", "?")

    def __init__(self, url: str, timeout_s: float = 5.0) -> None:
        self.server = Server(url, timeout_s, "the audit store")
        self.driver, self.name, self.timeout_s = self.server.driver, self.server.name, timeout_s
        self._writer = _Connection(self)
        self._reader = _Connection(self)
        self._is_migrated = False
        survive_forks(self)

    def write(self, work: Callable[[Writing], Result], *, is_long: bool = False) -> Result:
        """Do the work in a transaction that holds the advisory lock of audit writers until it has ended."""
        with self._writer.lock, self._translated():
            try:
                transaction = self._begun(LONG if is_long or not self._is_migrated else SHORT)
                if not self._is_migrated:
                    migrate(transaction, self)
                result = work(transaction)
                transaction.commit()
            except (StillMeError, self.driver.Error):
                self._writer.roll_back()
                raise
            except BaseException:  # broken off anywhere, also inside the driver: its connection is not to be trusted
                self._writer.close()
                raise
            self._is_migrated = True
            return result

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """The rows of a query."""
        with self._reader.lock, self._translated():
            found: list[Any] = self._reader.repeatable(lambda c: c.execute(_native(sql), values).fetchall(), LONG)
            return found

    def bytes_used(self) -> int:
        """The tables with their indexes."""
        tables = (RECORD, BODY, POLICY, REASON, SIGNATURE, ASSIGNMENT, SCHEMA_TABLE)
        sizes = self.rows("SELECT " + " + ".join(f"pg_total_relation_size('{table}')" for table in tables))
        return int(sizes[0][0])

    def damage(self) -> str | None:
        """Nothing: a server checks its files by itself (`data_checksums`, `amcheck`)."""
        return None

    def forget(self) -> None:
        """Let the server reuse the space of erased texts; only `vacuum` takes them off the disk."""
        self._alone(f"VACUUM {BODY}")

    def vacuum(self) -> None:
        """Rewrite the tables without what was deleted; meanwhile writers wait, or fail in time."""
        self._alone(*(f"VACUUM (FULL, ANALYZE) {table}" for table in (RECORD, BODY, POLICY, REASON, SIGNATURE)))

    def close(self) -> None:
        """Close both connections."""
        for each in (self._writer, self._reader):
            with each.lock:
                each.close()

    def before_fork(self) -> None:
        """Nothing: the driver leaves a connection to the process that opened it."""

    def after_fork(self, *, is_child: bool) -> None:
        """A child opens connections of its own."""
        if is_child:
            _ABANDONED.extend((self._writer, self._reader))
            self._writer, self._reader = _Connection(self), _Connection(self)

    def _begun(self, times: int) -> _Transaction:
        """A transaction that has the writers' lock; an answer may take so many times the timeout."""
        limits = {"lock": round(self.timeout_s * 1000), "statement": round(self.timeout_s * times * 1000)}
        # One more than the server's own limit, so that its word on what happened comes first.
        self._writer.repeatable(lambda c: c.execute(BEGIN.format(**limits), prepare=False), times + 1)
        return _Transaction(self._writer.connection, self.driver.ClientCursor(self._writer.connection))

    def _alone(self, *statements: str) -> None:
        """Run statements that take long and no transaction, on a connection that nobody waits for."""
        with self._translated():
            connection = self.server.connect()
            try:
                connection.limit_s = None
                for statement in statements:
                    connection.execute(statement)
            finally:
                connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """What the driver raises, as our error; a value it quotes stays out of the message."""
        driver = self.driver
        try:
            yield
        except (driver.IntegrityError, driver.DataError, UnicodeEncodeError) as error:
            raise RowsRefusedError(f"{self.name} does not take this record: {_said(error)}") from error
        except driver.Error as error:
            raise BackendError(f"{self.name} failed: {_said(error)}; {self.server.advice(error)}") from error


class _Connection:
    """One connection, used by whoever has its lock, opened again after a failure."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.lock = threading.Lock()
        self.connection: Any = None

    def repeatable(self, work: Any, times: int) -> Any:
        """Do what can be done twice; once more if the connection turns out to have been lost while nobody used it."""
        is_fresh = self._open()
        self.connection.limit_s = self._database.timeout_s * times
        try:
            return work(self.connection)
        except self._database.driver.OperationalError:
            if is_fresh or not self.connection.closed or self.connection.is_overdue:
                raise
        except BaseException:
            self.close()
            raise
        self._open()
        self.connection.limit_s = self._database.timeout_s * times
        return work(self.connection)

    def roll_back(self) -> None:
        """End a transaction that failed; a connection that cannot even do that is closed."""
        if self.connection is None:
            return
        if not self.connection.closed and not self.connection.is_overdue:
            with suppress(self._database.driver.Error):
                self.connection.execute("ROLLBACK")
                return
        self.close()

    def close(self) -> None:
        """Let go of it."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(self._database.driver.Error):
                connection.close()

    def _open(self) -> bool:
        """Whether a new connection had to be made."""
        if self.connection is not None and not self.connection.closed:
            return False
        self.close()
        self.connection = self._database.server.connect()
        return True


class _Transaction:
    """What may be done while the writers' lock is held; a few rows are sent with the commit, in one message.

    `merging` is a cursor that writes values into the statement, so that several statements can go together. It is no
    pipeline, out of which an interruption would come as another error.
    """

    def __init__(self, connection: Any, merging: Any) -> None:
        self._connection = connection
        self._merging = merging
        self._statements: list[str] = []
        self._values: list[Any] = []

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """Run a statement; the rows it gives."""
        self._send()
        cursor = self._connection.execute(_native(sql), values)
        return cursor.fetchall() if cursor.description else []

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows, by COPY where that is faster."""
        names = ",".join(columns)
        if len(rows) >= COPY_FROM:
            self._send()
            with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        elif rows:
            marks = ",".join([f"({','.join(['%s'] * len(columns))})"] * len(rows))
            self._statements.append(f"INSERT INTO {table} ({names}) VALUES {marks}")  # noqa: S608
            self._values += [value for row in rows for value in row]

    def commit(self) -> None:
        """End it."""
        self._statements.append("COMMIT")
        self._send()

    def _send(self) -> None:
        if self._statements:
            self._merging.execute(";".join(self._statements), self._values or None)
            self._statements, self._values = [], []


def _native(sql: str) -> Any:
    """Our SQL with the driver's marks; it holds no other percent or question mark."""
    return sql.replace("?", "%s")


def _said(error: Exception) -> str:
    said = (str(error).strip() or type(error).__name__).splitlines()[0]
    state = getattr(error, "sqlstate", None)
    return f"{said} [{state}]" if state else said
