"""The figures of a text: one pass over its tokens that reads each number with its unit, date, name or noun."""

from __future__ import annotations

from math import inf
from typing import Any, Final, NamedTuple

from stillme.evidence.dates import (
    DASHES,
    ORDINAL_ENDINGS,
    Clock,
    Date,
    DateRules,
    FoundDate,
    Window,
    clock_behind,
    date_behind,
    date_from,
    dates_agree,
    dotted_date,
    longest,
    spelt_clock,
    weekday_at,
    year_of,
)
from stillme.evidence.numerals import (
    Numeral,
    Tables,
    Unit,
    back,
    digits,
    english_words,
    extended,
    scaled,
    scaled_like,
    vietnamese_words,
)
from stillme.evidence.text import Text, Word

__all__ = ["Quantity", "Scan"]

GLUE: Final = frozenset("-_./\\@")
OPENERS: Final = frozenset("[【(,-–;^")
LINE_MARKS: Final = frozenset("*#>-•_")
BRACKET_REACH: Final = 24
HOUR: Final = Unit("hour", "time", 3600.0)
YEAR: Final = Unit("year", "span", 12.0)
PERCENT: Final = Unit("percent", "percent")
ONE: Final = Numeral((1.0,))


class Quantity(NamedTuple):
    """A figure at tokens `first` to `last` (exclusive) of a text, its unit included.

    A tuple rather than a dataclass because a passage is scanned in microseconds and a frozen dataclass takes one to build.
    `dimension` is count, label, percent, ordinal, date, clock, weekday, money:XXX, or one of units: time (up to weeks), span (months
    and years), length, mass ... `values` are in its base unit: metres, seconds, months, kilograms, degrees Celsius, bytes.
    """

    first: int
    last: int
    values: tuple[float, ...]
    dimension: str
    noun: str = ""
    hedge: str = ""
    precision: Numeral = Numeral(())
    unit: Unit | None = None
    dates: tuple[Date, ...] = ()
    also: tuple[tuple[str, tuple[float, ...]], ...] = ()
    limit: bool = False
    article: bool = False
    language: str = ""

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


class Scan(Window):
    """One pass over the tokens of a range; every reader returns the figures that begin at a token, or nothing."""

    __slots__ = ("articles", "language", "rules", "t")

    def __init__(
        self, text: Text, tokens: list[str], first: int, last: int, language: str, tables: Tables, rules: DateRules, articles: bool
    ) -> None:
        super().__init__(text, tokens, first, last, language == "vi")
        self.language = language
        self.articles = articles
        self.t = tables
        self.rules = rules

    # Building figures.

    def quantity(self, first: int, last: int, values: tuple[float, ...], dimension: str, **more: Any) -> Quantity:
        """A figure without a hedge."""
        return Quantity(first + self.base, last + self.base, values, dimension, language=self.language, **more)

    def measure(self, first: int, last: int, numeral: Numeral, unit: Unit, also: Any = ()) -> Quantity:
        """A number with a unit."""
        if unit.dimension == "money:VND" and numeral.decimals == 3 and numeral.text:
            numeral = digits(numeral.text.replace(",", "."), "vi") or numeral
        hedge, limit = self.hedge(first, last, True)
        place = self.base
        return Quantity(
            first + place, last + place, unit.base(numeral.values), unit.dimension, "", hedge, numeral, unit, (), also, limit, False, self.language
        )  # fmt: skip

    def count(self, first: int, last: int, numeral: Numeral, noun: str, dates: tuple[Date, ...] = ()) -> Quantity:
        """A number of things."""
        hedge, limit = self.hedge(first, last, numeral.values[0] >= 100)
        place = self.base
        return Quantity(
            first + place, last + place, numeral.values, "count", noun, hedge, numeral, None, dates, (), limit, False, self.language
        )  # fmt: skip

    def label(self, first: int, last: int, text: str, name: str, also: Any = ()) -> Quantity:
        """A number that names a thing, compared as it is written."""
        numeral = Numeral((_number(text),), 0, 1.0, text)
        return self.quantity(first, last, numeral.values, "label", noun=name, precision=numeral, also=also)

    def dated(self, found: FoundDate, numeral: Numeral = Numeral(())) -> Quantity:  # noqa: B008  (a constant)
        """A date."""
        values = tuple(date.value for date in found.dates)
        return self.quantity(found.first, found.last, values, "date", dates=found.dates, precision=numeral)

    def timed(self, first: int, clock: Clock, numeral: Numeral) -> Quantity:
        """A time of day, which may also be a duration."""
        hedge, limit = self.hedge(first, clock.last, True)
        values, dimension, also, unit = clock.minutes, "clock", (), None
        if clock.seconds is not None:
            values, dimension, also, unit = (clock.seconds,), "time", (("clock", clock.minutes),), HOUR
        return self.quantity(
            first, clock.last, values, dimension, hedge=hedge, limit=limit, precision=numeral, also=also, unit=unit
        )

    def hedge(self, first: int, last: int, large: bool) -> tuple[str, bool]:
        """The bound or rough word around a figure, and whether it is a limit that includes the value."""
        tokens, t = self.tokens, self.t
        name = ""
        if tokens[first - 1] in t.hedges:
            found = back(t.hedges, tokens, first - 1)
            name = found[0] if found else ""
            if not name and tokens[first - 1] == "than":
                return self.than(first - 2)
        if not name and tokens[last] in t.hedges_behind:
            behind = longest(t.hedges_behind, tokens, last)
            name = behind[0] if behind else ""
        if not name:
            return "", False
        kind, _, limit = name.partition("_")
        return (kind if limit != "large" or large else "", limit == "limit")

    def than(self, at: int) -> tuple[str, bool]:
        """heavier than, younger than, no longer than."""
        word = self.tokens[at]
        if word in self.t.than_none or not self.words[at].word:
            return "", False
        under = word in self.t.than_under
        negated = self.tokens[at - 1] in ("no", "not")
        return ("under" if under != negated else "over", negated)

    # Figures that begin with digits.

    def figure(self, i: int, alone: bool = False) -> list[Quantity]:
        """A figure that begins with digits; `alone` is the second half of a range."""
        tokens, gaps = self.tokens, self.gaps
        before = tokens[i - 1]
        if (before in OPENERS or tokens[i + 1] in (".", ")")) and self.is_marker(i):
            return []
        if before in self.t.money_before and (currency := back(self.t.money_before, tokens, i - 1)):
            return self.money(i, currency[0], currency[1], alone)
        if gaps[i] == "" and (before in GLUE or self.words[i - 1].word):
            name = self.identifier(i)
            if name:
                return [name]
        numeral = digits(self.words[i].text, self.t.format)
        if numeral is None:
            return []
        if tokens[i + 1] == "/" and gaps[i + 1] == "" and numeral.text.startswith("10.") and numeral.decimals >= 4:
            return [self.label(i, self.glued_end(i + 1), numeral.text, "doi")]
        first = i - 1 if self.is_negative(i) else i
        numeral, j = extended(self, self.t, i, numeral, False)
        if first < i:
            numeral = numeral._replace(values=tuple(-v for v in numeral.values))
        return self.attached(first, numeral, j, alone)

    def is_negative(self, i: int) -> bool:
        """Whether a minus stands before the number and is no dash."""
        before = self.tokens[i - 1]
        if before in ("-", "−", "–"):
            return self.gaps[i] == "" and (self.gaps[i - 1] != "" or not self.tokens[i - 2]) and not self.words[i - 2].number
        return before in ("minus", self.t.vi["minus"])

    def is_marker(self, i: int) -> bool:
        """Whether the number is a citation marker or the number of a list item."""
        tokens = self.tokens
        if tokens[i + 1] in (".", ")") and self.gaps[i + 1] == "" and len(tokens[i]) <= 3 and tokens[i + 2] and self.gaps[i + 2]:
            at = i
            while at > i - 5 and tokens[at - 1] in LINE_MARKS and "\n" not in self.gaps[at]:
                at -= 1
            if "\n" in self.gaps[at] or (not tokens[at - 1] and at + self.base == 0):
                return True
        return self.in_brackets(i)

    def in_brackets(self, i: int) -> bool:
        """[1], [1, 2], [1-3], 【1】, [^1], (1): nothing but numbers between brackets."""
        tokens, words = self.tokens, self.words
        left = i - 1
        while left > i - BRACKET_REACH and left > 0 and (words[left].number or (tokens[left] in OPENERS and tokens[left] not in "[【(")):
            left -= 1
        right = i + 1
        while right < i + BRACKET_REACH and right < self.stop and (words[right].number or tokens[right] in (",", "-", "–", ";")):
            right += 1
        pair = tokens[left] + tokens[right]
        return pair in ("[]", "【】") or (pair == "()" and len(tokens[i]) <= 2 and right == left + 2)

    def money(self, i: int, currency: Unit, first: int, alone: bool) -> list[Quantity]:
        """$12, US$1.2 million, £10-20."""
        numeral = digits(self.words[i].text, self.t.format)
        if numeral is None or not numeral.values:
            return []
        numeral, j = extended(self, self.t, i, numeral, True)
        found = [self.measure(first, j, numeral, currency)]
        if not alone and self.tokens[j] in self.t.ranges and self.words[j + 1].number:
            more = digits(self.words[j + 1].text, self.t.format)
            if more and more.values and not more.code:
                more, end = extended(self, self.t, j + 1, more, True)
                found = [self.measure(first, j, scaled_like(numeral, more), currency), self.measure(j + 1, end, more, currency)]
        return found

    def identifier(self, i: int) -> Quantity | None:
        """COVID-19, B-29, IPv4, x86, jwh.2021.0412: a number that is glued to a name."""
        at = i - 1
        if not self.words[at].word:
            if self.gaps[at] or not self.words[at - 1].word or (self.gaps[at - 1] == "" and self.words[at - 2].number):
                return None
            at -= 1
            joint = self.tokens[i - 1] == "-"
            if joint and (self.tokens[at] in self.t.joined or self.tokens[at] in self.t.numerals):
                return None
        end = self.glued_end(i + 1)
        return self.label(at, end, self.words[i].text, self.tokens[at])

    def glued_end(self, j: int) -> int:
        """Where the row of letters, digits and joints that goes on at `j` without a gap ends."""
        while self.gaps[j] == "" and j < self.stop:
            if self.words[j].word or self.words[j].number:
                j += 1
            elif self.tokens[j] in GLUE and self.gaps[j + 1] == "" and (self.words[j + 1].word or self.words[j + 1].number):
                j += 2
            else:
                break
        return j

    # What a number belongs to.

    def attached(self, first: int, numeral: Numeral, j: int, alone: bool = False) -> list[Quantity]:
        """The figure of a number that ends before token `j`: with its unit, as a date, a name, an ordinal or a count."""
        token = self.tokens[j]
        value = numeral.values[0] if numeral.values else inf
        if token in self.t.timed:
            found = self.date_or_clock(first, numeral, j, value)
            if found:
                return [found]
        if numeral.code:
            return [self.code(first, numeral, j)]
        if token in ORDINAL_ENDINGS and self.gaps[j] == "":
            return self.ranked(first, numeral, j + 1)
        unit = self.unit(j)
        if unit:
            return [self.measured(first, numeral, unit[0], unit[1])]
        if token in self.t.fractions or token == "/" or token == "-" or token == self.t.vi["part"]:
            part = self.fraction(first, numeral, j)
            if part:
                return [part]
        if not alone and (token in self.t.ranges or token in ("and", self.t.vi["and"])):
            both = self.range(first, numeral, j)
            if both:
                return both
        return [self.single(first, numeral, j)]

    def date_or_clock(self, first: int, numeral: Numeral, j: int, value: float) -> Quantity | None:
        if self.tokens[j] == "/" and self.tokens[first - 1] in self.t.labels and back(self.t.labels, self.tokens, first - 1):
            return None
        clock = clock_behind(self, self.rules, first, j, value)
        if clock:
            return self.timed(first, clock, numeral)
        date = date_behind(self, self.rules, first, j, value, False)
        return self.dated(date, numeral) if date else None

    def code(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A row of digits that is no number: a date with dots, a version, a phone number, 007."""
        date = dotted_date(numeral.text)
        if date:
            return self.dated(FoundDate(first, j, (date,)), numeral)
        return self.label(first, self.chain_end(first, j) or j, numeral.text, "")

    def chain_end(self, first: int, j: int) -> int:
        """Where three or more rows of digits that hyphens join end (an ISBN, a phone number), or 0."""
        end, rows = j, 1
        while self.tokens[end] == "-" and self.gaps[end] == "" == self.gaps[end + 1] and self.digits(end + 1):
            end, rows = end + 2, rows + 1
        return end if rows > 2 or (rows == 2 and self.digits(j + 1)[0] == "0" and len(self.digits(j + 1)) > 2) else 0

    def unit(self, j: int) -> tuple[Unit, int] | None:
        """The unit that begins at token `j`, over a hyphen or a word such as "working", and where it ends."""
        tokens = self.tokens
        at = j
        if tokens[j] == "-" and self.gaps[j] == "" == self.gaps[j + 1]:
            at = j + 1
        options = self.t.signs.get(self.words[at].text)
        if options:
            for rest, unit in options:
                if not rest or all(self.words[at + 1 + n].text == part for n, part in enumerate(rest)):
                    named = longest(self.t.units, tokens, at) if tokens[at] in self.t.units else None
                    return named if named and named[1] > at + 1 + len(rest) else (unit, at + 1 + len(rest))
        if tokens[at] in self.t.units:
            found = longest(self.t.units, tokens, at)
            if found and tokens[found[1]] in self.t.not_units.get(tokens[at], ()):
                return None
            return found
        if tokens[at] in self.t.between:
            return longest(self.t.units, tokens, at + 1)
        return None

    def measured(self, first: int, numeral: Numeral, unit: Unit, end: int) -> Quantity:
        """A measure with what may follow it: a smaller unit (5 feet 3 inches), a half (hai năm rưỡi)."""
        if self.tokens[end] == self.t.vi["half"]:
            numeral = Numeral(tuple(v + 0.5 for v in numeral.values), 1)
            end += 1
        elif unit.dimension in ("time", "span") or unit.customary:
            more = self.smaller(unit, end)
            if more:
                amount, end = more
                numeral = Numeral(tuple(v + amount for v in numeral.values), 6)
        also: tuple[tuple[str, tuple[float, ...]], ...] = ()
        if unit.name == "pound":
            also = (("money:GBP", numeral.values),)
        elif unit.dimension == "degree":
            also = (("temperature", (*numeral.values, *((v - 32) / 1.8 for v in numeral.values))),)
        return self.measure(first, end, numeral, unit, also)

    def smaller(self, unit: Unit, end: int) -> tuple[float, int] | None:
        """What a smaller unit adds, in the larger one, and where it ends: 24 hours and 37 minutes."""
        at = end + (self.tokens[end] in ("and", self.t.vi["and"]))
        read = self.number(at)
        if read is None:
            return None
        numeral, j = read
        found = self.unit(j)
        if not found or not numeral.values or found[0].dimension != unit.dimension or found[0].customary != unit.customary:
            return None
        amount = numeral.values[0] * found[0].factor / unit.factor
        return (amount, found[1]) if found[0].factor < unit.factor and amount < 1 else None

    def number(self, at: int) -> tuple[Numeral, int] | None:
        """A number in digits or words at a token, and where it ends."""
        if self.words[at].number:
            numeral = digits(self.words[at].text, self.t.format)
            return extended(self, self.t, at, numeral, False) if numeral else None
        return self.spell(at) if self.tokens[at] in self.t.numerals else None

    def fraction(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """two thirds, two-thirds, 3/4, hai phần ba: a share in percent that is also the plain quotient."""
        tokens, lower, end = self.tokens, 0.0, j + 1
        at = j + 1 if tokens[j] == "-" else j
        if tokens[at] in self.t.fractions:
            lower, end = self.t.fractions[tokens[at]], at + 1
        elif tokens[j] == "/" and self.gaps[j] == "" == self.gaps[j + 1] and self.digits(j + 1):
            lower, end = float(self.digits(j + 1)), j + 2
            if not 0 < numeral.values[0] < lower <= 10:
                return self.label(first, self.glued_end(end), f"{numeral.text}/{self.digits(j + 1)}", "")
        elif tokens[j] == self.t.vi["part"]:
            read = self.number(j + 1) if tokens[j + 1] != "tư" else (Numeral((4.0,)), j + 2)
            lower, end = (read[0].values[0], read[1]) if read and read[0].values else (0.0, j)
        if not 0 < numeral.values[0] < lower:
            return None
        share = numeral.values[0] / lower
        found = self.measure(first, end, Numeral((100 * share,), 0, 1.0), PERCENT)
        return found._replace(also=(("count", (share,)),))

    # Ranges.

    def range(self, first: int, numeral: Numeral, j: int) -> list[Quantity] | None:
        """three to five working days, 3-5 ngày, 12-14 March: the first half takes what the second says."""
        tokens = self.tokens
        if tokens[j] in ("and", self.t.vi["and"]) and tokens[first - 1] not in ("between", self.t.vi["among"]):
            return None
        if tokens[j] == "-" and (end := self.chain_end(first, j)):
            text = "".join(w.text for w in self.words[first:end])
            return [self.label(first, end, text, "")]
        k = j + 1
        if tokens[k] in self.t.money_before and self.words[k + 1].number:
            k += 1
        if self.words[k].number:
            second = self.figure(k, alone=True)
        elif tokens[k] in self.t.numerals:
            second = self.spelt(k, alone=True)
        else:
            return None
        if not second:
            return None
        return self.paired(self.single(first, numeral, j), second[0], tokens[j] in DASHES)

    def paired(self, one: Quantity, two: Quantity, dash: bool) -> list[Quantity]:
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
            also = (("clock", (value * 60 % 1440, (value + 12) * 60 % 1440)),) if two.also and two.also[0][0] == "clock" else ()
            return one._replace(
                dimension=two.dimension, values=two.unit.base(numeral.values), unit=two.unit, precision=numeral, also=also, dates=()
            )
        return one._replace(noun=two.noun, values=numeral.values, precision=numeral)

    # A number without a unit.

    def single(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A number that no unit follows: a name, a year, an age or a count."""
        if self.words[j].word and self.gaps[j] == "" and self.tokens[j] != "x" and self.words[j - 1].number:
            return self.label(first, self.glued_end(j), (numeral.text + self.tokens[j]), "")
        before, text = self.tokens[first - 1], numeral.text
        year = year_of(text) if len(text) == 4 and text.isdecimal() else None
        if before == "ad" and self.words[first - 1].upper and len(text) <= 4:
            return self.dated(FoundDate(first - 1, j, (Date(int(numeral.values[0])),)), numeral)
        noun = self.noun(j, numeral.values[0])
        named = self.name_before(first, numeral, year)
        if named and not self.is_counted(named[1], noun, j):
            key, at = named
            counted = noun and (not self.vietnamese or longest(self.t.counted, self.tokens, j))
            return self.label(at, j, text or f"{numeral.values[0]:g}", key, (("count", numeral.values),) if counted else ())
        if year is not None:
            if not noun or before in self.t.year_before or self.words[first - 1].capital:
                return self.dated(FoundDate(first, j, (Date(year),)), numeral)
            return self.count(first, j, numeral, noun, (Date(year),))
        if before in self.t.ages or (before == "of" and self.tokens[first - 2] == "age"):
            return self.measure(first, j, numeral, YEAR)
        return self.count(first, j, numeral, noun)

    def is_counted(self, at: int, noun: str, j: int) -> bool:
        """each day 300 people: a common noun before the number and a plural behind it."""
        return bool(noun) and not self.vietnamese and not self.words[at].capital and self.tokens[j] not in GLUE

    def noun(self, j: int, value: float) -> str:
        """What is counted: in English the first plural of the next words, in Vietnamese the next word."""
        words = self.words
        if self.vietnamese:
            word = words[j]
            return word.lower if word.word and not word.capital and (not word.stop or word.lower in self.t.counted) else ""
        at = j + 1 if self.tokens[j] == "-" and self.gaps[j] == "" else j
        for word in words[at : at + 3]:
            if not word.word or word.stop:
                break
            if self.is_plural(word):
                return word.stem
        return words[at].stem if value == 1 and words[at].word and not words[at].stop else ""

    def is_plural(self, word: Word) -> bool:
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
                return self.numbered(found[1]) if before == self.t.vi["number"] else (found[0], found[1])
        if year is not None or word.text == before or word.stop or "," in numeral.text or numeral.values[0] >= 100000:
            return None
        if before in self.t.starters or before in self.t.hedges or before in self.rules.months:
            return None
        if self.starts_sentence(i - 1) and word.text[1:] == before[1:]:
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

    # Figures that begin with a word.

    def spelt(self, i: int, alone: bool = False) -> list[Quantity]:
        """twelve, twenty-one, hai mươi mốt."""
        read = self.spell(i)
        if read is None:
            return []
        numeral, j = read
        if self.vietnamese and not self.is_vietnamese_number(i, j):
            return []
        if not self.vietnamese and (self.tokens[j] in self.t.ordinals or self.tokens[j] == "-"):
            ordinal = self.tens_and_ordinal(i, numeral, j)
            if ordinal:
                return ordinal
        return self.attached(i, numeral, j, alone)

    def is_vietnamese_number(self, i: int, j: int) -> bool:
        """Whether a spelt number is one here and not a name (Ba Đình), a father (ba mẹ) or another word (chín)."""
        token, behind = self.tokens[i], self.tokens[j]
        if self.words[i].capital and (not self.starts_sentence(i) or self.words[i + 1].capital):
            return False
        if token == self.t.vi["three"] and behind in self.t.not_three:
            return False
        return j > i + 1 or token not in self.t.needs_counted or longest(self.t.counted, self.tokens, j) is not None

    def tens_and_ordinal(self, i: int, numeral: Numeral, j: int) -> list[Quantity]:
        """twenty-first."""
        at = j + (self.tokens[j] == "-")
        value = self.t.ordinals.get(self.tokens[at], 0)
        if not 0 < value < 10 or numeral.values[0] not in range(20, 100, 10) or self.tokens[at] in ("second", "third") and at == j:
            return []
        return self.ranked(i, Numeral((numeral.values[0] + value,)), at + 1)

    def spell(self, i: int) -> tuple[Numeral, int] | None:
        return vietnamese_words(self, self.t, i) if self.vietnamese else english_words(self, self.t, i)

    def one(self, i: int) -> list[Quantity]:
        """one and một, which are most often an article."""
        t, tokens = self.t, self.tokens
        read = self.spell(i)
        if read is None:
            return []
        if read[1] > i + 1:
            return self.spelt(i)
        j = i + 1
        if tokens[j] == t.vi["share"] and self.vietnamese:
            return [self.measure(i, j + 1, Numeral((50.0,)), PERCENT)]
        if tokens[j] in t.fractions or tokens[j] == t.vi["part"]:
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
        if before in self.t.one_before:
            return True
        if unit is None or before in self.t.units:
            return False
        if not self.words[unit[1]].word and self.starts_sentence(i):
            return True
        if unit[0].dimension == "time" or (self.vietnamese and unit[0].dimension == "span"):
            return before in self.t.one_time_before or before in self.t.hedges
        return not self.starts_sentence(i)

    def as_article(self, i: int, j: int, unit: tuple[Unit, int] | None) -> list[Quantity]:
        """The one that an article may stand for, if the caller asked for it."""
        if not self.articles or not (self.words[j].word or unit) or self.tokens[j] in self.t.not_one:
            return []
        if unit:
            return [self.measure(i, unit[1], ONE, unit[0])._replace(article=True)]
        return [self.count(i, j, ONE, self.noun(j, 1.0))._replace(article=True)]

    def article(self, i: int) -> list[Quantity]:
        unit = self.unit(i + 1)
        return self.as_article(i, i + 1, unit) if unit else []

    def five_or_year(self, i: int) -> list[Quantity]:
        """năm: a year before digits, five before something counted."""
        found = self.date(i)
        if found or self.tokens[i - 1] in self.rules.each:
            return found
        return self.spelt(i)

    def date(self, i: int) -> list[Quantity]:
        """ngày 25 tháng 3, March 25, quý 3; the day of "ngày 12 đến 14 tháng 3" takes the month of the second."""
        found = [self.dated(f) for f in date_from(self, self.rules, i)]
        if len(found) == 1 and found[0].day and found[0].month is None:
            j = found[0].last - self.base
            if self.tokens[j] in self.t.ranges and self.words[j + 1].number:
                second = self.figure(j + 1, alone=True)
                if second and second[0].day and second[0].month:
                    dates = tuple(date._replace(day=found[0].day) for date in second[0].dates)
                    return [found[0]._replace(dates=dates, values=tuple(date.value for date in dates)), second[0]]
        return found

    def weekday(self, i: int) -> list[Quantity]:
        day, end = weekday_at(self, self.rules, i)
        return [self.quantity(i, end, (float(day),), "weekday")] if day else []

    def rank(self, i: int) -> list[Quantity]:
        """thứ Hai, thứ hai, thứ 3, hạng nhì, giải ba, đầu tiên."""
        t, tokens = self.t, self.tokens
        if tokens[i] == t.vi["lead"]:
            first = tokens[i + 1] == t.vi["lead_end"]
            if self.starts_sentence(i) or not (first or tokens[i - 1] == t.vi["times"]):
                return []
            return [self.quantity(i, i + 1 + first, (1.0,), "ordinal")]
        found = self.weekday(i) if tokens[i] == t.vi["rank"] else []
        if found:
            return found
        if tokens[i] == t.vi["rank"] and self.starts_sentence(i) and tokens[i + 2] == ",":
            return []
        value = t.ordinals.get(tokens[i + 1]) or (4 if tokens[i + 1] == "tư" else 0)
        if value:
            return [self.quantity(i, i + 2, (float(value),), "ordinal")]
        read = self.number(i + 1)
        if read is None or not read[0].values or (tokens[i] != t.vi["rank"] and read[0].values[0] > 99):
            return []
        return [self.quantity(i, read[1], read[0].values, "ordinal")]

    def ordinal(self, i: int) -> list[Quantity]:
        """first, a third of, third quarter of 2024."""
        t, tokens = self.t, self.tokens
        before, behind = tokens[i - 1], tokens[i + 1]
        if before == "a" and tokens[i] in t.fractions and behind == "of" and tokens[i + 2] != "an":
            return [self.measure(i - 1, i + 1, Numeral((100 / t.fractions[tokens[i]],)), PERCENT)]
        value = t.ordinals.get(tokens[i], 0)
        if not value or behind in t.no_ordinal_after or before in t.no_ordinal_before:
            return []
        if value <= 3 and before not in t.ordinal_before and behind not in ("century", "quarter", "of"):
            return []
        return self.ranked(i, Numeral((float(value),)), i + 1)

    def ranked(self, first: int, numeral: Numeral, j: int) -> list[Quantity]:
        """An ordinal, unless it is the day or the century of a date."""
        date = date_behind(self, self.rules, first, j, numeral.values[0], True) if numeral.values else None
        if date:
            return [self.dated(date, numeral)]
        return [self.quantity(first, j, numeral.values, "ordinal", precision=numeral)]

    def clock(self, i: int) -> list[Quantity]:
        found = spelt_clock(self, self.rules, i)
        return [self.timed(i, found, Numeral(()))] if found else []

    def half(self, i: int) -> list[Quantity]:
        """half an hour, half a million, half of, nửa giờ, nửa đêm."""
        tokens = self.tokens
        if self.vietnamese and (clock := self.clock(i)):
            return clock
        at = i + 1 + (tokens[i + 1] in ("a", "an"))
        half = Numeral((0.5,), 1)
        if tokens[at] in self.t.scales and (at > i + 1 or self.vietnamese):
            numeral, j = scaled(self, self.t, half, at)
            return self.attached(i, numeral, j)
        unit = self.unit(at) if at > i + 1 or self.vietnamese else None
        if unit:
            return [self.measured(i, half, unit[0], unit[1])]
        share = tokens[i + 1] in ("of", "the", "its", "their", "all", self.t.vi["number"])
        if share and tokens[i - 1] not in self.t.ordinals and tokens[i - 1] not in ("the", "a"):
            return [self.measure(i, i + 1, Numeral((50.0,)), PERCENT)]
        return []

    def times(self, i: int) -> list[Quantity]:
        """twice; "both" only where articles are wanted."""
        value = self.t.times.get(self.tokens[i])
        if value:
            return [self.count(i, i + 1, Numeral((float(value),)), "time")]
        return [self.count(i, i + 1, Numeral((2.0,)), self.noun(i + 1, 2.0))._replace(article=True)]

    def scale(self, i: int) -> list[Quantity]:
        """a hundred, a million, a dozen."""
        if self.tokens[i - 1] not in ("a", "an") or self.tokens[i - 2] in ("half", "of"):
            return []
        read = english_words(self, self.t, i, 1.0)
        return self.attached(i - 1, read[0], read[1]) if read else []

    def sign(self, i: int) -> list[Quantity]:
        """½ teaspoon."""
        return self.attached(i, Numeral((self.t.signs_of_number[self.words[i].text],), 2), i + 1)


def _number(text: str) -> float:
    """The value of a label's digits where they are a number."""
    try:
        return float(text)
    except ValueError:
        return inf
