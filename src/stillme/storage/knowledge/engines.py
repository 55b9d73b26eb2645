"""Which store a path or a URL stands for."""

from __future__ import annotations

import os

from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.places import file_of, is_server

__all__ = ["store_at"]


def store_at(where: str | os.PathLike[str], *, embedder: str | None = None, timeout_s: float = 5.0) -> KnowledgeStore:
    """The store at a path (SQLite) or a postgresql:// URL; nothing is opened before it is used.

    `embedder` names what makes the vectors, unless that is the embedder of this package.
    """
    text = os.fspath(where)
    if is_server(text):
        from stillme.storage.knowledge.postgres import PostgresStore  # noqa: PLC0415  (its driver is an extra)

        return PostgresStore(text, embedder=embedder, timeout_s=timeout_s)
    from stillme.storage.knowledge.sqlite import SqliteStore  # noqa: PLC0415  (only one engine is loaded)

    return SqliteStore(file_of(text, "a store", "knowledge.db"), embedder=embedder, timeout_s=timeout_s)
