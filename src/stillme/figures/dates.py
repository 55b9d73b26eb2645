"""Dates, and what one says of another.

A date is what the writing states and no more: the year, the month, the day, each of which may be missing, and for
decades, centuries and quarters how many years or months it spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["DAYS", "MONTHS", "Date", "dates_agree", "dates_differ", "dates_in_order", "is_possible", "year_of"]

YEARS: Final = range(1000, 2200)
MONTHS: Final = range(1, 13)
DAYS: Final = range(1, 32)
MAY_BE_MONTH: Final = frozenset((None, *MONTHS))
MAY_BE_DAY: Final = frozenset((None, *DAYS))


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
        year, month, day = (part or 0 for part in self[:3])
        return float(year * 10000 + month * 100 + day if month or day else year)


Parts = tuple[range | None, range | None, range | None]


@lru_cache(maxsize=1 << 12)
def _parts(date: Date) -> Parts:
    """The years, months and days that a date may be; None for what it leaves open."""
    starts, spans = date[:3], (date.years, date.months, 1)
    year, month, day = (
        None if start is None else range(start, start + span) for start, span in zip(starts, spans, strict=True)
    )
    return year, month, day


def year_of(digits: str) -> int | None:
    """The year that four plain digits may be."""
    year = int(digits) if len(digits) == 4 and digits.isdecimal() else 0
    return year if year in YEARS else None


def is_possible(date: Date) -> bool:
    """Whether month and day can exist."""
    return date.month in MAY_BE_MONTH and date.day in MAY_BE_DAY


def dates_agree(claim: Sequence[Date], source: Sequence[Date]) -> bool:
    """Whether the source states everything that the claim states, in some reading of both."""
    return any(all(map(_is_within, _parts(s), _parts(c))) for c in claim for s in source)


def _is_within(part: range | None, whole: range | None) -> bool:
    """Whether one part of a date lies inside another; all lies inside what is left open."""
    if not whole:
        return True
    return part is not None and whole.start <= part.start and part.stop <= whole.stop


def dates_differ(claim: Sequence[Date], source: Sequence[Date]) -> bool:
    """Whether the two dates cannot be the same in any reading: some part that both state is different."""
    return all(any(map(_are_apart, _parts(c), _parts(s))) for c in claim for s in source)


def _are_apart(one: range | None, two: range | None) -> bool:
    if not one or not two:
        return False
    return one.stop <= two.start or two.stop <= one.start


def dates_in_order(earlier: Date, later: Date) -> bool:
    """Whether the one surely lies before the other, by the finest part that both state."""
    for one, two in zip(_parts(earlier), _parts(later), strict=True):
        if not one or not two:
            return False
        if one != two:
            return one.stop <= two.start
    return False
