"""Which engine a path or a URL stands for."""

from __future__ import annotations

from stillme.errors import InputError, shown
from stillme.storage.audit.database import Database

__all__ = ["database_at"]


def database_at(where: str, timeout_s: float = 5.0) -> Database:
    """The database that a path or URL names."""
    scheme, has_scheme, rest = where.partition("://")
    if has_scheme and scheme in ("postgresql", "postgres"):
        from stillme.storage.audit.postgres import PostgresDatabase  # noqa: PLC0415  (its driver is an extra)

        return PostgresDatabase(where, timeout_s)
    if has_scheme and scheme != "sqlite":
        raise InputError(
            f"an audit store is a file or a URL of sqlite:// or postgresql://, got the scheme {shown(scheme)}"
        )
    from stillme.storage.audit.sqlite import SqliteDatabase  # noqa: PLC0415  (only one engine is loaded)

    path = rest.removeprefix("/") if has_scheme else where
    if not path or "\0" in path or path == ":memory:":
        raise InputError(f"an audit store is a file that lasts, got {shown(where)}: give a path such as audit.db")
    return SqliteDatabase(path, timeout_s)
