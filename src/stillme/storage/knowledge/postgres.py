"""Knowledge in PostgreSQL with pgvector: for several replicas, and for more than one file holds well.

Up to `exact_up_to` chunks every vector is compared, so that what is found is what a single file would find. Beyond, `settle` builds an
HNSW index over the knowledge, which is asked from then on: much faster, and now and then it misses one. A session is always exact.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from math import log
from typing import Any, Final

from stillme.errors import BackendError
from stillme.storage.knowledge.base import PREFIX, KnowledgeStore, Result
from stillme.storage.knowledge.rows import Shelved
from stillme.storage.knowledge.store import Collection
from stillme.storage.postgres import TABLE_QUERY, Server
from stillme.text.search_words import ranked

__all__ = ["PostgresStore"]

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
ITERATIVE: Final = (0, 8)


class PostgresStore(KnowledgeStore):
    """A KnowledgeStore in a PostgreSQL database, beside whatever else is in it; a restarted server is found again."""

    steps = SCHEMA
    table_query = TABLE_QUERY.replace("%s", "?")
    key_type = "BIGINT PRIMARY KEY"
    held_as = "md5({})"
    words_column = "said"
    most_idle = 4

    def __init__(
        self, url: str, *, embedder: str | None = None, timeout_s: float = 5.0, exact_up_to: int = 50_000
    ) -> None:
        super().__init__(embedder)
        self._server = Server(url, timeout_s, "the store")
        self._driver, self.name = self._server.driver, self._server.name
        self._exact_up_to = exact_up_to
        self._is_ready = False

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

    # inside a transaction

    def _run(self, connection: Any, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        cursor = connection.execute(sql.replace("?", "%s"), values or None)
        return cursor.fetchall() if cursor.description else []

    def _nearest(
        self, connection: Any, collection: Collection, session: str, query: bytes, most: int
    ) -> list[tuple[str, bytes]]:
        column = "vector"
        if collection == "knowledge" and self._is_indexed(connection):
            self._ask_the_index(connection, most)
            column = f"vector::vector({len(query) // 4})"
        rows = connection.execute(
            # First which, then their numbers: else those of every row would be read out before the sort.
            f"WITH best AS MATERIALIZED (SELECT n FROM {PREFIX}vector"  # noqa: S608
            f" WHERE collection = '{collection}' AND session = %s ORDER BY {column} <=> %s::vector, id LIMIT %s)"
            f" SELECT id, vector::real[] FROM best JOIN {PREFIX}vector USING (n)",
            (session, _written(query), most),
            binary=True,
        ).fetchall()
        return [(key, _packed(numbers)) for key, numbers in rows]

    def _put_chunks(
        self, connection: Any, document: int, collection: Collection, session: str, rows: Sequence[Shelved]
    ) -> None:
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

    def _take_out(self, connection: Any, documents: list[int]) -> None:
        if documents:
            connection.execute(f"DELETE FROM {PREFIX}document WHERE n = ANY(%s)", (documents,))  # noqa: S608

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
        connection.execute(f"SET LOCAL hnsw.ef_search = {min(1000, 8 * most)}")
        version = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()[0]
        if tuple(int(part) for part in version.split(".")[:2]) >= ITERATIVE:
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")

    # connections

    def _read(self, work: Callable[[Any], Result], empty: Result) -> Result:  # noqa: ARG002  (there is always a server)
        return self._transact(work, READING, SHORT)

    def _write(self, work: Callable[[Any], Result], times: int = SHORT) -> Result:
        def alone(connection: Any) -> Result:
            connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")
            return work(connection)

        return self._transact(alone, WRITING, times)

    def _transact(self, work: Callable[[Any], Result], level: str, times: int) -> Result:
        with self._translated():
            if not self._is_ready:
                self._in_transaction(*self._begun(WRITING, LONG), self._migrate)
                self._is_ready = True
            return self._in_transaction(*self._begun(level, times), work)

    def _begun(self, level: str, times: int) -> tuple[Hashable, Any]:
        """A connection with an open transaction; one that was lost while nobody used it is replaced."""
        timeout_s = self._server.timeout_s
        limits = {"statement": round(timeout_s * times * 1000), "lock": round(timeout_s * 1000)}
        begin = BEGIN.format(level=level, **limits)
        idle = self._idle_one()
        if idle is not None:
            try:
                return idle[0], self._begin(idle[1], begin, times)
            except self._driver.OperationalError:  # the server was restarted: the others are lost as well
                self.close()
        return self._identity(), self._begin(self._server.connect(), begin, times)

    def _begin(self, connection: Any, begin: str, times: int) -> Any:
        # One more than the server's own limit, so that its word on what happened comes first.
        connection.limit_s = self._server.timeout_s * (times + 1)
        try:
            connection.execute(begin, prepare=False)
        except BaseException:
            connection.close()
            raise
        return connection

    def _identity(self) -> Hashable:
        return os.getpid()

    def _migrate(self, connection: Any) -> None:
        if self._is_current(connection):
            return
        connection.execute(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")
        self._extend(connection)
        self._upgrade(connection)

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
