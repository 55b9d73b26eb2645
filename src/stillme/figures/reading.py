"""The figures of a text: one pass over its tokens that reads each number with its unit, date, name or noun."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple

from stillme.figures.dates import (
    DASHES,
    Clock,
    Date,
    FoundDate,
    Window,
    clock_behind,
    date_behind,
    day_and_month,
    dotted_date,
    longest,
    past_or_to,
    year_of,
)
from stillme.figures.numerals import (
    AGE,
    EXTENDS,
    HEDGE,
    JOINT,
    LABEL,
    MONTH,
    SIGN,
    TIMED,
    UNIT,
    YEAR,
    Numeral,
    Tables,
    Unit,
    back,
    digits,
    extended,
    scaled_like,
)
from stillme.text.tokens import Text, Word

__all__ = ["Figures", "Quantity"]

GLUE: Final = frozenset("-_./\\@")
OPENERS: Final = frozenset("[【(,-–;^")
LINE_MARKS: Final = frozenset("*#>-•_")
BRACKET_REACH: Final = 24
# A score has at most so many digits a side, and the word that says so stands at most so many tokens before it.
SCORE_DIGITS: Final = 3
UNCUED_DIGITS: Final = 2
SCORE_REACH: Final = 8
HOUR: Final = Unit("hour", "time", 3600.0, plain=False)
YEARS: Final = Unit("year", "span", 12.0, plain=False)
PERCENT: Final = Unit("percent", "percent")
FOUR: Final = Numeral((4.0,))
NO_NUMERAL: Final = Numeral(())
# What a negation makes of a bound, and how many words may stand between the two.
TURNED: Final = {"over": "under", "under": "over"}
TURN_REACH: Final = 4
# From here on a word that is "over" or "on" is "over".
LARGE: Final = 100
NO_HEDGE: Final = ("", False)
make: Final = tuple.__new__

# Other readings of a figure: dimension and values in its base unit.
Readings = tuple[tuple[str, tuple[float, ...]], ...]


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
    unit: Unit | None = None
    dates: tuple[Date, ...] = ()
    also: Readings = ()
    language: str = ""
    article: bool = False

    @property
    def year(self) -> int | None:
        """The year that a date states (the first one of a decade or century; negative before the common era)."""
        return self.dates[0].year if self.dates else None

    @property
    def month(self) -> int | None:
        """The month that a date states (the first one of a quarter)."""
        return self.dates[0].month if self.dates else None

    @property
    def day(self) -> int | None:
        """The day of the month that a date states."""
        return self.dates[0].day if self.dates else None

    @property
    def bare(self) -> bool:
        """A number without a unit and without a counted noun."""
        return self.dimension == "count" and not self.noun


class Figures(Window):
    """Reads the figures that begin with digits, and what a number belongs to; a reader returns what it found."""

    __slots__ = ("articles", "language", "rules", "t")

    def __init__(self, text: Text, tokens: list[str], first: int, last: int, tables: Tables, articles: bool) -> None:
        super().__init__(text, tokens, first, last, tables.classifies, tables.day_first)
        self.t = tables
        self.rules = tables.rules
        self.language = tables.language
        self.articles = articles

    # Building figures; a plain tuple call, because a constructor would take longer than the reading.

    def measure(self, first: int, last: int, numeral: Numeral, unit: Unit, also: Readings = ()) -> Quantity:
        """A number with a unit."""
        if numeral.decimals == 3 and unit.dimension == "money:VND" and numeral.text:
            numeral = digits(numeral.text.replace(",", "."), ",") or numeral
        values = numeral.values if unit.plain else unit.base(numeral.values)
        place = (first + self.base, last + self.base, values, unit.dimension, "", *self.hedge(first, last, True))
        return make(Quantity, (*place, numeral, unit, (), also, self.language, False))

    def count(self, first: int, last: int, numeral: Numeral, noun: str, dates: tuple[Date, ...] = ()) -> Quantity:
        """A number of things."""
        values = numeral.values
        place = (
            first + self.base,
            last + self.base,
            values,
            "count",
            noun,
            *self.hedge(first, last, values[0] >= LARGE),
        )
        return make(Quantity, (*place, numeral, None, dates, (), self.language, False))

    def label(self, first: int, last: int, text: str, name: str, also: Readings = ()) -> Quantity:
        """A number that names a thing, compared as it is written."""
        numeral = Numeral((_number(text),), 0, 1.0, text)
        place = (first + self.base, last + self.base, numeral.values, "label", name, "", False)
        return make(Quantity, (*place, numeral, None, (), also, self.language, False))

    def score(self, first: int, last: int, values: tuple[float, ...]) -> Quantity:
        """The sides of a score or a ratio."""
        place = (first + self.base, last + self.base, values, "score", "", "", False)
        return make(Quantity, (*place, NO_NUMERAL, None, (), (), self.language, False))

    def plain(self, first: int, last: int, value: float, dimension: str) -> Quantity:
        """An ordinal or a weekday."""
        place = (first + self.base, last + self.base, (value,), dimension, "", "", False)
        return make(Quantity, (*place, NO_NUMERAL, None, (), (), self.language, False))

    def dated(self, found: FoundDate, numeral: Numeral) -> Quantity:
        """A date."""
        first, last, dates = found
        values = (dates[0].value,) if len(dates) == 1 else tuple(date.value for date in dates)
        bound = self.t.date_bounds.get(self.tokens[first - 1], "")
        place = (first + self.base, last + self.base, values, "date", "", bound, False)
        return make(Quantity, (*place, numeral, None, dates, (), self.language, False))

    def timed(self, first: int, clock: Clock, numeral: Numeral) -> Quantity:
        """A time of day, which may also be a duration."""
        last, minutes, seconds = clock
        hedge = self.hedge(first, last, True)
        start, end = first + self.base, last + self.base
        if seconds is None:
            return make(
                Quantity, (start, end, minutes, "clock", "", *hedge, numeral, None, (), (), self.language, False)
            )
        also = (("clock", minutes),)
        return make(
            Quantity, (start, end, (seconds,), "time", "", *hedge, numeral, HOUR, (), also, self.language, False)
        )

    def hedge(self, first: int, last: int, large: bool) -> tuple[str, bool]:
        """The bound or rough word around a figure, and whether it is a limit that includes the value."""
        tokens, t = self.tokens, self.t
        if not (t.left.get(tokens[first - 1], 0) & HEDGE or t.right.get(tokens[last], 0) & HEDGE):
            return NO_HEDGE
        if tokens[first - 1] == "-" and self.gaps[first] == "" == self.gaps[first - 1]:
            first -= 1
        found = back(t.hedges, tokens, first - 1)
        if not found and tokens[first - 1] in t.than:
            return self.than(first - 2)
        opening = found[1] if found else first - 1
        found = found or longest(t.hedges_behind, tokens, last)
        if not found:
            return NO_HEDGE
        kind, _, limit = found[0].partition("_")
        if limit == "large" and not large:
            return NO_HEDGE
        if limit != "limit" and kind in TURNED and self.is_turned(opening):
            return TURNED[kind], True
        return (kind, limit == "limit")

    def than(self, at: int) -> tuple[str, bool]:
        """heavier than, younger than, no longer than."""
        word = self.tokens[at]
        if word in self.t.than_none or not self.words[at].word:
            return "", False
        under = word in self.t.than_under
        negated = self.is_turned(at)
        return ("under" if under != negated else "over", negated)

    def is_turned(self, at: int) -> bool:
        """Whether a negation stands shortly before the bound at a token: not be younger than, không được chạy nhanh hơn."""
        compared = not self.t.comparing.isdisjoint(self.tokens[at : at + 2])
        for k in range(at - 1, max(-1, at - 1 - TURN_REACH), -1):
            if self.tokens[k] in self.t.bound_turned:
                return True
            if not self.words[k].word or not (compared or self.tokens[k] in self.t.turned_across):
                return False
        return False

    # Figures that begin with digits.

    def figure(self, i: int, alone: bool = False) -> Sequence[Quantity]:
        """A figure that begins with digits; `alone` is the second half of a range."""
        tokens, t = self.tokens, self.t
        negative = False
        right = t.right.get(tokens[i + 1], 0)
        if self.gaps[i] == "" or right & SIGN or t.left.get(tokens[i - 1], 0) & SIGN:
            special = self.marked(i, alone)
            if special is not None:
                return special
            negative = tokens[i - 1] in t.minus and self.is_negative(i)
        numeral = digits(self.words[i].text, t.decimal)
        if numeral is None:
            return ()
        first, j = i, i + 1
        if right & UNIT and not negative and numeral.values:
            unit = t.single_units.get(tokens[j])
            if unit:
                return (self.measure(i, j + 1, numeral, unit),)
        if right & EXTENDS or self.words[j].number:
            numeral, j = extended(self, t, i, numeral, False)
        if negative:
            first, numeral = i - 1, numeral._replace(values=tuple(-v for v in numeral.values))
        return self.attached(first, numeral, j, alone)

    def marked(self, i: int, alone: bool) -> Sequence[Quantity] | None:
        """What signs or letters beside the number make of it: a marker, money, part of a name; None if nothing."""
        tokens, gaps = self.tokens, self.gaps
        before = tokens[i - 1]
        if (before in OPENERS or tokens[i + 1] in (".", ")")) and self.is_marker(i):
            return ()
        if (
            before in self.t.money_before
            and (currency := back(self.t.money_before, tokens, i - 1))
            and not (self.words[i - 1].word and self.words[currency[1] - 1].number)
        ):
            return self.money(i, currency[0], currency[1], alone)
        if gaps[i] == "" and (before in GLUE or self.words[i - 1].word) and (name := self.identifier(i)):
            return (name,)
        if tokens[i + 1] == "/" and gaps[i + 1] == "" and tokens[i].startswith("10.") and len(tokens[i]) >= 7:
            return (self.label(i, self.glued_end(i + 1), tokens[i], "doi"),)
        return None

    def is_negative(self, i: int) -> bool:
        """Whether a minus stands before the number and is no dash."""
        before = self.tokens[i - 1]
        if before in ("-", "−", "–"):
            return (
                self.gaps[i] == ""
                and (self.gaps[i - 1] != "" or not self.tokens[i - 2])
                and not self.words[i - 2].number
            )
        return before in self.t.terms["minus"]

    def is_marker(self, i: int) -> bool:
        """Whether the number is a citation marker or the number of a list item."""
        tokens, gaps = self.tokens, self.gaps
        ended = tokens[i + 1] in (".", ")") and gaps[i + 1] == "" and len(tokens[i]) <= 3
        if ended and tokens[i + 2] and (gaps[i + 2] or tokens[i + 2] in LINE_MARKS):
            at = i
            while at > i - 5 and tokens[at - 1] in LINE_MARKS and "\n" not in gaps[at]:
                at -= 1
            if "\n" in gaps[at] or (not tokens[at - 1] and at + self.base == 0):
                return True
        return self.in_brackets(i)

    def in_brackets(self, i: int) -> bool:
        """[1], [1, 2], [1-3], 【1】, [^1], (1): nothing but numbers between brackets."""
        tokens, words = self.tokens, self.words
        left = i - 1
        while (
            left > i - BRACKET_REACH
            and left > 0
            and (words[left].number or (tokens[left] in OPENERS and tokens[left] not in "[【("))
        ):
            left -= 1
        right = i + 1
        while (
            right < i + BRACKET_REACH
            and right < self.stop
            and (words[right].number or tokens[right] in (",", "-", "–", ";"))
        ):
            right += 1
        pair = tokens[left] + tokens[right]
        return pair in ("[]", "【】") or (pair == "()" and len(tokens[i]) <= 2 and right == left + 2)

    def money(self, i: int, currency: Unit, first: int, alone: bool) -> Sequence[Quantity]:
        """$12, US$1.2 million, £10-20."""
        numeral = digits(self.words[i].text, self.t.decimal)
        if numeral is None or not numeral.values:
            return ()
        numeral, j = extended(self, self.t, i, numeral, True)
        found = [self.measure(first, j, numeral, currency)]
        if not alone and self.tokens[j] in self.t.ranges and self.words[j + 1].number:
            more = digits(self.words[j + 1].text, self.t.decimal)
            if more and more.values and not more.code:
                more, end = extended(self, self.t, j + 1, more, True)
                found = [
                    self.measure(first, j, scaled_like(numeral, more), currency),
                    self.measure(j + 1, end, more, currency),
                ]
        return found

    def identifier(self, i: int) -> Quantity | None:
        """COVID-19, B-29, IPv4, x86: a number that is glued to a name; FY2024 is also a year."""
        at = i - 1
        if not self.words[at].word:
            if self.gaps[at] or not self.words[at - 1].word or (self.gaps[at - 1] == "" and self.words[at - 2].number):
                return None
            at -= 1
            joint = self.tokens[i - 1] == "-"
            if joint and (self.tokens[at] in self.t.joined or self.tokens[at] in self.t.numerals):
                return None
        text = self.words[i].text
        found = self.label(at, self.glued_end(i + 1), text, self.tokens[at])
        year = year_of(text)
        return found._replace(dates=(Date(year),)) if year is not None else found

    def glued_end(self, j: int) -> int:
        """Where the row of letters, digits and joints that goes on at `j` without a gap ends."""
        while self.gaps[j] == "" and j < self.stop:
            if self.words[j].word or self.words[j].number:
                j += 1
            elif (
                self.tokens[j] in GLUE
                and self.gaps[j + 1] == ""
                and (self.words[j + 1].word or self.words[j + 1].number)
            ):
                j += 2
            else:
                break
        return j

    # What a number belongs to.

    def attached(self, first: int, numeral: Numeral, j: int, alone: bool = False) -> Sequence[Quantity]:
        """The figure of a number that ends before token `j`: a measure, a date, a name, an ordinal or a count."""
        right = self.t.right.get(self.tokens[j], 0)
        if right & (MONTH | TIMED) or numeral.code:
            found = self.beside(first, numeral, j, right)
            if found:
                return (found,)
        if right & UNIT:
            unit = self.unit(j)
            if unit:
                return (self.measured(first, numeral, unit[0], unit[1]),)
        if right & JOINT:
            part = self.fraction(first, numeral, j) or (None if alone else self.range(first, numeral, j))
            if part:
                return part
        return (self.single(first, numeral, j),)

    def beside(self, first: int, numeral: Numeral, j: int, right: int) -> Quantity | None:
        """A date, a clock time, an ordinal or a code, as the token behind the number says."""
        value = numeral.values[0] if numeral.values else inf
        if right & MONTH:
            date = day_and_month(self, self.rules, first, j, value)
            if date:
                return self.dated(date, numeral)
        elif right & TIMED:
            found = self.date_or_clock(first, numeral, j, value)
            if found:
                return found
        if numeral.code:
            return self.code(first, numeral, j)
        if self.tokens[j] in self.t.ordinal_endings and self.gaps[j] == "":
            return self.ranked(first, numeral, j + 1)
        return None

    def date_or_clock(self, first: int, numeral: Numeral, j: int, value: float) -> Quantity | None:
        """14:00, 25/3/1655; "nghị định 10/2020" is a name."""
        if (
            self.tokens[j] == "/"
            and self.tokens[first - 1] in self.t.labels
            and back(self.t.labels, self.tokens, first - 1)
        ):
            return None
        clock = clock_behind(self, self.rules, first, j, value)
        if clock:
            return self.timed(first, clock, numeral)
        if self.tokens[j] == ":":
            return self.ratio(first, numeral, j)
        date = date_behind(self, self.rules, first, j, value, False)
        return self.dated(date, numeral) if date else None

    def ratio(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """2:1, 3:2:1."""
        values, end = list(numeral.values), j
        while self.tokens[end] == ":" and self.gaps[end] == "" == self.gaps[end + 1]:
            side = self.digits(end + 1)
            if not 1 <= len(side) <= SCORE_DIGITS:
                break
            values.append(float(side))
            end += 2
        return self.score(first, end, tuple(values)) if end > j and numeral.values else None

    def ranked(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """An ordinal, unless it is the day or the century of a date."""
        value = numeral.values[0] if numeral.values else inf
        date = date_behind(self, self.rules, first, j, value, True)
        return self.dated(date, numeral) if date else self.plain(first, j, value, "ordinal")

    def code(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A row of digits that is no number: a date with dots, a version, a phone number, 007."""
        date = dotted_date(numeral.text)
        if date:
            return self.dated(FoundDate(first, j, (date,)), numeral)
        return self.label(first, self.chain_end(j) or j, numeral.text, "")

    def chain_end(self, j: int) -> int:
        """Where three or more rows of digits that hyphens join end (an ISBN, a phone number), or 0."""
        end, rows = j, 1
        while self.tokens[end] == "-" and self.gaps[end] == "" == self.gaps[end + 1] and self.digits(end + 1):
            end, rows = end + 2, rows + 1
        return end if rows > 2 or (rows == 2 and self.digits(j + 1)[0] == "0" and len(self.digits(j + 1)) > 2) else 0

    def unit(self, j: int) -> tuple[Unit, int] | None:
        """The unit that begins at token `j`, over a hyphen or a word such as "working", and where it ends."""
        tokens, t = self.tokens, self.t
        at = j
        if tokens[j] == "(":
            return self.unit_in_brackets(j + 1)
        if tokens[j] == "-" and self.gaps[j] == "" == self.gaps[j + 1]:
            at = j + 1
        elif tokens[j] in t.between:
            return longest(t.units, tokens, j + 1)
        named = longest(t.units, tokens, at) if tokens[at] in t.units else None
        if named and tokens[named[1]] in t.not_units.get(tokens[at], ()):
            return None
        sign = self.sign_of_unit(at) if self.words[at].text in t.signs else None
        return sign if sign and (not named or sign[1] >= named[1]) else named

    def unit_in_brackets(self, at: int) -> tuple[Unit, int] | None:
        """450.000 (VNĐ), 25 (km)."""
        found = longest(self.t.units, self.tokens, at) if self.tokens[at] in self.t.units else None
        if not found and self.words[at].text in self.t.signs:
            found = self.sign_of_unit(at)
        return (found[0], found[1] + 1) if found and self.tokens[found[1]] == ")" else None

    def sign_of_unit(self, at: int) -> tuple[Unit, int] | None:
        """The sign of a unit at a token; capitals count, so that MB is not Mb."""
        words = self.words
        behind = words[at + 1].text
        for rest, unit in self.t.signs[words[at].text]:
            if not rest:
                return unit, at + 1
            if behind == rest[0] and (len(rest) == 1 or words[at + 2].text == rest[1]):
                return unit, at + 1 + len(rest)
        return None

    def measured(self, first: int, numeral: Numeral, unit: Unit, end: int) -> Quantity:
        """A measure with what may follow it: a smaller unit (5 feet 3 inches), a half (hai năm rưỡi)."""
        if unit.single and self.tokens[end] not in self.t.terms["half"]:
            return self.measure(first, end, numeral, unit)
        if unit.name == "minute" and self.tokens[end] in self.t.past_or_to and self.is_hour(end + 1):
            clock = past_or_to(self, self.rules, end, numeral.values[0])
            if clock:
                return self.timed(first, clock, numeral)
        if self.tokens[end] in self.t.terms["half"]:
            numeral = Numeral(tuple(v + 0.5 for v in numeral.values), 1)
            end += 1
        elif not unit.single:
            more = self.smaller(unit, end)
            if more:
                amount, end = more
                numeral = Numeral(tuple(v + amount for v in numeral.values), 6)
        also: Readings = ()
        if unit.name == "pound":
            also = (("money:GBP", numeral.values),)
        elif unit.dimension == "degree":
            also = (("temperature", (*numeral.values, *((v - 32) / 1.8 for v in numeral.values))),)
        return self.measure(first, end, numeral, unit, also)

    def is_hour(self, at: int) -> bool:
        """Whether a number behind "minutes to" says an hour and belongs to nothing else: not "5 minutes to 2 hours"."""
        behind = self.tokens[at + 1]
        return not self.words[at + 1].content or behind in self.t.terms["oclock"] or behind in self.rules.day_parts

    def smaller(self, unit: Unit, end: int) -> tuple[float, int] | None:
        """What a smaller unit adds, in the larger one, and where it ends: 24 hours and 37 minutes."""
        at = end + (self.tokens[end] in self.t.terms["and"])
        read = self.number(at) if self.words[at].number or self.tokens[at] in self.t.numerals else None
        if read is None:
            return None
        numeral, j = read
        found = self.unit(j)
        if (
            not found
            or not numeral.values
            or found[0].dimension != unit.dimension
            or found[0].customary != unit.customary
        ):
            return None
        amount = numeral.values[0] * found[0].factor / unit.factor
        return (amount, found[1]) if found[0].factor < unit.factor and amount < 1 else None

    def number(self, at: int) -> tuple[Numeral, int] | None:
        """A number in digits or words at a token, and where it ends."""
        if self.words[at].number:
            numeral = digits(self.words[at].text, self.t.decimal)
            return extended(self, self.t, at, numeral, False) if numeral else None
        return self.spell(at) if self.tokens[at] in self.t.numerals else None

    def spell(self, i: int) -> tuple[Numeral, int] | None:
        """A number in words, and where it ends."""
        return self.t.spell(self.tokens, i)

    def fraction(self, first: int, numeral: Numeral, j: int) -> Sequence[Quantity]:
        """two thirds, two-thirds, 3/4, hai phần ba: a share in percent that is also the plain quotient."""
        tokens, lower, end = self.tokens, 0.0, j + 1
        at = j + 1 if tokens[j] == "-" else j
        if tokens[at] in self.t.fractions:
            lower, end = self.t.fractions[tokens[at]], at + 1
        elif tokens[j] == "/" and self.gaps[j] == "" == self.gaps[j + 1] and self.digits(j + 1):
            lower, end = float(self.digits(j + 1)), j + 2
            if not 0 < numeral.values[0] < lower <= 10:
                return (self.label(first, self.glued_end(end), f"{numeral.text}/{self.digits(j + 1)}", ""),)
        elif tokens[j] in self.t.terms["part"]:
            read = (FOUR, j + 2) if tokens[j + 1] in self.t.terms["four"] else self.number(j + 1)
            lower, end = (read[0].values[0], read[1]) if read and read[0].values else (0.0, j)
        if not 0 < numeral.values[0] < lower:
            return ()
        share = numeral.values[0] / lower
        return (self.measure(first, end, Numeral((100 * share,)), PERCENT, (("count", (share,)),)),)

    # Ranges.

    def range(self, first: int, numeral: Numeral, j: int) -> Sequence[Quantity] | None:
        """three to five working days, 3-5 ngày, 12-14 March: the first half takes what the second says."""
        tokens = self.tokens
        if tokens[j] in self.t.products:
            return self.size(first, numeral, j)
        if tokens[j] not in self.t.ranges and not self.is_list(first, j):
            return None
        if tokens[j] == "-" and (end := self.chain_end(j)):
            text = "".join(w.text for w in self.words[first:end])
            return [self.label(first, end, text, "")]
        k = j + 1
        if tokens[k] in self.t.money_before and self.words[k + 1].number:
            k += 1
        if self.words[k].number:
            second = self.figure(k, alone=True)
        else:
            read = self.number(k)
            second = self.attached(k, *read, alone=True) if read else ()
        if not second:
            return None
        if second[0].dimension == "count" and self.is_score(first, numeral, j, second[0]):
            return [self.score(first, second[0].last - self.base, (numeral.values[0], second[0].values[0]))]
        return self.paired(self.single(first, numeral, j), second[0], tokens[j] in DASHES)

    def size(self, first: int, numeral: Numeral, j: int) -> Sequence[Quantity] | None:
        """160 × 80 cm, 60 x 40 x 30 cm: each side takes the unit of the last."""
        last = self.tokens[first - 1] in self.t.products
        sides = self.figure(j + 1, alone=last) if self.words[j + 1].number else ()
        if not sides or sides[0].dimension != "length":
            return None
        return [self.inherited(self.single(first, numeral, j), sides[0]), *sides]

    def is_score(self, first: int, numeral: Numeral, j: int, second: Quantity) -> bool:
        """won 3-1, City 3–1 Rovers, a 2-2 draw; a dash between a smaller and a larger number is most often a range."""
        sides = numeral.text, second.precision.text
        if not all(side.isdecimal() and len(side) <= SCORE_DIGITS for side in sides) or second.hedge:
            return False
        tokens, end, scores = self.tokens, second.last - self.base, self.t.scores
        cued = not scores.isdisjoint(tokens[max(0, first - SCORE_REACH) : first]) or not scores.isdisjoint(
            tokens[end : end + 3]
        )
        falling = numeral.values[0] >= second.values[0]
        if tokens[j] not in DASHES:
            return cued and falling and tokens[first - 1] not in self.t.range_before and tokens[j] in self.t.score_words
        if self.is_numbered(first):
            return cued and falling
        if falling and (cued or max(map(len, sides)) <= UNCUED_DIGITS):
            return True
        between_names = self.words[first - 1].capital and self.words[end].capital
        return between_names or (cued and not self.counts(second.noun, end))

    def is_numbered(self, first: int) -> bool:
        """Whether a noun that takes numbers or ages stands before the number; tỷ số is a score."""
        before = self.tokens[first - 1]
        if before in self.t.terms["number"] and self.tokens[first - 2] in self.t.amount_numbers:
            return False
        return bool(self.t.left.get(before, 0) & (LABEL | AGE))

    def counts(self, noun: str, at: int) -> bool:
        """Whether a number counts what begins at a token."""
        return longest(self.t.counted, self.tokens, at) is not None if self.classifies else noun != ""

    def is_list(self, first: int, j: int) -> bool:
        """between 3 and 5, pages 3 and 4."""
        tokens, before = self.tokens, self.tokens[first - 1]
        if tokens[j] not in self.t.terms["and"]:
            return False
        return before in self.t.terms["among"] or bool(self.t.left.get(before, 0) & LABEL)

    def paired(self, one: Quantity, two: Quantity, dash: bool) -> Sequence[Quantity]:
        """The two halves of a range, each with what only the other says."""
        short = two.precision.text
        if one.hedge == "about" and not two.hedge:
            two = two._replace(hedge="about")
        if one.dimension == "date" and two.bare and dash and len(short) == 2 and one.year:
            year = one.year - one.year % 100 + int(short)
            if year > one.year:
                return [one, two._replace(dimension="date", values=(float(year),), dates=(Date(year),), hedge="")]
        if one.dimension == "label" and two.bare:
            return [one, two._replace(dimension="label", noun=one.noun, hedge="")]
        if not one.bare and not (one.dimension == "date" and two.unit):
            return [one, two]
        return [self.inherited(one, two), two]

    def inherited(self, one: Quantity, two: Quantity) -> Quantity:
        """The first half of a range with the unit, date, time or noun of the second."""
        numeral = scaled_like(one.precision, two.precision)
        value = numeral.values[0]
        if two.dimension == "date" and two.day and value in range(1, 32):
            dates = tuple(date._replace(day=int(value)) for date in two.dates)
            return one._replace(dimension="date", values=tuple(d.value for d in dates), dates=dates)
        if two.dimension == "clock" and 0 <= value <= 24:
            return one._replace(dimension="clock", values=tuple({value * 60 % 1440: 0, (value + 12) * 60 % 1440: 0}))
        if two.unit:
            also = (
                (("clock", (value * 60 % 1440, (value + 12) * 60 % 1440)),)
                if two.also and two.also[0][0] == "clock"
                else ()
            )
            return one._replace(
                dimension=two.dimension,
                values=two.unit.base(numeral.values),
                unit=two.unit,
                precision=numeral,
                also=also,
                dates=(),
            )
        return one._replace(noun=two.noun, values=numeral.values, precision=numeral)

    # A number without a unit.

    def single(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A number that no unit follows: a name, a year, an age or a count."""
        if self.words[j].word and self.gaps[j] == "" and self.tokens[j] != "x" and self.words[j - 1].number:
            return self.label(first, self.glued_end(j), (numeral.text + self.tokens[j]), "")
        before, text = self.tokens[first - 1], numeral.text
        year = year_of(text)
        left = self.t.left.get(before, 0)
        if year is not None and left & YEAR:
            return self.dated(FoundDate(first, j, (Date(year),)), numeral)
        if before in self.t.terms["ad"] and self.words[first - 1].upper and len(text) <= 4:
            return self.dated(FoundDate(first - 1, j, (Date(int(numeral.values[0])),)), numeral)
        noun = self.noun(j, numeral.values[0])
        if left & LABEL or self.words[first - 1].text != before or before == ".":
            name = self.named(first, numeral, j, noun, year)
            if name:
                return name
        if year is not None:
            if not noun or self.words[first - 1].capital:
                return self.dated(FoundDate(first, j, (Date(year),)), numeral)
            return self.count(first, j, numeral, noun, (Date(year),))
        if left & AGE or (before in self.t.terms["of"] and self.tokens[first - 2] in self.t.terms["age"]):
            return self.measure(first, j, numeral, YEARS)
        return self.count(first, j, numeral, noun)

    def named(self, first: int, numeral: Numeral, j: int, noun: str, year: int | None) -> Quantity | None:
        """A number that names what stands before it, and may be the number of what is counted behind it."""
        found = self.name_before(first, numeral, year)
        if not found:
            return None
        name, at = found
        counted = bool(noun) and self.is_counted(name, at, j)
        if counted and not self.words[at].capital and self.is_loose(name, j):
            return None
        text = numeral.text or f"{numeral.values[0]:g}"
        return self.label(at, j, text, name, (("count", numeral.values),) if counted else ())

    def is_counted(self, name: str, at: int, j: int) -> bool:
        """Whether the number may count what follows it: each day 300 people, in London 12 people, nhóm 5 người."""
        if self.classifies:
            return (
                self.tokens[j - 2] not in self.t.terms["number"] and longest(self.t.counted, self.tokens, j) is not None
            )
        return self.tokens[at - 1] in self.t.places or name in self.t.loose_labels

    def is_loose(self, name: str, j: int) -> bool:
        """Whether a number that may count something does so, and is no name: not "lớp 10 trường", "khoản 2 điều 5"."""
        return (
            self.tokens[j] not in self.t.labels and name != "grade" if self.classifies else name in self.t.loose_labels
        )

    def noun(self, j: int, value: float) -> str:
        """What is counted: the first plural of the next words, or the next word in a language that has none."""
        words = self.words
        if self.classifies:
            word = words[j]
            return (
                word.lower if word.word and not word.capital and (not word.stop or word.lower in self.t.counted) else ""
            )
        at = j + 1 if self.tokens[j] == "-" and self.gaps[j] == "" else j
        for word in words[at : at + 3]:
            if not word.word or word.stop:
                break
            if self.is_plural(word):
                return word.stem
        return words[at].stem if value == 1 and words[at].word and not words[at].stop else ""

    def is_plural(self, word: Word) -> bool:
        """Whether a noun looks like a plural."""
        lower = word.lower
        if lower in self.t.plurals:
            return True
        return lower[-1] == "s" and len(lower) > 3 and lower[-2] not in "sui'" and lower not in self.t.singulars

    def name_before(self, i: int, numeral: Numeral, year: int | None) -> tuple[str, int] | None:
        """The noun or name that the number belongs to (Line 3, tủ số 8, Windows 10) and where it begins."""
        tokens, word = self.tokens, self.words[i - 1]
        before = tokens[i - 1]
        if before == "." and tokens[i - 2] in self.t.label_short and self.gaps[i - 1] == "":
            return self.t.labels[tokens[i - 2]][0][1], i - 2
        if before in self.t.labels and (before not in self.t.label_short or word.capital):
            found = back(self.t.labels, tokens, i - 1)
            if found:
                return self.numbered(found[1]) if before in self.t.terms["number"] else (found[0], found[1])
        if year is not None or word.text == before or word.stop or "," in numeral.text or numeral.values[0] >= 100000:
            return None
        if before in self.t.starters or before in self.t.hedges:
            return None
        if self.starts_sentence(i - 1) and tokens[i - 2] != ";" and word.text[1:] == before[1:]:
            return None
        return before, i - 1

    def numbered(self, at: int) -> tuple[str, int] | None:
        """tủ số 8, tuyến số 2; dân số, trong số and tổng số say an amount."""
        before = self.tokens[at - 1]
        if before in self.t.amount_numbers:
            return None
        found = back(self.t.labels, self.tokens, at - 1) if before in self.t.labels else None
        if found:
            return found
        return (before, at - 1) if self.words[at - 1].word and not self.words[at - 1].stop else ("number", at)


def _number(text: str) -> float:
    """The value of a label's digits where they are a number."""
    try:
        return float(text)
    except ValueError:
        return inf
