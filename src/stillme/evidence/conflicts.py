"""Where two sources disagree: the same statement with another figure, a negation or an opposite.

Statements are compared only where they share words that are not everywhere, so the cost grows with what the sources have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.evidence.alignment import Alignment, Objection, align
from stillme.evidence.names import capitalised_words
from stillme.evidence.passage import Passage
from stillme.evidence.reading import Reading, Statement

__all__ = ["Disagreement", "find_conflicts"]

LEAST_SHARED: Final = 2
LEAST_COVERED: Final = 0.6
COMMON: Final = 48
DISAGREES: Final = frozenset({"figure", "negation", "opposite"})
DIFFERENT_SUBJECT: Final = frozenset({"name", "name missing", "roles", "binding"})


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two passages that say incompatible things: what about, and where each says it (character ranges of their texts)."""

    passages: tuple[int, int]
    kind: str
    about: str
    spans: tuple[tuple[int, int], tuple[int, int]]
    values: tuple[str, str]


def find_conflicts(passages: Sequence[Passage]) -> list[Disagreement]:
    """Every pair of sources that disagrees, once for each thing they disagree on."""
    if len({p.source_id for p in passages}) < 2:
        return []
    known = capitalised_words([p.text for p in passages])
    places = [(n, s) for n, p in enumerate(passages) for s in p.reading(known).statements]
    found: dict[tuple[int, int, str], Disagreement] = {}
    for a, b in _related(passages, places):
        disagreement = _compare(passages, places[a], places[b], known)
        if disagreement is not None:
            found.setdefault((*disagreement.passages, disagreement.about), disagreement)
    return list(found.values())


def _related(passages: Sequence[Passage], places: Sequence[tuple[int, Statement]]) -> Iterator[tuple[int, int]]:
    """Pairs of statements of different sources that share at least two words which are not everywhere."""
    index: dict[str, list[int]] = {}
    for place, (_, statement) in enumerate(places):
        for stem in statement.stems:
            if not stem[0].isdigit():
                index.setdefault(stem, []).append(place)
    shared: dict[tuple[int, int], int] = {}
    for holders in index.values():
        if 1 < len(holders) <= COMMON:
            for k, a in enumerate(holders):
                for b in holders[k + 1 :]:
                    if passages[places[a][0]].source_id != passages[places[b][0]].source_id:
                        shared[a, b] = shared.get((a, b), 0) + 1
    return (pair for pair, count in sorted(shared.items()) if count >= LEAST_SHARED)


def _compare(
    passages: Sequence[Passage], first: tuple[int, Statement], second: tuple[int, Statement], known: frozenset[str]
) -> Disagreement | None:
    """The shorter statement laid against the longer one, as if it were a claim."""
    if len(first[1].content) > len(second[1].content):
        second, first = first, second
    (n, mine), (m, theirs) = first, second
    if not (mine.quantities and theirs.quantities) and bool(mine.negations) == bool(theirs.negations) and mine.stems <= theirs.stems:
        return None
    found = align(mine, theirs.reading, [theirs], passages[m].heading_reading(known), ())
    objection = _disagreement(found)
    if objection is None or not _same_matter(found, passages[n].heading_reading(known), passages[m].heading_reading(known), objection):
        return None
    text = mine.reading.text
    value = text.slice(objection.first, objection.last)
    about = " ".join(text.words[i].text for i in mine.content if not objection.first <= i < objection.last and i in found.covered)
    sides = sorted([(n, mine, value), (m, theirs, objection.instead)], key=lambda side: side[0])
    spans = tuple((s.sentence.start, s.sentence.end) for _, s, _ in sides)
    return Disagreement((sides[0][0], sides[1][0]), objection.kind, about, (spans[0], spans[1]), (sides[0][2], sides[1][2]))


def _disagreement(found: Alignment) -> Objection | None:
    kinds = {o.kind for o in found.objections}
    if kinds & DIFFERENT_SUBJECT:
        return None
    objection = next((o for o in found.objections if o.kind in DISAGREES), None)
    if objection is None or (objection.kind == "figure" and _other_label(found)):
        return None
    rest = [i for i in found.claim.content if not objection.first <= i < objection.last]
    covered = [i for i in rest if i in found.covered]
    enough = len(covered) >= LEAST_SHARED and len(covered) / len(rest) >= LEAST_COVERED if rest else False
    return objection if enough else None


def _other_label(found: Alignment) -> bool:
    """'Line 2' and 'Line 3' are two things, not one thing with two numbers."""
    mine = {q.values for q in found.claim.quantities if q.dimension == "label"}
    theirs = {q.values for q in found.best.quantities if q.dimension == "label"}
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_matter(found: Alignment, mine: Reading, theirs: Reading, objection: Objection) -> bool:
    """The same time and the same subject: figures of two years, or of two things, do not contradict each other."""
    about_date = any(q.first == objection.first and q.dimension == "date" for q in found.claim.quantities)
    years = [_years(found.claim) or _years(mine.statements[0]), _years(found.best) or _years(theirs.statements[0])]
    if not about_date and years[0] and years[1] and years[0].isdisjoint(years[1]):
        return False
    names = [_names(found.claim.reading, mine), _names(found.source, theirs)]
    return not (names[0] and names[1]) or not names[0].isdisjoint(names[1])


def _years(statement: Statement) -> set[int]:
    return {q.year for q in statement.quantities if q.dimension == "date" and q.year is not None}


def _names(reading: Reading, heading: Reading) -> set[str]:
    """The words of all names of a passage and its title."""
    inside = {part for s in reading.statements for name in s.names for part in name.parts}
    return inside | {w.folded for w in heading.text.words if w.capital and not w.stop}
