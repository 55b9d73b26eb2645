"""Sentences in capitals, and how they are written without shouting: ordinary words become small, names and acronyms stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stillme.languages import word_set
from stillme.text.concepts import concepts_of
from stillme.text.language import is_small, small_words
from stillme.text.names import names_something
from stillme.text.tokens import Sentence, Text, within

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
    elsewhere = {w.lower: w.text for w in text.words if w.word and not w.upper and (w.capital or w.text == w.lower)}
    for s in sentences:
        free = [i for i in range(s.first, s.last) if text.words[i].word and not within(untouchable, text.starts[i])]
        for run in _shouted(text, free):
            for i, written in _written(text, run, elsewhere):
                opens = i == next((j for j in range(s.first, s.last) if text.words[j].word), i)
                small = written[:1].upper() + written[1:] if opens else written
                yield text.starts[i], text.ends[i], small


def _shouted(text: Text, free: Sequence[int]) -> Iterator[list[int]]:
    """The rows of capitals: the whole sentence, or many words in a row; a query in capitals is code."""
    capitals = [_is_capital(text, i) for i in free]
    told = [i for i in free if len(text.words[i].text) > 1]
    if not word_set("tone", "query_words").isdisjoint(text.lowers[i] for i in free) and _is_query(text, free):
        return
    whole = len(told) >= LEAST_SENTENCE and all(capitals)
    run: list[int] = []
    for i, capital in zip([*free, -1], [*capitals, False], strict=True):
        if capital:
            run.append(i)
        else:
            if run and (whole or len(run) >= LEAST_RUN):
                yield run
            run = []


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
    if not small.accented:
        yield from (i for i, word in zip(run, small.words, strict=True) if word.stop or is_small(word.lower))
        return
    named = 0
    for i, word, ids in zip(run, small.words, concepts_of(small), strict=True):
        named = NAME_REACH if word.lower in word_set("tone", "surnames") else max(0, named - 1)
        placed = bool(ids) and all(map(names_something, ids))
        known = bool(ids) or word.lower in small_words()
        if (word.stop and word.accented) or (known and not placed and not named):
            yield i
