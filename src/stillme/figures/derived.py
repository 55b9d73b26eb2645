"""Whether a figure follows from two others by one step: a sum, a difference, a product, a share, a time before or after another.

A right answer may work out what no source writes: 1,450 forms given out and 1,180 returned leave 270. That a figure can be worked out
does not make it right, but another figure beside it does not make it wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from stillme.figures.quantity import Quantity

__all__ = ["is_derived"]

CLOSE: Final = 1e-6
SECONDS: Final = 60.0
DAY: Final = 24 * 60
PERCENT: Final = "percent"
CLOCK, TIME, COUNT = "clock", "time", "count"
TIMES: Final = frozenset({COUNT, TIME, "span"})
# What stands for something that cannot be added up.
NAMES: Final = frozenset({"label", "ordinal", "score", "date", "weekday", "version", "code"})


def is_derived(figure: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether two of the other figures come to this one in one step."""
    known = [q for q in others if q.dimension not in NAMES and q.values]
    if figure.dimension in NAMES or not figure.values:
        return False
    wanted = figure.values[0]
    steps = (value for one, other in permutations(known, 2) for value in _steps(figure.dimension, one, other))
    return any(abs(value - wanted) <= CLOSE * max(1.0, abs(wanted)) for value in steps)


def _steps(dimension: str, one: Quantity, other: Quantity) -> Iterator[float]:
    """What two figures come to, in one dimension."""
    a, b = one.values[0], other.values[0]
    if dimension == TIME and one.dimension == other.dimension == CLOCK:
        yield (b - a) % DAY * SECONDS
    elif dimension == CLOCK and (one.dimension, other.dimension) == (CLOCK, TIME):
        yield (a + b / SECONDS) % DAY
        yield (a - b / SECONDS) % DAY
    elif one.dimension == other.dimension == dimension:
        yield a + b
        yield a - b
        if dimension == COUNT:
            yield a * b
    elif one.dimension == dimension:
        yield from _scaled(a, other)


def _scaled(value: float, other: Quantity) -> Iterator[float]:
    """A figure so many times (two months' rent), shared by so many, or a percentage of it."""
    by = other.values[0] / (other.unit.factor if other.unit else 1.0)
    if other.dimension == PERCENT:
        yield value * by / 100
        yield value * (100 - by) / 100
        yield value * (100 + by) / 100
    elif other.dimension in TIMES:
        yield value * by
        if by:
            yield value / by
