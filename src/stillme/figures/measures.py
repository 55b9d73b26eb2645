"""Numbers with a unit, and shares of a whole."""

from __future__ import annotations

from typing import Final

from stillme.figures.clock_times import ClockTime
from stillme.figures.phrases import longest
from stillme.figures.quantities import PERCENT, Quantities
from stillme.figures.quantity import MeasureUnit, Numeral, Quantity, Readings

__all__ = ["Measures", "UnitMention"]

FOUR: Final = Numeral((4.0,))
UnitMention = tuple[MeasureUnit, int]
"""A unit, and where it ends."""


class Measures(Quantities):
    """Reads units, and the measures and shares that a number makes with what follows it."""

    __slots__ = ()

    def unit(self, j: int) -> UnitMention | None:
        """The unit that begins at a token, over a hyphen, a bracket or a word such as "working"."""
        here = self.tokens[j]
        if here == "(":
            return self.unit_in_brackets(j + 1)
        if here == "-" and self.is_glued(j):
            return self.unit_at(j + 1)
        return longest(self.t.units, self.tokens, j + 1) if here in self.t.between else self.unit_at(j)

    def unit_at(self, at: int) -> UnitMention | None:
        """The unit at a token: by its word or by its sign, whichever is longer."""
        word = longest(self.t.units, self.tokens, at)
        if word and self.tokens[word[1]] in self.t.not_units.get(self.tokens[at], ()):
            return None
        sign = self.sign_of_unit(at)
        return sign if sign and (not word or sign[1] >= word[1]) else word

    def unit_in_brackets(self, at: int) -> UnitMention | None:
        """25 (km)."""
        unit = longest(self.t.units, self.tokens, at) or self.sign_of_unit(at)
        return (unit[0], unit[1] + 1) if unit and self.tokens[unit[1]] == ")" else None

    def sign_of_unit(self, at: int) -> UnitMention | None:
        """The sign of a unit at a token; capitals count, so that MB is not Mb."""
        if self.words[at].text not in self.t.signs:
            return None
        sign = longest(self.t.signs, [word.text for word in self.words[at : at + 4]], 0)
        return (sign[0], at + sign[1]) if sign else None

    def whole_measure(self, first: int, numeral: Numeral, unit: MeasureUnit, end: int) -> Quantity:
        """A measure with what may follow it: a smaller unit (5 feet 3 inches), a half."""
        half = self.tokens[end] in self.t.terms["half"]
        if unit.single and not half:
            return self.measure(first, end, numeral, unit)
        clock = self.minutes_of_hour(numeral, unit, end)
        if clock:
            return self.time_figure(first, clock, numeral)
        if half:
            numeral, end = numeral.plus(0.5, 1), end + 1
        else:
            numeral, end = self.with_smaller(numeral, unit, end)
        return self.measure(first, end, numeral, unit, _other_readings(numeral, unit))

    def minutes_of_hour(self, numeral: Numeral, unit: MeasureUnit, end: int) -> ClockTime | None:
        """ten minutes past two; not "5 minutes to 2 hours"."""
        if unit.name != "minute" or self.tokens[end] not in self.t.past_or_to:
            return None
        behind = self.tokens[end + 2]
        is_hour = behind in self.t.terms["oclock"] or behind in self.dates.day_parts
        return self.past_or_to(end, numeral.values[0]) if is_hour or not self.words[end + 2].content else None

    def with_smaller(self, numeral: Numeral, unit: MeasureUnit, end: int) -> tuple[Numeral, int]:
        """A number with what a smaller unit adds to it, and where that ends: 24 hours and 37 minutes."""
        read = self.number(end + (self.tokens[end] in self.t.terms["and"]))
        smaller = self.unit(read[1]) if read and read[0].values else None
        if not read or not smaller or not _is_part(smaller[0], unit):
            return numeral, end
        amount = read[0].values[0] * smaller[0].factor / unit.factor
        return (numeral.plus(amount, 6), smaller[1]) if amount < 1 else (numeral, end)

    def fraction(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """two thirds, two-thirds, 3/4: a share in percent that is also the plain quotient."""
        if self.joins_digits(j, "/") and not 0 < numeral.values[0] < float(self.digits(j + 1)) <= 10:
            text = f"{numeral.text}/{self.digits(j + 1)}"
            return self.label(first, self.glued_end(j + 2), text, "")
        lower, end = self.lower_half(j)
        if not 0 < numeral.values[0] < lower:
            return None
        share = numeral.values[0] / lower
        return self.measure(first, end, Numeral((100 * share,)), PERCENT, (("count", (share,)),))

    def lower_half(self, j: int) -> tuple[float, int]:
        """By what a number is divided and where that ends; 0 if by nothing."""
        at = j + (self.tokens[j] == "-")
        if self.tokens[at] in self.t.fractions:
            return self.t.fractions[self.tokens[at]], at + 1
        if self.joins_digits(j, "/"):
            return float(self.digits(j + 1)), j + 2
        if self.tokens[j] not in self.t.terms["part"]:
            return 0.0, j
        read = (FOUR, j + 2) if self.tokens[j + 1] in self.t.terms["four"] else self.number(j + 1)
        return (read[0].values[0], read[1]) if read and read[0].values else (0.0, j)


def _is_part(smaller: MeasureUnit, larger: MeasureUnit) -> bool:
    """Whether one unit is a part of another, in the same system of units."""
    same = (smaller.dimension, smaller.customary) == (larger.dimension, larger.customary)
    return same and smaller.factor < larger.factor


def _other_readings(numeral: Numeral, unit: MeasureUnit) -> Readings:
    """Pounds may be money, and degrees Celsius or Fahrenheit."""
    if unit.name == "pound":
        return (("money:GBP", numeral.values),)
    if unit.dimension == "degree":
        return (("temperature", (*numeral.values, *((v - 32) / 1.8 for v in numeral.values))),)
    return ()
