"""Dates, clock times and weekdays, read from tokens.

A date is what the writing states and no more: the year, the month, the day, each of which may be missing, and for
decades, centuries and quarters how many years or months it spans. A clock time is minutes after midnight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from stillme.languages import compiled, languages, load
from stillme.text.tokens import Text, Word, fold, word_of

__all__ = [
    "Clock",
    "Date",
    "FoundDate",
    "Window",
    "cells",
    "clock_behind",
    "date_behind",
    "date_from",
    "date_rules",
    "dates_agree",
    "dates_differ",
    "dates_in_order",
    "day_and_month",
    "longest",
    "past_or_to",
    "phrases",
    "spelt_clock",
    "valued",
    "weekday_at",
]

T = TypeVar("T")
Phrases = dict[str, list[tuple[tuple[str, ...], T]]]

FIRST_YEAR: Final = 1000
LAST_YEAR: Final = 2199
DAY: Final = 1440
# What stands around a window: three blank tokens to the left of it, eight to the right.
LEFT: Final = 3
LEFT_TOKENS: Final = ("",) * LEFT
LEFT_GAPS: Final = (" ",) * LEFT
RIGHT_TOKENS: Final = ("",) * 8
RIGHT_GAPS: Final = (" ",) * 8
SENTENCE_ENDS: Final = frozenset(".!?…;:")
DAYS: Final = range(1, 32)
HOURS: Final = range(1, 13)
DASHES: Final = frozenset("-–—")
JOINTS: Final = frozenset("/-–")
# How many days of a list such as March 25, 26 and 27 are read.
LISTED_DAYS: Final = 12
BEFORE_YEAR: Final = frozenset("/,-.")
DATE_SIGNS: Final = frozenset("/-.")


class Date(NamedTuple):
    """What a date states; a decade or century spans `years`, a quarter spans `months`."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    years: int = 1
    months: int = 1

    @property
    def value(self) -> float:
        """The date as one number: the year alone, or year, month and day in a row of digits."""
        if self.month is None and self.day is None:
            return float(self.year or 0)
        return float((self.year or 0) * 10000 + (self.month or 0) * 100 + (self.day or 0))


class FoundDate(NamedTuple):
    """A date at tokens `first` to `last` (exclusive); more than one reading only where the writing is ambiguous."""

    first: int
    last: int
    dates: tuple[Date, ...]


class Clock(NamedTuple):
    """A time up to token `last`: minutes after midnight, and the seconds it lasts if it may also be a duration."""

    last: int
    minutes: tuple[float, ...]
    seconds: float | None


class Window:
    """The tokens of a range, with blanks on both sides so that a look around never falls off the end."""

    __slots__ = ("base", "classifies", "day_first", "gaps", "stop", "tokens", "words")

    def __init__(self, text: Text, tokens: list[str], first: int, last: int, classifies: bool, day_first: bool) -> None:
        left, right = _padding()
        self.base = first - LEFT
        self.stop = last - self.base
        self.tokens: list[str] = [*LEFT_TOKENS, *tokens[first:last], *RIGHT_TOKENS]
        self.words: list[Word] = [*left, *text.words[first:last], *right]
        self.gaps: list[str] = [*LEFT_GAPS, *text.gaps[first:last], *RIGHT_GAPS]
        self.classifies, self.day_first = classifies, day_first

    def starts_sentence(self, at: int) -> bool:
        """Whether token `at` is the first of a sentence or a line."""
        return self.tokens[at - 1] in SENTENCE_ENDS or not self.tokens[at - 1] or "\n" in self.gaps[at]

    def digits(self, at: int) -> str:
        """The token at `at` if it is a row of plain digits, else nothing."""
        text = self.words[at].text
        return text if text.isdecimal() else ""


@compiled
def _padding() -> tuple[list[Word], list[Word]]:
    """Blank words for both sides of a window, made when first needed."""
    return [word_of("")] * LEFT, [word_of("")] * len(RIGHT_TOKENS)


def phrases(rows: Iterable[tuple[str, T]], exact: bool = False, folded: bool = False) -> Phrases[T]:
    """Phrases by their first token, the longest first; `exact` keeps capitals, `folded` drops accents."""
    table: Phrases[T] = {}
    for row, payload in rows:
        parts = [row] if row.isalpha() else [w.text for w in Text(row.replace("_", " ")).words]
        if not exact:
            parts = [fold(part) if folded else part.lower() for part in parts]
        table.setdefault(parts[0], []).append((tuple(parts[1:]), payload))
    for options in table.values():
        options.sort(key=_length)
    return table


def _length(option: tuple[tuple[str, ...], object]) -> int:
    return -len(option[0])


def longest(table: Phrases[T], tokens: Sequence[str], at: int) -> tuple[T, int] | None:
    """The longest phrase that begins at a token, and where it ends."""
    for rest, payload in table.get(tokens[at], ()):
        if not rest:
            return payload, at + 1
        if tokens[at + 1] == rest[0]:
            end = at + 1 + len(rest)
            if len(rest) == 1 or tuple(tokens[at + 1 : end]) == rest:
                return payload, end
    return None


class DateRules(NamedTuple):
    """The words of dates and clock times, with or without accents."""

    months: dict[str, int]
    spelt_months: dict[str, int]
    spelt_days: dict[str, int]
    weekdays: dict[str, int]
    short_weekdays: dict[str, int]
    numbered_weekdays: dict[str, int]
    weekday_before: frozenset[str]
    month_before: frozenset[str]
    each: frozenset[str]
    not_dates: frozenset[str]
    eras: Phrases[int]
    day_parts: Phrases[str]
    clock_words: Phrases[float]
    clock_before: frozenset[str]
    behind_hour: frozenset[str]
    hours: dict[str, int]
    counted: Phrases[bool]
    ordinal_endings: frozenset[str]
    day_joints: frozenset[str]
    listed_days: frozenset[str]
    never_short_months: frozenset[str]
    ambiguous_months: frozenset[str]
    ambiguous_weekdays: frozenset[str]
    terms: dict[str, frozenset[str]]
    readers: dict[str, Callable[[Window, DateRules, int], list[FoundDate]]]


def valued(row: str, folded: bool = False) -> dict[str, float]:
    """A row of word=number as a table."""
    return {_key(word, folded): float(value) for word, _, value in (part.partition("=") for part in row.split())}


def cells(row: str, width: int) -> list[str]:
    """A row that bars cut into cells, with empty cells up to a width."""
    found = [cell.strip() for cell in row.split("|")]
    return found + [""] * (width - len(found))


@compiled
def date_rules(folded: bool) -> DateRules:
    """The rules of dates for text with accents or without."""
    rules = load("numbers")

    def flat(row: str) -> frozenset[str]:
        return frozenset(_key(w, folded) for w in row.split())

    def whole(row: str) -> dict[str, int]:
        return {word: int(value) for word, value in valued(row, folded).items()}

    eras = [(w, sign) for name, sign in (("before", -1), ("after", 1)) for w in rules["eras"][name].split()]
    parts = [(w, part) for part, row in rules["day_parts"].items() for w in row.split()]
    numbered = [own for each in languages() if "month_numbers" in (own := each.rules("numbers"))]
    counted = " ".join(
        str(own["unit_words"].get(name, ""))
        for own in numbered
        for unit in ("time", "span")
        for name in rules["units"][unit]
    )
    hours = " ".join(own["numerals"] for each in languages() if (own := each.rules("numbers")) and own not in numbered)
    free = frozenset(rules["clock_behind"].split())
    terms = {name: flat(row) for name, row in rules["terms"].items()}
    days = whole(" ".join(own["numerals"] for own in numbered))
    months = whole(rules["months"]) | whole(rules["months_short"])
    return DateRules(
        months=months,
        spelt_months=whole(rules["month_numbers"]),
        spelt_days=days,
        weekdays=whole(rules["weekdays"]),
        short_weekdays=whole(rules["weekdays_short"]),
        numbered_weekdays=whole(rules["weekday_numbers"]),
        weekday_before=flat(rules["weekday_before"]),
        month_before=flat(rules["month_before"]),
        each=flat(rules["each"]),
        not_dates=flat(rules["frequencies"]) | flat(counted) - terms["month"] - terms["year"],
        eras=phrases(eras, folded=folded),
        day_parts=phrases(parts, folded=folded),
        clock_words=phrases(valued(rules["clock_words"]).items(), folded=folded),
        clock_before=flat(rules["clock_before"]),
        hours={word: hour for word, hour in whole(hours).items() if 1 <= hour <= 12},
        counted=phrases(((w, True) for w in rules["counted"].split() if w not in free), folded=folded),
        behind_hour=terms["half"] | terms["less"] | frozenset(days),
        ordinal_endings=flat(rules["ordinal_endings"]),
        day_joints=DASHES | flat(rules["day_joints"]) | {"&", ","},
        listed_days=flat(rules["listed_days"]),
        never_short_months=flat(rules["never_short_months"]),
        ambiguous_months=flat(rules["ambiguous_months"]),
        ambiguous_weekdays=flat(rules["ambiguous_weekdays"]),
        terms=terms,
        readers=_readers(terms, months),
    )


def _key(word: str, folded: bool) -> str:
    return fold(word) if folded else word


def _readers(terms: Mapping[str, frozenset[str]], months: Iterable[str]) -> dict[str, Callable[..., list[FoundDate]]]:
    by_term = {
        "day": _from_day, "day_too": _from_day, "month": _from_month, "year": _from_year, "quarter": _from_quarter,
        "century": _from_century, "decade": _from_decade,
    }  # fmt: skip
    found: dict[str, Callable[..., list[FoundDate]]] = dict.fromkeys(months, _from_month_name)
    return found | {word: reader for name, reader in by_term.items() for word in terms[name]} | {"q": _from_quarter}


def date_from(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    """The date, or the two dates of a range, that a word at `at` begins: ngày 25 tháng 3, March 25, quý 3 năm 2024."""
    reader = rules.readers.get(window.tokens[at])
    return reader(window, rules, at) if reader else []


def date_behind(
    window: Window, rules: DateRules, first: int, last: int, value: float, ordinal: bool
) -> FoundDate | None:
    """The date that a number at tokens `first` to `last` begins: 25 March 1655, 25/3/1655, 5th century, 1990s."""
    here = window.tokens[last]
    if here in JOINTS and window.gaps[last] == "" and not ordinal:
        return _numeric(window, rules, first, last)
    of = here in rules.terms["of"]
    if of or here in rules.months:
        return day_and_month(window, rules, first, last + of, value)
    if here in rules.terms["month"]:
        return _day_then_month(window, rules, first, last, value)
    if ordinal:
        return _century_or_quarter(window, rules, first, last, value)
    if here in ("s", "'") and window.gaps[last] == "":
        return _decade(window, rules, first, last)
    era = longest(rules.eras, window.tokens, last)
    year = window.digits(first)
    if era and year and len(year) <= 5:
        return FoundDate(first, era[1], (Date(era[0] * int(year)),))
    return None


def year_of(digits: str) -> int | None:
    """The year that four plain digits may be."""
    if len(digits) != 4 or not digits.isdecimal():
        return None
    year = int(digits)
    return year if FIRST_YEAR <= year <= LAST_YEAR else None


def _small(window: Window, rules: DateRules, at: int, words: Mapping[str, int]) -> tuple[int, int]:
    """A number below a hundred in digits or words and where it ends; (0, at) if there is none."""
    digits = window.digits(at)
    if digits:
        return (int(digits), at + 1) if len(digits) <= 2 else (0, at)
    here = window.tokens[at]
    value = words.get(here, 0)
    if not value:
        return 0, at
    if here in rules.terms["ten"] and (more := words.get(window.tokens[at + 1], 0)) in range(1, 10):
        return value + more, at + 2
    return value, at + 1


def _year_behind(window: Window, rules: DateRules, at: int) -> tuple[int | None, int]:
    """The year behind a day or month, over a comma, a slash or the word for year."""
    tokens = window.tokens
    step = at
    if tokens[step] in BEFORE_YEAR or tokens[step] in rules.terms["of"]:
        if tokens[step] in DATE_SIGNS and window.gaps[step + 1]:
            return None, at
        step += 1
    if tokens[step] in rules.terms["year"]:
        digits = window.digits(step + 1)
        return _with_era(window, rules, int(digits), step + 2) if 3 <= len(digits) <= 4 else (None, at)
    year = year_of(tokens[step]) if window.words[step].number else None
    if year is None or (step == at and window.gaps[step] == ""):
        return None, at
    return _with_era(window, rules, year, step + 1) if tokens[step + 1] in rules.eras else (year, step + 1)


def _with_era(window: Window, rules: DateRules, year: int, at: int) -> tuple[int, int]:
    era = longest(rules.eras, window.tokens, at)
    return (era[0] * year, era[1]) if era else (year, at)


def _from_month_name(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    tokens, word = window.tokens, window.words[at]
    if not word.capital:
        return []
    month = rules.months[tokens[at]]
    short = len(tokens[at]) <= 4 and tokens[at] not in rules.never_short_months
    step = at + 1 + (short and tokens[at + 1] == ".")
    day = window.digits(step)
    if day and len(day) <= 2 and 1 <= int(day) <= 31:
        return _days_of_month(window, rules, at, month, step)
    year, end = _year_behind(window, rules, step)
    if year is not None:
        return [FoundDate(at, end, (Date(year, month),))]
    ambiguous = tokens[at] in rules.ambiguous_months or window.classifies
    if short or (ambiguous and tokens[at - 1] not in rules.month_before) or window.starts_sentence(at):
        return []
    return [FoundDate(at, at + 1, (Date(None, month),))]


def _days_of_month(window: Window, rules: DateRules, at: int, month: int, step: int) -> list[FoundDate]:
    """March 25, March 25th 1655, March 25-27: the year behind the last day is the year of both."""
    first, step = _day(window, rules, step)
    days = [(first, at, step), *_more_days(window, rules, step)]
    year, end = _year_behind(window, rules, days[-1][2])
    days[-1] = (*days[-1][:2], end)
    return [FoundDate(begin, last, (Date(year, month, day),)) for day, begin, last in days]


def _more_days(window: Window, rules: DateRules, step: int) -> list[tuple[int, int, int]]:
    """The further days of a list or range, each with its tokens; days behind commas alone may be anything."""
    days: list[tuple[int, int, int]] = []
    closed, listed = 0, False
    while len(days) < LISTED_DAYS and window.tokens[step] in rules.day_joints:
        here = window.tokens[step]
        comma, listed = here == ",", listed or here in (",", "&") or here in rules.listed_days
        begin = step + 1 + (comma and window.tokens[step + 1] in rules.listed_days)
        day, end = _day(window, rules, begin)
        if day not in DAYS:
            break
        days.append((day, begin, end))
        step = end
        if window.tokens[begin - 1] != ",":
            closed = len(days)
    behind = window.words[days[closed - 1][2]] if closed else None
    if behind and listed and behind.word and not behind.stop and not behind.capital:
        return []
    return days[:closed]


def _day(window: Window, rules: DateRules, at: int) -> tuple[int, int]:
    """A day of the month in digits and where it ends; (0, at) if there is none."""
    digits = window.digits(at)
    if not 1 <= len(digits) <= 2:
        return 0, at
    return int(digits), at + 1 + (window.tokens[at + 1] in rules.ordinal_endings)


def _from_day(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    day, end = _small(window, rules, at + 1, rules.spelt_days)
    if not 1 <= day <= 31:
        return []
    if window.tokens[end] in DATE_SIGNS and window.gaps[end] == "":
        found = _numeric(window, rules, at + 1, end, cue=True)
        return [found._replace(first=at)] if found else [FoundDate(at, end, (Date(None, None, day),))]
    found = _day_then_month(window, rules, at + 1, end, day)
    if found:
        return [found._replace(first=at)]
    if window.tokens[at - 1] in rules.each or window.tokens[end] in rules.not_dates or not window.digits(at + 1):
        return []
    return [FoundDate(at, end, (Date(None, None, day),))]


def _day_then_month(window: Window, rules: DateRules, first: int, last: int, day: float) -> FoundDate | None:
    """25 tháng 3 năm 1655; three months and ten days are no date."""
    if window.tokens[last] not in rules.terms["month"] or day not in DAYS:
        return None
    month, end = _small(window, rules, last + 1, rules.spelt_months)
    if not 1 <= month <= 12 or window.tokens[end] in rules.not_dates:
        return None
    year, end = _year_behind(window, rules, end)
    return FoundDate(first, end, (Date(year, month, int(day)),))


def _from_month(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    month, end = _small(window, rules, at + 1, rules.spelt_months)
    if not 1 <= month <= 12:
        return []
    year, last = _year_behind(window, rules, end)
    if year is None and (window.tokens[at - 1] in rules.each or window.tokens[end] in rules.not_dates):
        return []
    return [FoundDate(at, last, (Date(year, month),))]


def _from_year(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    digits = window.digits(at + 1)
    if not 1 <= len(digits) <= 4 or window.gaps[at + 1] == "":
        return []
    value, before, behind = int(digits), window.tokens[at - 1], window.tokens[at + 2]
    if value % 10 == 0 and before in rules.terms["several"]:
        start = value if value >= 100 else 1900 + value
        return [FoundDate(at, at + 2, (Date(start, None, None, 10),))]
    if value < FIRST_YEAR and (behind in rules.not_dates or before in rules.each or behind == "%"):
        return []
    if before in rules.each and window.words[at + 2].word and not window.words[at + 2].stop:
        return []
    year, end = _with_era(window, rules, value, at + 2)
    return [FoundDate(at, end, (Date(year),))] if year else []


def _from_quarter(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    if window.tokens[at] == "q" and window.gaps[at + 1]:
        return []
    quarter, end = _small(window, rules, at + 1, rules.spelt_months)
    if not quarter:
        quarter, end = ROMAN.get(window.words[at + 1].text, 0), at + 2
    if not 1 <= quarter <= 4:
        return []
    year, last = _year_behind(window, rules, end)
    if year is None and not window.digits(at + 1):
        return []
    return [FoundDate(at, last, (Date(year, 3 * quarter - 2, None, 1, 3),))]


def _from_century(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    if window.tokens[at + 1] not in rules.terms["century_end"]:
        return []
    step = at + 2 + (window.tokens[at + 2] in rules.terms["rank"])
    number, end = _small(window, rules, step, rules.spelt_days)
    if not number:
        number, end = ROMAN.get(window.words[step].text, 0), step + 1
    if not 1 <= number <= 30:
        return []
    return [_century(window, rules, at, number, end)]


def _century(window: Window, rules: DateRules, first: int, number: int, end: int) -> FoundDate:
    era = longest(rules.eras, window.tokens, end)
    if era and era[0] < 0:
        return FoundDate(first, era[1], (Date(-100 * number, None, None, 100),))
    return FoundDate(first, era[1] if era else end, (Date(100 * number - 99, None, None, 100),))


def _from_decade(window: Window, rules: DateRules, at: int) -> list[FoundDate]:
    """thập niên 1990, thập kỷ 90."""
    if window.tokens[at + 1] not in rules.terms["decade_end"]:
        return []
    digits = window.digits(at + 2)
    if len(digits) not in (2, 4) or digits[-1] != "0":
        return []
    year = int(digits) if len(digits) == 4 else 1900 + int(digits)
    return [FoundDate(at, at + 3, (Date(year, None, None, 10),))]


def _decade(window: Window, rules: DateRules, first: int, last: int) -> FoundDate | None:
    """1990s, 1990's, the 90s."""
    end = last + 1 + (window.tokens[last] == "'")
    digits = window.digits(first)
    if window.tokens[end - 1] != "s" or len(digits) not in (2, 4) or digits[-1] != "0":
        return None
    before = window.tokens[first - 1]
    if len(digits) == 2 and before not in ("'", "’", "-") and before not in rules.terms["decade_before"]:
        return None
    year = int(digits) if len(digits) == 4 else 1900 + int(digits)
    return FoundDate(first, end, (Date(year, None, None, 100 if year % 100 == 0 and year < 2000 else 10),))


def day_and_month(window: Window, rules: DateRules, first: int, at: int, day: float) -> FoundDate | None:
    """25 March 1655, 25th of March."""
    month = rules.months.get(window.tokens[at])
    if month is None or not window.words[at].capital or day not in DAYS:
        return None
    step = at + 1 + (window.tokens[at + 1] == "." and len(window.tokens[at]) <= 4)
    year, end = _year_behind(window, rules, step)
    return FoundDate(first, end if year is not None else at + 1, (Date(year, month, int(day)),))


def _century_or_quarter(window: Window, rules: DateRules, first: int, last: int, number: float) -> FoundDate | None:
    """5th century BCE, 20th-century, third quarter of 2024."""
    at = last + (window.tokens[last] == "-")
    if window.tokens[at] in rules.terms["centuries"] and number in range(1, 31):
        return _century(window, rules, first, int(number), at + 1)
    if window.tokens[last] in rules.terms["quarters"] and number in range(1, 5):
        year, end = _year_behind(window, rules, last + 1)
        return FoundDate(first, end, (Date(year, 3 * int(number) - 2, None, 1, 3),)) if year else None
    return None


def _numeric(window: Window, rules: DateRules, first: int, last: int, cue: bool = False) -> FoundDate | None:
    """1655-03-25, 25/3/1655, 9/2025, and with a cue or beyond doubt 30/4."""
    parts, end = _number_parts(window, first)
    cue = cue or window.tokens[first - 1] in rules.terms["dated_by"]
    if not all(parts):
        return None
    if len(parts) == 3:
        readings = _three_parts(parts, window.day_first)
    elif len(parts) == 2:
        readings = _two_parts(parts, window.tokens[last], window.day_first, cue)
    else:
        return None
    dates = tuple(date for date in readings if valid(date))
    return FoundDate(first, end, dates) if dates else None


def _number_parts(window: Window, first: int) -> tuple[list[str], int]:
    """The rows of digits that one sign joins without gaps, and where they end."""
    sign = window.tokens[first + 1]
    parts, at = [window.digits(first)], first + 1
    while window.tokens[at] == sign and window.gaps[at] == "" == window.gaps[at + 1] and window.digits(at + 1):
        parts.append(window.digits(at + 1))
        at += 2
        if len(parts) > 3:
            break
    return parts, at


def _three_parts(parts: list[str], day_is_first: bool) -> list[Date]:
    if any(len(part) > 4 for part in parts):
        return []
    a, b, c = (int(part) for part in parts)
    if len(parts[0]) == 4:
        return [Date(a, b, c)]
    if len(parts[2]) not in (2, 4):
        return []
    year = c if len(parts[2]) == 4 else c + (2000 if c < 50 else 1900)
    day_first, month_first = Date(year, b, a), Date(year, a, b)
    if a == b or not valid(month_first):
        return [day_first]
    return [day_first] if day_is_first and valid(day_first) else [day_first, month_first]


def _two_parts(parts: list[str], sign: str, day_first: bool, cue: bool) -> list[Date]:
    if any(len(part) > 4 for part in parts):
        return []
    a, b = (int(part) for part in parts)
    if len(parts[1]) == 4 != len(parts[0]):
        return [Date(b, a)] if len(parts[0]) <= 2 and FIRST_YEAR <= b <= LAST_YEAR else []
    if len(parts[0]) == 4:
        return _year_and_more(a, b, sign, len(parts[1]))
    like_fraction = a < b and b in (2, 3, 4, 5, 6, 8, 10)
    if day_first and (cue or (sign == "/" and not like_fraction)):
        return [Date(None, b, a)]
    return [Date(None, b, a), Date(None, a, b)] if cue else []


def _year_and_more(year: int, more: int, sign: str, length: int) -> list[Date]:
    """2025-09 is a month, 2019/20 and 2019/2020 are two years."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return []
    if sign == "/" and more == (year + 1 if length == 4 else (year + 1) % 100):
        return [Date(year, None, None, 2)]
    return [Date(year, more)] if sign == "-" and length == 2 else []


def dotted_date(text: str) -> Date | None:
    """The date of a token such as 25.3.1655."""
    parts = text.split(".")
    if (
        len(parts) != 3
        or not all(map(str.isdecimal, parts))
        or len(parts[2]) != 4
        or len(parts[0]) > 2
        or len(parts[1]) > 2
    ):
        return None
    date = Date(int(parts[2]), int(parts[1]), int(parts[0]))
    return date if valid(date) else None


def valid(date: Date) -> bool:
    """Whether month and day can exist."""
    return (date.month is None or 1 <= date.month <= 12) and (date.day is None or 1 <= date.day <= 31)


def dates_agree(claim: Sequence[Date], source: Sequence[Date]) -> bool:
    """Whether the source states everything that the claim states, in some reading of both."""
    return any(_states(c, s) for c in claim for s in source)


def _states(claim: Date, source: Date) -> bool:
    if claim.day is not None and claim.day != source.day:
        return False
    if claim.month is not None and not _within(claim.month, claim.months, source.month, source.months):
        return False
    return claim.year is None or _within(claim.year, claim.years, source.year, source.years)


def _within(claim: int, claim_span: int, source: int | None, source_span: int) -> bool:
    return source is not None and claim <= source and source + source_span <= claim + claim_span


def dates_differ(claim: Sequence[Date], source: Sequence[Date]) -> bool:
    """Whether the two dates cannot be the same in any reading: some part that both state is different."""
    return all(_apart(c, s) for c in claim for s in source)


def _apart(a: Date, b: Date) -> bool:
    if a.year is not None and b.year is not None and (a.year + a.years <= b.year or b.year + b.years <= a.year):
        return True
    if a.month is not None and b.month is not None and (a.month + a.months <= b.month or b.month + b.months <= a.month):
        return True
    return a.day is not None and b.day is not None and a.day != b.day


def dates_in_order(earlier: Date, later: Date) -> bool:
    """Whether the one surely lies before the other, by the finest part that both state."""
    if earlier.year is None or later.year is None:
        return False
    if earlier.year + earlier.years <= later.year:
        return True
    if earlier.year != later.year or earlier.month is None or later.month is None:
        return False
    if earlier.month != later.month:
        return earlier.month + earlier.months <= later.month
    return earlier.day is not None and later.day is not None and earlier.day < later.day


def weekday_at(window: Window, rules: DateRules, at: int) -> tuple[int, int]:
    """The weekday (1 is Monday) at a token and where it ends; (0, at) if there is none."""
    here, word = window.tokens[at], window.words[at]
    if here in rules.terms["sunday"]:
        return (7, at + 2) if window.tokens[at + 1] in rules.terms["sunday_end"] else (0, at)
    if here in rules.terms["rank"]:
        return _numbered_weekday(window, rules, at)
    if here in rules.weekdays:
        return rules.weekdays[here], at + 1
    beside = window.tokens[at - 2] if here in rules.ambiguous_weekdays else next(iter(rules.short_weekdays))
    if not word.capital or window.classifies or (beside not in rules.short_weekdays and beside not in rules.weekdays):
        return 0, at
    return rules.short_weekdays.get(here, 0), at + 1


def _numbered_weekday(window: Window, rules: DateRules, at: int) -> tuple[int, int]:
    """thứ Hai is Monday; thứ hai is Monday behind a word of time and an ordinal behind a noun."""
    number = rules.numbered_weekdays.get(window.tokens[at + 1], 0)
    if not number:
        return 0, at
    before = window.tokens[at - 1]
    if window.words[at + 1].capital or before in rules.weekday_before:
        return number, at + 2
    if window.starts_sentence(at) or not window.words[at - 1].word:
        return (0, at) if window.tokens[at + 2] == "," and window.starts_sentence(at) else (number, at + 2)
    return 0, at


def spelt_clock(window: Window, rules: DateRules, at: int) -> Clock | None:
    """noon, midnight, nửa đêm."""
    found = longest(rules.clock_words, window.tokens, at)
    return Clock(found[1], (float(found[0]),), None) if found else None


def clock_behind(window: Window, rules: DateRules, first: int, last: int, value: float) -> Clock | None:
    """The clock time that a number begins: 14:00, 2 p.m., 7 giờ 15 phút, 14h30."""
    here = window.tokens[last]
    if here == ":":
        return _colon_clock(window, rules, first, last) if window.gaps[last] == "" == window.gaps[last + 1] else None
    if here in rules.terms["past"]:
        return past_or_to(window, rules, last, value)
    if not 0 <= value <= 24:
        return None
    if here in rules.terms["half"] and window.classifies:
        return _finish_clock(window, rules, int(value), 30, last + 1, None) if value in HOURS else None
    if value % 1:
        return _dotted_clock(window, rules, first, last)
    if here in rules.terms["hour"] or here == "h" or here == "g":
        return _hour_clock(window, rules, first, int(value), last)
    if here in rules.terms["oclock"]:
        return _finish_clock(window, rules, int(value), 0, last + 1, None)
    if here in rules.terms["noon"] or (not window.classifies and longest(rules.day_parts, window.tokens, last)):
        return _dotted_clock(window, rules, first, last) or _finish_clock(window, rules, int(value), 0, last, None)
    return None


def past_or_to(window: Window, rules: DateRules, at: int, minutes: float) -> Clock | None:
    """The time that so many minutes and the "past" or "to" at a token say: half past two, a quarter to nine."""
    word = window.tokens[at + 1]
    hour = rules.hours.get(word) or (int(word) if len(window.digits(at + 1)) in (1, 2) else 0)
    if hour not in HOURS or minutes not in range(1, 60):
        return None
    end = at + 2 + (window.tokens[at + 2] in rules.terms["oclock"])
    found = _finish_clock(window, rules, hour, 0, end, None)
    shift = minutes if window.tokens[at] in rules.terms["past"] else -minutes
    return found._replace(minutes=tuple((start + shift) % DAY for start in found.minutes))


def _dotted_clock(window: Window, rules: DateRules, first: int, last: int) -> Clock | None:
    """8.15 a.m."""
    hour, _, minute = window.words[first].text.partition(".")
    if (
        len(minute) != 2
        or not (hour + minute).isdecimal()
        or int(minute) > 59
        or not longest(rules.day_parts, window.tokens, last)
    ):
        return None
    return _finish_clock(window, rules, int(hour), int(minute), last, None)


def _colon_clock(window: Window, rules: DateRules, first: int, colon: int) -> Clock | None:
    hours, minutes = window.digits(first), window.digits(colon + 1)
    if not hours or len(hours) > 2 or len(minutes) != 2 or int(minutes) > 59 or int(hours) > 24:
        return None
    seconds = window.digits(colon + 3) if window.tokens[colon + 2] == ":" and window.gaps[colon + 2] == "" else ""
    if len(seconds) == 2:
        lasting = int(hours) * 3600.0 + int(minutes) * 60 + int(seconds)
        return _finish_clock(window, rules, int(hours), int(minutes) + int(seconds) / 60, colon + 4, lasting)
    return _finish_clock(window, rules, int(hours), int(minutes), colon + 2, None)


def _hour_clock(window: Window, rules: DateRules, first: int, hour: int, last: int) -> Clock | None:
    """7 giờ, 7 giờ 15 phút, 7 giờ rưỡi, 8 giờ kém 15, 14h30; may be a time of day or a duration."""
    minute, at = 0, last + 1
    if window.tokens[last] == "g" and not (window.gaps[last] == "" == window.gaps[at] and len(window.digits(at)) == 2):
        return None
    if window.words[at].number or window.tokens[at] in rules.behind_hour:
        minute, at = _minutes(window, rules, last)
    lasting = None if window.tokens[first - 1] in rules.clock_before else hour * 3600.0 + minute * 60
    return _finish_clock(window, rules, hour, minute, at, lasting)


def _minutes(window: Window, rules: DateRules, last: int) -> tuple[int, int]:
    """The minutes behind the word for hour, and where they end."""
    tokens, at = window.tokens, last + 1
    if tokens[at] in rules.terms["half"]:
        return 30, at + 1
    less = tokens[at] in rules.terms["less"]
    value, end = _small(window, rules, at + less, rules.spelt_days)
    glued = tokens[last] in ("h", "g") and window.gaps[at] == ""
    alone = len(window.digits(at)) == 2 and not _is_counted(window, rules, end)
    if value <= 59 and end > at and (tokens[end] in rules.terms["minute"] or less or glued or alone):
        return -value if less else value, end + (tokens[end] == "'" or tokens[end] in rules.terms["minute"])
    return 0, at


def _is_counted(window: Window, rules: DateRules, at: int) -> bool:
    """Whether the word at a token is counted by the number before it: 8 giờ 30 người."""
    here = window.tokens[at]
    if here in rules.day_parts or not window.words[at].word:
        return False
    return (here in rules.not_dates and here not in rules.terms["day"]) or longest(
        rules.counted, window.tokens, at
    ) is not None


def _finish_clock(window: Window, rules: DateRules, hour: int, minute: float, at: int, seconds: float | None) -> Clock:
    """Put the part of the day to use; without one, an hour up to twelve may be before or after noon."""
    part = longest(rules.day_parts, window.tokens, at) if window.tokens[at] in rules.day_parts else None
    if part is None:
        start = (hour * 60.0 + minute) % DAY
        return Clock(at, (start, (start + 720) % DAY) if 1 <= hour <= 12 else (start,), seconds)
    name, end = part
    if (name == "pm" and hour < 12) or (name == "noon" and hour < 10) or (name == "night" and 6 <= hour < 12):
        hour += 12
    elif hour == 12 and name in ("am", "night"):
        hour = 0
    return Clock(end, ((hour * 60.0 + minute) % DAY,), None)


# Roman numerals up to thirty, as centuries and quarters are written.
ROMAN: Final = {
    "X" * t + ones: 10 * t + o
    for t in range(4)
    for o, ones in enumerate(("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"))
    if 0 < 10 * t + o <= 30
}
