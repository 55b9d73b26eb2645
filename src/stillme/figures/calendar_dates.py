"""Dates as they are written: with month names, with numbers, as centuries, decades and quarters."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stillme.figures.dates import DAYS, MONTHS, YEARS, Date, is_possible, year_of
from stillme.figures.numerals import Numerals
from stillme.figures.phrases import longest
from stillme.figures.window import small_number

__all__ = ["CalendarDates", "DateMention", "dotted_date"]

# How many days of a list such as March 25, 26 and 27 are read.
LISTED_DAYS: Final = 12
JOINTS: Final = frozenset("/-–")
DATE_SIGNS: Final = frozenset("/-.")
DATE_PARTS: Final = 3
DOTTED: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
TENS: Final = re.compile(r"(?:\d\d)?\d0")
# What 3/4 more often is than a day of April.
LOWER_HALVES: Final = frozenset((2, 3, 4, 5, 6, 8, 10))
CENTURIES: Final = range(1, 31)
QUARTERS: Final = range(1, 5)
# Roman numerals up to thirty, as centuries and quarters are written.
ROMAN: Final = {
    "X" * t + ones: 10 * t + o
    for t in range(4)
    for o, ones in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if 10 * t + o in CENTURIES
}


class DateMention(NamedTuple):
    """A date at tokens `first` to `last` (exclusive); more than one reading only where the writing is ambiguous."""

    first: int
    last: int
    dates: tuple[Date, ...]


def dotted_date(text: str) -> Date | None:
    """The date of a token such as 25.3.1655."""
    shape = DOTTED.fullmatch(text)
    date = Date(int(shape[3]), int(shape[2]), int(shape[1])) if shape else None
    return date if date and is_possible(date) else None


def _quarter(year: int | None, quarter: int) -> Date:
    return Date(year, 3 * quarter - 2, months=3)


def _decade_start(digits: str) -> int:
    """The first year of a decade: the 90s are those of the last century."""
    return int(digits) if len(digits) > 2 else 1900 + int(digits)


class CalendarDates(Numerals):
    """Reads the dates of a window."""

    __slots__ = ()

    def date_from(self, at: int) -> list[DateMention]:
        """The date, or the dates of a list or range, that a word begins: March 25, Q3 2024."""
        reader = self.dates.readers.get(self.tokens[at])
        return getattr(self, reader)(at) if reader else []

    def date_behind(self, first: int, last: int, value: float) -> DateMention | None:
        """The date that a number at tokens `first` to `last` begins: 25 March 1655, 25/3/1655, 1990s, 44 BC."""
        here = self.tokens[last]
        if here in JOINTS and self.gaps[last] == "":
            return self.numeric_date(first)
        date = self.day_of_month(first, last, value)
        if date or here in self.dates.terms["of"]:
            return date
        if here in ("s", "'") and self.gaps[last] == "":
            return self.decade(first, last)
        return self.year_of_era(first, last)

    def date_behind_ordinal(self, first: int, last: int, value: float) -> DateMention | None:
        """The date that an ordinal begins: 25th of March, 5th century, third quarter of 2024."""
        return self.day_of_month(first, last, value) or self.century_or_quarter(first, last, value)

    def day_of_month(self, first: int, last: int, value: float) -> DateMention | None:
        """The date of a day behind which its month stands."""
        here = self.tokens[last]
        if here in self.dates.terms["month"]:
            return self.day_then_month(first, last, value)
        return self.day_and_month(first, last + (here in self.dates.terms["of"]), value)

    def year_of_era(self, first: int, last: int) -> DateMention | None:
        """44 BC."""
        era, year = longest(self.dates.eras, self.tokens, last), self.digits(first)
        if not era or len(year) not in range(1, 6):
            return None
        return DateMention(first, era[1], (Date(era[0] * int(year)),))

    # Parts of dates; each reader says where its part ends.

    def small(self, at: int, words: dict[str, int]) -> tuple[int, int]:
        """A number below a hundred in digits or words and where it ends; (0, at) if there is none."""
        number = small_number(self.words[at].text)
        if number >= 0:
            return number, at + 1
        here = self.tokens[at]
        value = words.get(here, 0)
        more = words.get(self.tokens[at + 1], 0) if here in self.dates.terms["ten"] else 0
        return (value + more, at + 2) if 0 < more < 10 else (value, at + (value > 0))

    def small_or_roman(self, at: int, words: dict[str, int]) -> tuple[int, int]:
        """The same, or a Roman numeral."""
        number, end = self.small(at, words)
        return (number, end) if number else (ROMAN.get(self.words[at].text, 0), at + 1)

    def year_behind(self, at: int) -> tuple[int | None, int]:
        """The year behind a day or month, over a comma, a slash or the word for year."""
        tokens = self.tokens
        joint = tokens[at] in self.dates.before_year
        step = at + joint
        if tokens[at] in DATE_SIGNS and self.gaps[step]:
            return None, at
        if tokens[step] in self.dates.terms["year"]:
            digits = self.digits(step + 1)
            return self.with_era(int(digits), step + 2) if len(digits) in (3, 4) else (None, at)
        year = year_of(tokens[step])
        if year is None or not (joint or self.gaps[at]):
            return None, at
        return self.with_era(year, step + 1)

    def with_era(self, year: int, at: int) -> tuple[int, int]:
        """A year with the era behind it: negative before the common one."""
        sign, end = longest(self.dates.eras, self.tokens, at) or (1, at)
        return sign * year, end

    # Dates that a word begins.

    def date_from_month_name(self, at: int) -> list[DateMention]:
        """March 25, March 1655, in March."""
        here = self.tokens[at]
        if not self.words[at].capital:
            return []
        month, short = self.dates.months[here], here in self.dates.short_months
        step = at + 1 + (short and self.tokens[at + 1] == ".")
        if small_number(self.words[step].text) in DAYS:
            return self.days_of_month(at, month, step)
        year, end = self.year_behind(step)
        if year is not None:
            return [DateMention(at, end, (Date(year, month),))]
        return [] if short or self.is_other_word(at) else [DateMention(at, at + 1, (Date(None, month),))]

    def is_other_word(self, at: int) -> bool:
        """Whether a month name without day or year may be another word: May, or the first of a sentence."""
        ambiguous = self.classifies or self.tokens[at] in self.dates.ambiguous_months
        return self.starts_sentence(at) or (ambiguous and self.tokens[at - 1] not in self.dates.month_before)

    def days_of_month(self, at: int, month: int, step: int) -> list[DateMention]:
        """March 25, March 25th 1655, March 25-27: the year behind the last day is the year of all."""
        day, step = self.day(step)
        days = [(day, at, step), *self.more_days(step)]
        year, end = self.year_behind(days[-1][2])
        days[-1] = (*days[-1][:2], end)
        return [DateMention(begin, last, (Date(year, month, day),)) for day, begin, last in days]

    def more_days(self, step: int) -> list[tuple[int, int, int]]:
        """The further days of a list or range, each with its tokens; days behind commas alone may be anything."""
        days: list[tuple[int, int, int]] = []
        certain: list[tuple[int, int, int]] = []
        is_list = False
        while len(days) < LISTED_DAYS and self.tokens[step] in self.dates.day_joints:
            is_list = is_list or self.tokens[step] in self.dates.list_marks
            comma = self.tokens[step] == ","
            begin = step + 1 + (comma and self.tokens[step + 1] in self.dates.listed_days)
            day, step = self.day(begin)
            if day not in DAYS:
                break
            days.append((day, begin, step))
            certain = certain if self.tokens[begin - 1] == "," else days[:]
        return [] if certain and is_list and self.is_thing(certain[-1][2]) else certain

    def is_thing(self, at: int) -> bool:
        """Whether what stands at a token may be what the numbers before it count."""
        return self.is_noun(at) and not self.words[at].capital

    def day(self, at: int) -> tuple[int, int]:
        """A day of the month in digits and where it ends; (0, at) if there is none."""
        number = small_number(self.words[at].text)
        if number < 0:
            return 0, at
        return number, at + 1 + (self.tokens[at + 1] in self.dates.ordinal_endings)

    def date_from_day(self, at: int) -> list[DateMention]:
        """The word for day, then the day and perhaps its month."""
        day, end = self.small(at + 1, self.dates.spelt_days)
        if day not in DAYS:
            return []
        alone = DateMention(at, end, (Date(None, None, day),))
        if self.tokens[end] in DATE_SIGNS and self.gaps[end] == "":
            return [(self.numeric_date(at + 1, cue=True) or alone)._replace(first=at)]
        date = self.day_then_month(at + 1, end, day)
        if date:
            return [date._replace(first=at)]
        return [] if self.is_span(at, end) or not self.digits(at + 1) else [alone]

    def is_span(self, at: int, end: int) -> bool:
        """Whether a number and the word before it say how often or how long, and no date."""
        return self.tokens[at - 1] in self.dates.each or self.tokens[end] in self.dates.not_dates

    def day_then_month(self, first: int, last: int, day: float) -> DateMention | None:
        """A day, the word for month and its number; three months and ten days are no date."""
        if self.tokens[last] not in self.dates.terms["month"] or day not in DAYS:
            return None
        month, end = self.small(last + 1, self.dates.spelt_months)
        if month not in MONTHS or self.tokens[end] in self.dates.not_dates:
            return None
        year, end = self.year_behind(end)
        return DateMention(first, end, (Date(year, month, int(day)),))

    def date_from_month(self, at: int) -> list[DateMention]:
        """The word for month and its number."""
        month, end = self.small(at + 1, self.dates.spelt_months)
        year, last = self.year_behind(end)
        if month not in MONTHS or (year is None and self.is_span(at, end)):
            return []
        return [DateMention(at, last, (Date(year, month),))]

    def date_from_year(self, at: int) -> list[DateMention]:
        """The word for year and its number, or that of a decade."""
        digits = self.digits(at + 1)
        if len(digits) not in range(1, 5) or self.gaps[at + 1] == "":
            return []
        value = int(digits)
        if value % 10 == 0 and self.tokens[at - 1] in self.dates.terms["several"]:
            start = value if value >= 100 else 1900 + value
            return [DateMention(at, at + 2, (Date(start, years=10),))]
        year, end = self.with_era(value, at + 2)
        return [] if not year or self.is_span_of_years(at, value) else [DateMention(at, end, (Date(year),))]

    def is_span_of_years(self, at: int, value: int) -> bool:
        """Whether the word for year and a number say how often or how many, and no date."""
        if value < YEARS.start and (self.tokens[at + 2] == "%" or self.is_span(at, at + 2)):
            return True
        return self.tokens[at - 1] in self.dates.each and self.is_noun(at + 2)

    def date_from_quarter(self, at: int) -> list[DateMention]:
        """Q3 2024."""
        if self.tokens[at] == "q" and self.gaps[at + 1]:
            return []
        quarter, end = self.small_or_roman(at + 1, self.dates.spelt_months)
        year, last = self.year_behind(end)
        if quarter not in QUARTERS or (year is None and not self.digits(at + 1)):
            return []
        return [DateMention(at, last, (_quarter(year, quarter),))]

    def date_from_century(self, at: int) -> list[DateMention]:
        """The word for century and its number."""
        if self.tokens[at + 1] not in self.dates.terms["century_end"]:
            return []
        step = at + 2 + (self.tokens[at + 2] in self.dates.terms["rank"])
        number, end = self.small_or_roman(step, self.dates.spelt_days)
        return [self.century(at, number, end)] if number in CENTURIES else []

    def century(self, first: int, number: int, end: int) -> DateMention:
        """The years of a century, with the era behind it."""
        sign, end = longest(self.dates.eras, self.tokens, end) or (1, end)
        start = 100 * number - 99 if sign > 0 else -100 * number
        return DateMention(first, end, (Date(start, years=100),))

    def date_from_decade(self, at: int) -> list[DateMention]:
        """The word for decade and its number."""
        digits = self.digits(at + 2)
        if self.tokens[at + 1] not in self.dates.terms["decade_end"] or not TENS.fullmatch(digits):
            return []
        return [DateMention(at, at + 3, (Date(_decade_start(digits), years=10),))]

    # Dates that a number begins.

    def decade(self, first: int, last: int) -> DateMention | None:
        """1990s, 1990's, the 90s."""
        end = last + 1 + (self.tokens[last] == "'")
        digits = self.digits(first)
        if self.tokens[end - 1] != "s" or not TENS.fullmatch(digits):
            return None
        if len(digits) == 2 and self.tokens[first - 1] not in self.dates.decade_before:
            return None
        start = _decade_start(digits)
        is_century = start % 100 == 0 and start < 2000
        return DateMention(first, end, (Date(start, years=100 if is_century else 10),))

    def day_and_month(self, first: int, at: int, day: float) -> DateMention | None:
        """25 March 1655, 25th of March."""
        here = self.tokens[at]
        if here not in self.dates.months or not self.words[at].capital or day not in DAYS:
            return None
        year, end = self.year_behind(at + 1 + (self.tokens[at + 1] == "." and len(here) <= 4))
        return DateMention(first, end if year is not None else at + 1, (Date(year, self.dates.months[here], int(day)),))

    def century_or_quarter(self, first: int, last: int, number: float) -> DateMention | None:
        """5th century BCE, 20th-century, third quarter of 2024."""
        at = last + (self.tokens[last] == "-")
        if self.tokens[at] in self.dates.terms["centuries"] and number in CENTURIES:
            return self.century(first, int(number), at + 1)
        if self.tokens[last] not in self.dates.terms["quarters"] or number not in QUARTERS:
            return None
        year, end = self.year_behind(last + 1)
        return DateMention(first, end, (_quarter(year, int(number)),)) if year else None

    def numeric_date(self, first: int, cue: bool = False) -> DateMention | None:
        """1655-03-25, 25/3/1655, 9/2025, and with a cue or beyond doubt 30/4."""
        parts, end = self.joined_digits(first)
        if len(parts) not in (2, DATE_PARTS) or max(map(len, parts)) > 4 or not parts[0]:
            return None
        if len(parts) == DATE_PARTS:
            readings = self.three_parts(parts)
        else:
            cue = cue or self.tokens[first - 1] in self.dates.terms["dated_by"]
            readings = self.two_parts(parts, self.tokens[first + 1], cue)
        dates = tuple(filter(is_possible, readings))
        return DateMention(first, end, dates) if dates else None

    def joined_digits(self, first: int) -> tuple[list[str], int]:
        """The rows of digits that one sign joins without gaps, up to one more than a date has, and where they end."""
        sign, parts, at = self.tokens[first + 1], [self.digits(first)], first + 1
        while self.joins_digits(at, sign) and len(parts) <= DATE_PARTS:
            parts.append(self.digits(at + 1))
            at += 2
        return parts, at

    def three_parts(self, parts: list[str]) -> list[Date]:
        """1655-03-25, 25/3/1655, 3/25/55."""
        one, two, three = map(int, parts)
        if len(parts[0]) == 4:
            return [Date(one, two, three)]
        if len(parts[2]) not in (2, 4):
            return []
        year = three if len(parts[2]) == 4 else three + (2000 if three < 50 else 1900)
        day_first, month_first = Date(year, two, one), Date(year, one, two)
        certain = one == two or not is_possible(month_first) or (self.t.day_first and is_possible(day_first))
        return [day_first] if certain else [day_first, month_first]

    def two_parts(self, parts: list[str], sign: str, cue: bool) -> list[Date]:
        """9/2025, 2019/20, 30/4."""
        one, two = map(int, parts)
        if len(parts[0]) == 4:
            return _year_and_more(one, two, sign, len(parts[1]))
        if len(parts[1]) == 4:
            return [Date(two, one)] if len(parts[0]) <= 2 and year_of(parts[1]) else []
        is_fraction = one < two and two in LOWER_HALVES
        if self.t.day_first and (cue or (sign == "/" and not is_fraction)):
            return [Date(None, two, one)]
        return [Date(None, two, one), Date(None, one, two)] if cue else []

    # Weekdays.

    def weekday_at(self, at: int) -> tuple[int, int]:
        """The weekday (1 is Monday) at a token and where it ends; (0, at) if there is none."""
        here, terms = self.tokens[at], self.dates.terms
        if here in terms["sunday"]:
            return (7, at + 2) if self.tokens[at + 1] in terms["sunday_end"] else (0, at)
        if here in terms["rank"]:
            return self.numbered_weekday(at)
        if here in self.dates.weekdays:
            return self.dates.weekdays[here], at + 1
        return (self.dates.short_weekdays.get(here, 0), at + 1) if self.may_be_short_weekday(at) else (0, at)

    def may_be_short_weekday(self, at: int) -> bool:
        """Whether a word is no other one than a short weekday: Sun and Sat are one only beside another."""
        if self.classifies or not self.words[at].capital:
            return False
        beside = self.tokens[at - 2]
        certain = self.tokens[at] not in self.dates.ambiguous_weekdays
        return certain or beside in self.dates.short_weekdays or beside in self.dates.weekdays

    def numbered_weekday(self, at: int) -> tuple[int, int]:
        """A weekday that is an ordinal too: it is one with a capital, behind a word of time, or at the start."""
        number = self.dates.numbered_weekdays.get(self.tokens[at + 1], 0)
        return (number, at + 2) if number and self.is_weekday(at) else (0, at)

    def is_weekday(self, at: int) -> bool:
        """Whether a numbered weekday is one here, and no ordinal."""
        if self.words[at + 1].capital or self.tokens[at - 1] in self.dates.weekday_before:
            return True
        if self.starts_sentence(at):
            return self.tokens[at + 2] != ","
        return not self.words[at - 1].word


def _year_and_more(year: int, more: int, sign: str, length: int) -> list[Date]:
    """2025-09 is a month, 2019/20 and 2019/2020 are two years."""
    if not year_of(str(year)):
        return []
    if sign == "/" and more == (year + 1) % 10**length:
        return [Date(year, years=2)]
    return [Date(year, more)] if sign == "-" and length == 2 else []
