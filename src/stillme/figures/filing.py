"""Figures filed by what they may agree with, so that a figure finds those that state it without being laid against all of them.

A number says: whatever `agrees` with a figure is filed under a key that the figure is looked up under. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stillme.figures.comparing import is_exact, may_state_another
from stillme.figures.quantity import Quantity

__all__ = ["EVERYTHING", "filed_under", "looked_up_under"]

EVERYTHING: Final = ""
"""The key of figures that any figure may agree with."""
BARE: Final = "bare"
"""That of numbers without a unit and without a noun, which only an exact figure tells apart by what is written."""
# What a figure may agree with besides its own dimension.
ALSO: Final = {"ordinal": ("label", "date"), "score": ("clock", "time")}
# Numbers that differ by a millionth are equal: they have the same first digits, or have them once both are a little larger.
LARGER: Final = 1.00005


def filed_under(figure: Quantity) -> set[str]:
    """The keys that a figure is found by: its dimensions, each alone and with its value, and what is written."""
    keys = {*_dimensions(figure), *_values(figure), *_written(figure)}
    if may_state_another(figure):
        keys.add(EVERYTHING)
    if figure.bare:
        keys.add(BARE)
    return keys


def looked_up_under(figure: Quantity) -> set[str] | None:
    """The keys of all figures that may state a figure; None where any may."""
    if is_exact(figure):
        return {EVERYTHING, *_values(figure), *_written(figure)}
    return None if figure.bare else {EVERYTHING, BARE, *_dimensions(figure)}


def _dimensions(figure: Quantity) -> Iterator[str]:
    """The dimensions in which a figure may agree with another."""
    yield figure.dimension
    yield from (dimension for dimension, _ in figure.also)
    yield from ALSO.get(figure.dimension, ())
    if figure.dates:
        yield "date"


def _values(figure: Quantity) -> Iterator[str]:
    """Each reading of a figure with its value, as far as equal values are written alike."""
    readings = [(figure.dimension, figure.values), *figure.also]
    if figure.dimension == "ordinal":
        readings.append(("label", figure.values))
    for dimension, values in readings:
        yield from _numbers(dimension, values)


def _written(figure: Quantity) -> Iterator[str]:
    """A figure as it is written, without its unit: what a bare number is compared with."""
    yield f"written {figure.precision.text}"
    yield from _numbers("", figure.precision.values)


def _numbers(dimension: str, values: Sequence[float]) -> Iterator[str]:
    for value in values:
        yield f"{dimension}={value:.4g}"
        yield f"{dimension}~{value * LARGER:.4g}"
