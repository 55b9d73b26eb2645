"""Figures put together from what was read, with the bound or rough word that stands around them."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import Final

from stillme.figures.calendar_dates import DateMention
from stillme.figures.clock_times import ClockTime, ClockTimes
from stillme.figures.dates import Date
from stillme.figures.numerals import digits
from stillme.figures.phrases import longest, longest_before
from stillme.figures.quantity import NO_NUMERAL, MeasureUnit, Numeral, Quantity, Readings
from stillme.figures.tables import HEDGE

__all__ = ["PERCENT", "Quantities"]

HOUR: Final = MeasureUnit("hour", "time", 3600.0, plain=False)
PERCENT: Final = MeasureUnit("percent", "percent")
# From here on a word that is "over" or "on" is "over".
LARGE: Final = 100
# How many words may stand between a negation and the bound that it turns round, and what it makes of the bound.
TURN_REACH: Final = 4
TURNED: Final = {"over": "under", "over_large": "under", "under": "over"}
# What the rows of the rule file say: the kind of bound, and whether it includes its value.
NO_HEDGE: Final = ("", False)
HEDGES: Final = {
    "about": ("about", False),
    "over": ("over", False),
    "over_large": ("over", False),
    "over_limit": ("over", True),
    "under": ("under", False),
    "under_limit": ("under", True),
}


class Quantities(ClockTimes):
    """Builds the figures of a window; `first` and `last` are tokens of the window, in a figure those of the text."""

    __slots__ = ()

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Tokens of the window as tokens of the text."""
        return first + self.base, last + self.base

    def measure(self, first: int, last: int, numeral: Numeral, unit: MeasureUnit, also: Readings = ()) -> Quantity:
        """A number with a unit."""
        if numeral.decimals == 3 and unit.dimension == "money:VND" and numeral.text:
            numeral = digits(numeral.text.replace(",", "."), ",") or numeral
        values = numeral.values if unit.plain else unit.base(numeral.values)
        hedge, limit = self.hedge(first, last)
        return Quantity(
            *self.place(first, last), values, unit.dimension, hedge=hedge, limit=limit, precision=numeral, unit=unit,
            also=also, language=self.language,
        )  # fmt: skip

    def count(self, first: int, last: int, numeral: Numeral, noun: str, dates: tuple[Date, ...] = ()) -> Quantity:
        """A number of things."""
        hedge, limit = self.hedge(first, last, large=numeral.values[0] >= LARGE)
        return Quantity(
            *self.place(first, last), numeral.values, "count", noun, hedge=hedge, limit=limit, precision=numeral,
            dates=dates, language=self.language,
        )  # fmt: skip

    def label(self, first: int, last: int, text: str, name: str, also: Readings = ()) -> Quantity:
        """A number that names a thing, compared as it is written."""
        numeral = Numeral((_value(text),), text=text)
        place = self.place(first, last)
        return Quantity(*place, numeral.values, "label", name, precision=numeral, also=also, language=self.language)

    def score(self, first: int, last: int, values: tuple[float, ...]) -> Quantity:
        """The sides of a score or a ratio."""
        return Quantity(*self.place(first, last), values, "score", language=self.language)

    def ordinal_or_weekday(self, first: int, last: int, value: float, dimension: str) -> Quantity:
        """A place in a row of things or days."""
        return Quantity(*self.place(first, last), (value,), dimension, language=self.language)

    def date_figure(self, mention: DateMention, numeral: Numeral = NO_NUMERAL) -> Quantity:
        """A date."""
        values = tuple(date.value for date in mention.dates)
        bound = self.t.date_bounds.get(self.tokens[mention.first - 1], "")
        return Quantity(
            *self.place(mention.first, mention.last), values, "date", hedge=bound, precision=numeral,
            dates=mention.dates, language=self.language,
        )  # fmt: skip

    def time_figure(self, first: int, clock: ClockTime, numeral: Numeral = NO_NUMERAL) -> Quantity:
        """A time of day, which may also be a duration."""
        hedge, limit = self.hedge(first, clock.last)
        time = Quantity(
            *self.place(first, clock.last), clock.minutes, "clock", hedge=hedge, limit=limit, precision=numeral,
            language=self.language,
        )  # fmt: skip
        if clock.seconds is None:
            return time
        return time._replace(values=(clock.seconds,), dimension="time", unit=HOUR, also=(("clock", clock.minutes),))

    # The words around a figure.

    def hedge(self, first: int, last: int, large: bool = True) -> tuple[str, bool]:
        """The bound or rough word around a figure, and whether it is a limit that includes the value."""
        tokens, t = self.tokens, self.t
        if not (t.left.get(tokens[first - 1], 0) & HEDGE or t.right.get(tokens[last], 0) & HEDGE):
            return NO_HEDGE
        first -= tokens[first - 1] == "-" and self.is_glued(first - 1)
        before = longest_before(t.hedges, tokens, first - 1)
        if not before and tokens[first - 1] in t.than:
            return self.than(first - 2)
        name, opening = before or (self.hedge_behind(last), first - 1)
        if not name or (name == "over_large" and not large):
            return NO_HEDGE
        if name in TURNED and self.is_turned(opening):
            return TURNED[name], True
        return HEDGES[name]

    def hedge_behind(self, last: int) -> str:
        """The name of the bound behind a figure; nothing where there is none."""
        behind = longest(self.t.hedges_behind, self.tokens, last)
        return behind[0] if behind else ""

    def than(self, at: int) -> tuple[str, bool]:
        """heavier than, younger than, no longer than."""
        word = self.tokens[at]
        if word in self.t.than_none or not self.words[at].word:
            return NO_HEDGE
        negated = self.is_turned(at)
        return "under" if (word in self.t.than_under) != negated else "over", negated

    def is_turned(self, at: int) -> bool:
        """Whether a negation stands shortly before the bound at a token: not be younger than."""
        compared = not self.t.comparing.isdisjoint(self.tokens[at : at + 2])
        for k in range(at - 1, max(-1, at - 1 - TURN_REACH), -1):
            here = self.tokens[k]
            if here in self.t.bound_turned:
                return True
            reaches = (
                self.words[k].word and here not in self.t.turning_stops if compared else here in self.t.turned_across
            )
            if not reaches:
                return False
        return False


def _value(text: str) -> float:
    """The value of a label's digits where they are a number."""
    with suppress(ValueError):
        return float(text)
    return inf
