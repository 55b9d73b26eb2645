"""The passages of a request, read and indexed by word, so that nothing has to read them twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from typing import Final, TypeVar

from stillme.figures.comparing import agrees
from stillme.figures.filing import Key as FigureKey
from stillme.figures.filing import filed_under, looked_up_under
from stillme.figures.quantity import Quantity
from stillme.grounding.passage import MOST_BYTES, Passage
from stillme.grounding.passage_cache import SizedCache
from stillme.grounding.statements import Reading, Statement
from stillme.lazy import lazy
from stillme.stopping import watched
from stillme.text.tokens import fold

__all__ = ["Library", "PassageIndex", "indexes"]

Readings = tuple[tuple[Reading, Reading], ...]
"""Of each passage its text and its heading, as they are read."""
Key = TypeVar("Key", str, int, FigureKey)
Places = dict[Key, tuple[int, ...]]


class PassageIndex:
    """What several passages say, indexed: the same for every request that brings them in this order, whatever their sources are called."""

    def __init__(self, read: Readings) -> None:
        self.readings: list[Reading] = [reading for reading, _ in read]
        self.headings: list[Reading] = [heading for _, heading in read]
        self.places: list[tuple[int, Statement]] = [(n, s) for n, r in enumerate(self.readings) for s in r.statements]

    @lazy
    def index(self) -> Places[str]:
        """For each stem the places of the statements that hold it, in order."""
        return _places(statement.stems for _, statement in watched(self.places))

    @lazy
    def meanings(self) -> Places[int]:
        """For each concept the places of the statements that express it, in order."""
        return _places(statement.concepts for _, statement in watched(self.places))

    @lazy
    def of_kind(self) -> dict[tuple[str, str], list[tuple[int, list[Quantity]]]]:
        """For each kind of figure the places of the statements that hold some, in order, with these."""
        found: dict[tuple[str, str], dict[int, list[Quantity]]] = {}
        for place, (_, statement) in enumerate(watched(self.places)):
            for q in statement.quantities:
                found.setdefault(q.kind, {}).setdefault(place, []).append(q)
        return {kind: list(rows.items()) for kind, rows in found.items()}

    @lazy
    def _figures(self) -> Places[FigureKey]:
        """For each key that a figure is found by the places of the statements that hold one, in order."""
        return _places(set().union(*map(filed_under, s.quantities)) for _, s in watched(self.places))

    def stating(self, figure: Quantity) -> list[int]:
        """The places of the statements that state a figure, in order."""
        keys, places = looked_up_under(figure), self.places
        found = range(len(places)) if keys is None else sorted(set().union(*(self._figures.get(k, ()) for k in keys)))
        return [place for place in found if any(agrees(figure, q) for q in places[place][1].quantities)]

    @lazy
    def accented_stems(self) -> list[tuple[str, str]]:
        """The stems that carry accents, each with what it looks like without them."""
        return [(stem, fold(stem)) for stem in self.index if not stem.isascii()]

    def typed_as(self, words: Collection[str]) -> frozenset[str]:
        """The stems with accents that words typed without any may stand for."""
        return frozenset(stem for stem, folded in self.accented_stems if folded in words)

    @lazy
    def titled(self) -> frozenset[str]:
        """The stems of the headings."""
        return frozenset(word.stem for heading in self.headings for word in heading.text.words)


def _places(rows: Iterable[Iterable[Key]]) -> Places[Key]:
    """Where each key stands; rows of numbers as tuples, which the collector of garbage need not look at again and again."""
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for place, keys in enumerate(rows):
        deque(map(list.append, map(found.__getitem__, keys), repeat(place)), maxlen=0)
    return dict(zip(found, map(tuple, found.values()), strict=True))


def _characters(read: Readings) -> int:
    return sum(len(reading.text.raw) + len(heading.text.raw) for reading, heading in read)


indexes: Final = SizedCache(PassageIndex, _characters, MOST_BYTES)
"""The passages that came together before."""


class Library:
    """The passages of a request with their statements; `index` tells which statements hold a stem."""

    def __init__(self, passages: Sequence[Passage], known_names: frozenset[str]) -> None:
        self.passages = passages
        self._known_names = known_names
        self.shared = indexes[tuple([p.content.read(known_names) for p in watched(passages)])]
        self.readings, self.headings, self.places = self.shared.readings, self.shared.headings, self.shared.places

    @lazy
    def digest(self) -> bytes:
        """What tells it from another: its passages, and the names that they are read under."""
        parts = [*(p.given.model_dump_json() for p in self.passages), *sorted(self._known_names)]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    @property
    def index(self) -> Places[str]:
        """For each stem the places of the statements that hold it, in order."""
        return self.shared.index

    @property
    def meanings(self) -> Places[int]:
        """For each concept the places of the statements that express it, in order."""
        return self.shared.meanings

    def sharing(self, stems: Iterable[str]) -> dict[int, int]:
        """For each place how many of the given stems its statement holds."""
        counts: dict[int, int] = {}
        index = self.index
        for stem in stems:
            for place in index.get(stem, ()):
                counts[place] = counts.get(place, 0) + 1
        return counts
