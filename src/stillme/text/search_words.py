"""Texts as the words a full-text search finds them by: lower case, without accents, English endings cut off.

Both stores index these and no words of their own making, so that both find the same. Words with and without their accents are the same;
two words that stand side by side are kept as a pair too, for a Vietnamese word is often two syllables that mean little alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import Final

from stillme.text.tokens import Text, Word, stem

__all__ = ["folded_words", "marks_of", "ranked", "ranked_alone"]

LONGEST: Final = 64
SEPARATORS: Final = str.maketrans("", "", ".,'_")
# BM25 as everyone has it.
SATURATION: Final = 1.2
LENGTH: Final = 0.75
DECIMALS: Final = 6


def folded_words(text: str) -> list[str]:
    """The words of a text in order, then every two that stand side by side, joined by `_`."""
    read = Text(text).words
    marks = [_mark(word) if word.word or word.number else "" for word in read]
    pairs = [f"{a}_{b}" for a, b in pairwise(marks) if a and b]
    return [mark for mark in marks if mark] + pairs


def marks_of(words: Iterable[str]) -> list[str]:
    """What to look for: each word that is given; for one of several words, those that stand side by side in it."""
    found: dict[str, None] = {}
    for word in words:
        marks = folded_words(word)
        pairs = [mark for mark in marks if "_" in mark]
        found.update(dict.fromkeys(pairs or marks))
    return list(found)


def ranked(
    texts: Sequence[tuple[str, Sequence[str]]], weights: Mapping[str, float], average: float
) -> list[tuple[str, float]]:
    """Texts (id and folded words) that hold a weighed word, by BM25, best first; ties by id. `average` is the words a text has."""
    scores: dict[str, float] = {}
    for key, words in texts:
        held = Counter(word for word in words if word in weights)
        flat = SATURATION * (1 - LENGTH + LENGTH * len(words) / max(average, 1.0))
        if held:
            score = sum(weights[word] * times * (SATURATION + 1) / (times + flat) for word, times in held.items())
            scores[key] = round(score, DECIMALS)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def ranked_alone(
    texts: Sequence[tuple[str, Sequence[str]]], marks: Sequence[str], most: int
) -> list[tuple[str, float]]:
    """The best of few texts, such as those of a session, weighed by nothing but each other."""
    sets = [set(words) for _, words in texts]
    holding = {mark: sum(mark in words for words in sets) for mark in marks}
    weights = {mark: log(1 + (len(texts) - held + 0.5) / (held + 0.5)) for mark, held in holding.items()}
    average = sum(len(words) for _, words in texts) / max(len(texts), 1)
    return ranked(texts, weights, average)[:most]


def _mark(word: Word) -> str:
    return _spelt(word.folded, word.word)


@lru_cache(maxsize=1 << 16)
def _spelt(folded: str, is_word: bool) -> str:
    # Cut off after folding: a word with accents and one without have to come out the same.
    return (stem(folded) if is_word else folded).translate(SEPARATORS)[:LONGEST]
