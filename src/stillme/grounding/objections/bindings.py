"""Claims whose words all stand in the source, but belong together there in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.objections.base import Alignment, Objection, neighbours, rival_names
from stillme.grounding.relations import rearranged
from stillme.grounding.statements import Statement
from stillme.text.names import Name

__all__ = ["figure_owners", "name_bindings", "roles"]

# How far from a word the name or figure stands that it belongs to.
NEAR: Final = 3
# A statement of so many tokens has few clauses.
MOST_PLAIN: Final = 32


def roles(alignment: Alignment) -> list[Objection]:
    """All the claim's words stand in the best statement, but in other relations to each other."""
    place = rearranged(alignment.claim, alignment.best) if _is_comparable(alignment) else None
    return [Objection("roles", *place)] if place else []


def name_bindings(alignment: Alignment) -> list[Objection]:
    """Everything the claim says stands in the best statement, but a name is given to something else there."""
    if alignment.missing or not _is_comparable(alignment):
        return []
    names = [name for name in alignment.claim.names if alignment.best.holds_name(name)]
    places = [_places_of_name(alignment.best, name) for name in names]
    return _bound_elsewhere(alignment, "binding", names, places, _is_taken_by_another)


def figure_owners(alignment: Alignment) -> list[Objection]:
    """Everything the claim says stands in the best statement, but a figure is said of something else there."""
    if not _is_comparable(alignment):
        return []
    theirs = alignment.best.quantities
    figures = [q for q in alignment.claim.quantities if any(agrees(q, t) for t in theirs)]
    places = [[t.first for t in theirs if agrees(q, t)] for q in figures]
    return _bound_elsewhere(alignment, "owner", figures, places, _is_owned_by_another)


def _is_comparable(alignment: Alignment) -> bool:
    """Whether nothing else speaks against the claim, and nearness in the source says what belongs together."""
    return (
        not alignment.objections
        and len(alignment.missing) <= 1
        and _is_plain(alignment.best)
        and not _is_copied(alignment)
    )


def _is_plain(source: Statement) -> bool:
    """A statement of a few clauses, without asides: in longer ones nearness says little about what belongs together."""
    return source.last - source.first <= MOST_PLAIN and "(" not in source.lowers


def _is_copied(alignment: Alignment) -> bool:
    """Whether the claim's content words stand in the source in a row, in the same order and the same voice."""
    if alignment.claim.has("passive") != alignment.best.has("passive"):
        return False
    mine, theirs = (_row(statement) for statement in (alignment.claim, alignment.best))
    return any(theirs[k : k + len(mine)] == mine for k in range(len(theirs) - len(mine) + 1))


def _row(statement: Statement) -> list[str]:
    words = statement.reading.text.words
    return [words[i].stem for i in statement.content]


def _places_of_name(source: Statement, name: Name) -> list[int]:
    """Where the source has the last part of a name."""
    folded = source.reading.text.folded
    return [j for j in range(source.first, source.last) if folded[j].removesuffix("'s") == name.parts[-1]]


A = TypeVar("A", Name, Quantity)


def _bound_elsewhere(
    alignment: Alignment,
    kind: str,
    anchors: Sequence[A],
    places: list[list[int]],
    is_elsewhere: Callable[[Alignment, Sequence[A], int, int], bool],
) -> list[Objection]:
    """The first name or figure that the source gives, wherever it has it, to something else than the claim does."""
    segment = alignment.best.segment
    for n, anchor in enumerate(anchors):
        kin = {segment(p) for others in (*places[:n], *places[n + 1 :]) for p in others}
        apart = [p for p in places[n] if segment(p) not in kin and is_elsewhere(alignment, anchors, n, p)]
        if apart and len(apart) == len(places[n]):
            return [Objection(kind, anchor.first, anchor.last)]
    return []


def _is_taken_by_another(alignment: Alignment, names: Sequence[Name], n: int, place: int) -> bool:
    """Whether a word next to a name stands in the source with another name in its place."""
    return any(_is_taken(alignment, i, names[n], place) for i in neighbours(alignment.claim, names[n]))


def _is_taken(alignment: Alignment, i: int, name: Name, place: int) -> bool:
    """Whether a word next to the name stands in the source with a rival in the name's place, and nowhere with the name."""
    best, words = alignment.best, alignment.best.reading.text.words
    stem = alignment.claim.reading.text.words[i].stem
    spots = [j for j in best.content if words[j].stem == stem]
    sign, here = 1 if name.first > i else -1, best.segment(place)
    if any(best.segment(j) == here or 0 < sign * (place - j) <= NEAR for j in spots):
        return False
    others = rival_names(best, alignment.claim.folded)
    if sign > 0:
        return any(0 < rival.first - j <= NEAR for rival in others for j in spots)
    return any(0 < j - rival.last + 1 <= NEAR for rival in others if _opens_segment(best, rival) for j in spots)


def _opens_segment(statement: Statement, name: Name) -> bool:
    """Whether a name is the first thing its clause names: what stands behind it is said of it."""
    words, here = statement.reading.text.words, statement.segment(name.first)
    before = (j for j in range(statement.first, name.first) if statement.segment(j) == here)
    return not any(words[j].content for j in before)


def _is_owned_by_another(alignment: Alignment, figures: Sequence[Quantity], n: int, place: int) -> bool:
    """Whether the source says the figure beside a rival of another one, or of what the claim does not name."""
    best = alignment.best
    own = figures[n]
    here = best.segment(place)
    around = [t for t in best.quantities if t.first != place and best.segment(t.first) == here]
    if any(rivals(q, t) for q in figures if q is not own for t in around):
        return True
    said = alignment.claim.clauses[alignment.claim.segment(own.first)]
    clause = best.clauses[here]
    theirs = [best.clauses[best.segment(t.first)] for t in best.quantities if rivals(own, t)]
    return any(said & (other - clause) and clause - said - other for other in theirs)
