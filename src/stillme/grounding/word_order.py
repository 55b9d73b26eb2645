"""Whether one statement of a source says what a claim says in the claim's own words, in the claim's order.

Small words such as articles may be missing, figures count by their value, and the source may say more. But what it says more must not
narrow, deny or widen it: then the claim has left out what decides. A condition may stand anywhere in the statement; a negation counts
where it stands in a part of the statement that the claim takes its words from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.statements import CLAUSE_MARKS, Statement, cues
from stillme.languages import compiled, word_set

__all__ = ["DECIDING", "differs_only", "is_in_order"]

DENYING: Final = frozenset({"negation", "denying"})
# Cues that both have to have, or neither: anywhere in the statement, or beside the words that the claim takes from it.
ANYWHERE: Final = frozenset({"exception", "excluding", "unsure", "condition"})
BESIDE: Final = DENYING | {"modal", "partial", "only", "universal"}
DECIDING: Final = ANYWHERE | BESIDE
FEWEST: Final = 3
MOST_BETWEEN: Final = 3
FEWEST_BESIDE: Final = 2
# Longer ones are left to the model: the comparison takes their product.
MOST_CLAIMED: Final = 100
MOST_STATED: Final = 240


class _Unit(NamedTuple):
    """A word by its stem, or a figure, and the token where it begins."""

    token: int
    said: str | Quantity


def is_in_order(claim: Statement, source: Statement) -> bool:
    """Whether every word and figure of the claim stands in the statement, one after the other with little between them."""
    if _are_long(claim, source) or (claim.cues ^ source.cues) & ANYWHERE:
        return False
    units = list(_units(claim))
    found = _places(units, source) if len(units) >= FEWEST else []
    said = _cues_beside(claim, range(claim.first, claim.last))
    return bool(found) and not (said ^ _cues_beside(source, found)) & BESIDE


def differs_only(claim: Statement, source: Statement, disputed: Collection[int], core: range) -> bool:
    """Whether the statement says the core of the claim in its words and order but for some tokens, and for negations."""
    if _are_long(claim, source):
        return False
    said = cues().among(claim.reading.text.lowers[core.start : core.stop])
    if (said ^ source.cues) & DECIDING - DENYING:
        return False
    around = (i for i in range(claim.first, claim.last) if i not in core)
    besides = {*disputed, *around, *(cue for cue, _, _ in claim.negations)}
    units, known = list(_units(claim, besides)), source.every_stem
    while units and isinstance(units[0].said, str) and units[0].said not in known:  # what leads in to it
        units.pop(0)
    return len(units) >= FEWEST_BESIDE and bool(_places(units, source))


def _are_long(claim: Statement, source: Statement) -> bool:
    return claim.last - claim.first > MOST_CLAIMED or source.last - source.first > MOST_STATED


def _cues_beside(source: Statement, tokens: Sequence[int]) -> frozenset[str]:
    """The cues of the parts of a statement in which some tokens stand."""
    segments, lowers = {source.segment(i) for i in tokens}, source.reading.text.lowers
    near = (i for i in range(source.first, source.last) if source.segment(i) in segments)
    return cues().among([lowers[i] for i in near if not _is_rate(source, i)])


def _places(said: Sequence[_Unit], source: Statement) -> list[int]:
    """The tokens of a statement where units stand one after the other; none unless all of them do.

    There is hardly anything between any two of them, or one clause behind those that the statement begins with.
    """
    stated = list(_units(source))
    for start in range(len(stated) - len(said) + 1):
        found = _run(said, stated[start:])
        if len(found) == len(said):
            return found
    begun = _run(said, stated)
    rest = said[len(begun) :]
    if not begun or len(rest) < FEWEST:
        return []
    ends = (_run(rest, clause) for clause in _clauses(source))
    return next((begun + end for end in ends if len(end) == len(rest)), [])


def _run(said: Sequence[_Unit], stated: Sequence[_Unit]) -> list[int]:
    """The tokens of the units that stand one after the other from the first one on."""
    found: list[int] = []
    at, reach = 0, 1
    for unit in said:
        near = range(at, min(len(stated), at + reach))
        place = next((n for n in near if _is_same(unit.said, stated[n].said)), None)
        if place is None or _passes_over(unit, stated[at:place]):
            break
        found.append(stated[place].token)
        at, reach = place + 1, 1 + MOST_BETWEEN
    return found


def _passes_over(unit: _Unit, between: Sequence[_Unit]) -> bool:
    """Whether another figure of its kind stands before a figure: what leads to the one does not lead to the other."""
    if isinstance(unit.said, str):
        return False
    return any(not isinstance(other.said, str) and rivals(unit.said, other.said) for other in between)


@compiled
def _joints() -> frozenset[str]:
    return word_set("grammar", "segment_words") | CLAUSE_MARKS


def _clauses(source: Statement) -> Iterator[list[_Unit]]:
    """What stands behind each mark or joining word of a statement, to its end."""
    lowers, joints = source.reading.text.lowers, _joints()
    for i in range(source.first + 1, source.last):
        if lowers[i - 1] in joints:
            yield list(_units(source, range(source.first, i)))


def _units(statement: Statement, besides: Collection[int] = ()) -> Iterator[_Unit]:
    """Its words, without small ones, and its figures, in order; some tokens are left out."""
    text, skipped, small = statement.reading.text, statement.reading.skipped, word_set("grammar", "unsaid")
    figures = {figure.first: figure for figure in statement.quantities}
    for i in range(statement.first, statement.last):
        if i in skipped or i in besides or _is_rate(statement, i):
            continue
        if i in figures:
            yield _Unit(i, figures[i])
        elif i not in statement.figured and text.words[i].word and text.lowers[i] not in small:
            yield _Unit(i, text.words[i].stem)


def _is_rate(statement: Statement, i: int) -> bool:
    """Whether a token only says that something holds each time: the same in 'per month', 'each month' and 'a month'."""
    lowers = statement.reading.text.lowers
    return i + 1 < statement.last and lowers[i] in cues().words("each") and lowers[i + 1] in cues().words("period")


def _is_same(unit: str | Quantity, other: str | Quantity) -> bool:
    if isinstance(unit, str) or isinstance(other, str):
        return unit == other
    return agrees(unit, other)
