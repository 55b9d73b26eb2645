"""Claims whose words all stand in the source, but belong together there in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final, TypeVar

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.objections.base import Alignment, Objection, neighbours, rival_names
from stillme.grounding.relations import rearranged
from stillme.grounding.statements import Statement
from stillme.text.names import Name

__all__ = ["figure_owners", "name_bindings", "roles", "swapped_figures"]

# How far from a word the name or figure stands that it belongs to.
NEAR: Final = 3
# Figures that name what another one is said of: the second prize.
NAMING: Final = frozenset({"ordinal", "label"})
# Figures that belong to a whole sentence, or name a thing of their own.
NOT_OWNED: Final = NAMING | {"date", "weekday", "score"}
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


def swapped_figures(alignment: Alignment) -> list[Objection]:
    """Two figures stand side by side in the best statement, and the claim gives one to what the other is said of."""
    if not _is_comparable(alignment):
        return []
    best = alignment.best
    for figure in alignment.claim.quantities:
        places = [t for t in best.quantities if agrees(figure, t)]
        if len(places) != 1 or figure.dimension in NOT_OWNED or figure.bare:
            continue
        here = best.segment(places[0].first)
        others = (t for t in best.quantities if rivals(figure, t) and best.segment(t.first) != here)
        kept = [q for q in alignment.claim.quantities if q is not figure]
        if any(agrees(q, t) for q in kept for t in best.quantities if best.segment(t.first) == here):
            continue
        taken = next((t for t in others if _is_said_of(alignment, t, places[0])), None)
        if taken:
            return [Objection("figure", figure.first, figure.last, alignment.text_of(taken))]
    return []


def _is_said_of(alignment: Alignment, rival: Quantity, own: Quantity) -> bool:
    """Whether the claim names what the rival figure is said of, and not what stands in that place beside its own."""
    best, said = alignment.best, {alignment.claim.reading.text.words[i].stem for i in alignment.claim.content}
    theirs, mine = _around(best, rival), _around(best, own)
    known = {stem for side in mine for stem in side}
    for side in (0, 1):
        if not said.issuperset(theirs[side]) or known.issuperset(theirs[side]):
            continue
        beside = mine[side][-1:] + mine[side][:1]
        if beside and any(stem not in said and stem not in {*theirs[0], *theirs[1]} for stem in beside):
            return True
    return False


def _around(best: Statement, figure: Quantity) -> tuple[list[str], list[str]]:
    """The words before and behind a figure in its part of a statement, the nearest ones last; other figures end it."""
    words, here = best.reading.text.words, best.segment(figure.first)
    stops = {i for t in best.quantities if t.dimension not in NAMING for i in range(t.first, t.last)}
    tokens = [i for i in range(best.first, best.last) if best.segment(i) == here]
    before = list(takewhile(lambda i: i not in stops, (i for i in reversed(tokens) if i < figure.first)))
    behind = list(takewhile(lambda i: i not in stops, (i for i in tokens if i >= figure.last)))
    return (
        [words[i].stem for i in reversed(before) if words[i].content],
        [words[i].stem for i in reversed(behind) if words[i].content],
    )


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


A = TypeVar("A", bound=Name | Quantity)


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
