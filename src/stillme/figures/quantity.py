"""What a figure is: a number as it is written, a unit, and both with all that the writing says of them."""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from stillme.figures.dates import Date

__all__ = ["NO_NUMERAL", "MeasureUnit", "Numeral", "Quantity", "Readings"]

# Other readings of a figure: dimension and values in its base unit.
Readings = tuple[tuple[str, tuple[float, ...]], ...]


class Numeral(NamedTuple):
    """A number as written: its value or values, how finely it was written, and its digits where it is a name."""

    values: tuple[float, ...]
    decimals: int = 0
    scale: float = 1.0
    text: str = ""
    code: bool = False

    @property
    def value(self) -> float:
        """Its first value; beyond all values for a code, which has none."""
        return self.values[0] if self.values else inf

    def times(self, scale: float) -> Numeral:
        """The number with a scale word behind it."""
        return Numeral(tuple(v * scale for v in self.values), self.decimals, scale)

    def plus(self, amount: float, decimals: int) -> Numeral:
        """The number with something added, written to so many decimals."""
        return Numeral(tuple(v + amount for v in self.values), decimals)


NO_NUMERAL: Final = Numeral(())


class MeasureUnit(NamedTuple):
    """A unit of a dimension: a value in it is (value + offset) * factor in the base unit."""

    name: str
    dimension: str
    factor: float = 1.0
    offset: float = 0.0
    customary: bool = False
    binary: float = 0.0
    plain: bool = True
    single: bool = True

    def base(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Values in the base unit; a gigabyte may be a power of ten or of two."""
        if self.binary:
            return tuple(v * f for f in (self.factor, self.binary) for v in values)
        return tuple((v + self.offset) * self.factor for v in values)


class Quantity(NamedTuple):
    """A figure at tokens `first` to `last` (exclusive) of a text, its unit included.

    `dimension` is count, label, score, percent, ordinal, date, clock, weekday, money:USD and so on, or a unit's: time
    (up to weeks), span (months and years), length, mass ... `values` are in its base unit: metres, seconds, months,
    kilograms, degrees Celsius, bytes; minutes after midnight for a clock time. There is more than one only where the
    writing is ambiguous, and in a score, whose values are its sides. `noun` is what is counted, or what a label belongs
    to; `hedge` is about, over or under, and `limit` says that the bound includes the value; `also` holds other readings.
    An `article` is the one of "a month".
    """

    first: int
    last: int
    values: tuple[float, ...]
    dimension: str
    noun: str = ""
    hedge: str = ""
    limit: bool = False
    precision: Numeral = NO_NUMERAL
    unit: MeasureUnit | None = None
    dates: tuple[Date, ...] = ()
    also: Readings = ()
    language: str = ""
    article: bool = False

    @property
    def _date(self) -> Date:
        return self.dates[0] if self.dates else Date()

    @property
    def year(self) -> int | None:
        """The year that a date states (the first one of a decade or century; negative before the common era)."""
        return self._date.year

    @property
    def month(self) -> int | None:
        """The month that a date states (the first one of a quarter)."""
        return self._date.month

    @property
    def day(self) -> int | None:
        """The day of the month that a date states."""
        return self._date.day

    @property
    def bare(self) -> bool:
        """A number without a unit and without a counted noun."""
        return self.dimension == "count" and not self.noun

    @property
    def said(self) -> tuple[object, ...]:
        """All that it says, wherever it stands."""
        return self[2:]

    @property
    def kind(self) -> tuple[str, str]:
        """Its dimension and, of a count, what is counted: figures of one kind can stand for each other."""
        return self.dimension, self.noun if self.dimension == "count" else ""

    def on(self, dates: tuple[Date, ...]) -> Quantity:
        """The figure as a date that was read from what stands beside it."""
        return self._replace(dimension="date", values=tuple(date.value for date in dates), dates=dates)
