"""Knowledge in one SQLite file: vectors beside FTS5, no server; threads and processes share it.

Vectors are plain blobs that `sqlite-vec` compares one by one. Its own virtual table is faster, but sets aside room for a thousand vectors
for every session of a conversation, leaves ties to chance, and does not hand deleted space back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final

from stillme.errors import BackendError, InputError, shown
from stillme.storage.knowledge.base import PREFIX, KnowledgeStore, Result
from stillme.storage.knowledge.rows import Shelved
from stillme.storage.knowledge.store import Collection
from stillme.storage.sqlite import advice, identity, make_private, write_ahead

__all__ = ["SqliteStore"]

SCHEMA: Final = (
    # 1. Chunks of a conversation carry their words: a session is short, and searched word by word. Those of the knowledge are in FTS5,
    # which is given words that are folded already (`_` joins pairs) and keeps no text.
    """
    CREATE TABLE stillme_knowledge_about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE stillme_knowledge_document (
      n INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, session TEXT NOT NULL, name TEXT NOT NULL,
      digest TEXT NOT NULL, title TEXT, url TEXT, timestamp TEXT, UNIQUE (collection, session, name)
    );
    CREATE TABLE stillme_knowledge_chunk (
      n INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL,
      number INTEGER NOT NULL, text TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
      title TEXT, url TEXT, timestamp TEXT, words TEXT, UNIQUE (collection, id)
    );
    CREATE INDEX stillme_knowledge_chunk_document ON stillme_knowledge_chunk (document);
    CREATE TABLE stillme_knowledge_vector (
      n INTEGER PRIMARY KEY, collection TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL, vector BLOB NOT NULL
    );
    CREATE INDEX stillme_knowledge_vector_place ON stillme_knowledge_vector (collection, session);
    CREATE VIRTUAL TABLE stillme_knowledge_words USING fts5 (
      words, content='', contentless_delete=1, tokenize="ascii tokenchars '_'"
    );
    """,
    # 2. Sessions have owners. Whose the earlier ones are is not known, so that nobody may read them: they are forgotten.
    """
    DELETE FROM stillme_knowledge_vector WHERE collection = 'conversation';
    DELETE FROM stillme_knowledge_chunk WHERE collection = 'conversation';
    DELETE FROM stillme_knowledge_document WHERE collection = 'conversation';
    """,
)
# A vector of 384 numbers fits ten times on a page of 16 KB; on one of 4 KB it would spill over to a second.
PRAGMAS: Final = ("page_size=16384", "synchronous=NORMAL", "trusted_schema=OFF", "cache_size=-16000")
Identity = tuple[int, int, int]
"""Which process opened which file: its id, the device and the inode."""


class SqliteStore(KnowledgeStore):
    """A KnowledgeStore in one file. Writers take turns; readers never wait for them and see whole documents."""

    steps = SCHEMA
    table_query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    key_type = "INTEGER PRIMARY KEY"
    held_as = "{}"
    words_column = "words"
    most_idle = 8

    def __init__(self, path: str | os.PathLike[str], *, embedder: str | None = None, timeout_s: float = 5.0) -> None:
        super().__init__(embedder)
        self._apsw, self._extension = _driver()
        self.path = Path(path).absolute()
        self.name = f"the store {shown(str(path))}"
        self._timeout_s = timeout_s

    def settle(self) -> None:
        """Put the indexes in order after much was written; searching is right without it, and faster with it."""

        def work(connection: Any) -> None:
            connection.execute(f"INSERT INTO {PREFIX}words ({PREFIX}words) VALUES ('optimize')")  # noqa: S608
            connection.execute("PRAGMA optimize")

        if self._exists():
            self._write(work)

    def reset(self) -> None:
        """Forget every document, and whose vectors they had."""

        def work(connection: Any) -> None:
            for table in ("document", "chunk", "vector", "about"):
                connection.execute(f"DELETE FROM {PREFIX}{table}")  # noqa: S608
            connection.execute(f"INSERT INTO {PREFIX}words ({PREFIX}words) VALUES ('delete-all')")  # noqa: S608

        if self._exists():
            self._write(work)

    # inside a transaction

    def _run(self, connection: Any, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return connection.execute(sql, values).fetchall()  # type: ignore[no-any-return]

    def _nearest(
        self, connection: Any, collection: Collection, session: str, query: bytes, most: int
    ) -> list[tuple[str, bytes]]:
        sql = (
            "SELECT id, vector FROM (SELECT n, id, vec_distance_cosine(vector, ?) AS distance"  # noqa: S608
            f" FROM {PREFIX}vector WHERE collection = ? AND session = ? ORDER BY distance, id LIMIT ?)"
            f" JOIN {PREFIX}vector USING (n, id)"
        )
        return self._run(connection, sql, (query, collection, session, most))

    def _put_chunks(
        self, connection: Any, document: int, collection: Collection, session: str, rows: Sequence[Shelved]
    ) -> None:
        is_said = collection == "conversation"
        for row in rows:
            chunk, words = row.chunk, " ".join(row.words)
            values = (chunk.number, chunk.text, chunk.start, chunk.end, chunk.title, chunk.url, chunk.timestamp)
            number = self._run(
                connection,
                f"INSERT INTO {PREFIX}chunk"  # noqa: S608
                " (document, collection, id, number, text, first, last, title, url, timestamp, words)"
                " VALUES (?,?,?,?,?,?,?,?,?,?,?) RETURNING n",
                (document, collection, chunk.id, *values, words if is_said else None),
            )[0][0]
            place = (number, collection, session, chunk.id, row.vector)
            self._run(connection, f"INSERT INTO {PREFIX}vector VALUES (?,?,?,?,?)", place)  # noqa: S608
            if not is_said:
                self._run(connection, f"INSERT INTO {PREFIX}words (rowid, words) VALUES (?,?)", (number, words))  # noqa: S608

    def _take_out(self, connection: Any, documents: list[int]) -> None:
        for document in documents:
            chunks = f"SELECT n FROM {PREFIX}chunk WHERE document = ?"  # noqa: S608
            connection.execute(
                f"DELETE FROM {PREFIX}words WHERE rowid IN ({chunks} AND collection = 'knowledge')",  # noqa: S608
                (document,),
            )
            connection.execute(f"DELETE FROM {PREFIX}vector WHERE n IN ({chunks})", (document,))  # noqa: S608
            connection.execute(f"DELETE FROM {PREFIX}chunk WHERE document = ?", (document,))  # noqa: S608
            connection.execute(f"DELETE FROM {PREFIX}document WHERE n = ?", (document,))  # noqa: S608

    def _matching(self, connection: Any, marks: list[str], most: int) -> list[tuple[str, float]]:
        query = " OR ".join(f'"{mark}"' for mark in marks)  # of letters, digits and `_` only
        sql = f"SELECT rowid, round(-bm25({PREFIX}words), 6) FROM {PREFIX}words WHERE {PREFIX}words MATCH ?"  # noqa: S608
        scored = connection.execute(sql, (query,)).fetchall()
        # Where ties go over the end of the list their ids decide, and only those are looked up.
        last = max((-score for _, score in nsmallest(most, scored, key=lambda row: -row[1])), default=0.0)
        scores = {number: score for number, score in scored if -score <= last}
        ids = self._held(connection, f"SELECT n, id FROM {PREFIX}chunk WHERE ", (), "n", list(scores))  # noqa: S608
        found = [(key, scores[number]) for number, key in ids]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:most]

    # connections

    def _exists(self) -> bool:
        return self.path.exists()

    def _read(self, work: Callable[[Any], Result], empty: Result) -> Result:
        return self._transact("BEGIN", work) if self._exists() else empty

    def _write(self, work: Callable[[Any], Result]) -> Result:
        return self._transact("BEGIN IMMEDIATE", work)

    def _transact(self, begin: str, work: Callable[[Any], Result]) -> Result:
        with self._translated():
            opened, connection = self._idle_one() or self._opened()
            try:
                connection.execute(begin)
            except BaseException:
                connection.close()
                raise
            return self._in_transaction(opened, connection, work)

    def _identity(self) -> Identity:
        return os.getpid(), *(identity(self.path) or (0, 0))

    def _opened(self) -> tuple[Identity, Any]:
        apsw = self._apsw
        make_private(self.path)
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            connection.set_busy_timeout(round(self._timeout_s * 1000))
            connection.enable_load_extension(True)
            connection.load_extension(self._extension)
            connection.enable_load_extension(False)
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            write_ahead(connection, self._timeout_s)
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return self._identity(), connection

    def _migrate(self, connection: Any) -> None:
        if self._is_current(connection):
            return
        self._check_kind(connection)
        connection.execute("BEGIN IMMEDIATE")
        self._upgrade(connection)
        connection.execute("COMMIT")

    def _check_kind(self, connection: Any) -> None:
        """Refuse a database of something else.

        Even the audit trail: its driver brings another SQLite, and two of them in one process undo each other's locks.
        """
        tables = [row[0] for row in self._run(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")]
        if any(not table.startswith((PREFIX, "sqlite_")) for table in tables) and f"{PREFIX}schema" not in tables:
            raise InputError(f"{self.name} is a database of something else: choose another path")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """What the driver raises, as our error."""
        apsw = self._apsw
        try:
            yield
        except apsw.NotADBError as error:
            raise InputError(f"{self.name} is not a database: choose another path, or restore a backup") from error
        except apsw.Error as error:
            raise BackendError(f"{self.name} failed: {advice(error)}") from error
        except OSError as error:
            raise BackendError(f"{self.name} failed: {error.strerror or error}") from error


def _driver() -> tuple[Any, str]:
    try:
        import apsw  # noqa: PLC0415  (an extra)
        import sqlite_vec  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise BackendError("this store needs the packages apsw and sqlite-vec: pip install 'stillme[chat]'") from None
    return apsw, str(sqlite_vec.loadable_path())
