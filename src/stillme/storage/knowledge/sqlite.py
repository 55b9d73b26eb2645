"""Knowledge in one SQLite file: vectors beside FTS5, no server; threads and processes share it.

Vectors are plain blobs that `sqlite-vec` compares one by one. Its own virtual table is faster, but sets aside room for a thousand vectors
for every session of a conversation, leaves ties to chance, and does not hand deleted space back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, TypeVar

from stillme.errors import BackendError, InputError, StillMeError, shown
from stillme.storage.knowledge.rows import (
    TIES,
    check_maker,
    check_place,
    maker_of,
    nearest_first,
    ready_vector,
    shelved,
)
from stillme.storage.knowledge.store import Chunk, Collection, Document
from stillme.storage.schema import Rows, upgrade
from stillme.storage.sqlite import advice, identity, keep_for_ever, make_private, write_ahead
from stillme.text.search_words import marks_of, ranked_alone

__all__ = ["SqliteStore"]

PREFIX: Final = "stillme_knowledge_"
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
TABLE_QUERY: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
MOST_IDLE: Final = 8
TOGETHER: Final = 500
Result = TypeVar("Result")
Identity = tuple[int, int, int]
"""Which process opened which file: its id, the device and the inode."""


class SqliteStore:
    """A KnowledgeStore in one file. Writers take turns; readers never wait for them and see whole documents."""

    def __init__(self, path: str | os.PathLike[str], *, embedder: str | None = None, timeout_s: float = 5.0) -> None:
        self._apsw, self._extension = _driver()
        self.path = Path(path).absolute()
        self.name = f"the store {shown(str(path))}"
        self._maker = maker_of(embedder)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._idle: list[tuple[Identity, Any]] = []

    def put(
        self,
        collection: Collection,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        session: str = "",
        *,
        replace: bool = True,
    ) -> bool:
        """Keep a document, in place of what had its name; whole or not at all. Without `replace`, only if the name is free."""
        check_place(collection, session)
        rows = shelved(document, chunks, vectors)
        known = (document.digest, document.title, document.url, document.timestamp)

        def work(connection: Any) -> bool:
            if rows:
                self._check_maker(connection, len(rows[0].vector) // 4, keep=True)
            if not replace and self._numbers(connection, collection, session, [document.name]):
                return False
            self._take_out(connection, self._numbers(connection, collection, session, [document.name]))
            connection.execute(
                f"INSERT INTO {PREFIX}document (collection, session, name, digest, title, url, timestamp)"  # noqa: S608
                " VALUES (?,?,?,?,?,?,?)",
                (collection, session, document.name, *known),
            )
            number = connection.last_insert_rowid()
            for row in rows:
                self._put_chunk(connection, number, collection, session, row)
            return True

        return self._write(work)

    def digests(self, collection: Collection, session: str = "") -> Mapping[str, str]:
        """Name and digest of every document there is."""
        check_place(collection, session)
        sql = f"SELECT name, digest FROM {PREFIX}document WHERE collection = ? AND session = ? ORDER BY name"  # noqa: S608
        return dict(self._read(lambda c: c.execute(sql, (collection, session)).fetchall(), []))

    def remove(self, collection: Collection, names: Sequence[str], session: str = "") -> int:
        """Forget documents; how many there were."""
        check_place(collection, session)

        def work(connection: Any) -> int:
            numbers = self._numbers(connection, collection, session, names)
            self._take_out(connection, numbers)
            return len(numbers)

        return self._write(work) if self.path.exists() else 0

    def near(self, collection: Collection, vector: Any, most: int, session: str = "") -> list[tuple[str, float]]:
        """The chunks nearest to a vector, with their cosine, nearest first; ties by id."""
        check_place(collection, session)
        query = ready_vector(vector)

        def work(connection: Any) -> list[tuple[str, bytes]]:
            self._check_maker(connection, len(query) // 4)
            return connection.execute(  # type: ignore[no-any-return]
                "SELECT id, vector FROM (SELECT n, id, vec_distance_cosine(vector, ?) AS distance"  # noqa: S608
                f" FROM {PREFIX}vector WHERE collection = ? AND session = ? ORDER BY distance, id LIMIT ?)"
                f" JOIN {PREFIX}vector USING (n, id)",
                (query, collection, session, most + TIES),
            ).fetchall()

        return nearest_first(query, self._read(work, []), most)

    def matching(
        self, collection: Collection, words: Sequence[str], most: int, session: str = ""
    ) -> list[tuple[str, float]]:
        """The chunks that hold any of the words, best first, with a score that falls; ties by id. Words are data, never query syntax."""
        check_place(collection, session)
        marks = marks_of(words)
        if not marks or most < 1:
            return []
        if collection == "conversation":
            return ranked_alone(self._read(lambda c: self._said(c, session), []), marks, most)
        return self._read(lambda c: self._matching(c, marks, most), [])

    def chunks(self, collection: Collection, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; one that is gone is left out."""
        found: dict[str, Chunk] = {}
        sql = (
            "SELECT c.id, d.name, c.number, c.text, c.first, c.last, c.title, c.url, c.timestamp"  # noqa: S608
            f" FROM {PREFIX}chunk c JOIN {PREFIX}document d ON d.n = c.document WHERE c.collection = ? AND c.id IN ({{}})"
        )

        def work(connection: Any) -> None:
            for some in _portions(ids):
                for row in connection.execute(sql.format(_marks(some)), (collection, *some)):
                    found[row[0]] = Chunk(*row)

        self._read(work, None)
        return [found[key] for key in ids if key in found]

    def counts(self, collection: Collection) -> tuple[int, int]:
        """How many documents and chunks there are."""
        sql = (
            f"SELECT (SELECT count(*) FROM {PREFIX}document WHERE collection = ?1),"  # noqa: S608
            f" (SELECT count(*) FROM {PREFIX}chunk WHERE collection = ?1)"
        )
        documents, chunks = self._read(lambda c: c.execute(sql, (collection,)).fetchone(), (0, 0))
        return documents, chunks

    def settle(self) -> None:
        """Put the indexes in order after much was written; searching is right without it, and faster with it."""

        def work(connection: Any) -> None:
            connection.execute(f"INSERT INTO {PREFIX}words ({PREFIX}words) VALUES ('optimize')")  # noqa: S608
            connection.execute("PRAGMA optimize")

        if self.path.exists():
            self._write(work)

    def reset(self) -> None:
        """Forget every document, and whose vectors they had."""

        def work(connection: Any) -> None:
            for table in ("document", "chunk", "vector", "about"):
                connection.execute(f"DELETE FROM {PREFIX}{table}")  # noqa: S608
            connection.execute(f"INSERT INTO {PREFIX}words ({PREFIX}words) VALUES ('delete-all')")  # noqa: S608

        if self.path.exists():
            self._write(work)

    def close(self) -> None:
        """Let go of the file; using the store again opens it again."""
        with self._lock:
            idle, self._idle = self._idle, []
        current = self._identity()
        for opened, connection in idle:
            if opened == current:
                connection.close()
            else:
                keep_for_ever(connection)

    # inside a transaction

    def _check_maker(self, connection: Any, width: int, *, keep: bool = False) -> None:
        """Refuse vectors of another embedder, or of another width."""
        about = dict(connection.execute(f"SELECT key, value FROM {PREFIX}about"))  # noqa: S608
        given = check_maker(self.name, about, self._maker, width)
        if keep and not about:
            connection.executemany(f"INSERT INTO {PREFIX}about VALUES (?,?)", list(given.items()))  # noqa: S608

    def _put_chunk(self, connection: Any, document: int, collection: Collection, session: str, row: Any) -> None:
        chunk, words = row.chunk, " ".join(row.words)
        if connection.execute(
            f"SELECT 1 FROM {PREFIX}chunk WHERE collection = ? AND id = ?",  # noqa: S608
            (collection, chunk.id),
        ).fetchone():
            raise InputError(f"the id {shown(chunk.id)} is a chunk of another document: ids must differ")
        values = (chunk.number, chunk.text, chunk.start, chunk.end, chunk.title, chunk.url, chunk.timestamp)
        is_said = collection == "conversation"
        connection.execute(
            f"INSERT INTO {PREFIX}chunk"  # noqa: S608
            " (document, collection, id, number, text, first, last, title, url, timestamp, words)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (document, collection, chunk.id, *values, words if is_said else None),
        )
        number = connection.last_insert_rowid()
        connection.execute(
            f"INSERT INTO {PREFIX}vector VALUES (?,?,?,?,?)",  # noqa: S608
            (number, collection, session, chunk.id, row.vector),
        )
        if not is_said:
            connection.execute(f"INSERT INTO {PREFIX}words (rowid, words) VALUES (?,?)", (number, words))  # noqa: S608

    def _numbers(self, connection: Any, collection: Collection, session: str, names: Sequence[str]) -> list[int]:
        sql = f"SELECT n FROM {PREFIX}document WHERE collection = ? AND session = ? AND name IN ({{}})"  # noqa: S608
        return [
            row[0]
            for some in _portions(list(dict.fromkeys(names)))
            for row in connection.execute(sql.format(_marks(some)), (collection, session, *some))
        ]

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

    def _said(self, connection: Any, session: str) -> list[tuple[str, list[str]]]:
        sql = (
            f"SELECT c.id, c.words FROM {PREFIX}vector v JOIN {PREFIX}chunk c USING (n)"  # noqa: S608
            " WHERE v.collection = 'conversation' AND v.session = ?"
        )
        return [(key, words.split()) for key, words in connection.execute(sql, (session,))]

    def _matching(self, connection: Any, marks: list[str], most: int) -> list[tuple[str, float]]:
        query = " OR ".join(f'"{mark}"' for mark in marks)  # of letters, digits and `_` only
        sql = f"SELECT rowid, round(-bm25({PREFIX}words), 6) FROM {PREFIX}words WHERE {PREFIX}words MATCH ?"  # noqa: S608
        scored = connection.execute(sql, (query,)).fetchall()
        # Where ties go over the end of the list their ids decide, and only those are looked up.
        last = max((-score for _, score in nsmallest(most, scored, key=lambda row: -row[1])), default=0.0)
        scores = {number: score for number, score in scored if -score <= last}
        found: list[tuple[str, float]] = []
        for some in _portions(list(scores)):
            ids = connection.execute(f"SELECT n, id FROM {PREFIX}chunk WHERE n IN ({_marks(some)})", some)  # noqa: S608
            found += [(key, scores[number]) for number, key in ids]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:most]

    # connections

    def _read(self, work: Callable[[Any], Result], empty: Result) -> Result:
        """What the work gives, on one snapshot; a file that is not there holds nothing, and is not made."""
        if not self.path.exists():
            return empty
        return self._transact("BEGIN", work)

    def _write(self, work: Callable[[Any], Result]) -> Result:
        return self._transact("BEGIN IMMEDIATE", work)

    def _transact(self, begin: str, work: Callable[[Any], Result]) -> Result:
        with self._translated(), self._connection() as connection:
            connection.execute(begin)
            result = work(connection)
            connection.execute("COMMIT")
            return result

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """A connection that nobody else uses meanwhile; one that failed is not used again."""
        opened, connection = self._taken() or self._opened()
        try:
            yield connection
        except StillMeError:
            connection.execute("ROLLBACK")
            self._give_back(opened, connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._give_back(opened, connection)

    def _taken(self) -> tuple[Identity, Any] | None:
        """A connection to the file that is there now, opened by this process; others are left alone."""
        current = self._identity()
        with self._lock:
            while self._idle:
                found = self._idle.pop()
                if found[0] == current:
                    return found
                keep_for_ever(found[1])
        return None

    def _give_back(self, opened: Identity, connection: Any) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append((opened, connection))
                return
        connection.close()

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
        if self._steps(connection) == len(SCHEMA):
            return
        connection.execute("BEGIN IMMEDIATE")
        names = {"table": f"{PREFIX}schema", "key_type": "INTEGER PRIMARY KEY", "table_query": TABLE_QUERY}
        upgrade(_rows(connection), {n: [sql] for n, sql in enumerate(SCHEMA, 1)}, name=self.name, **names)
        connection.execute("COMMIT")

    def _steps(self, connection: Any) -> int:
        """How many steps of the schema were taken; a database of something else is refused."""
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if f"{PREFIX}schema" in tables:
            return int(connection.execute(f"SELECT max(step) FROM {PREFIX}schema").fetchone()[0] or 0)  # noqa: S608
        # Not even the audit trail: its driver brings another SQLite, and two of them in one process undo each other's locks.
        if any(not table.startswith((PREFIX, "sqlite_")) for table in tables):
            raise InputError(f"{self.name} is a database of something else: choose another path")
        return 0

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


def _portions(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), TOGETHER):
        yield values[start : start + TOGETHER]


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


def _rows(connection: Any) -> Rows:
    return lambda sql, values=(): connection.execute(sql, values).fetchall()


def _driver() -> tuple[Any, str]:
    try:
        import apsw  # noqa: PLC0415  (an extra)
        import sqlite_vec  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        raise BackendError("this store needs the packages apsw and sqlite-vec: pip install 'stillme[chat]'") from None
    return apsw, str(sqlite_vec.loadable_path())
