"""Sentences in capitals, and how they are written without shouting: ordinary words become small, names and acronyms stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from typing import Final

from stillme.languages import word_set
from stillme.text.concepts import concepts_of
from stillme.text.language import is_small, small_words
from stillme.text.names import names_something
from stillme.text.tokens import Sentence, Text, Word, within

__all__ = ["calmed"]

LEAST_SENTENCE: Final = 3
LEAST_RUN: Final = 5
LEAST_ORDINARY: Final = 2
NAME_REACH: Final = 4


def calmed(
    text: Text, sentences: Sequence[Sentence], untouchable: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Where a word of a shouted sentence stands, and how it is written small; a word that opens the sentence keeps its capital."""
    if not any(word.upper for word in text.words):
        return
    elsewhere = _unshouted(text)
    for s in sentences:
        words = [i for i in range(s.first, s.last) if text.words[i].word]
        free = [i for i in words if not within(untouchable, text.starts[i])]
        for i, written in chain.from_iterable(_written(text, run, elsewhere) for run in _shouted(text, free)):
            small = written[:1].upper() + written[1:] if i == words[0] else written
            yield *text.span(i, i + 1), small


def _unshouted(text: Text) -> dict[str, str]:
    """How the text writes words where it does not shout, by their lower case."""
    words = (word for word in text.words if word.word and not word.upper)
    return {word.lower: word.text for word in words if word.capital or word.text == word.lower}


def _shouted(text: Text, free: Sequence[int]) -> Iterator[list[int]]:
    """The rows of capitals: the whole sentence, or many words in a row; a query in capitals is code."""
    if _is_query(text, free):
        return
    capital = partial(_is_capital, text)
    longer = [i for i in free if len(text.words[i].text) > 1]
    least = 1 if len(longer) >= LEAST_SENTENCE and all(map(capital, free)) else LEAST_RUN
    for is_shouted, tokens in groupby(free, key=capital):
        run = list(tokens)
        if is_shouted and len(run) >= least:
            yield run


def _is_query(text: Text, free: Sequence[int]) -> bool:
    return len({text.lowers[i] for i in free} & word_set("tone", "query_words")) >= LEAST_ORDINARY


def _is_capital(text: Text, i: int) -> bool:
    word = text.words[i]
    return word.upper or (len(word.text) == 1 and word.capital)


def _written(text: Text, run: Sequence[int], elsewhere: dict[str, str]) -> Iterator[tuple[int, str]]:
    """The words of a row that are ordinary, or that the text writes in another way elsewhere; none where hardly one is."""
    ordinary = set(_ordinary(text, run))
    if len(ordinary) < LEAST_ORDINARY:
        return
    for i in run:
        lower = text.words[i].lower
        if lower in word_set("tone", "acronyms") or lower == "i":
            continue
        if i in ordinary:
            yield i, _small(lower)
        elif lower in elsewhere:
            yield i, elsewhere[lower]


def _small(lower: str) -> str:
    return lower[:1].upper() + lower[1:] if lower.startswith("i'") else lower


def _ordinary(text: Text, run: Sequence[int]) -> Iterator[int]:
    """The words of a row that are no names, as texts write them small; in Vietnamese none of a place, nor behind a surname."""
    small = Text(" ".join(text.words[i].lower for i in run))
    if len(small.words) != len(run):
        return
    if small.accented:
        yield from _ordinary_syllables(small, run)
        return
    for i, word in zip(run, small.words, strict=True):
        if word.stop or is_small(word.lower):
            yield i


def _ordinary_syllables(small: Text, run: Sequence[int]) -> Iterator[int]:
    """The words of a row with accents that are no part of a name."""
    named = 0
    for i, word, ids in zip(run, small.words, concepts_of(small), strict=True):
        named = NAME_REACH if word.lower in word_set("tone", "surnames") else max(0, named - 1)
        if (word.stop and word.accented) or (not named and _is_known(word, ids)):
            yield i


def _is_known(word: Word, ids: Sequence[int]) -> bool:
    """Whether a word is one of a language, and no name of a place."""
    return not all(map(names_something, ids)) if ids else word.lower in small_words()
