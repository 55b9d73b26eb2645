"""Figures that begin with a word: spelt numbers, ordinals, months, weekdays, and the articles that may be a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stillme.figures.dates import DAYS, Date, date_from, longest, past_or_to, spelt_clock, weekday_at
from stillme.figures.numerals import HEDGE, ONE_BEFORE, ONE_TIME_BEFORE, Numeral, Tables, Unit, scaled
from stillme.figures.reading import NO_NUMERAL, PERCENT, Figures, Quantity

__all__ = ["Scan", "share_dates"]

HALF: Final = Numeral((0.5,), 1)
ONE: Final = Numeral((1.0,))
TWO: Final = Numeral((2.0,))
FIFTY: Final = Numeral((50.0,))
# How many tokens may stand between two dates of one list: ", and the".
JOINT_REACH: Final = 3


class Scan(Figures):
    """One pass over the tokens of a range: a reader for each kind of word that may begin a figure."""

    __slots__ = ()

    def spelt(self, i: int, alone: bool = False) -> Sequence[Quantity]:
        """twelve, twenty-one, hai mươi mốt."""
        read = self.spell(i)
        if read is None:
            return ()
        numeral, j = read
        if self.classifies and not self.is_number(i, j):
            return ()
        if not self.classifies and (self.tokens[j] in self.t.ordinals or self.tokens[j] == "-"):
            ordinal = self.tens_and_ordinal(i, numeral, j)
            if ordinal:
                return ordinal
        return self.attached(i, numeral, j, alone)

    def is_number(self, i: int, j: int) -> bool:
        """Whether a spelt number is one here and not a name (Ba Đình), a father (ba mẹ) or another word (chín)."""
        here, behind = self.tokens[i], self.tokens[j]
        if self.words[i].capital and (not self.starts_sentence(i) or self.words[i + 1].capital):
            return False
        if here in self.t.terms["three"] and behind in self.t.not_three:
            return False
        if self.tokens[i - 1] in self.t.whole_before and j == i + 1:
            return False
        return j > i + 1 or here not in self.t.needs_counted or longest(self.t.counted, self.tokens, j) is not None

    def tens_and_ordinal(self, i: int, numeral: Numeral, j: int) -> Sequence[Quantity]:
        """twenty-first."""
        at = j + (self.tokens[j] == "-")
        value = self.t.ordinals.get(self.tokens[at], 0)
        if (
            not 0 < value < 10
            or numeral.values[0] not in range(20, 100, 10)
            or (self.tokens[at] in self.t.terms["unit_too"] and at == j)
        ):
            return ()
        return (self.ranked(i, Numeral((numeral.values[0] + value,)), at + 1),)

    def one(self, i: int) -> Sequence[Quantity]:
        """one and một, which are most often an article."""
        t, tokens = self.t, self.tokens
        j = i + 1
        if (
            tokens[j] not in t.right
            and not t.left.get(tokens[i - 1], 0) & ONE_BEFORE
            and tokens[j] not in t.terms["share"]
        ):
            return self.as_article(i, j, None)
        read = self.spell(i)
        if read is None:
            return ()
        if read[1] > j:
            return self.spelt(i)
        if tokens[j] in t.terms["share"] and self.classifies:
            return (self.measure(i, j + 1, FIFTY, PERCENT),)
        if tokens[j + (tokens[j] == "-")] in t.fractions or tokens[j] in t.terms["part"]:
            return self.attached(i, read[0], j)
        if tokens[j] in t.ranges and (self.words[j + 1].number or tokens[j + 1] in t.numerals):
            return self.attached(i, read[0], j)
        unit = self.unit(j)
        if self.is_one(i, unit):
            return self.attached(i, read[0], j)
        return self.as_article(i, j, unit)

    def is_one(self, i: int, unit: tuple[Unit, int] | None) -> bool:
        """Whether one or một is said as a number: by the word before it, or by a unit that is not a rate's."""
        before = self.tokens[i - 1]
        left = self.t.left.get(before, 0)
        if left & ONE_BEFORE or (unit and (self.tokens[i + 1] == "-" or self.tokens[unit[1] - 1].endswith("'s"))):
            return True
        if unit is None or before in self.t.units:
            return False
        if not self.words[unit[1]].word and self.starts_sentence(i):
            return True
        if unit[0].dimension == "time" or (self.classifies and unit[0].dimension == "span"):
            return bool(left & (ONE_TIME_BEFORE | HEDGE))
        return not self.starts_sentence(i)

    def as_article(self, i: int, j: int, unit: tuple[Unit, int] | None) -> Sequence[Quantity]:
        """The one that an article may stand for, if the caller asked for it."""
        if not self.articles or not (self.words[j].word or unit) or self.tokens[j] in self.t.not_one:
            return ()
        if unit:
            return (self.measure(i, unit[1], ONE, unit[0])._replace(article=True),)
        return (self.count(i, j, ONE, self.noun(j, 1.0))._replace(article=True),)

    def article(self, i: int) -> Sequence[Quantity]:
        """a month, an hour."""
        unit = self.unit(i + 1)
        return self.as_article(i, i + 1, unit) if unit else []

    def five_or_year(self, i: int) -> Sequence[Quantity]:
        """năm: a year before digits, five before something counted."""
        found = self.date(i)
        if found or self.tokens[i - 1] in self.rules.each:
            return found
        return self.spelt(i)

    def date(self, i: int) -> Sequence[Quantity]:
        """ngày 25 tháng 3, March 25, quý 3."""
        return [self.dated(f, NO_NUMERAL) for f in date_from(self, self.rules, i)]

    def weekday(self, i: int) -> Sequence[Quantity]:
        """Monday, chủ nhật."""
        day, end = weekday_at(self, self.rules, i)
        if not day:
            return ()
        found = self.plain(i, end, float(day), "weekday")
        if self.tokens[i] in self.t.terms["rank"] and not self.words[i + 1].capital:
            found = found._replace(also=(("ordinal", (day + 1.0,)),))
        return (found,)

    def rank(self, i: int) -> Sequence[Quantity]:
        """thứ Hai, thứ hai, thứ 3, hạng nhì, giải ba, đầu tiên."""
        t, tokens = self.t, self.tokens
        if tokens[i] in t.terms["lead"]:
            first = tokens[i + 1] in t.terms["lead_end"]
            if self.starts_sentence(i) or not (first or tokens[i - 1] in t.terms["times"]):
                return ()
            return (self.plain(i, i + 1 + first, 1.0, "ordinal"),)
        found = self.weekday(i) if tokens[i] in t.terms["rank"] else []
        if found:
            return found
        if tokens[i] in t.terms["rank"] and self.starts_sentence(i) and tokens[i + 2] == ",":
            return ()
        if tokens[i] in t.terms["prize"] and (self.words[i + 1].number or longest(t.counted, tokens, i + 2)):
            return ()
        value = t.ordinals.get(tokens[i + 1]) or (4 if tokens[i + 1] in t.terms["four"] else 0)
        if value:
            return (self.plain(i, i + 2, float(value), "ordinal"),)
        read = self.number(i + 1)
        if read is None or not read[0].values or (tokens[i] not in t.terms["rank"] and read[0].values[0] > 99):
            return ()
        return (self.plain(i, read[1], read[0].values[0], "ordinal"),)

    def ordinal(self, i: int) -> Sequence[Quantity]:
        """first, a third of, third quarter of 2024."""
        t, tokens = self.t, self.tokens
        before, behind = tokens[i - 1], tokens[i + 1]
        if tokens[i] in t.terms["quarter_hour"] and behind in t.past_or_to:
            return self.clock_around(i - (before in t.terms["article"]), i + 1, 15)
        if (
            before in t.terms["article"]
            and tokens[i] in t.fractions
            and behind in t.terms["of"]
            and tokens[i + 2] not in t.terms["unit_article"]
        ):
            return (self.measure(i - 1, i + 1, Numeral((100 / t.fractions[tokens[i]],)), PERCENT),)
        value = t.ordinals.get(tokens[i], 0)
        if not value or behind in t.no_ordinal_after or before in t.no_ordinal_before:
            return ()
        if self.words[i + 1].number or behind in t.numerals:
            return ()
        if value <= 3 and before not in t.ordinal_before and behind not in t.terms["ordinal_behind"]:
            return ()
        return (self.ranked(i, Numeral((float(value),)), i + 1),)

    def clock(self, i: int) -> Sequence[Quantity]:
        """noon, giữa trưa."""
        found = spelt_clock(self, self.rules, i)
        return (self.timed(i, found, NO_NUMERAL),) if found else ()

    def clock_around(self, first: int, at: int, minutes: int) -> Sequence[Quantity]:
        """half past two, a quarter to nine."""
        found = past_or_to(self, self.rules, at, minutes)
        return (self.timed(first, found, NO_NUMERAL),) if found else ()

    def half(self, i: int) -> Sequence[Quantity]:
        """half an hour, half a million, half of, nửa giờ, nửa đêm."""
        tokens = self.tokens
        if self.classifies and (clock := self.clock(i)):
            return clock
        dash = tokens[i + 1] == "-"
        if tokens[i + 1 + dash] in self.t.terms["past"]:
            return self.clock_around(i, i + 1 + dash, 30)
        at = i + 1 + (tokens[i + 1] in self.t.terms["article"])
        if tokens[at] in self.t.scales and (at > i + 1 or self.classifies):
            numeral, j = scaled(self, self.t, HALF, at)
            return self.attached(i, numeral, j)
        unit = self.unit(at) if at > i + 1 or self.classifies else None
        if unit:
            return (self.measured(i, HALF, unit[0], unit[1]),)
        share = tokens[i + 1] in self.t.terms["shared"] | self.t.terms["number"] or (
            not self.classifies and not self.words[i + 1].content and self.is_amount(i)
        )
        if (
            share
            and tokens[i - 1] not in self.t.ordinals
            and tokens[i - 1] not in self.t.terms["definite"] | self.t.terms["article"]
        ):
            return (self.measure(i, i + 1, FIFTY, PERCENT),)
        return ()

    def is_amount(self, i: int) -> bool:
        """Whether half is said as an amount: by half, about half, more than half."""
        before = self.tokens[i - 1]
        return before in self.t.terms["amount"] or bool(self.t.left.get(before, 0) & HEDGE)

    def times(self, i: int) -> Sequence[Quantity]:
        """twice; "both" only where articles are wanted."""
        value = self.t.times.get(self.tokens[i])
        if value:
            return (self.count(i, i + 1, Numeral((float(value),)), "time"),)
        return (self.count(i, i + 1, TWO, self.noun(i + 1, 2.0))._replace(article=True),)

    def scale(self, i: int) -> Sequence[Quantity]:
        """a hundred, a million, a dozen."""
        terms = self.t.terms
        if self.tokens[i - 1] not in terms["article"] or self.tokens[i - 2] in terms["of"] | self.t.halves:
            return ()
        read = self.t.spell(self.tokens, i, 1.0)
        return self.attached(i - 1, read[0], read[1]) if read else []

    def sign(self, i: int) -> Sequence[Quantity]:
        """½ teaspoon."""
        return self.attached(i, Numeral((self.t.signs_of_number[self.tokens[i]],), 2), i + 1)


def share_dates(found: list[Quantity], tokens: Sequence[str], t: Tables) -> None:
    """Give each day of a list or range the month and year that stand once, behind the last: ngày 15, 16 và 17 tháng 6."""
    listed = False
    for k in range(len(found) - 1, 0, -1):
        two = found[k]
        if two.dimension != "date" or two.month is None:
            listed = False
            continue
        one = found[k - 1]
        between = tokens[one.last : two.first] if two.first - one.last <= JOINT_REACH else ()
        joints = [token for token in between if token not in t.date_fillers]
        if not joints or not t.date_joints.issuperset(joints):
            listed = False
            continue
        dates = _shared(one, two.dates, listed or joints != [","])
        listed = bool(dates)
        if dates:
            found[k - 1] = one._replace(
                dimension="date", values=tuple(d.value for d in dates), dates=dates, noun="", hedge="", limit=False
            )


def _shared(one: Quantity, dates: tuple[Date, ...], joined: bool) -> tuple[Date, ...]:
    """The dates of a figure that stands before a date and lacks what that says; `joined` is by more than a comma."""
    year, month, day = dates[0][:3]
    if one.dimension == "date":
        lacking = one.dates[0]
        if lacking.year is not None or lacking.months > 1:
            return ()
        if lacking.month is None:
            return tuple(date._replace(day=lacking.day) for date in dates) if day else ()
        earlier = (lacking.month, lacking.day or 0) <= (month or 0, day or 31)
        return tuple(date._replace(year=year) for date in one.dates) if year is not None and earlier else ()
    if not joined or not day or one.values[0] not in DAYS or one.hedge:
        return ()
    if one.dimension == "ordinal" or (one.dimension == "count" and len(one.precision.text) in (1, 2)):
        return tuple(date._replace(day=int(one.values[0])) for date in dates)
    return ()
