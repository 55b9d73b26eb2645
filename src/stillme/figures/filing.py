"""Figures filed by what they may agree with, so that a figure finds those that state it without being laid against all of them.

Whatever `agrees` with a figure is filed under a key that the figure is looked up under. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import frexp, isfinite
from typing import Final

from stillme.figures.comparing import is_exact, may_state_another
from stillme.figures.quantity import Quantity

__all__ = ["Key", "filed_under", "looked_up_under"]

Key = tuple[str, int | str]
"""What is compared, and about how much it is or how it is written; a dimension of whatever value."""

EVERYTHING: Final[Key] = ("every", "")
"""The key of figures that any figure may agree with."""
# Numbers without a unit and without a noun are compared by what is written, with a unit or not.
BARE: Final = "bare"
WRITTEN: Final = "written"
# What a figure may agree with besides its own dimension.
ALSO: Final = {"ordinal": ("label", "date"), "score": ("clock", "time")}
# So many steps lie between a number and its double.
STEPS: Final = 2048


def filed_under(figure: Quantity) -> set[Key]:
    """The keys that a figure is found by: its dimensions, each alone and with its value, and what is written."""
    keys = {*_dimensions(figure), *_values(figure), *_written(figure, WRITTEN)}
    if figure.bare:
        keys.update(((BARE, ""), *_written(figure, BARE)))
    if may_state_another(figure):
        keys.add(EVERYTHING)
    return keys


def looked_up_under(figure: Quantity) -> set[Key] | None:
    """The keys of all figures that may state a figure; None where any may."""
    if is_exact(figure):
        return {EVERYTHING, *_values(figure), *_written(figure, WRITTEN if figure.bare else BARE)}
    return None if figure.bare else {EVERYTHING, (BARE, ""), *_dimensions(figure)}


def _dimensions(figure: Quantity) -> Iterator[Key]:
    """The dimensions in which a figure may agree with another."""
    yield figure.dimension, ""
    for dimension, _ in figure.also:
        yield dimension, ""
    for dimension in ALSO.get(figure.dimension, ()):
        yield dimension, ""
    if figure.dates:
        yield "date", ""


def _values(figure: Quantity) -> Iterator[Key]:
    """Each reading of a figure with its value."""
    yield from _steps(figure.dimension, figure.values)
    for dimension, values in figure.also:
        yield from _steps(dimension, values)
    if figure.dimension == "ordinal":
        yield from _steps("label", figure.values)


def _written(figure: Quantity, what: str) -> Iterator[Key]:
    """A figure as it is written, without its unit."""
    yield what, figure.precision.text
    yield from _steps(what, figure.precision.values)


def _steps(what: str, values: Sequence[float]) -> Iterator[Key]:
    """The steps of two scales, one half a step beside the other, on which numbers stand: equal ones meet on one of them at least."""
    for value in values:
        mantissa, exponent = frexp(abs(value)) if isfinite(value) else (0.0, 0)
        place = (exponent + 2 * mantissa) * STEPS
        yield what, 2 * int(place)
        yield what, 2 * int(place + 0.5) + 1
