"""Two numbers of one range, size or score: each half with what only the other says."""

from __future__ import annotations

import re
from typing import Final

from stillme.figures.clock_times import DAY
from stillme.figures.date_words import DASHES
from stillme.figures.dates import DAYS, Date
from stillme.figures.names import Names
from stillme.figures.numerals import scaled_like
from stillme.figures.quantity import Numeral, Quantity
from stillme.figures.tables import LABEL

__all__ = ["Ranges"]

# A score has at most so many digits a side, and the words that say so stand at most so many tokens before and behind it.
SIDE: Final = re.compile(r"\d{1,3}")
UNCUED_DIGITS: Final = 2
SCORE_REACH: Final = 8
SCORE_REACH_BEHIND: Final = 3


class Ranges(Names):
    """Puts the halves of ranges and the sides of scores together."""

    __slots__ = ()

    def is_list(self, first: int, j: int) -> bool:
        """between 3 and 5, pages 3 and 4."""
        before = self.tokens[first - 1]
        if self.tokens[j] not in self.t.terms["and"]:
            return False
        return before in self.t.terms["among"] or self.t.left.get(before, 0) & LABEL > 0

    def chain_end(self, j: int) -> int:
        """Where three or more rows of digits that hyphens join end (an ISBN, a phone number), or 0."""
        end = j
        while self.joins_digits(end, "-"):
            end += 2
        area = self.digits(j + 1)
        is_phone = end == j + 2 and area[0] == "0" and len(area) > 2
        return end if is_phone or end > j + 2 else 0

    def ratio(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """2:1, 3:2:1."""
        end = j
        while self.joins_digits(end, ":") and SIDE.fullmatch(self.digits(end + 1)):
            end += 2
        if end == j or not numeral.values:
            return None
        sides = map(float, map(self.digits, range(j + 1, end, 2)))
        return self.score(first, end, (*numeral.values, *sides))

    def is_score(self, first: int, numeral: Numeral, j: int, second: Quantity) -> bool:
        """won 3-1, City 3–1 Rovers, a 2-2 draw; a dash between a smaller and a larger number is most often a range."""
        sides = numeral.text, second.precision.text
        if second.dimension != "count" or second.hedge or not all(map(SIDE.fullmatch, sides)):
            return False
        end = second.last - self.base
        cued, falling = self.is_near_score(first, end), numeral.values[0] >= second.values[0]
        if self.tokens[j] not in DASHES:
            return cued and falling and self.joins_score(first, j)
        if self.is_numbered(first):
            return cued and falling
        if falling and (cued or max(map(len, sides)) <= UNCUED_DIGITS):
            return True
        between_names = self.words[first - 1].capital and self.words[end].capital
        return between_names or (cued and not self.counts(second.noun, end))

    def is_near_score(self, first: int, end: int) -> bool:
        """Whether a word such as "won" stands near the tokens of a pair of numbers."""
        near = self.tokens[max(0, first - SCORE_REACH) : first] + self.tokens[end : end + SCORE_REACH_BEHIND]
        return not self.t.scores.isdisjoint(near)

    def joins_score(self, first: int, j: int) -> bool:
        """Whether a word between two numbers may join the sides of a score: won by 3 to 1."""
        return self.tokens[j] in self.t.score_words and self.tokens[first - 1] not in self.t.range_before

    def counts(self, noun: str, at: int) -> bool:
        """Whether a number counts what begins at a token."""
        return self.is_countable(at) if self.classifies else noun != ""

    def range_halves(self, one: Quantity, two: Quantity, dash: bool) -> list[Quantity]:
        """The two halves of a range, each with what only the other says."""
        if one.hedge == "about" and not two.hedge:
            two = two._replace(hedge="about")
        year = self.short_year(one, two) if dash else 0
        if year:
            return [one, two.on((Date(year),))._replace(hedge="")]
        if one.dimension == "label" and two.bare:
            return [one, two._replace(dimension="label", noun=one.noun, hedge="")]
        takes = one.bare or (one.dimension == "date" and two.unit)
        return [self.first_half(one, two) if takes else one, two]

    def short_year(self, one: Quantity, two: Quantity) -> int:
        """The year that two digits behind a year and a dash write: 1998-99; 0 if they write none."""
        short = two.precision.text
        if one.dimension != "date" or not one.year or not two.bare or len(short) != 2:
            return 0
        year = one.year - one.year % 100 + int(short)
        return year if year > one.year else 0

    def first_half(self, one: Quantity, two: Quantity) -> Quantity:
        """The first half of a range with the unit, date, time or noun of the second."""
        numeral = scaled_like(one.precision, two.precision)
        value = numeral.values[0]
        if two.dimension == "date" and two.day and value in DAYS:
            return one.on(tuple(date._replace(day=int(value)) for date in two.dates))
        if two.dimension == "clock" and 0 <= value <= 24:
            return one._replace(dimension="clock", values=tuple(dict.fromkeys(_hours(value))))
        if not two.unit:
            return one._replace(noun=two.noun, values=numeral.values, precision=numeral)
        also = (("clock", _hours(value)),) if two.also[:1] and two.also[0][0] == "clock" else ()
        values = two.unit.base(numeral.values)
        return one._replace(
            dimension=two.dimension, values=values, unit=two.unit, precision=numeral, also=also, dates=()
        )


def _hours(hour: float) -> tuple[float, float]:
    """An hour in minutes after midnight, before and after noon."""
    return hour * 60 % DAY, (hour + 12) * 60 % DAY
