"""How likely a sentence or a leading clause only talks: it greets, thanks, offers help or speaks about the answer, and states nothing.

A linear model on the embedding, the mean word vector and the words and pairs of words of the text, trained on texts that state or
advise something in the same words (`training/talk`). A score belongs to its text alone.
"""

from __future__ import annotations

import re
import threading
import zlib
from functools import cache
from itertools import pairwise
from typing import Any, Final

from stillme.errors import BackendError
from stillme.models.bundle import checked, manifest
from stillme.models.conduct import KIND, WIDTH, mean_vector, probability

__all__ = ["BUCKETS", "FILE", "TalkModel", "dense_features", "talk_model", "word_features"]

FILE: Final = "talk.npy"
BUCKETS: Final = 1 << 15
WORD: Final = re.compile(r"\w+|[?!]")


class TalkModel:
    """The classifier with its threshold; safe to share between threads."""

    def __init__(self) -> None:
        import numpy  # noqa: PLC0415  (loaded with the model)

        found = manifest()["talk"]
        self.talk_at: float = found["talk_at"]
        self.apart_at: float = found["apart_at"]
        """The lower threshold of a text that shares no word with question and sources."""
        weights = numpy.load(checked(FILE)).astype("float64")
        if weights.shape != (2 * WIDTH + BUCKETS + 1,):
            raise BackendError(f"the model file {FILE} does not fit this version: install it again")
        self._dense, self._words, self._bias = weights[: 2 * WIDTH], weights[2 * WIDTH : -1], float(weights[-1])

    def score(self, text: str, embed: Any) -> float:
        """The probability that a text only talks."""
        plain = plain_form(text)
        buckets = word_features(plain)
        said = float(self._words[buckets].sum()) / max(1, len(buckets)) ** 0.5
        return probability(float(self._dense @ dense_features(plain, embed)) + said + self._bias)


def dense_features(plain: str, embed: Any) -> Any:
    """The embedding and the mean word vector of a text."""
    import numpy  # noqa: PLC0415

    return numpy.concatenate([embed([plain], KIND)[0].astype("float64"), mean_vector(plain)])


def word_features(plain: str) -> list[int]:
    """The buckets of the words and the pairs of neighbours of a text, its edges among them."""
    words = WORD.findall(plain.lower())
    pairs = (f"{a} {b}" for a, b in pairwise(["^", *words, "$"]))
    return sorted({zlib.crc32(each.encode()) % BUCKETS for each in (*words, *pairs)})


def plain_form(text: str) -> str:
    """The text with a capital and without the mark that ends it, so that a clause reads like a sentence."""
    stripped = text.strip().rstrip(".,:;!…—–- ").strip() or text.strip()
    return stripped[:1].upper() + stripped[1:]


_LOADING = threading.Lock()


@cache
def _talk_model() -> TalkModel:
    return TalkModel()


def talk_model() -> TalkModel:
    """The one classifier of this process, loaded when first asked for."""
    with _LOADING:
        return _talk_model()
