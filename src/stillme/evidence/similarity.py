"""How close each passage is to the question: the caller's figure, or one computed from shared words, names and meanings.

The computed figure is on a 0..1 scale on which the policy's thresholds make sense: it is the share of the question's content that the
passage speaks of, half of it measured on the passage as a whole and half on its best statement, mapped by a fitted curve.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from stillme.evidence.concepts import text_concepts
from stillme.evidence.library import Library
from stillme.evidence.passage import Passage
from stillme.evidence.rules import load, word_rules
from stillme.evidence.sentences import Sentence
from stillme.evidence.text import Text

__all__ = ["curve", "missing_terms", "query_terms", "share", "similarities"]


def similarities(query: Text, passages: Sequence[Passage], language: str) -> list[float]:
    """For each passage the given similarity, or the computed one."""
    terms: list[int] | None = None
    found: list[float] = []
    for passage in passages:
        given = passage.given.similarity
        if given is None:
            if terms is None:
                terms = query_terms(query, language)
            given = curve(share(query, terms, passage), _points()) if terms else 0.0
        found.append(given)
    return found


def query_terms(query: Text, language: str) -> list[int]:
    """Tokens of the question that carry content; in Vietnamese typed without accents, by its unaccented stop words."""
    if language == "vi" and not query.accented:
        stop = word_rules().stop_folded
        return [i for i, w in enumerate(query.words) if w.number or (w.word and w.folded not in stop)]
    return [i for i, w in enumerate(query.words) if w.content]


def share(query: Text, terms: Sequence[int], passage: Passage) -> float:
    """How much of the question's content the passage speaks of: half as a whole, half in its best statement."""
    held = _held(query, terms, passage)
    weights = {i: 2.0 if query.words[i].capital and i else 1.0 for i in terms}
    whole = titled = 0.0
    best: dict[int, float] = {}
    for i, places in held.items():
        if places:
            whole += weights[i]
            if -1 in places:
                titled += weights[i]
            else:
                for k in places:
                    best[k] = best.get(k, 0.0) + weights[i]
    best.pop(-2, None)
    return (whole + titled + max(best.values(), default=0.0)) / sum(weights.values()) / 2


def _held(query: Text, terms: Sequence[int], passage: Passage) -> dict[int, set[int]]:
    """For each term the passage's sentences that say it (-1: its heading does, -2: what stands between sentences)."""
    held: dict[int, set[int]] = {i: set() for i in terms}
    wanted: dict[str, list[int]] = {}
    for i in terms:
        wanted.setdefault(query.words[i].stem, []).append(i)
    words = passage.text.words
    hits = [(j, w.stem) for j, w in enumerate(words) if w.stem in wanted]
    if not query.accented and passage.text.accented:
        hits += [(j, w.folded) for j, w in enumerate(words) if w.accented and w.folded in wanted]
    sentences = passage.sentences
    firsts = [s.first for s in sentences]
    for j, form in hits:
        k = _sentence(sentences, firsts, j)
        for i in wanted[form]:
            held[i].add(k)
    for word in passage.heading.words:
        for i in (*wanted.get(word.stem, ()), *wanted.get(word.folded, ())):
            held[i].add(-1)
    if any(not places for places in held.values()):
        _by_meaning(query, passage, held, firsts)
    return held


def _sentence(sentences: Sequence[Sentence], firsts: list[int], token: int) -> int:
    k = bisect_right(firsts, token) - 1
    return k if k >= 0 and token < sentences[k].last else -2


def _by_meaning(query: Text, passage: Passage, held: dict[int, set[int]], firsts: list[int]) -> None:
    asked = text_concepts(query)
    wanted: dict[int, list[int]] = {}
    for i, found in held.items():
        if not found:
            for c in asked[i]:
                wanted.setdefault(c, []).append(i)
    if not wanted:
        return
    for j, ids in enumerate(text_concepts(passage.text)):
        if ids:
            for c in ids:
                if c in wanted:
                    for i in wanted[c]:
                        held[i].add(_sentence(passage.sentences, firsts, j))


def missing_terms(query: Text, terms: Sequence[int], library: Library, enough: float = 1.0) -> list[str]:
    """The terms of the question that no passage says: as such, without accents, in a title, or in other words.

    Looking stops as soon as the share `enough` of the terms is found.
    """
    words = query.words
    left = [i for i in terms if words[i].stem not in library.index]
    most = len(terms) * (1 - enough)
    if len(left) > most and not query.accented:
        said = frozenset().union(*(r.folded for r in library.readings))
        left = [i for i in left if words[i].folded not in said]
    if len(left) > most:
        titled = {form for heading in library.headings for w in heading.text.words for form in (w.stem, w.folded)}
        left = [i for i in left if words[i].stem not in titled and words[i].folded not in titled]
    if len(left) > most:
        meant = text_concepts(query)
        left = [i for i in left if not any(c in library.meanings for c in meant[i])]
    return [words[i].text for i in left]


@cache
def _points() -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in load("similarity")["curve"]]


def curve(value: float, points: Sequence[tuple[float, float]]) -> float:
    """A curve given by points, linear between them, to four decimals."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if value <= x1:
            return round(y0 + (y1 - y0) * (value - x0) / (x1 - x0), 4)
    return points[-1][1]
