"""Which engine a path or a URL stands for."""

from __future__ import annotations

from stillme.storage.audit.database import Database
from stillme.storage.places import file_of, is_server

__all__ = ["database_at"]


def database_at(where: str, timeout_s: float = 5.0) -> Database:
    """The database that a path or URL names."""
    if is_server(where):
        from stillme.storage.audit.postgres import PostgresDatabase  # noqa: PLC0415  (its driver is an extra)

        return PostgresDatabase(where, timeout_s)
    from stillme.storage.audit.sqlite import SqliteDatabase  # noqa: PLC0415  (only one engine is loaded)

    return SqliteDatabase(file_of(where, "an audit store", "audit.db"), timeout_s)
