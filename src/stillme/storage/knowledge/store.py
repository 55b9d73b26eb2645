"""What the chat knows: documents cut into chunks, kept in a store, found by a question.

Both engines (`sqlite`, `postgres`) keep this one small interface; `chat.retrieval` ranks what they find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from stillme.contract import RetrievedPassage

__all__ = ["Chunk", "Collection", "Context", "Document", "Found", "KnowledgeStore"]

Collection = Literal["knowledge", "conversation"]


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name of its own; what is ingested under the same name again replaces it."""

    name: str
    text: str
    digest: str
    """Tells whether the document changed: the hash of what it was read from."""
    title: str | None = None
    url: str | None = None
    timestamp: str | None = None
    """When it was last changed, ISO 8601."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document, as it is stored, found and shown to a model."""

    id: str
    """Stable: the same piece of the same document has the same id in every store."""
    document: str
    number: int
    text: str
    """Verbatim: `document.text[start:end]`."""
    start: int
    end: int
    title: str | None = None
    url: str | None = None
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that retrieval found for a question."""

    chunk: Chunk
    similarity: float
    """On the calibrated 0..1 scale that the policy's thresholds are on."""
    rank: float
    """What the list is ordered by: the votes of all searches, and 1 more where the similarity is close."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a question may be answered from, and what was said before that touches on it."""

    knowledge_docs: tuple[Found, ...] = ()
    conversation_docs: tuple[Found, ...] = ()

    @property
    def total_context_docs(self) -> int:
        """How many chunks there are in all."""
        return len(self.knowledge_docs) + len(self.conversation_docs)

    @property
    def passages(self) -> list[RetrievedPassage]:
        """The knowledge as the guard takes it: a source is a document, its chunks are passages of it, which cannot disagree as two
        sources would. What was said in a conversation is never evidence."""
        return [
            RetrievedPassage.model_construct(
                source_id=found.chunk.document,
                chunk_id=found.chunk.id,
                text=found.chunk.text,
                title=found.chunk.title,
                url=found.chunk.url,
                timestamp=found.chunk.timestamp,
                similarity=found.similarity,
            )
            for found in self.knowledge_docs
        ]


class KnowledgeStore(Protocol):
    """Keeps documents in chunks and finds chunks by vector and by word. Safe to share between threads and processes.

    A collection "conversation" holds what was said in sessions: its documents are named `session/number`, and a search in it names
    the session. Vectors are unit vectors of one width; the store remembers which embedder made them and refuses another one's.
    """

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
        ...

    def digests(self, collection: Collection, session: str = "") -> Mapping[str, str]:
        """Name and digest of every document there is."""

    def remove(self, collection: Collection, names: Sequence[str], session: str = "") -> int:
        """Forget documents; how many there were."""

    def near(self, collection: Collection, vector: Any, most: int, session: str = "") -> list[tuple[str, float]]:
        """The chunks nearest to a vector, with their cosine, nearest first; ties by id."""

    def matching(
        self, collection: Collection, words: Sequence[str], most: int, session: str = ""
    ) -> list[tuple[str, float]]:
        """The chunks that hold any of the words, best first, with a score that falls; ties by id. Words are data, never query syntax.

        An item of several words is held where two of them stand side by side. Accents and English endings do not count.
        """

    def chunks(self, collection: Collection, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in this order; one that is gone is left out."""

    def counts(self, collection: Collection) -> tuple[int, int]:
        """How many documents and chunks there are."""

    def settle(self) -> None:
        """Put the indexes in order after much was written; what is found is right without it, and sooner with it."""

    def reset(self) -> None:
        """Forget every document, and whose vectors they had."""

    def close(self) -> None:
        """Let go of the database."""
