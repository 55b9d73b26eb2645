"""How likely a sentence or a leading clause only talks: it greets, thanks, offers help or speaks about the answer, and states nothing.

A linear model on the embedding, the mean word vector and the words and pairs of words of the text, trained on texts that state or
advise something in the same words (`training/talk`). A score belongs to its text alone.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from itertools import pairwise
from typing import Any, Final

from stillme.errors import BackendError
from stillme.models.bundle import checked, loaded_once, manifest
from stillme.models.conduct import KIND, WIDTH, mean_vector, probability

__all__ = ["BUCKETS", "FILE", "TalkModel", "dense_features", "talk_model", "word_features"]

FILE: Final = "talk.npy"
BUCKETS: Final = 1 << 15
# A Vietnamese tone on the first of two vowels that end a syllable; the other spelling has it on the second.
TONE: Final = re.compile(
    r"(o(?=.[ae])|u(?=.y))([\u0300\u0301\u0303\u0309\u0323])([aey])(?![\w\u0300-\u036f])", re.IGNORECASE
)
WORD: Final = re.compile(r"\w+|[?!]")


class TalkModel:
    """The classifier with its threshold; safe to share between threads."""

    def __init__(self) -> None:
        import numpy  # noqa: PLC0415  (loaded with the model)

        found = manifest()["talk"]
        self.talk_at: float = found["talk_at"]
        self.apart_at: float = found["apart_at"]
        """The lower threshold of a text that shares no word with question and sources."""
        self.remark_at: float = found["remark_at"]
        """The threshold of a text that may be left out of an answer; one that is let pass unchecked has to reach the others."""
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
    """The text with a capital, without the mark that ends it, and in one spelling: a clause reads like a sentence."""
    stripped = text.strip().rstrip(".,:;!…—–- ").strip() or text.strip()
    respelt = TONE.sub(r"\1\3\2", unicodedata.normalize("NFD", stripped[:1].upper() + stripped[1:]))
    return unicodedata.normalize("NFC", respelt)


@loaded_once
def talk_model() -> TalkModel:
    """The one classifier of this process, loaded when first asked for."""
    return TalkModel()
