"""The words of dates and clock times, compiled from the rules of `numbers` for look-up by token."""

from __future__ import annotations

from typing import Final, NamedTuple

from stillme.figures.phrases import Phrases, phrases, valued
from stillme.languages import Language, compiled, languages, load
from stillme.text.tokens import fold

__all__ = ["DASHES", "DateWords", "date_words"]

DASHES: Final = frozenset("-–—")
HOURS: Final = range(1, 13)
# Which method of `CalendarDates` reads the date that a word begins, by the list of terms the word stands in.
READERS: Final = {
    "day": "date_from_day", "day_too": "date_from_day", "month": "date_from_month", "year": "date_from_year",
    "quarter": "date_from_quarter", "century": "date_from_century", "decade": "date_from_decade",
}  # fmt: skip


class DateWords(NamedTuple):
    """The words of dates and clock times, with or without accents."""

    months: dict[str, int]
    spelt_months: dict[str, int]
    spelt_days: dict[str, int]
    weekdays: dict[str, int]
    short_weekdays: dict[str, int]
    numbered_weekdays: dict[str, int]
    weekday_before: frozenset[str]
    month_before: frozenset[str]
    before_year: frozenset[str]
    each: frozenset[str]
    not_dates: frozenset[str]
    eras: Phrases[int]
    day_parts: Phrases[str]
    clock_words: Phrases[float]
    clock_before: frozenset[str]
    hours: dict[str, int]
    counted: Phrases[bool]
    ordinal_endings: frozenset[str]
    day_joints: frozenset[str]
    listed_days: frozenset[str]
    list_marks: frozenset[str]
    short_months: frozenset[str]
    ambiguous_months: frozenset[str]
    ambiguous_weekdays: frozenset[str]
    decade_before: frozenset[str]
    terms: dict[str, frozenset[str]]
    readers: dict[str, str]


@compiled
def date_words(folded: bool) -> DateWords:
    """The words of dates for text with accents or without."""
    rules = load("numbers")

    def row(words: str) -> frozenset[str]:
        return frozenset(map(fold, words.split()) if folded else words.split())

    def whole(words: str) -> dict[str, int]:
        return {word: int(value) for word, value in valued(words, folded).items()}

    eras = [(w, sign) for name, sign in (("before", -1), ("after", 1)) for w in rules["eras"][name].split()]
    parts = [(w, part) for part, words in rules["day_parts"].items() for w in words.split()]
    counted = [w for w in rules["counted"].split() if w not in rules["clock_behind"].split()]
    terms = {name: row(words) for name, words in rules["terms"].items()}
    days = whole(" ".join(own.rules("numbers")["numerals"] for own in _with_numbered_months()))
    months = whole(rules["months"]) | whole(rules["months_short"])
    listed = row(rules["listed_days"])
    return DateWords(
        months=months,
        spelt_months=whole(rules["month_numbers"]),
        spelt_days=days,
        weekdays=whole(rules["weekdays"]),
        short_weekdays=whole(rules["weekdays_short"]),
        numbered_weekdays=whole(rules["weekday_numbers"]),
        weekday_before=row(rules["weekday_before"]),
        month_before=row(rules["month_before"]),
        before_year=frozenset("/,-.") | terms["of"],
        each=row(rules["each"]),
        not_dates=row(rules["frequencies"]) | row(_lasting_units()) - terms["month"] - terms["year"],
        eras=phrases(eras, folded=folded),
        day_parts=phrases(parts, folded=folded),
        clock_words=phrases(valued(rules["clock_words"]).items(), folded=folded),
        clock_before=row(rules["clock_before"]),
        hours={word: hour for word, hour in whole(_other_numerals()).items() if hour in HOURS},
        counted=phrases(((word, True) for word in counted), folded=folded),
        ordinal_endings=row(rules["ordinal_endings"]),
        day_joints=DASHES | row(rules["day_joints"]) | {"&", ","},
        listed_days=listed,
        list_marks=listed | {"&", ","},
        short_months=frozenset(m for m in months if len(m) <= 4) - row(rules["never_short_months"]),
        ambiguous_months=row(rules["ambiguous_months"]),
        ambiguous_weekdays=row(rules["ambiguous_weekdays"]),
        decade_before=frozenset("'’-") | terms["decade_before"],
        terms=terms,
        readers=dict.fromkeys(months, "date_from_month_name") | _readers(terms),
    )


def _with_numbered_months() -> list[Language]:
    """The languages that number their months and have no names for them."""
    return [each for each in languages() if "month_numbers" in each.rules("numbers")]


def _other_numerals() -> str:
    """The numerals of the languages that have names for their months."""
    own = (each.rules("numbers") for each in languages())
    return " ".join(rules["numerals"] for rules in own if rules and "month_numbers" not in rules)


def _lasting_units() -> str:
    """The words for units of time in the languages that number their months: behind a number they make it no date."""
    units = load("numbers")["units"]
    rows = (each.rules("numbers")["unit_words"] for each in _with_numbered_months())
    return " ".join(str(row.get(name, "")) for row in rows for unit in ("time", "span") for name in units[unit])


def _readers(terms: dict[str, frozenset[str]]) -> dict[str, str]:
    """For each word that begins a date the method that reads it."""
    by_word = {word: reader for name, reader in READERS.items() for word in terms[name]}
    return by_word | {"q": "date_from_quarter"}
