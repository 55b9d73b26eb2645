"""What the audit store needs of a database, and the schema that all of them share.

SQL is written once, with `?` for values. An engine opens connections, takes the writer's lock and turns what its
driver raises into a BackendError that says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final, Protocol, TypeVar
from weakref import WeakSet

from stillme.errors import BackendError
from stillme.storage.schema import steps_taken, upgrade

__all__ = [
    "ASSIGNMENT",
    "BODY",
    "POLICY",
    "REASON",
    "RECORD",
    "SCHEMA_TABLE",
    "SIGNATURE",
    "Database",
    "Reading",
    "RowsRefusedError",
    "Writing",
    "add_labels",
    "add_reasons",
    "is_current",
    "is_store",
    "label_code",
    "migrate",
    "migrations",
    "survive_forks",
]

RECORD: Final = "stillme_audit_record"
BODY: Final = "stillme_audit_body"
POLICY: Final = "stillme_audit_policy"
SCHEMA_TABLE: Final = "stillme_audit_schema"
REASON: Final = "stillme_audit_reason"
SIGNATURE: Final = "stillme_audit_signature"
ASSIGNMENT: Final = "stillme_audit_assignment"
# From this step on reason codes have a table of their own.
REASONS_SINCE: Final = 2
TOGETHER: Final = 5_000
STEPS: Final = files("stillme.storage.audit") / "migrations"
Row = Sequence[Any]
Result = TypeVar("Result")


class RowsRefusedError(BackendError):
    """The database works and does not take these rows: others are not concerned, and trying again does not help."""


class Reading(Protocol):
    """What can be asked."""

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """The rows of a query."""


class Writing(Protocol):
    """An open transaction that holds the writer's lock."""

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """Run a statement; the rows it gives."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows at once."""


class Database(Protocol):
    """One database, shared by threads; every method raises BackendError when the world fails."""

    @property
    def name(self) -> str:
        """What messages call it; never a password."""

    @property
    def key_type(self) -> str:
        """The column type of a 64-bit primary key."""

    @property
    def table_query(self) -> str:
        """A query that gives a row if there is a table of that name."""

    def write(self, work: Callable[[Writing], Result], *, is_long: bool = False) -> Result:
        """Do the work in a transaction that no other writer, of any process, runs beside; durable when this returns.

        The work is a function and no `with` block: an interruption between the two could leave the lock behind. What is
        not long fails rather than make its caller wait much longer than the timeout.
        """

    def rows(self, sql: str, values: Row = ()) -> list[Any]:
        """The rows of a query, read outside any transaction."""

    def bytes_used(self) -> int:
        """What the store takes on disk."""

    def damage(self) -> str | None:
        """What the engine finds wrong with its own files, indexes among them; None where all is well or it cannot say."""

    def forget(self) -> None:
        """Make what was deleted unreadable where the engine can."""

    def vacuum(self) -> None:
        """Give the space of deleted rows back."""

    def close(self) -> None:
        """Let go of every connection."""

    def before_fork(self) -> None:
        """Get ready for a fork: what must not be in two processes is closed, and nobody opens it again."""

    def after_fork(self, *, is_child: bool) -> None:
        """Go on after a fork; a child shares no connection and no lock with its parent."""


def migrations() -> list[tuple[int, str]]:
    """The numbered steps of the schema, in order; a released step is never changed, a new one is added."""
    found = sorted(entry.name for entry in STEPS.iterdir() if entry.name.endswith(".sql"))
    return [(int(name.removesuffix(".sql")), (STEPS / name).read_text("utf-8")) for name in found]


def is_store(database: Database) -> bool:
    """Whether there is an audit store at all, of this or an earlier version."""
    return bool(steps_taken(database.rows, SCHEMA_TABLE, database.table_query))


def is_current(database: Database) -> bool:
    """Whether the schema is there and up to date, so that reading needs no migration."""
    return steps_taken(database.rows, SCHEMA_TABLE, database.table_query) == {number for number, _ in migrations()}


def migrate(writing: Writing, database: Database) -> None:
    """Bring the schema up to date, step by step, inside the transaction."""
    steps = {number: _statements(sql.replace("BIGINT_KEY", database.key_type)) for number, sql in migrations()}
    names = {"name": database.name, "key_type": database.key_type, "table_query": database.table_query}
    before = steps_taken(writing.rows, SCHEMA_TABLE, database.table_query)
    upgrade(writing.rows, steps, table=SCHEMA_TABLE, **names)
    if before and REASONS_SINCE not in before:
        _fill_reasons(writing)


def add_reasons(writing: Writing, verdicts: Iterable[tuple[int, str, str]]) -> None:
    """Write the reason codes of verdicts, each given by its place, its time and its codes with spaces between."""
    rows = [(code, at, seq) for seq, at, codes in verdicts for code in codes.split()]
    if rows:
        writing.insert(REASON, ("code", "at", "seq"), rows)


def label_code(label: str) -> str:
    """How a label stands among the reason codes of a verdict: with a space, which no code has."""
    return f"label {label}"


def add_labels(writing: Writing, reviews: Iterable[tuple[str, str]]) -> None:
    """Write the labels of verdicts, each given by the id of the verdict and the label; one that is there is not written twice."""
    sql = (
        f"INSERT INTO {REASON} (code, at, seq) SELECT ?, r.at, r.seq FROM {RECORD} r "  # noqa: S608  (names of ours)
        f"WHERE r.id = ? AND r.kind = 'verdict' AND NOT EXISTS (SELECT 1 FROM {REASON} c WHERE c.code = ? AND c.seq = r.seq)"
    )
    for trace, label in reviews:
        writing.rows(sql, [label_code(label), trace, label_code(label)])


def _fill_reasons(writing: Writing) -> None:
    """The codes of verdicts that were recorded before there was a table for them."""
    last = 0
    sql = (
        f"SELECT seq, at, reasons FROM {RECORD} "  # noqa: S608  (names of ours)
        f"WHERE seq > ? AND kind = 'verdict' AND reasons IS NOT NULL ORDER BY seq LIMIT {TOGETHER}"
    )
    while rows := writing.rows(sql, [last]):
        add_reasons(writing, rows)
        last = rows[-1][0]


def _statements(sql: str) -> Iterator[str]:
    lines: Iterable[str] = (line for line in sql.splitlines() if not line.lstrip().startswith("--"))
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            yield statement.strip()


_DATABASES: WeakSet[Database] = WeakSet()


def survive_forks(database: Database) -> None:
    """Tell the database before and after each fork of this process."""
    _DATABASES.add(database)


def _before_fork() -> None:
    for database in list(_DATABASES):
        database.before_fork()


def _after_fork(is_child: bool) -> None:
    for database in list(_DATABASES):
        database.after_fork(is_child=is_child)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(is_child=False),
        after_in_child=lambda: _after_fork(is_child=True),
    )
