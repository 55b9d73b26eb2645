"""Figures compared by value: counts, measures, money, percentages, dates, clock times, ordinals, numbers as names.

`find_quantities` reads them from the tokens of a text, in the number format and the words of its language;
`agrees` says whether a source's figure states a claim's, `rivals` whether it is of the same kind and says otherwise.
"""

from __future__ import annotations

from typing import Final

from stillme.figures.dates import dates_agree, dates_differ, dates_in_order
from stillme.figures.numerals import tables_of
from stillme.figures.reading import Quantity
from stillme.figures.words import Scan, share_dates
from stillme.languages import has, is_served
from stillme.text.tokens import Text, within

OTHER: Final = "other"

__all__ = ["Quantity", "agrees", "find_quantities", "rivals"]


def find_quantities(
    text: Text, language: str, first: int = 0, last: int | None = None, *, articles: bool = False
) -> list[Quantity]:
    """The figures in a token range, in order.

    With `articles`, also the "one" that an article may stand for (a month, một tháng, both): it may support a figure
    but is none that needs support, so it is asked for in sources only.
    """
    folded = has(language, "accents") and not text.accented
    tables = tables_of(language if is_served(language) else OTHER, folded)
    starters = tables.with_articles if articles else tables.starters
    tokens = text.folded if folded else text.lowers
    words = text.words
    stop = len(words) if last is None else min(last, len(words))
    places = [i for i in range(first, stop) if tokens[i] in starters or words[i].number]
    if not places:
        return []
    if text.urls or text.code:
        # What is asked of a sentence inside a block of code, as of a comment, is asked of what it says.
        masks = [text.urls] if within(text.code, text.starts[first]) else [text.urls, text.code]
        places = [i for i in places if not any(within(spans, text.starts[i]) for spans in masks)]
    scan = Scan(text, tokens, first, stop, tables, articles)
    base = scan.base
    found: list[Quantity] = []
    done = first
    for i in places:
        if i >= done:
            reader = starters.get(tokens[i])
            figures = getattr(scan, reader)(i - base) if reader else scan.figure(i - base)
            if figures:
                found += figures
                done = figures[-1].last
    if len(found) > 1:
        share_dates(found, tokens, tables)
    # "Passage 2" is a citation in words.
    return [q for q in found if q.noun != "source" or q.dimension != "label"]


# How far a rough figure may be from the true one, as a share of it: with a word such as "about", without one, and
# between metric and customary units.
ROUGH: Final = 0.15
PLAIN: Final = 0.05
CONVERTED: Final = 0.03
# How far the true figure may lie beyond a bound such as "more than".
BEYOND: Final = 0.1


def agrees(claim: Quantity, source: Quantity) -> bool:
    """Whether the source's figure states the claim's: equal by value, rounded right, or the finer date."""
    dimension = claim.dimension
    if dimension == source.dimension:
        if dimension == "date":
            return dates_agree(claim.dates, source.dates) or _date_keeps_bound(claim, source)
        if dimension == "label":
            return _labels_agree(claim, source)
        if dimension == "score":
            return claim.values == source.values
        if _values_agree(claim, source, claim.values, source.values):
            return True
    elif (
        (dimension == "count" and not claim.noun) or (source.dimension == "count" and not source.noun)
    ) and _bare_agrees(claim, source):
        return True
    if claim.dates and source.dates:
        return dates_agree(claim.dates, source.dates)
    if dimension == "score" or source.dimension == "score":
        return _score_agrees(claim, source)
    if claim.also or source.also or dimension == "ordinal" or source.dimension == "ordinal":
        return _other_readings_agree(claim, source)
    return False


def rivals(claim: Quantity, source: Quantity) -> bool:
    """Whether the source's figure is of the claim's kind and says another value."""
    if source.article or claim.article or not _same_kind(claim, source) or agrees(claim, source):
        return False
    if claim.dimension == "date":
        return dates_differ(claim.dates, source.dates) and not _date_keeps_bound(source, claim)
    if claim.dimension == "label":
        return bool(claim.noun) and claim.noun == source.noun
    if claim.dimension == "score":
        return claim.values != source.values[::-1]  # told from the other side
    if _is_strict(claim) != _is_strict(source) and claim.values == source.values:
        # "more than 300" is not "300", and yet two sources that say so do not contradict each other; "at most 300" does
        return {claim.hedge, source.hedge} == BOUNDS
    if claim.dimension == "count":
        # a number beside which nothing is counted may be an age: it speaks against no number of things
        return claim.noun == source.noun or not claim.noun or (bool(source.noun) and claim.language != source.language)
    return True


def _date_keeps_bound(bound: Quantity, date: Quantity) -> bool:
    """Whether a date lies before or after another one, as that says: 1891 is before 1900."""
    if not bound.hedge or date.hedge:
        return False
    pairs = [(b, d) for b in bound.dates for d in date.dates]
    return bool(pairs) and all(dates_in_order(*(pair if bound.hedge == "over" else pair[::-1])) for pair in pairs)


def _same_kind(claim: Quantity, source: Quantity) -> bool:
    one, two = claim.dimension, source.dimension
    if one == two or (one in LASTING and two in LASTING):
        return True
    if one.startswith("money:") and two.startswith("money:"):
        return True
    readings = {one, *(name for name, _ in claim.also)} & {two, *(name for name, _ in source.also)}
    return bool(readings) and one != "label" and two != "label"


UNROUNDED: Final = frozenset(("clock", "weekday", "ordinal"))
BOUNDS: Final = frozenset(("over", "under"))
LASTING: Final = frozenset(("time", "span"))
NAMES: Final = frozenset(("", "number", "version", "code"))


def _labels_agree(claim: Quantity, source: Quantity) -> bool:
    if claim.precision.text != source.precision.text:
        return False
    return claim.noun == source.noun or claim.noun in NAMES or source.noun in NAMES


def _score_agrees(claim: Quantity, source: Quantity) -> bool:
    """A score states how often each side scored; one number states no score, but 9-5 may be hours."""
    if source.dimension == "score":
        return claim.dimension == "count" and not claim.hedge and claim.values[0] in source.values
    return source.dimension in ("clock", "time") and source.precision.values[:1] in [(v,) for v in claim.values]


def _bare_agrees(claim: Quantity, source: Quantity) -> bool:
    """A number alone against a number with a unit: by what is written, so that 300 may be 300 km."""
    other = source if claim.bare else claim
    if other.dimension in ("weekday", "date", "score"):
        return False
    if other.dimension == "label":
        text = other.precision.text
        distinct = "." in text or len(text) > 2
        return distinct and (claim.precision.text or "") == (source.precision.text or "")
    return _values_agree(claim, source, claim.precision.values, source.precision.values)


def _other_readings_agree(claim: Quantity, source: Quantity) -> bool:
    """A second reading of either: 8 giờ as a clock time, 12 pounds as money, the third floor as floor 3."""
    for name, values in claim.also:
        if name == source.dimension and _values_agree(claim, source, values, source.values):
            return True
        for other, others in source.also:
            if name == other and _values_agree(claim, source, values, others):
                return True
    for name, values in source.also:
        if name == claim.dimension and _values_agree(claim, source, claim.values, values):
            return True
    pair = {claim.dimension, source.dimension}
    if pair == {"ordinal", "label"}:
        return claim.values == source.values
    if pair == {"ordinal", "date"}:
        ordinal, date = (claim, source) if claim.dimension == "ordinal" else (source, claim)
        return date.year is None is date.month and ordinal.values == (float(date.day or 0),)
    return False


def _values_agree(claim: Quantity, source: Quantity, claimed: tuple[float, ...], stated: tuple[float, ...]) -> bool:
    hedge = claim.hedge
    if hedge and source.hedge and hedge != source.hedge and hedge != "about" and source.hedge != "about":
        return False
    if _is_strict(claim) and hedge != source.hedge:
        return any(_beyond(claim, source, c, s) for c in claimed for s in stated)
    if not hedge and _is_strict(source):
        return False
    if claimed == stated:
        return True
    numeral = claim.precision
    rounded = (
        numeral.decimals
        or numeral.scale >= 1000
        or hedge
        or (claim.unit and claim.unit.customary)
        or (source.unit and source.unit.customary)
    )
    for c in claimed:
        for s in stated:
            if abs(c - s) <= 1e-6 * abs(s) or (
                rounded and (_rounds(claim, source, c, s) or _beyond(claim, source, c, s))
            ):
                return True
    return False


def _is_strict(quantity: Quantity) -> bool:
    """Whether the figure is a bound that its own value does not meet: more than 300, dưới 300."""
    return quantity.hedge in BOUNDS and not quantity.limit


def _rounds(claim: Quantity, source: Quantity, claimed: float, stated: float) -> bool:
    """Whether the claim is the source's value rounded right to what the claim writes."""
    numeral = claim.precision
    if not numeral.values or claim.dimension in UNROUNDED:
        return False
    factor = claim.unit.factor if claim.unit and claimed != numeral.values[0] else 1.0
    step, share = 10.0**-numeral.decimals * numeral.scale, PLAIN
    if claim.hedge == "about":
        zeros = 0 if numeral.decimals else _trailing_zeros(numeral.values[0] / numeral.scale)
        step *= 10.0**zeros
        share = ROUGH if zeros or numeral.decimals or numeral.scale != 1.0 else 1.0
    elif not numeral.decimals and numeral.scale < 1000:
        if not claim.unit or not source.unit or claim.unit.customary == source.unit.customary:
            return False
        share = CONVERTED
    gap = abs(claimed - stated)
    return gap <= step * factor * 0.5 * (1 + 1e-9) and gap <= share * abs(stated)


def _trailing_zeros(value: float) -> int:
    if not 0 < abs(value) < 1e15:
        return 0
    text = f"{value:.0f}"
    return len(text) - len(text.rstrip("0"))


def _beyond(claim: Quantity, source: Quantity, claimed: float, stated: float) -> bool:
    """More than 13,000 is said of 13,200: the bound is the value rounded down, or close to it."""
    if claim.hedge not in BOUNDS or claim.limit or source.hedge in BOUNDS - {claim.hedge}:
        return False
    gap = stated - claimed if claim.hedge == "over" else claimed - stated
    numeral = claim.precision
    written = numeral.values[0] / numeral.scale if numeral.values else 0.0
    step = (
        10.0 ** (_trailing_zeros(written) - numeral.decimals)
        * numeral.scale
        * (claim.unit.factor if claim.unit else 1.0)
    )
    return 0 < gap < max(step, BEYOND * abs(claimed))
