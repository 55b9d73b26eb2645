"""Which store a path or a URL stands for."""

from __future__ import annotations

import os

from stillme.errors import InputError, shown
from stillme.storage.knowledge.contents import KnowledgeStore

__all__ = ["store_at"]


def store_at(where: str | os.PathLike[str], *, embedder: str | None = None, timeout_s: float = 5.0) -> KnowledgeStore:
    """The store at a path (SQLite) or a postgresql:// URL; nothing is opened before it is used.

    `embedder` names what makes the vectors, unless that is the embedder of this package.
    """
    text = os.fspath(where)
    scheme, has_scheme, rest = text.partition("://")
    if has_scheme and scheme in ("postgresql", "postgres"):
        from stillme.storage.knowledge.postgres import PostgresStore  # noqa: PLC0415  (its driver is an extra)

        return PostgresStore(text, embedder=embedder, timeout_s=timeout_s)
    if has_scheme and scheme != "sqlite":
        raise InputError(f"a store is a file or a URL of sqlite:// or postgresql://, got the scheme {shown(scheme)}")
    path = rest.removeprefix("/") if has_scheme else text
    if not path or "\0" in path or path == ":memory:":
        raise InputError(f"a store is a file that lasts, got {shown(text)}: give a path such as knowledge.db")
    from stillme.storage.knowledge.sqlite import SqliteStore  # noqa: PLC0415  (only one engine is loaded)

    return SqliteStore(path, embedder=embedder, timeout_s=timeout_s)
