"""The schema of a database as numbered steps: a released step is never changed, a new one is added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from stillme.errors import BackendError

__all__ = ["Rows", "steps_taken", "upgrade"]


class Rows(Protocol):
    """Runs a statement; the rows it gives."""

    def __call__(self, sql: str, values: Sequence[Any] = (), /) -> list[Any]: ...


def steps_taken(rows: Rows, table: str, table_query: str) -> set[int] | None:
    """The steps that were taken; None where there is no schema yet."""
    if not rows(table_query, [table]):
        return None
    return {row[0] for row in rows(f"SELECT step FROM {table}")}  # noqa: S608  (a name of ours)


def upgrade(
    rows: Rows, steps: Mapping[int, Iterable[str]], *, name: str, table: str, key_type: str, table_query: str
) -> None:
    """Take the steps that are missing, inside the caller's transaction; a database of a newer version is refused."""
    taken = steps_taken(rows, table, table_query)
    if taken is None:  # asked for first: creating what is there needs more rights than writing to it
        rows(f"CREATE TABLE {table} (step {key_type})")
        taken = set()
    if unknown := sorted(taken - set(steps)):
        raise BackendError(
            f"{name} was written by a newer version (schema step {unknown[-1]}, this one knows up to {max(steps)}): upgrade stillme"
        )
    for number, statements in steps.items():
        if number not in taken:
            for statement in statements:
                rows(statement)
            rows(f"INSERT INTO {table} VALUES ({number})")  # noqa: S608  (a number of ours)
