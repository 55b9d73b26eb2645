"""What every store of knowledge does: it puts documents, takes them out and finds their chunks. An engine adds how it is reached."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

from stillme.errors import InputError, StillMeError, shown
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
from stillme.storage.schema import steps_taken, upgrade
from stillme.storage.sqlite import keep_for_ever
from stillme.text.search_words import marks_of, ranked_alone

__all__ = ["PREFIX", "KnowledgeStore", "Result"]

PREFIX: Final = "stillme_knowledge_"
TOGETHER: Final = 500
"""How many values one query names."""
DOCUMENTS: Final = f"SELECT n FROM {PREFIX}document WHERE collection = ? AND session = ? AND "  # noqa: S608
NEW_DOCUMENT: Final = (
    f"INSERT INTO {PREFIX}document (collection, session, name, digest, title, url, timestamp)"  # noqa: S608
    " VALUES (?,?,?,?,?,?,?) RETURNING n"
)
CHUNKS: Final = (
    "SELECT c.id, d.name, c.number, c.text, c.first, c.last, c.title, c.url, c.timestamp"  # noqa: S608
    f" FROM {PREFIX}chunk c JOIN {PREFIX}document d ON d.n = c.document WHERE c.collection = ? AND "
)
Result = TypeVar("Result")


class KnowledgeStore(ABC):
    """Keeps documents in chunks and finds chunks by vector and by word. Safe to share between threads and processes.

    A collection "conversation" holds what was said in sessions: its documents are named `session/number`, and a search in it names
    the session. Vectors are unit vectors of one width; the store remembers which embedder made them and refuses another one's.

    SQL is written once, with `?` for values; an engine runs it, and words what differs.
    """

    name: str
    steps: ClassVar[Sequence[str]]
    """The schema, as steps that are taken once."""
    table_query: ClassVar[str]
    key_type: ClassVar[str]
    held_as: ClassVar[str]
    """How an index holds a name or an id."""
    words_column: ClassVar[str]
    """Where a chunk of a conversation has its words."""
    most_idle: ClassVar[int]

    def __init__(self, embedder: str | None) -> None:
        self._maker = maker_of(embedder)
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Any]] = []

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
        """Keep a document, in place of what had its name; whole or not at all.

        Without `replace` it is kept only if the name is free. Whether it was kept.
        """
        check_place(collection, session)
        rows = shelved(document, chunks, vectors)
        known = (document.digest, document.title, document.url, document.timestamp)

        def work(connection: Any) -> bool:
            if rows:
                self._check_maker(connection, len(rows[0].vector) // 4, keep=True)
            before = self._numbers(connection, collection, session, [document.name])
            if before and not replace:
                return False
            self._take_out(connection, before)
            number = self._run(connection, NEW_DOCUMENT, (collection, session, document.name, *known))[0][0]
            self._check_ids(connection, collection, rows)
            self._put_chunks(connection, number, collection, session, rows)
            return True

        return self._write(work)

    def digests(self, collection: Collection, session: str = "") -> Mapping[str, str]:
        """Name and digest of every document there is."""
        check_place(collection, session)
        sql = f"SELECT name, digest FROM {PREFIX}document WHERE collection = ? AND session = ?"  # noqa: S608
        return dict(sorted(self._read(lambda c: self._run(c, sql, (collection, session)), [])))

    def remove(self, collection: Collection, names: Sequence[str], session: str = "") -> int:
        """Forget documents; how many there were."""
        check_place(collection, session)

        def work(connection: Any) -> int:
            numbers = self._numbers(connection, collection, session, names)
            self._take_out(connection, numbers)
            return len(numbers)

        return self._write(work) if self._exists() else 0

    def near(self, collection: Collection, vector: Any, most: int, session: str = "") -> list[tuple[str, float]]:
        """The chunks nearest to a vector, with their cosine, nearest first; ties by id."""
        check_place(collection, session)
        query = ready_vector(vector)

        def work(connection: Any) -> list[tuple[str, bytes]]:
            self._check_maker(connection, len(query) // 4)
            return self._nearest(connection, collection, session, query, most + TIES)

        return nearest_first(query, self._read(work, []), most)

    def matching(
        self, collection: Collection, words: Sequence[str], most: int, session: str = ""
    ) -> list[tuple[str, float]]:
        """The chunks that hold any of the words, best first, with a score that falls; ties by id. Words are data, never query syntax.

        An item of several words is held where two of them stand side by side. Accents and English endings do not count.
        """
        check_place(collection, session)
        marks = marks_of(words)
        if not marks or most < 1:
            return []
        if collection == "knowledge":
            return self._read(lambda c: self._matching(c, marks, most), [])
        sql = (
            f"SELECT c.id, c.{self.words_column} FROM {PREFIX}vector v JOIN {PREFIX}chunk c USING (n)"  # noqa: S608
            " WHERE v.collection = 'conversation' AND v.session = ?"
        )
        said: list[Any] = self._read(lambda c: self._run(c, sql, (session,)), [])
        return ranked_alone([(key, held.split()) for key, held in said], marks, most)

    def chunks(self, collection: Collection, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; one that is gone is left out."""
        rows: list[Any] = self._read(lambda c: self._held(c, CHUNKS, (collection,), "c.id", ids), [])
        found = {row[0]: Chunk(*row) for row in rows}
        return [found[key] for key in ids if key in found]

    def counts(self, collection: Collection) -> tuple[int, int]:
        """How many documents and chunks there are."""
        sql = (
            f"SELECT (SELECT count(*) FROM {PREFIX}document WHERE collection = ?),"  # noqa: S608
            f" (SELECT count(*) FROM {PREFIX}vector WHERE collection = ?)"
        )
        documents, chunks = self._read(lambda c: self._run(c, sql, (collection, collection))[0], (0, 0))
        return documents, chunks

    @abstractmethod
    def settle(self) -> None:
        """Put the indexes in order after much was written; what is found is right without it, and sooner with it."""

    @abstractmethod
    def reset(self) -> None:
        """Forget every document, and whose vectors they had."""

    def close(self) -> None:
        """Let go of the database; using the store again opens it again."""
        while (idle := self._idle_one()) is not None:
            idle[1].close()

    # what an engine words in its own way, inside a transaction

    @abstractmethod
    def _run(self, connection: Any, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; the rows it gives."""

    @abstractmethod
    def _take_out(self, connection: Any, documents: list[int]) -> None:
        """Delete documents, with their chunks."""

    @abstractmethod
    def _put_chunks(
        self, connection: Any, document: int, collection: Collection, session: str, rows: Sequence[Shelved]
    ) -> None:
        """Write the chunks of a document."""

    @abstractmethod
    def _nearest(
        self, connection: Any, collection: Collection, session: str, query: bytes, most: int
    ) -> list[tuple[str, bytes]]:
        """Ids and vectors of the chunks that are nearest, by the engine's own cosine."""

    @abstractmethod
    def _matching(self, connection: Any, marks: list[str], most: int) -> list[tuple[str, float]]:
        """The chunks of the knowledge that hold a mark, as `matching` gives them."""

    # what is shared inside a transaction

    def _held(self, connection: Any, sql: str, values: Sequence[Any], column: str, wanted: Sequence[Any]) -> list[Any]:
        """The rows of a query whose column holds a wanted value; the query is complete but for this condition."""
        once, rows = list(dict.fromkeys(wanted)), []
        for start in range(0, len(once), TOGETHER):
            some = once[start : start + TOGETHER]
            marks = ",".join([self.held_as.format("?")] * len(some))
            rows += self._run(connection, f"{sql}{self.held_as.format(column)} IN ({marks})", (*values, *some))
        return rows

    def _numbers(self, connection: Any, collection: Collection, session: str, names: Sequence[str]) -> list[int]:
        return [row[0] for row in self._held(connection, DOCUMENTS, (collection, session), "name", names)]

    def _check_ids(self, connection: Any, collection: Collection, rows: Sequence[Shelved]) -> None:
        sql = f"SELECT id FROM {PREFIX}chunk WHERE collection = ? AND "  # noqa: S608
        for (taken,) in self._held(connection, sql, (collection,), "id", [row.chunk.id for row in rows]):
            raise InputError(f"the id {shown(taken)} is a chunk of another document: ids must differ")

    def _about(self, connection: Any) -> dict[str, str]:
        return dict(self._run(connection, f"SELECT key, value FROM {PREFIX}about"))  # noqa: S608

    def _check_maker(self, connection: Any, width: int, *, keep: bool = False) -> None:
        """Refuse vectors of another embedder, or of another width."""
        about = self._about(connection)
        given = check_maker(self.name, about, self._maker, width)
        if keep and not about:
            for pair in given.items():
                self._run(connection, f"INSERT INTO {PREFIX}about VALUES (?,?)", pair)  # noqa: S608

    def _is_current(self, connection: Any) -> bool:
        taken = steps_taken(partial(self._run, connection), f"{PREFIX}schema", self.table_query)
        return len(taken or ()) == len(self.steps)

    def _upgrade(self, connection: Any) -> None:
        names = {"table": f"{PREFIX}schema", "key_type": self.key_type, "table_query": self.table_query}
        steps = {number: [sql] for number, sql in enumerate(self.steps, 1)}
        upgrade(partial(self._run, connection), steps, name=self.name, **names)

    # connections

    def _exists(self) -> bool:
        """Whether there is a database yet; one that is not there holds nothing, and reading does not make it."""
        return True

    @abstractmethod
    def _read(self, work: Callable[[Any], Result], empty: Result) -> Result:
        """What the work gives, on one snapshot; `empty` where there is no database yet."""

    @abstractmethod
    def _write(self, work: Callable[[Any], Result]) -> Result:
        """What the work gives, while no other writer is at work; kept whole or not at all."""

    @abstractmethod
    def _identity(self) -> Hashable:
        """What a connection is good for: this process, and the database that is there now."""

    def _in_transaction(self, opened: Hashable, connection: Any, work: Callable[[Any], Result]) -> Result:
        """What the work gives, in the transaction that was begun; a connection that failed is not used again."""
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except StillMeError:
            connection.execute("ROLLBACK")
            self._give_back(opened, connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._give_back(opened, connection)
        return result

    def _idle_one(self) -> tuple[Hashable, Any] | None:
        """A connection of this process to the database that is there now; others are left alone."""
        current = self._identity()
        with self._lock:
            while self._idle:
                opened, connection = self._idle.pop()
                if opened == current:
                    return opened, connection
                keep_for_ever(connection)
        return None

    def _give_back(self, opened: Hashable, connection: Any) -> None:
        with self._lock:
            if len(self._idle) < self.most_idle:
                self._idle.append((opened, connection))
                return
        connection.close()
