"""Figures of a claim that the source has not, or has otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.objections.base import Alignment, Objection, carries, is_alike, shared
from stillme.grounding.statements import Statement
from stillme.grounding.word_order import differs_only

__all__ = ["other_figures"]

BOUNDS: Final = frozenset({"over", "under"})
# How far from a figure the words stand that say what it is of.
NEAR_BY: Final = 4
# How far before a figure the negation stands by which a claim only sets it against another.
NEAR: Final = 3


def other_figures(alignment: Alignment) -> list[Objection]:
    """Every figure of the claim needs its equal in the statements; another figure of its kind in its place objects."""
    claim = alignment.claim
    denied = only_denied(claim)
    alignment.context.update(i for q in claim.quantities if q.first in denied for i in range(q.first, q.last))
    mine = [q for q in claim.quantities if q.first not in denied]
    theirs = [t for statement in alignment.statements for t in statement.quantities] if mine else []
    settled = {id(t) for t in theirs if any(agrees(q, t) for q in mine)}
    unequalled = [t for t in alignment.best.quantities if id(t) not in settled] if mine else []
    raised = (_figure_objection(alignment, q, unequalled) for q in mine)
    return [objection for objection in raised if objection]


def _figure_objection(alignment: Alignment, figure: Quantity, unequalled: Sequence[Quantity]) -> Objection | None:
    """What speaks against one figure; its tokens are then no longer covered. Figures in `unequalled` are no other's equal."""
    tokens = range(figure.first, figure.last)
    rival = next((t for t in unequalled if rivals(figure, t)), None)
    if _is_stated(alignment, figure, rival):
        alignment.covered.update(tokens)
        return None
    alignment.covered.difference_update(tokens)
    if _follows(alignment, figure, rival):
        alignment.context.update(tokens)
        return None
    case = alignment.working.cases.get(figure.first)
    if case:
        return Objection("figure", *figure[:2], alignment.source.text.slice(*case.bracket[:2]))
    if rival and is_alike(alignment, alignment.claim.figured):
        kind = "figure" if _is_in_its_place(alignment, figure, rival) else "figure apart"
        return Objection(kind, *figure[:2], alignment.text_of(rival))
    if any(agrees(figure, t) for t in alignment.heading.quantities):
        alignment.context.update(tokens)
        return None
    elsewhere = any(agrees(figure, t) for t in alignment.source.quantities)
    return Objection("figure elsewhere" if elsewhere else "figure missing", *figure[:2])


def _follows(alignment: Alignment, figure: Quantity, rival: Quantity | None) -> bool:
    """Whether a figure follows from the source, or only says which case is spoken of.

    What the sources alone come to is often chance: another figure that stands in its place speaks louder.
    """
    claim, working = alignment.claim, alignment.working
    if working.explains(figure.first):
        return True
    if figure.first not in working.steps or (rival and _is_in_its_place(alignment, figure, rival)):
        return False
    return not differs_only(claim, alignment.best, range(*figure[:2]), range(claim.first, claim.last))


def _is_in_its_place(alignment: Alignment, figure: Quantity, rival: Quantity) -> bool:
    """Whether the source's figure stands where the claim has its own, so that the two cannot both hold.

    A bound of one says nothing against a figure that keeps to it, and what the claim denies is not said with its figure.
    """
    claim, best = alignment.claim, alignment.best
    if claim.reading.language != best.reading.language:
        return True
    if rival.hedge in BOUNDS and figure.hedge not in BOUNDS:
        if not rival.limit or _keeps_to(figure, rival):
            return False
    elif figure.hedge in BOUNDS and rival.hedge != figure.hedge:
        return False
    if claim.negations and not best.negations:
        return False
    near = [i for i in claim.content if i not in claim.figured and figure.first - NEAR_BY <= i < figure.last + NEAR_BY]
    beside = range(rival.first - NEAR_BY, rival.last + NEAR_BY)
    return len(shared(alignment.claim, near, best, beside)) * 2 >= len(near)


def _keeps_to(figure: Quantity, bound: Quantity) -> bool:
    """Whether a figure lies on the side of a bound that it allows."""
    if figure.dimension != bound.dimension or not figure.values or not bound.values:
        return False
    one, other = figure.values[0], bound.values[0]
    return one >= other if bound.hedge == "over" else one <= other


def _is_stated(alignment: Alignment, figure: Quantity, rival: Quantity | None) -> bool:
    """Whether a statement has the figure; where the best one has a rival, another has to say as much of it."""
    holding = [s for s in alignment.statements if any(agrees(figure, t) for t in s.quantities)]
    return any(s is alignment.best or rival is None or carries(alignment, s, figure) for s in holding)


def only_denied(claim: Statement) -> set[int]:
    """Where figures stand that a claim only sets the one next to them against: '12 years, not 13 years' needs no source for 13."""
    figures, cues = claim.quantities, {cue for cue, _, _ in claim.negations}
    denied = [q for q in figures if not q.hedge and not cues.isdisjoint(range(q.first - NEAR, q.first))]
    beside = [*pairwise(figures), *pairwise(figures[::-1])]
    return {q.first for q, other in beside if q in denied and other not in denied and rivals(q, other)}
