"""Knowledge in PostgreSQL with pgvector: for several replicas, and for more than one file holds well.

Up to `exact_up_to` chunks every vector is compared, so that what is found is what a single file would find. Beyond, `settle` builds an
HNSW index over the knowledge, which is asked from then on: much faster, and now and then it misses one. A session is always exact.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from typing import Any, Final, TypeVar

from stillme.errors import BackendError, InputError, StillMeError, shown
from stillme.storage.knowledge.rows import (
    TIES,
    Shelved,
    check_maker,
    check_place,
    maker_of,
    nearest_first,
    ready_vector,
    shelved,
)
from stillme.storage.knowledge.store import Chunk, Collection, Document
from stillme.storage.postgres import TABLE_QUERY, Server
from stillme.storage.schema import Rows, steps_taken, upgrade
from stillme.text.search_words import marks_of, ranked, ranked_alone

__all__ = ["PostgresStore"]

PREFIX: Final = "stillme_knowledge_"
INDEX: Final = f"{PREFIX}vector_near"
SCHEMA: Final = (
    # 1. Vectors stand in a table of their own, uncompressed: a search reads all of them and no text. Chunks carry
    # their folded words; those of the knowledge also a tsvector that we make of them, in rows that are short but for it, because a
    # search counts them.
    """
    CREATE TABLE stillme_knowledge_about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE stillme_knowledge_document (
      n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection TEXT NOT NULL, session TEXT NOT NULL,
      name TEXT NOT NULL, digest TEXT NOT NULL, title TEXT, url TEXT, timestamp TEXT
    );
    CREATE UNIQUE INDEX stillme_knowledge_document_name
      ON stillme_knowledge_document (collection, session, md5(name));
    CREATE TABLE stillme_knowledge_chunk (
      n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, document BIGINT NOT NULL
        REFERENCES stillme_knowledge_document (n) ON DELETE CASCADE,
      collection TEXT NOT NULL, id TEXT NOT NULL, number BIGINT NOT NULL, text TEXT NOT NULL,
      first BIGINT NOT NULL, last BIGINT NOT NULL, title TEXT, url TEXT, timestamp TEXT,
      said TEXT NOT NULL
    );
    CREATE UNIQUE INDEX stillme_knowledge_chunk_id ON stillme_knowledge_chunk (collection, md5(id));
    CREATE INDEX stillme_knowledge_chunk_document ON stillme_knowledge_chunk (document);
    CREATE TABLE stillme_knowledge_words (
      n BIGINT PRIMARY KEY REFERENCES stillme_knowledge_chunk (n) ON DELETE CASCADE,
      id TEXT COLLATE "C" NOT NULL, length INTEGER NOT NULL, words TSVECTOR NOT NULL
    ) WITH (toast_tuple_target = 128);
    CREATE INDEX stillme_knowledge_words_held ON stillme_knowledge_words USING gin (words) WITH (fastupdate = off);
    CREATE TABLE stillme_knowledge_vector (
      n BIGINT PRIMARY KEY REFERENCES stillme_knowledge_chunk (n) ON DELETE CASCADE,
      collection TEXT NOT NULL, session TEXT NOT NULL, id TEXT COLLATE "C" NOT NULL, vector VECTOR NOT NULL
    );
    ALTER TABLE stillme_knowledge_vector ALTER COLUMN vector SET STORAGE PLAIN;
    CREATE INDEX stillme_knowledge_vector_place ON stillme_knowledge_vector (collection, session);
    """,
    # 2. Sessions have owners. Whose the earlier ones are is not known, so that nobody may read them: they are forgotten.
    "DELETE FROM stillme_knowledge_document WHERE collection = 'conversation'",
)
# "knowledge", in ASCII, cut to 63 bits: any number that others are unlikely to lock.
WRITERS_LOCK: Final = 0x6B6E6F776C656467
# `true`: for this transaction only, so that nothing of it stays behind in a pooled connection. The extension may stand in another
# schema than the tables.
BEGIN: Final = (
    "BEGIN ISOLATION LEVEL {level}; SET LOCAL statement_timeout = {statement}; SET LOCAL lock_timeout = {lock};"
    "SET LOCAL idle_in_transaction_session_timeout = {statement};"
    "SELECT set_config('search_path', current_setting('search_path') || coalesce((SELECT ', ' || quote_ident(nspname)"
    " FROM pg_extension e JOIN pg_namespace s ON s.oid = e.extnamespace WHERE extname = 'vector'), ''), true)"
)
MOST_POSITIONS: Final = 255
VALUES: Final = (*("document", "collection", "id", "number", "text", "first", "last", "title", "url", "timestamp"),)
SAID: Final = (
    f"WITH c AS (INSERT INTO {PREFIX}chunk ({', '.join(VALUES)}, said)"  # noqa: S608
    f" VALUES ({', '.join(f'%({name})s' for name in VALUES)}, %(said)s) RETURNING n, id)"
    f" INSERT INTO {PREFIX}vector SELECT n, %(collection)s, %(session)s, id, %(vector)s::vector FROM c"
)
KNOWN: Final = SAID.replace(
    " INSERT INTO",
    f", w AS (INSERT INTO {PREFIX}words SELECT n, id, %(length)s, %(words)s::tsvector FROM c) INSERT INTO",  # noqa: S608
)
# By which words stand in a chunk, which the index tells.
HOLDING: Final = (
    "WITH best AS (SELECT n FROM unnest(%s::text[], %s::float8[]) u(mark, w) CROSS JOIN LATERAL"  # noqa: S608
    f" (SELECT n, id FROM {PREFIX}words WHERE words @@ quote_literal(mark)::tsquery OFFSET 0) AS held"
    " GROUP BY n, id ORDER BY sum(w) DESC, id LIMIT %s)"
    f" SELECT id, said FROM {PREFIX}chunk JOIN best USING (n)"
)
REREAD: Final = 5
# What FTS5 gives a word that most chunks hold.
LEAST_WEIGHT: Final = 1e-6
# A search is several statements that must speak of one state; a writer, once it has the lock, must see what the one before it wrote.
READING: Final = "REPEATABLE READ READ ONLY"
WRITING: Final = "READ COMMITTED READ WRITE"
# How many times the timeout an answer may take: a search or a put, and what builds an index.
SHORT: Final = 4
LONG: Final = 720
MOST_IDLE: Final = 4
ITERATIVE: Final = (0, 8)
Result = TypeVar("Result")
_ABANDONED: list[Any] = []


class PostgresStore:
    """A KnowledgeStore in a PostgreSQL database, beside whatever else is in it; a restarted server is found again."""

    def __init__(
        self, url: str, *, embedder: str | None = None, timeout_s: float = 5.0, exact_up_to: int = 50_000
    ) -> None:
        self._server = Server(url, timeout_s, "the store")
        self._driver, self.name = self._server.driver, self._server.name
        self._maker = maker_of(embedder)
        self._exact_up_to = exact_up_to
        self._is_ready = False
        self._lock = threading.Lock()
        self._idle: list[tuple[int, Any]] = []

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
            number = connection.execute(
                f"INSERT INTO {PREFIX}document (collection, session, name, digest, title, url, timestamp)"  # noqa: S608
                " VALUES (%s,%s,%s,%s,%s,%s,%s) RETURNING n",
                (collection, session, document.name, *known),
            ).fetchone()[0]
            self._put_chunks(connection, number, collection, session, rows)
            return True

        return self._write(work)

    def digests(self, collection: Collection, session: str = "") -> Mapping[str, str]:
        """Name and digest of every document there is."""
        check_place(collection, session)
        sql = f'SELECT name, digest FROM {PREFIX}document WHERE collection = %s AND session = %s ORDER BY name COLLATE "C"'  # noqa: S608
        return dict(self._read(lambda c: c.execute(sql, (collection, session)).fetchall()))

    def remove(self, collection: Collection, names: Sequence[str], session: str = "") -> int:
        """Forget documents; how many there were."""
        check_place(collection, session)

        def work(connection: Any) -> int:
            numbers = self._numbers(connection, collection, session, names)
            self._take_out(connection, numbers)
            return len(numbers)

        return self._write(work)

    def near(self, collection: Collection, vector: Any, most: int, session: str = "") -> list[tuple[str, float]]:
        """The chunks nearest to a vector, with their cosine, nearest first; ties by id."""
        check_place(collection, session)
        query = ready_vector(vector)
        width = len(query) // 4

        def work(connection: Any) -> list[tuple[str, bytes]]:
            self._check_maker(connection, width)
            column = "vector"
            if collection == "knowledge" and self._is_indexed(connection):
                self._ask_the_index(connection, most)
                column = f"vector::vector({width})"
            rows = connection.execute(
                # First which, then their numbers: else those of every row would be read out before the sort.
                f"WITH best AS MATERIALIZED (SELECT n FROM {PREFIX}vector"  # noqa: S608
                f" WHERE collection = '{collection}' AND session = %s ORDER BY {column} <=> %s::vector, id LIMIT %s)"
                f" SELECT id, vector::real[] FROM best JOIN {PREFIX}vector USING (n)",
                (session, _written(query), most + TIES),
                binary=True,
            ).fetchall()
            return [(key, _packed(numbers)) for key, numbers in rows]

        return nearest_first(query, self._read(work), most)

    def matching(
        self, collection: Collection, words: Sequence[str], most: int, session: str = ""
    ) -> list[tuple[str, float]]:
        """The chunks that hold any of the words, best first, with a score that falls; ties by id. Words are data, never query syntax."""
        check_place(collection, session)
        marks = marks_of(words)
        if not marks or most < 1:
            return []
        if collection == "conversation":
            return ranked_alone(self._read(lambda c: self._said(c, session)), marks, most)
        return self._read(lambda c: self._matching(c, marks, most))

    def chunks(self, collection: Collection, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; one that is gone is left out."""
        sql = (
            "SELECT c.id, d.name, c.number, c.text, c.first, c.last, c.title, c.url, c.timestamp"  # noqa: S608
            f" FROM {PREFIX}chunk c JOIN {PREFIX}document d ON d.n = c.document"
            " WHERE c.collection = %s AND md5(c.id) IN (SELECT md5(x) FROM unnest(%s::text[]) x)"
        )
        rows = self._read(lambda c: c.execute(sql, (collection, list(ids))).fetchall()) if ids else []
        found = {row[0]: Chunk(*row) for row in rows}
        return [found[key] for key in ids if key in found]

    def counts(self, collection: Collection) -> tuple[int, int]:
        """How many documents and chunks there are."""
        sql = (
            f"SELECT (SELECT count(*) FROM {PREFIX}document WHERE collection = %(c)s),"  # noqa: S608
            f" (SELECT count(*) FROM {PREFIX}vector WHERE collection = %(c)s)"
        )
        documents, chunks = self._read(lambda c: c.execute(sql, {"c": collection}).fetchone())
        return documents, chunks

    def settle(self) -> None:
        """Put the indexes in order after much was written, and build the one over vectors where there are many."""

        def work(connection: Any) -> None:
            for table in ("document", "chunk", "vector", "words"):
                connection.execute(f"ANALYZE {PREFIX}{table}")
            count = f"SELECT count(*) FROM {PREFIX}vector WHERE collection = 'knowledge'"  # noqa: S608
            if connection.execute(count).fetchone()[0] <= self._exact_up_to:
                connection.execute(f"DROP INDEX IF EXISTS {INDEX}")
            elif not self._is_indexed(connection):
                about = self._about(connection)
                connection.execute(
                    f"CREATE INDEX {INDEX} ON {PREFIX}vector USING hnsw"
                    f" ((vector::vector({int(about['width'])})) vector_cosine_ops)"
                    " WHERE collection = 'knowledge'"
                )

        self._write(work, times=LONG)

    def reset(self) -> None:
        """Forget every document, and whose vectors they had."""

        def work(connection: Any) -> None:
            connection.execute(f"DROP INDEX IF EXISTS {INDEX}")
            for table in ("document", "about"):
                connection.execute(f"DELETE FROM {PREFIX}{table}")  # noqa: S608

        self._write(work, times=LONG)

    def close(self) -> None:
        """Close the connections; using the store again opens new ones."""
        self._discard_idle()

    # inside a transaction

    def _about(self, connection: Any) -> dict[str, str]:
        return dict(connection.execute(f"SELECT key, value FROM {PREFIX}about").fetchall())  # noqa: S608

    def _check_maker(self, connection: Any, width: int, *, keep: bool = False) -> None:
        """Refuse vectors of another embedder, or of another width."""
        about = self._about(connection)
        given = check_maker(self.name, about, self._maker, width)
        if keep and not about:
            for pair in given.items():
                connection.execute(f"INSERT INTO {PREFIX}about VALUES (%s,%s)", pair)  # noqa: S608

    def _put_chunks(
        self, connection: Any, document: int, collection: Collection, session: str, rows: Sequence[Shelved]
    ) -> None:
        sql = f"SELECT id FROM {PREFIX}chunk WHERE collection = %s AND md5(id) IN (SELECT md5(x) FROM unnest(%s::text[]) x)"  # noqa: S608
        taken = connection.execute(sql, (collection, [row.chunk.id for row in rows])).fetchall()
        if taken:
            raise InputError(f"the id {shown(taken[0][0])} is a chunk of another document: ids must differ")
        is_said = collection == "conversation"
        for row in rows:
            chunk = row.chunk
            values = (chunk.number, chunk.text, chunk.start, chunk.end, chunk.title, chunk.url, chunk.timestamp)
            connection.execute(
                SAID if is_said else KNOWN,
                {
                    "said": " ".join(row.words),
                    **dict(zip(VALUES, (document, collection, chunk.id, *values), strict=True)),
                    "session": session,
                    "vector": _written(row.vector),
                    **({} if is_said else {"words": _lexemes(row.words), "length": len(row.words)}),
                },
            )

    def _numbers(self, connection: Any, collection: Collection, session: str, names: Sequence[str]) -> list[int]:
        sql = (
            f"SELECT n FROM {PREFIX}document WHERE collection = %s AND session = %s"  # noqa: S608
            " AND md5(name) IN (SELECT md5(x) FROM unnest(%s::text[]) x)"
        )
        return [row[0] for row in connection.execute(sql, (collection, session, list(names))).fetchall()]

    def _take_out(self, connection: Any, documents: list[int]) -> None:
        if documents:
            connection.execute(f"DELETE FROM {PREFIX}document WHERE n = ANY(%s)", (documents,))  # noqa: S608

    def _said(self, connection: Any, session: str) -> list[tuple[str, list[str]]]:
        sql = (
            f"SELECT c.id, c.said FROM {PREFIX}vector v JOIN {PREFIX}chunk c USING (n)"  # noqa: S608
            " WHERE v.collection = 'conversation' AND v.session = %s"
        )
        return [(key, words.split()) for key, words in connection.execute(sql, (session,)).fetchall()]

    def _matching(self, connection: Any, marks: list[str], most: int) -> list[tuple[str, float]]:
        """What FTS5 computes (`ts_rank` knows nothing of rarity): first by which words a chunk holds, then how often, for the best."""
        total, average = connection.execute(
            f"SELECT count(*), coalesce(avg(length), 1)::float8 FROM {PREFIX}words"  # noqa: S608
        ).fetchone()
        counted = connection.execute(
            f"SELECT mark, (SELECT count(*) FROM {PREFIX}words WHERE words @@ quote_literal(mark)::tsquery)"  # noqa: S608
            " FROM unnest(%s::text[]) u(mark)",
            (marks,),
        ).fetchall()
        weights = {mark: max(LEAST_WEIGHT, log((total - held + 0.5) / (held + 0.5))) for mark, held in counted}
        values = (list(weights), list(weights.values()), REREAD * most)
        best = [(key, said.split()) for key, said in connection.execute(HOLDING, values).fetchall()]
        return ranked(best, weights, average)[:most]

    def _is_indexed(self, connection: Any) -> bool:
        sql = (
            "SELECT 1 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid"
            " WHERE relname = %s AND indisvalid AND pg_table_is_visible(c.oid)"
        )
        return connection.execute(sql, (INDEX,)).fetchone() is not None

    def _ask_the_index(self, connection: Any, most: int) -> None:
        """Have the index look far enough: several times as many candidates as are wanted."""
        connection.execute(f"SET LOCAL hnsw.ef_search = {min(1000, 8 * (most + TIES))}")
        version = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()[0]
        if tuple(int(part) for part in version.split(".")[:2]) >= ITERATIVE:
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")

    # connections

    def _read(self, work: Callable[[Any], Result]) -> Result:
        return self._transact(work, READING, SHORT)

    def _write(self, work: Callable[[Any], Result], times: int = SHORT) -> Result:
        def alone(connection: Any) -> Result:
            connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")
            return work(connection)

        return self._transact(alone, WRITING, times)

    def _transact(self, work: Callable[[Any], Result], level: str, times: int) -> Result:
        with self._translated():
            if not self._is_ready:
                self._in_transaction(self._migrate, WRITING, LONG)
                self._is_ready = True
            return self._in_transaction(work, level, times)

    def _in_transaction(self, work: Callable[[Any], Result], level: str, times: int) -> Result:
        connection = self._begun(level, times)
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except StillMeError:
            connection.execute("ROLLBACK")
            self._give_back(connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return result

    def _begun(self, level: str, times: int) -> Any:
        """A connection with an open transaction; one that was lost while nobody used it is replaced."""
        timeout_s = self._server.timeout_s
        limits = {"statement": round(timeout_s * times * 1000), "lock": round(timeout_s * 1000)}
        begin = BEGIN.format(level=level, **limits)
        connection = self._taken()
        if connection is not None:
            try:
                return self._begin(connection, begin, times)
            except self._driver.OperationalError:  # the server was restarted: the others are lost as well
                self._discard_idle()
        return self._begin(self._server.connect(), begin, times)

    def _begin(self, connection: Any, begin: str, times: int) -> Any:
        # One more than the server's own limit, so that its word on what happened comes first.
        connection.limit_s = self._server.timeout_s * (times + 1)
        try:
            connection.execute(begin, prepare=False)
        except BaseException:
            connection.close()
            raise
        return connection

    def _taken(self) -> Any:
        with self._lock:
            while self._idle:
                process, connection = self._idle.pop()
                if process == os.getpid():
                    return connection
                _ABANDONED.append(connection)  # of the process that this one was forked from
        return None

    def _give_back(self, connection: Any) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append((os.getpid(), connection))
                return
        connection.close()

    def _discard_idle(self) -> None:
        while (connection := self._taken()) is not None:
            connection.close()

    def _migrate(self, connection: Any) -> None:
        if len(steps_taken(_rows(connection), f"{PREFIX}schema", TABLE_QUERY) or ()) == len(SCHEMA):
            return
        connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")
        self._extend(connection)
        names = {"table": f"{PREFIX}schema", "key_type": "BIGINT PRIMARY KEY", "table_query": TABLE_QUERY}
        upgrade(_rows(connection), {n: [sql] for n, sql in enumerate(SCHEMA, 1)}, name=self.name, **names)

    def _extend(self, connection: Any) -> None:
        """Have pgvector in this database, and its names within reach."""
        schema = (
            "SELECT nspname FROM pg_extension e JOIN pg_namespace s ON s.oid = e.extnamespace WHERE extname = 'vector'"
        )
        if connection.execute(schema).fetchone():
            return
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (self._driver.NotSupportedError, self._driver.OperationalError, self._driver.ProgrammingError) as error:
            if error.sqlstate not in ("0A000", "58P01", "42501"):
                raise
            raise BackendError(
                f"{self.name} needs the extension pgvector: install it on the server "
                "and have an administrator run CREATE EXTENSION vector in this database"
            ) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """What the driver raises, as our error; a value it quotes stays out of the message."""
        try:
            yield
        except self._driver.Error as error:
            state = f" [{error.sqlstate}]" if error.sqlstate else ""
            raise BackendError(f"{self.name} failed: {self._server.advice(error)}{state}") from error


def _rows(connection: Any) -> Rows:
    def rows(sql: str, values: Sequence[Any] = ()) -> list[Any]:
        cursor = connection.execute(sql, values or None)
        return cursor.fetchall() if cursor.description else []

    return rows


def _written(vector: bytes) -> str:
    """A vector as pgvector reads it, with every digit that counts."""
    import numpy  # noqa: PLC0415

    return f"[{','.join(map(repr, numpy.frombuffer(vector, '<f4').tolist()))}]"


def _packed(numbers: Sequence[float]) -> bytes:
    import numpy  # noqa: PLC0415

    return numpy.asarray(numbers, "<f4").tobytes()


def _lexemes(words: Sequence[str]) -> str:
    """A tsvector of words that are folded already; its positions only count how often each stands there."""
    counts = Counter(words)
    return " ".join(
        f"'{word}':{','.join(map(str, range(1, min(count, MOST_POSITIONS) + 1)))}" for word, count in counts.items()
    )
