"""Whether one statement of a source says what a claim says in the claim's own words, in the claim's order.

Small words such as articles may be missing, figures count by their value, and the source may say more. But what it says more must not
narrow, deny or widen it: then the claim has left out what decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from stillme.figures.comparing import agrees
from stillme.figures.quantity import Quantity
from stillme.grounding.statements import CLAUSE_MARKS, Statement, cues
from stillme.languages import word_set

__all__ = ["DECIDING", "differs_only", "is_in_order"]

# Cues that both have to have, or neither.
DECIDING: Final = frozenset(
    {"negation", "denying", "excluding", "exception", "modal", "unsure", "partial", "only", "universal", "condition"}
)
FEWEST: Final = 3
# Longer ones are left to the model: the comparison takes their product.
MOST_UNITS: Final = 80
MOST_TOKENS: Final = 240
MOST_BETWEEN: Final = 3
DENYING: Final = frozenset({"negation", "denying", "excluding"})


def is_in_order(claim: Statement, source: Statement) -> bool:
    """Whether every word and figure of the claim stands in the statement, one after the other with little between them."""
    return claim.cues & DECIDING == source.cues & DECIDING and _follows(list(_units(claim)), source)


def differs_only(claim: Statement, source: Statement, disputed: Collection[int], core: range) -> bool:
    """Whether the statement says the core of the claim in its words and order but for some tokens, and for negations."""
    said = cues().among(claim.reading.text.lowers[core.start : core.stop])
    if (said ^ source.cues) & DECIDING - DENYING:
        return False
    around = (i for i in range(claim.first, claim.last) if i not in core)
    besides = {*disputed, *around, *(cue for cue, _, _ in claim.negations)}
    units, known = list(_units(claim, besides)), source.every_stem
    while units and isinstance(units[0], str) and units[0] not in known:  # what leads in to it
        units.pop(0)
    return _follows(units, source)


def _follows(said: Sequence[str | Quantity], source: Statement) -> bool:
    """Whether units stand in a statement one after the other: hardly anything between any two, or a clause behind how it begins."""
    if not FEWEST <= len(said) <= MOST_UNITS or source.last - source.first > MOST_TOKENS:
        return False
    stated = list(_units(source))
    starts = range(len(stated) - len(said) + 1)
    if any(_follow_from(start, said, stated) == len(said) for start in starts):
        return True
    begun = _follow_from(0, said, stated)
    rest = said[begun:]
    return (
        begun > 0
        and len(rest) >= FEWEST
        and any(_follow_from(0, rest, clause) == len(rest) for clause in _clauses(source))
    )


def _clauses(source: Statement) -> Iterator[list[str | Quantity]]:
    """What stands behind each mark or joining word of a statement, to its end."""
    lowers, joints = source.reading.text.lowers, word_set("grammar", "segment_words") | CLAUSE_MARKS
    for i in range(source.first + 1, source.last):
        if lowers[i - 1] in joints:
            yield list(_units(source, range(source.first, i)))


def _follow_from(start: int, said: Sequence[str | Quantity], stated: Sequence[str | Quantity]) -> int:
    """How many units stand one after the other from a place on."""
    at, reach = start, 1
    for number, unit in enumerate(said):
        found = next((n for n in range(at, min(len(stated), at + reach)) if _is_same(unit, stated[n])), None)
        if found is None:
            return number
        at, reach = found + 1, 1 + MOST_BETWEEN
    return len(said)


def _units(statement: Statement, besides: Collection[int] = ()) -> Iterator[str | Quantity]:
    """The stems of its words, without small ones, and its figures, in order; some tokens are left out."""
    text, skipped, small = statement.reading.text, statement.reading.skipped, word_set("grammar", "unsaid")
    figures = {figure.first: figure for figure in statement.quantities}
    for i in range(statement.first, statement.last):
        if i in skipped or i in besides:
            continue
        if i in figures:
            yield figures[i]
        elif i not in statement.figured and text.words[i].word and text.lowers[i] not in small:
            yield text.words[i].stem


def _is_same(unit: str | Quantity, other: str | Quantity) -> bool:
    if isinstance(unit, str) or isinstance(other, str):
        return unit == other
    return agrees(unit, other)
