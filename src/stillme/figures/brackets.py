"""Ranges of a figure for which a text states a rule: 30 to 59 minutes, under 5 years, 24 hours or more.

Whoever applies the rule to a case names a figure of the case, which the text need not write: 45 minutes lie in the first of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from stillme.figures.phrases import longest, longest_before
from stillme.figures.quantity import MeasureUnit, Quantity
from stillme.figures.tables import Tables, tables_of
from stillme.languages import DEFAULT, is_served

__all__ = ["Bracket", "find_brackets"]

# By what a case is put into a range: not by money, which rules work out, nor by dates and clock times, which are compared as such.
CASES: Final = frozenset(
    {"time", "span", "count", "label", "mass", "length", "area", "volume", "temperature", "data", "percent"}
)
# Of which "from" alone says where a rule begins, and not from where something rose: from 60 years, from week 36.
OPEN_ENDED: Final = frozenset({"span", "label"})
COUNT: Final = "count"
LABEL: Final = "label"
BOUNDS: Final = frozenset({"over", "under"})
INFINITE: Final = float("inf")


class Bracket(NamedTuple):
    """A range at tokens `first` to `last` of a text, the words that bound it included.

    It says of what it is, from where to where it goes, and which of its ends belong to it.
    """

    first: int
    last: int
    dimension: str
    noun: str
    unit: MeasureUnit | None
    low: float
    high: float
    has_low: bool = True
    has_high: bool = True

    def place(self, case: Quantity) -> float | None:
        """Where a figure stands on the scale of the range; None where it is a figure of something else."""
        if case.article or not case.values or case.dimension not in CASES:
            return None
        if self.dimension == LABEL or case.dimension == LABEL:
            return case.values[0] if (self.dimension, self.noun) == (case.dimension, case.noun) else None
        if case.dimension == self.dimension:
            return case.values[0] if self._is_of_its_size(case) else None
        if case.bare and self.unit:
            return self.unit.base(case.precision.values or case.values)[0]
        return case.precision.values[0] if self.is_bare and case.unit and case.precision.values else None

    def _is_of_its_size(self, case: Quantity) -> bool:
        """Whether a figure of its dimension counts the same, and is no mere part of its unit: 8 hours are no number of days."""
        if self.dimension == COUNT:
            return case.noun == self.noun or not (case.noun and self.noun)
        return self.unit is None or case.values[0] >= self.unit.factor

    @property
    def is_bare(self) -> bool:
        """Whether nothing beside it says of what it is: children under 5."""
        return self.dimension == COUNT and not self.noun

    def holds(self, case: Quantity) -> bool:
        """Whether a figure lies in it."""
        at = self.place(case)
        if at is None:
            return False
        return self.low < at < self.high or (self.has_low and at == self.low) or (self.has_high and at == self.high)


def find_brackets(figures: Sequence[Quantity], tokens: Sequence[str], language: str) -> list[Bracket]:
    """The ranges that some figures of a text make, in order."""
    found: list[Bracket] = []
    ends = set[int]()
    for one, two in pairwise(figures):
        between = _between(one, two) if _is_joined(one, two, tokens, language) else None
        if between and one.first not in ends:
            found.append(between)
            ends |= {one.first, two.first}
    alone = (
        _bounded(q, tokens, language) for q in figures if q.first not in ends and q.dimension in CASES and q.values
    )
    found += [_bound(q) for q in alone if q.hedge in BOUNDS]
    return sorted(_with_bounds(bracket, tokens, language) for bracket in found)


def _with_bounds(bracket: Bracket, tokens: Sequence[str], language: str) -> Bracket:
    """A range with the words before and behind its figures that say from where or to where it goes."""
    known, first = _tables(language), bracket.first
    before = longest_before(known.hedges, list(tokens[:first]), first - 1) if first else None
    if before:
        first = before[1]
    elif first > 1 and tokens[first - 1] in known.than:
        first -= 2
    elif first and tokens[first - 1] in known.range_before:
        first -= 1
    behind = longest(known.hedges_behind, [*tokens[bracket.last :], ""], 0)
    return bracket._replace(first=first, last=bracket.last + (behind[1] if behind else 0))


def _bounded(figure: Quantity, tokens: Sequence[str], language: str) -> Quantity:
    """A figure with the bound that only a range has: from 60 years, from week 36 on."""
    if figure.hedge or figure.also:
        return figure
    known = _tables(language)
    opening = known.range_before - known.terms["among"] if figure.dimension in OPEN_ENDED else ()
    if (figure.first > 0 and tokens[figure.first - 1] in opening) or longest(
        known.hedges_behind, [*tokens[figure.last :], ""], 0
    ):
        return figure._replace(hedge="over", limit=True)
    return figure


def _bound(figure: Quantity) -> Bracket:
    """What lies on one side of a figure."""
    value, own = figure.values[0], (figure.first, figure.last, figure.dimension, figure.noun, figure.unit)
    if figure.hedge == "over":
        return Bracket(*own, value, INFINITE, has_low=figure.limit)
    return Bracket(*own, -INFINITE, value, has_high=figure.limit)


def _between(one: Quantity, two: Quantity) -> Bracket | None:
    """What lies between two figures, of which one may leave the unit to the other."""
    if LABEL not in (one.dimension, two.dimension) and one.dimension != two.dimension:
        one, two = (_as(one, two), two) if two.unit else (one, _as(two, one))
    if one.dimension != two.dimension or one.dimension not in CASES or not (one.values and two.values):
        return None
    low, high = one.values[0], two.values[0]
    if low >= high:
        return None
    own = (one.first, two.last, one.dimension, two.noun or one.noun, two.unit or one.unit)
    return Bracket(*own, low, high, one.hedge != "over" or one.limit, two.hedge != "under" or two.limit)


def _as(bare: Quantity, other: Quantity) -> Quantity:
    """A number alone in the unit of another figure."""
    if not bare.bare or not other.unit:
        return bare
    return bare._replace(dimension=other.dimension, unit=other.unit, values=other.unit.base(bare.precision.values))


def _is_joined(one: Quantity, two: Quantity, tokens: Sequence[str], language: str) -> bool:
    """Whether nothing but the joint of a range stands between two figures, and the bound of the second: from 6 to under 10."""
    between = tokens[one.last : two.first]
    if len(between) not in (1, 2) or (len(between) == 2 and two.hedge != "under"):
        return False
    known = _tables(language)
    is_among = one.first > 0 and tokens[one.first - 1] in known.terms["among"]
    return between[0] in known.ranges or (is_among and between[0] in known.terms["and"])


def _tables(language: str) -> Tables:
    return tables_of(language if is_served(language) else DEFAULT, False)
