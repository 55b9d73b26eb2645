"""Text to tokens: the unigram tokenizer of the base model, over the pieces that were kept of its vocabulary.

A word is cut into the pieces whose scores add up highest. Words are cut one by one and remembered, so that a text costs little more
than finding its words.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

__all__ = ["Encoded", "Tokenizer"]

WORD_MARK: Final = "▁"
UNKNOWN: Final = 3
UNKNOWN_PENALTY: Final = 10.0
MOST_WORDS: Final = 32_768
LONGEST_REMEMBERED: Final = 64
Cut = tuple[tuple[int, int, int], ...]
"""For each token its id and its characters in the marked word."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a text and the characters that each stands for."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Tokenizer:
    """Cuts texts into tokens; the same text always into the same ones."""

    def __init__(self, path: Path) -> None:
        found = json.loads(path.read_text("utf-8"))
        # Without the marks of beginning, end and padding: a text that spells one out must not become one.
        self._ids: dict[str, int] = {p: n for n, p in enumerate(found["pieces"]) if n > UNKNOWN}
        self._scores: list[float] = found["scores"]
        self._longest = max(map(len, found["pieces"]))
        self._unknown = min(self._scores) - UNKNOWN_PENALTY
        self._known_words = lru_cache(maxsize=MOST_WORDS)(self._cut)
        self._known_ids = lru_cache(maxsize=MOST_WORDS)(self._ids_of)

    def encode(self, text: str) -> Encoded:
        """The tokens of a text, without marks of beginning and end."""
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for start, word in _words(text):
            plain = unicodedata.normalize("NFKC", word)
            for part in plain.split():
                cut = self._known_words(part) if len(part) <= LONGEST_REMEMBERED else self._cut(part)
                for token, first, last in cut:
                    ids.append(token)
                    # A word that is written otherwise in its plain form stands for all its characters.
                    same = part == word
                    offsets.append((start + first, start + last) if same else (start, start + len(word)))
        return Encoded(tuple(ids), tuple(offsets))

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, as `encode` has them, without their places."""
        words = text.split()
        short = max(map(len, words), default=0) <= LONGEST_REMEMBERED
        return list(chain.from_iterable(map(self._known_ids if short else self._ids_of, words)))

    def _ids_of(self, word: str) -> tuple[int, ...]:
        """The tokens of what stands between two white spaces."""
        parts = unicodedata.normalize("NFKC", word).split()
        return tuple(token for part in parts for token, _, _ in self._cut(part))

    def folded(self) -> list[int]:
        """For each token the one that its form in small letters has; itself where there is none."""
        marks = range(UNKNOWN + 1)
        return [*marks, *(self._ids.get(piece.lower(), token) for piece, token in self._ids.items())]

    def _cut(self, word: str) -> Cut:
        """The pieces of a word with the highest sum of scores; characters that no piece holds are unknown, neighbours together."""
        marked = WORD_MARK + word
        size, known, scores = len(marked), self._ids, self._scores
        best: list[tuple[float, int, int] | None] = [None] * (size + 1)
        best[0] = (0.0, 0, UNKNOWN)
        for start in range(size):
            here = best[start]
            so_far = here[0] if here is not None else 0.0
            for end in range(start + 1, min(start + self._longest, size) + 1):
                piece = known.get(marked[start:end])
                if piece is not None:
                    there = best[end]
                    if there is None or so_far + scores[piece] > there[0]:
                        best[end] = (so_far + scores[piece], start, piece)
            after = best[start + 1]
            if marked[start] not in known and (after is None or so_far + self._unknown > after[0]):
                best[start + 1] = (so_far + self._unknown, start, UNKNOWN)
        return tuple(_fused(_backwards(best)))


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text, parted by white space, each with its place."""
    at = 0
    for word in text.split():
        at = text.index(word, at)
        yield at, word
        at += len(word)


def _backwards(best: list[tuple[float, int, int] | None]) -> list[tuple[int, int, int]]:
    """The best way through a word, from its beginning, in characters without the mark."""
    found: list[tuple[int, int, int]] = []
    end = len(best) - 1
    while end > 0:
        step = best[end]
        start, piece = (step[1], step[2]) if step is not None else (end - 1, UNKNOWN)
        found.append((piece, max(0, start - 1), end - 1))
        end = start
    return found[::-1]


def _fused(cut: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Unknown neighbours as one token."""
    waiting: tuple[int, int, int] | None = None
    for piece, start, end in cut:
        if piece == UNKNOWN:
            waiting = (UNKNOWN, waiting[1] if waiting else start, end)
            continue
        if waiting:
            yield waiting
            waiting = None
        yield piece, start, end
    if waiting:
        yield waiting
