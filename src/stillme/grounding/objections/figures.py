"""Figures of a claim that the source has not, or has otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.derived import is_derived
from stillme.figures.quantity import Quantity
from stillme.grounding.objections.base import Alignment, Objection, carries, is_alike
from stillme.grounding.statements import Statement
from stillme.grounding.word_order import differs_only

__all__ = ["other_figures"]

# How far before a figure the negation stands by which a claim only sets it against another.
NEAR: Final = 3
# Of so many figures of the statements another may follow.
MOST_NEAR: Final = 12


def other_figures(alignment: Alignment) -> list[Objection]:
    """Every figure of the claim needs its equal in the statements; another figure of its kind in its place objects."""
    claim = alignment.claim
    denied = only_denied(claim)
    alignment.context.update(i for q in claim.quantities if q.first in denied for i in range(q.first, q.last))
    mine = [q for q in claim.quantities if q.first not in denied]
    theirs = [t for statement in alignment.statements for t in statement.quantities] if mine else []
    settled = {id(t) for t in theirs if any(agrees(q, t) for q in mine)}
    near = [t for t in theirs if t.values][:MOST_NEAR]
    unequalled = [t for t in alignment.best.quantities if id(t) not in settled] if mine else []
    raised = (_figure_objection(alignment, q, unequalled, near) for q in mine)
    return [objection for objection in raised if objection]


def _figure_objection(
    alignment: Alignment, figure: Quantity, unequalled: Sequence[Quantity], near: Sequence[Quantity]
) -> Objection | None:
    """What speaks against one figure; its tokens are then no longer covered. Figures in `unequalled` are no other's equal."""
    tokens = range(figure.first, figure.last)
    rival = next((t for t in unequalled if rivals(figure, t)), None)
    if _is_stated(alignment, figure, rival):
        alignment.covered.update(tokens)
        return None
    alignment.covered.difference_update(tokens)
    whole = range(alignment.claim.first, alignment.claim.last)
    if is_derived(figure, near) and not differs_only(alignment.claim, alignment.best, tokens, whole):
        alignment.context.update(tokens)
        return None
    if rival and is_alike(alignment, alignment.claim.figured):
        return Objection("figure", figure.first, figure.last, alignment.text_of(rival))
    if any(agrees(figure, t) for t in alignment.heading.quantities):
        alignment.context.update(tokens)
        return None
    elsewhere = any(agrees(figure, t) for t in alignment.source.quantities)
    return Objection("figure elsewhere" if elsewhere else "figure missing", figure.first, figure.last)


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
