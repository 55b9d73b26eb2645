"""Which engine a path or a URL stands for."""

from __future__ import annotations

from stillme.errors import InputError, shown

__all__ = ["file_of", "is_server"]


def is_server(where: str) -> bool:
    """Whether it is the URL of a PostgreSQL server."""
    return where.startswith(("postgresql://", "postgres://"))


def file_of(where: str, what: str, example: str) -> str:
    """The path of a SQLite file that `where` names; `what` is to be kept there."""
    scheme, has_scheme, rest = where.partition("://")
    if has_scheme and scheme != "sqlite":
        raise InputError(f"{what} is a file or a URL of sqlite:// or postgresql://, got the scheme {shown(scheme)}")
    path = rest.removeprefix("/") if has_scheme else where
    if not path or "\0" in path or path == ":memory:":
        raise InputError(f"{what} is a file that lasts, got {shown(where)}: give a path such as {example}")
    return path
