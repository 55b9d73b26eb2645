"""What the chat knows: documents cut into chunks, kept in a store (`base`), found by a question and ranked by `chat.retrieval`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stillme.contract import RetrievedPassage

__all__ = ["Chunk", "Collection", "Context", "Document", "Found"]

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
