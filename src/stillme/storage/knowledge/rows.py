"""What both stores hold to: which puts they take, whose vectors they take, and in which order they give what is near."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from stillme.errors import InputError, shown
from stillme.storage.knowledge.store import Chunk, Collection, Document
from stillme.text.search_words import folded_words

__all__ = [
    "TIES",
    "Maker",
    "Shelved",
    "check_maker",
    "check_place",
    "maker_of",
    "nearest_first",
    "ready_vector",
    "shelved",
]

LONGEST_CHUNK: Final = 64_000
LONGEST_NAME: Final = 4096
LONGEST_SESSION: Final = 300
# An engine's own cosine is good to about seven places. So many more candidates than wanted are taken, and ordered by one computed
# exactly: both engines then give the same list.
TIES: Final = 16
DECIMALS: Final = 6
NOT_UNIT: Final = 1e-3
Maker = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Shelved:
    """A chunk with its vector as bytes and its folded words."""

    chunk: Chunk
    vector: bytes
    words: list[str]


def maker_of(embedder: str | None) -> Maker:
    """Who makes the vectors: the id given, or that of this process's embedder, asked for when the first vector comes."""

    def own() -> str:
        from stillme.models.embedding import embedder as one  # noqa: PLC0415  (loads the model)

        return one().id

    return own if embedder is None else lambda: embedder


def check_maker(name: str, about: Mapping[str, str], maker: Maker, width: int) -> dict[str, str]:
    """What a store notes about its vectors; those of another embedder, or of another width, are refused."""
    given = {"embedder": maker(), "width": str(width)}
    if about and {key: about.get(key) for key in given} != given:
        raise InputError(
            f"{name} holds vectors of {about.get('embedder')} ({about.get('width')} numbers each), these are of "
            f"{given['embedder']} ({width}): ingest into a new store, or reset this one and ingest again"
        )
    return given


def check_place(collection: Collection, session: str) -> None:
    """Refuse a collection that there is not, and a session where none belongs or none is named."""
    if collection not in get_args(Collection):
        raise InputError(f"collection must be 'knowledge' or 'conversation', got {shown(collection)}")
    if (collection == "conversation") != bool(session):
        wanted = "must name the session" if collection == "conversation" else "has no sessions: leave session empty"
        raise InputError(f"the collection {collection!r} {wanted}, got session={shown(session)}")
    if len(session) > LONGEST_SESSION:
        raise InputError(f"session has {len(session)} characters, more than {LONGEST_SESSION}: use a shorter one")
    _check_text("session", session)


def shelved(document: Document, chunks: Sequence[Chunk], vectors: Any) -> list[Shelved]:
    """The chunks as a store keeps them, if all of it fits together."""
    import numpy  # noqa: PLC0415  (comes with the vectors)

    _check_texts("document", (document.name, document.digest, document.title, document.url, document.timestamp))
    if not document.name or len(document.name) > LONGEST_NAME:
        raise InputError(f"a document's name must have 1 to {LONGEST_NAME} characters, got {len(document.name)}")
    rows = numpy.asarray(vectors, "float32")
    if len(rows) != len(chunks):
        raise InputError(f"document {shown(document.name)} has {len(chunks)} chunks and {len(rows)} vectors")
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise InputError(f"document {shown(document.name)} has two chunks of one id: ids must differ")
    for chunk in chunks:
        _check_chunk(document, chunk)
    return [
        Shelved(chunk, ready_vector(row), folded_words(f"{chunk.title or ''}\n{chunk.text}"))
        for chunk, row in zip(chunks, rows, strict=True)
    ]


def ready_vector(vector: Any, width: int | None = None) -> bytes:
    """A unit vector as little-endian float32, of the width that is wanted."""
    import numpy  # noqa: PLC0415

    row = numpy.asarray(vector, "<f4")
    if row.ndim != 1 or not row.size or not numpy.isfinite(row).all():
        raise InputError(f"a vector must be one row of finite numbers, got the shape {row.shape}")
    if abs(float(numpy.linalg.norm(row.astype("float64"))) - 1) > NOT_UNIT:
        raise InputError("a vector must have the length 1: divide it by its length")
    if width is not None and row.size != width:
        raise InputError(f"a vector must have {width} numbers as those in the store, got {row.size}")
    return row.tobytes()


def nearest_first(vector: bytes, found: Iterable[tuple[str, bytes]], most: int) -> list[tuple[str, float]]:
    """Ids with their cosine, nearest first, ties by id; computed in double precision and rounded, so that both engines agree."""
    import numpy  # noqa: PLC0415

    query = numpy.frombuffer(vector, "<f4").astype("float64")
    cosines = [(key, numpy.frombuffer(held, "<f4").astype("float64") @ query) for key, held in found]
    # Adding 0 makes of -0.0 a 0.0, which would be told apart when written.
    scored = [(key, round(float(cosine), DECIMALS) + 0.0) for key, cosine in cosines]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:most]


def _check_chunk(document: Document, chunk: Chunk) -> None:
    if chunk.document != document.name:
        raise InputError(f"chunk {shown(chunk.id)} is of {shown(chunk.document)}, not of {shown(document.name)}")
    if not chunk.id or len(chunk.id) > LONGEST_NAME:
        raise InputError(f"a chunk's id must have 1 to {LONGEST_NAME} characters, got {len(chunk.id)}")
    if len(chunk.text) > LONGEST_CHUNK:
        raise InputError(f"chunk {shown(chunk.id)} has {len(chunk.text)} characters, more than {LONGEST_CHUNK}: cut it")
    _check_texts("chunk", (chunk.id, chunk.text, chunk.title, chunk.url, chunk.timestamp))


def _check_texts(what: str, texts: Iterable[str | None]) -> None:
    for text in texts:
        _check_text(what, text or "")


def _check_text(what: str, text: str) -> None:
    """PostgreSQL keeps no NUL and no engine a lone surrogate; what one engine refuses, both do."""
    if "\0" in text:
        raise InputError(f"a {what} holds a NUL character: leave it out")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a {what} holds a lone surrogate at character {error.start}: leave it out") from None
