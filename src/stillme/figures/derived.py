"""Whether a figure follows from two others by one step: a sum, a difference, a product, a share, a time before or after another.

A right answer may work out what no source writes: 1,450 forms given out and 1,180 returned leave 270. That a figure can be worked out
does not make it right, but another figure beside it does not make it wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import permutations
from math import ceil
from typing import Final, NamedTuple

from stillme.figures.comparing import agrees
from stillme.figures.quantity import Quantity

__all__ = ["Step", "step_to", "steps_to"]

CLOSE: Final = 1e-6
SECONDS: Final = 60.0
DAY: Final = 24 * 60
PERCENT: Final = "percent"
CLOCK, TIME, COUNT, MONEY = "clock", "time", "count", "money"
# What no rate is multiplied by; a price is one a day, a person, a square metre, a kilowatt hour.
NO_TIMES: Final = frozenset({CLOCK, PERCENT, "temperature"})
# What stands for something that cannot be added up.
NAMES: Final = frozenset({"label", "ordinal", "score", "date", "weekday", "version", "code"})


class Step(NamedTuple):
    """What a figure was worked out from; Of a rate, a part, a share, a rest and of more the first operand is scaled."""

    kind: str
    one: Quantity
    other: Quantity


def step_to(figure: Quantity, stated: Sequence[Quantity], given: Sequence[Quantity] = ()) -> Step | None:
    """The first of the steps that come to a figure; None if none does."""
    return next(steps_to(figure, stated, given), None)


def steps_to(
    figure: Quantity, stated: Sequence[Quantity], given: Sequence[Quantity] = (), reduced: Collection[Quantity] = ()
) -> Iterator[Step]:
    """The steps from a stated figure and another one, stated or given with the case, that come to this one.

    Percentages in `reduced` are taken off what they are said of, and a product stops at what is stated as the most.
    """
    if figure.dimension in NAMES or not figure.values:
        return
    sources = [q for q in stated if _counts(q) and not agrees(figure, q)]
    others = [
        reading for q in given if _counts(q) and not agrees(figure, q) for reading in _readings(q, figure.dimension)
    ]
    own = [reading for q in sources for reading in _readings(q)]
    known = [*own, *others, *_elapsed(own, others)]
    for one, other in permutations(known, 2):
        if one == other or (one in others and other in others):
            continue
        for kind, value in _steps(figure.dimension, one, other, sources, reduced):
            if _is_among(value, figure.values) and not _is_capped(figure, kind, stated):
                yield Step(kind, one, other)


def _is_among(value: float, wanted: Sequence[float]) -> bool:
    return any(abs(value - one) <= CLOSE * max(1.0, abs(one)) for one in wanted)


def _readings(figure: Quantity, wanted: str = "") -> list[Quantity]:
    """A figure in each of its dimensions, and at each of the times that it may be; a number alone may be money."""
    both = [
        *([figure._replace(dimension=wanted)] if figure.bare and wanted.startswith(MONEY) else []),
        figure,
        *(figure._replace(dimension=name, values=values, also=()) for name, values in figure.also),
    ]
    return [
        q._replace(values=(value,)) if q.dimension == CLOCK else q
        for q in both
        for value in q.values[: 2 if q.dimension == CLOCK else 1]
    ]


def _counts(figure: Quantity) -> bool:
    return figure.dimension not in NAMES and bool(figure.values)


def _elapsed(sources: Sequence[Quantity], given: Sequence[Quantity]) -> list[Quantity]:
    """How long each clock time of the case lies behind a stated one: late by so much."""
    clocks = [(one, other) for one in sources for other in given if one.dimension == other.dimension == CLOCK]
    late = ((other, (other.values[0] - one.values[0]) % DAY) for one, other in clocks)
    return [q._replace(dimension=TIME, values=(by * SECONDS,), unit=None) for q, by in late if 0 < by < DAY / 2]


def _is_capped(figure: Quantity, kind: str, stated: Sequence[Quantity]) -> bool:
    """Whether a product lies beyond what is stated as the most."""
    caps = [q for q in stated if q.hedge == "under" and q.limit and q.dimension == figure.dimension]
    return kind == "rate" and any(figure.values[0] > cap.values[0] for cap in caps)


def _steps(
    dimension: str, one: Quantity, other: Quantity, sources: Sequence[Quantity], reduced: Collection[Quantity]
) -> Iterator[tuple[str, float]]:
    """What two figures come to, in one dimension."""
    a, b = one.values[0], other.values[0]
    if dimension == TIME and one.dimension == other.dimension == CLOCK:
        yield "clock", (b - a) % DAY * SECONDS
    elif dimension == CLOCK and (one.dimension, other.dimension) == (CLOCK, TIME):
        yield "clock", (a + b / SECONDS) % DAY
        yield "clock", (a - b / SECONDS) % DAY
    elif one.dimension == other.dimension == dimension:
        yield "sum", a + b
        yield "sum", a - b
        if dimension == COUNT:
            yield "rate", a * b
    elif one.dimension == dimension:
        yield from _scaled(a, other, sources, is_reduced=other in reduced)


def _scaled(
    value: float, other: Quantity, sources: Sequence[Quantity], *, is_reduced: bool
) -> Iterator[tuple[str, float]]:
    """A figure so many times (two months' rent), shared by so many, or a percentage of it."""
    by = other.values[0] / (other.unit.factor if other.unit else 1.0)
    if other.dimension == PERCENT:
        if not is_reduced:
            yield "share", value * by / 100
            yield "more", value * (100 + by) / 100
        yield "rest", value * (100 - by) / 100
    elif other.dimension not in NO_TIMES and not other.dimension.startswith(MONEY):
        yield "rate", value * by
        if by:
            yield "part", value / by
        for period in sources:
            if period.dimension == other.dimension != COUNT and 0 < period.values[0] <= other.values[0]:
                yield "rate", value * ceil(other.values[0] / period.values[0] - CLOSE)
