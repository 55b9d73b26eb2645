"""Texts as unit vectors, the nearer the closer in meaning, in English, Vietnamese and across them.

A text is read alone, without padding: its vector does not depend on what else is asked for. What is longer than the model reads
at once is read in windows of one size, and the text's vector is the direction of their mean: nothing goes unread. A long document
that is searched is better cut into passages first, each with its own vector.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import Any, Final, Literal

from stillme.errors import InputError, shown
from stillme.models.bundle import loaded_once, manifest, session
from stillme.models.recent import Recent
from stillme.models.words import END, START, words

__all__ = ["WINDOW_TOKENS", "Embedder", "Kind", "embed", "embedder"]

Kind = Literal["query", "passage"]
WINDOW_TOKENS: Final = 510
DECIMALS: Final = 6
MOST_REMEMBERED: Final = 2048
# What the base model was trained to find before a question and before what may answer it.
PREFIXES: Final[dict[str, str]] = {"query": "query: ", "passage": "passage: "}


class Embedder:
    """Embeds questions and passages; safe to share between threads."""

    def __init__(self) -> None:
        self._words = words()
        self._session = session("embedder.onnx")
        self._prefixes = {kind: self._words.encode(text).ids for kind, text in PREFIXES.items()}
        # Passages come back from request to request; kept under a digest, so that no text stays in memory.
        self.recent: Recent[bytes, Any] = Recent("vectors", MOST_REMEMBERED)

    @property
    def id(self) -> str:
        """Name and version, with the beginning of the hash of its weights."""
        found = manifest()
        return f"{found['name']}-embedder/{found['version']}+{found['files']['embedder.onnx'][:12]}"

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Any:
        """One unit vector a text, as the rows of a float32 array; a question is a "query", what may answer it a "passage"."""
        import numpy  # noqa: PLC0415  (loaded with the model)

        if kind not in PREFIXES:
            raise InputError(f"kind must be 'query' or 'passage', got {shown(kind)}")
        if isinstance(texts, str):
            raise InputError(f"texts must be a list of texts, got the text {shown(texts)}: put it into a list")
        found = [self._vector(text, kind, n) for n, text in enumerate(texts)]
        return numpy.stack(found) if found else numpy.zeros((0, self._width), "float32")

    def _vector(self, text: str, kind: str, number: int) -> Any:
        """The vector of one text, remembered."""
        encoded = _readable(text, number)
        key = hashlib.blake2b(encoded, digest_size=32, person=kind.encode()).digest()
        known = self.recent.get(key)
        return known if known is not None else self.recent.keep(key, self._read(encoded.decode(), kind, number))

    def _read(self, text: str, kind: str, number: int) -> Any:
        import numpy  # noqa: PLC0415

        ids, prefix = self._words.encode(text).ids, self._prefixes[kind]
        if not ids:
            raise InputError(f"texts[{number}] holds nothing that can be read, got {shown(text)}")
        most = WINDOW_TOKENS - len(prefix)
        # Windows of one size: a last one of a few words would weigh as much as the others.
        size = -(-len(ids) // -(-len(ids) // most))
        windows = [(START, *prefix, *ids[at : at + size], END) for at in range(0, len(ids), size)]
        found = numpy.concatenate([self._pass(window) for window in windows])
        mean = found.mean(axis=0, dtype="float64")
        vector = (mean / numpy.linalg.norm(mean)).round(DECIMALS).astype("float32")
        vector.flags.writeable = False
        return vector

    def _pass(self, ids: tuple[int, ...]) -> Any:
        import numpy  # noqa: PLC0415

        (vectors,) = self._session.run(None, {"embeddings": self._words.vectors(numpy.array([ids], "int64"))})
        return vectors

    @property
    def _width(self) -> int:
        return int(self._session.get_outputs()[0].shape[1])


def _readable(text: str, number: int) -> bytes:
    """A text in composed form, as UTF-8, if there is something in it."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"texts[{number}] must be a text with something in it, got {shown(text)}")
    try:
        return unicodedata.normalize("NFC", text).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"texts[{number}] has a lone surrogate at character {error.start}: send well-formed Unicode text"
        ) from None


@loaded_once
def embedder() -> Embedder:
    """The one embedder of this process, loaded when first asked for."""
    return Embedder()


def embed(texts: Sequence[str], kind: Kind = "passage") -> Any:
    """What the one embedder says: to be passed on where it may never be needed, for it is loaded only when called."""
    return embedder().embed(texts, kind)
