"""Tokens, and the vectors that every shipped model begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stillme.models.bundle import checked, loaded_once
from stillme.models.tokens import Encoded, Tokenizer

__all__ = ["END", "PAD", "START", "Encoded", "WordVectors", "words"]

START, PAD, END = 0, 1, 2
# Stands where sentences of a text were left out.
GAP: Final = "…"


class WordVectors:
    """The tokenizer and the table of word vectors, kept as int8 rows with a scale each."""

    def __init__(self) -> None:
        import numpy  # noqa: PLC0415  (a tenth of a second)

        self._tokenizer = Tokenizer(checked("pieces.json"))
        # A plain view of the mapped file: a memmap looks at each of its slices anew.
        self._values = numpy.asarray(numpy.load(checked("words.npy"), mmap_mode="r"))
        self._scales = numpy.load(checked("scales.npy"))
        self.gap = self.encode(GAP).ids
        self.folded = numpy.array(self._tokenizer.folded(), "int64")
        """For each token the one it is compared as: its form in small letters, if there is one."""

    def encode(self, text: str) -> Encoded:
        """The tokens of a text, without marks."""
        return self._tokenizer.encode(text)

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without marks and places."""
        return self._tokenizer.ids(text)

    def encode_all(self, texts: Sequence[str]) -> list[Encoded]:
        return [self.encode(text) for text in texts]

    def vectors(self, ids: Any) -> Any:
        """The vectors of an array of tokens, float32."""
        return self._values[ids].astype("float32") * self._scales[ids][..., None]


@loaded_once
def words() -> WordVectors:
    """The one table of this process."""
    return WordVectors()
