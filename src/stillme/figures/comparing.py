"""Figures compared by value: counts, measures, money, percentages, dates, clock times, ordinals, numbers as names.

`agrees` says whether a source's figure states a claim's, `rivals` whether it is of the same kind and says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Final

from stillme.figures.dates import dates_agree, dates_differ, dates_in_order
from stillme.figures.quantity import MeasureUnit, Quantity

__all__ = ["agrees", "is_exact", "may_state_another", "rivals"]

Values = tuple[float, ...]

# How far a rough figure may be from the true one, as a share of it: with a word such as "about", without one, and
# between metric and customary units.
ROUGH: Final = 0.15
PLAIN: Final = 0.05
CONVERTED: Final = 0.03
# How far the true figure may lie beyond a bound such as "more than".
BEYOND: Final = 0.1
EQUAL: Final = 1e-6
# From this scale word on a number is taken as rounded.
ROUND_SCALE: Final = 1000
LARGEST_WHOLE: Final = 1e15
UNROUNDED: Final = frozenset(("clock", "weekday", "ordinal"))
BOUNDS: Final = frozenset(("over", "under"))
LASTING: Final = frozenset(("time", "span"))
UNCOUNTED: Final = frozenset(("weekday", "date", "score"))
TIMES: Final = frozenset(("clock", "time"))
# Nouns that say no more of a label than that it is one.
NAMES: Final = frozenset(("", "number", "version", "code"))


def agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether the source's figure states the claim's: equal by value, rounded right, or the finer date."""
    mine, theirs = claim.dimension, source.dimension
    if mine == theirs:
        compare = SAME_DIMENSION.get(mine)
        if compare:
            return compare(claim, source)
        if _values_agree(claim, source, claim.values, source.values):
            return True
    elif (mine == "count" or theirs == "count") and _bare_agrees(claim, source):
        return True
    if claim.dates and source.dates:
        return dates_agree(claim.dates, source.dates)
    if mine == "score" or theirs == "score":
        return _score_agrees(claim, source)
    may_be_other = claim.also or source.also or mine == "ordinal" or theirs == "ordinal"
    return _other_readings_agree(claim, source) if may_be_other else False


def is_exact(figure: Quantity) -> bool:
    """Whether it is stated only by figures that say its very value: it is not rounded, no bound, and compared by nothing else."""
    return not (figure.dates or figure.dimension in NOT_BY_VALUE or _is_rounded(figure, figure))


def may_state_another(figure: Quantity) -> bool:
    """Whether it may state an exact figure of another value or kind: a score, a measure in customary units."""
    return figure.dimension == "score" or _is_customary(figure.unit)


def rivals(claim: Quantity, source: Quantity) -> bool:
    """Whether the source's figure is of the claim's kind and says another value."""
    if source.article or claim.article or not _same_kind(claim, source) or agrees(claim, source):
        return False
    compare = RIVALS.get(claim.dimension)
    if compare:
        return compare(claim, source)
    return _bounds_oppose(claim, source) if _is_other_bound(claim, source) else _counts_rival(claim, source)


def _dates_agree(claim: Quantity, source: Quantity) -> bool:
    return dates_agree(claim.dates, source.dates) or _date_keeps_bound(claim, source)


def _dates_rival(claim: Quantity, source: Quantity) -> bool:
    return dates_differ(claim.dates, source.dates) and not _date_keeps_bound(source, claim)


def _date_keeps_bound(bound: Quantity, date: Quantity) -> bool:
    """Whether a date lies before or after another one, as that says: 1891 is before 1900."""
    if not bound.hedge or date.hedge:
        return False
    pairs = list(product(bound.dates, date.dates) if bound.hedge == "over" else product(date.dates, bound.dates))
    return pairs != [] and all(dates_in_order(*pair) for pair in pairs)


def _labels_agree(claim: Quantity, source: Quantity) -> bool:
    """Whether two numbers as names are written alike and belong to the same thing."""
    if claim.precision.text != source.precision.text:
        return False
    return claim.noun == source.noun or not NAMES.isdisjoint((claim.noun, source.noun))


def _labels_rival(claim: Quantity, source: Quantity) -> bool:
    return claim.noun == source.noun != ""


def _values_equal(claim: Quantity, source: Quantity) -> bool:
    return claim.values == source.values


def _scores_rival(claim: Quantity, source: Quantity) -> bool:
    """Whether two scores differ also when one is told from the other side."""
    return claim.values != source.values[::-1]


SAME_DIMENSION: Final = {"date": _dates_agree, "label": _labels_agree, "score": _values_equal}
NOT_BY_VALUE: Final = frozenset(("date", "score", "ordinal"))
RIVALS: Final = {"date": _dates_rival, "label": _labels_rival, "score": _scores_rival}


def _is_other_bound(claim: Quantity, source: Quantity) -> bool:
    """Whether one of two equal figures is a strict bound and the other is none."""
    return claim.values == source.values and _is_strict(claim) != _is_strict(source)


def _bounds_oppose(claim: Quantity, source: Quantity) -> bool:
    """Whether two sources contradict each other by their bounds: "more than 300" and "300" do not, "at most 300" does."""
    return {claim.hedge, source.hedge} == BOUNDS


def _counts_rival(claim: Quantity, source: Quantity) -> bool:
    """Whether two numbers may be said of the same things; one beside which nothing is counted may be an age."""
    if claim.dimension != "count" or not claim.noun or claim.noun == source.noun:
        return True
    return source.noun != "" and claim.language != source.language


def _same_kind(claim: Quantity, source: Quantity) -> bool:
    """Whether two figures measure the same, in some reading of both."""
    one, two = claim.dimension, source.dimension
    if one == two or _kind(one) == _kind(two):
        return True
    if not claim.also and not source.also:
        return False
    return "label" not in (one, two) and not _readings(claim).keys().isdisjoint(_readings(source))


@lru_cache(maxsize=1 << 8)
def _kind(dimension: str) -> str:
    """What a dimension measures: all money is money, and time is time in weeks and in months."""
    return "time" if dimension in LASTING else dimension.partition(":")[0]


def _readings(figure: Quantity) -> dict[str, Values]:
    """The dimensions in which a figure may be read, with its values."""
    return {figure.dimension: figure.values, **dict(figure.also)}


def _score_agrees(claim: Quantity, source: Quantity) -> bool:
    """A score states how often each side scored; one number states no score, but 9-5 may be hours."""
    if source.dimension == "score":
        return claim.dimension == "count" and not claim.hedge and claim.values[0] in source.values
    return source.dimension in TIMES and source.precision.values[:1] in [(v,) for v in claim.values]


def _bare_agrees(claim: Quantity, source: Quantity) -> bool:
    """A number alone against a number with a unit: by what is written, so that 300 may be 300 km."""
    other = source if claim.bare else claim
    if other.dimension in UNCOUNTED or not (claim.bare or source.bare):
        return False
    if other.dimension != "label":
        return _values_agree(claim, source, claim.precision.values, source.precision.values)
    text = other.precision.text
    return claim.precision.text == source.precision.text and ("." in text or len(text) > 2)


def _other_readings_agree(claim: Quantity, source: Quantity) -> bool:
    """A second reading of either: 8 hours as a clock time, 12 pounds as money, the third floor as floor 3."""
    if (claim.also or source.also) and _shared_reading_agrees(claim, source):
        return True
    compare = ORDINAL_AGREES.get((claim.dimension, source.dimension))
    return compare is not None and compare(claim, source)


def _shared_reading_agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether the figures agree in a dimension that both may be read in."""
    stated = _readings(source)
    return any(
        name in stated and _values_agree(claim, source, claimed, stated[name])
        for name, claimed in _readings(claim).items()
    )


def _is_day(claim: Quantity, source: Quantity) -> bool:
    """Whether the third is a date of which only the day is said."""
    ordinal, date = (claim, source) if source.dates else (source, claim)
    return date.year is None is date.month and ordinal.values == (float(date.day or 0),)


ORDINAL_AGREES: Final = {
    ("ordinal", "label"): _values_equal,
    ("label", "ordinal"): _values_equal,
    ("ordinal", "date"): _is_day,
    ("date", "ordinal"): _is_day,
}


def _values_agree(claim: Quantity, source: Quantity, claimed: Values, stated: Values) -> bool:
    """Whether one of the claim's values is one of the source's, rounded as the claim writes it, within its bounds."""
    if claim.hedge != source.hedge:
        if not _may_agree(claim, source):
            return False
        if _is_strict(claim):
            return _some(_beyond, claim, source, claimed, stated)
    if claimed == stated or _are_equal(claimed, stated):
        return True
    return _is_rounded(claim, source) and _some(_rounds_or_bounds, claim, source, claimed, stated)


def _are_equal(claimed: Values, stated: Values) -> bool:
    """Whether one value of each is the same, as far as numbers that were converted can be."""
    if len(claimed) == len(stated) == 1:  # as most are
        return abs(claimed[0] - stated[0]) <= EQUAL * abs(stated[0])
    return any(abs(c - s) <= EQUAL * abs(s) for c, s in product(claimed, stated))


def _may_agree(claim: Quantity, source: Quantity) -> bool:
    """Whether different hedges may be said of one value: no two opposite bounds, and no figure for a bound alone."""
    return {claim.hedge, source.hedge} != BOUNDS and (claim.hedge != "" or not _is_strict(source))


Test = Callable[[Quantity, Quantity, float, float], bool]


def _some(test: Test, claim: Quantity, source: Quantity, claimed: Values, stated: Values) -> bool:
    """Whether one value of each figure meets a test."""
    return any(test(claim, source, *pair) for pair in product(claimed, stated))


def _rounds_or_bounds(claim: Quantity, source: Quantity, claimed: float, stated: float) -> bool:
    return _rounds(claim, source, claimed, stated) or _beyond(claim, source, claimed, stated)


def _is_rounded(claim: Quantity, source: Quantity) -> bool:
    """Whether a claim may be less exact than its source: by decimals, a scale word, a hedge, or another system of units."""
    numeral = claim.precision
    if numeral.decimals or numeral.scale >= ROUND_SCALE or claim.hedge:
        return True
    return _is_customary(claim.unit) or _is_customary(source.unit)


def _is_customary(unit: MeasureUnit | None) -> bool:
    return unit is not None and unit.customary


def _is_strict(figure: Quantity) -> bool:
    """Whether the figure is a bound that its own value does not meet: more than 300."""
    return figure.hedge in BOUNDS and not figure.limit


def _rounds(claim: Quantity, source: Quantity, claimed: float, stated: float) -> bool:
    """Whether the claim is the source's value rounded right to what the claim writes."""
    numeral = claim.precision
    if not numeral.values or claim.dimension in UNROUNDED:
        return False
    factor = claim.unit.factor if claim.unit and claimed != numeral.values[0] else 1.0
    step, share = _rounding(claim, source)
    gap = abs(claimed - stated)
    return gap <= step * factor * 0.5 * (1 + 1e-9) and gap <= share * abs(stated)


def _rounding(claim: Quantity, source: Quantity) -> tuple[float, float]:
    """The step to which a claim may be rounded, and the largest share of the true value that this may change."""
    numeral = claim.precision
    step = 10.0**-numeral.decimals * numeral.scale
    if claim.hedge == "about":
        zeros = 0 if numeral.decimals else _trailing_zeros(numeral.values[0] / numeral.scale)
        is_rough = zeros or numeral.decimals or numeral.scale != 1.0
        return step * 10.0**zeros, ROUGH if is_rough else 1.0
    if numeral.decimals or numeral.scale >= ROUND_SCALE:
        return step, PLAIN
    return step, CONVERTED if _is_converted(claim, source) else -1.0


def _is_converted(claim: Quantity, source: Quantity) -> bool:
    """Whether one of two measures is metric and the other customary."""
    if not claim.unit or not source.unit:
        return False
    return claim.unit.customary != source.unit.customary


def _trailing_zeros(value: float) -> int:
    if not 0 < abs(value) < LARGEST_WHOLE:
        return 0
    text = f"{value:.0f}"
    return len(text) - len(text.rstrip("0"))


def _beyond(claim: Quantity, source: Quantity, claimed: float, stated: float) -> bool:
    """More than 13,000 is said of 13,200: the bound is the value rounded down, or close to it."""
    if not _is_strict(claim) or {claim.hedge, source.hedge} == BOUNDS:
        return False
    gap = stated - claimed if claim.hedge == "over" else claimed - stated
    numeral = claim.precision
    written = numeral.values[0] / numeral.scale if numeral.values else 0.0
    factor = claim.unit.factor if claim.unit else 1.0
    step = 10.0 ** (_trailing_zeros(written) - numeral.decimals) * numeral.scale * factor
    return 0 < gap < max(step, BEYOND * abs(claimed))
