"""Times of day as they are written: 14:00, 2 p.m., half past two."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stillme.figures.calendar_dates import CalendarDates
from stillme.figures.date_words import HOURS
from stillme.figures.phrases import longest
from stillme.figures.window import small_number

__all__ = ["DAY", "ClockTime", "ClockTimes"]

DAY: Final = 1440
DAY_HOURS: Final = range(25)
MINUTES: Final = range(60)
DOTTED: Final = re.compile(r"(\d+)\.([0-5]\d)")
# The hours that a part of the day moves into the afternoon.
AFTERNOON: Final = {"am": range(0), "pm": range(12), "noon": range(10), "night": range(6, 12)}
# The parts of the day in which twelve is midnight.
MIDNIGHT: Final = frozenset(("am", "night"))
# Letters that stand for the word for hour, and the one of them that needs its minutes.
HOUR_LETTERS: Final = frozenset("hg")
MINUTES_NEEDED: Final = "g"


class ClockTime(NamedTuple):
    """A time up to token `last`: minutes after midnight, and the seconds it lasts if it may also be a duration."""

    last: int
    minutes: tuple[float, ...]
    seconds: float | None


class ClockTimes(CalendarDates):
    """Reads the times of day of a window."""

    __slots__ = ()

    def clock_in_words(self, at: int) -> ClockTime | None:
        """noon, midnight."""
        word = longest(self.dates.clock_words, self.tokens, at)
        return ClockTime(word[1], (float(word[0]),), None) if word else None

    def clock_behind(self, first: int, last: int, value: float) -> ClockTime | None:
        """The clock time that a number begins: 14:00, 10 past 2, 2 p.m., 14h30."""
        here = self.tokens[last]
        if here == ":":
            return self.colon_clock(first, last) if self.is_glued(last) else None
        if here in self.dates.terms["past"]:
            return self.past_or_to(last, value)
        if not 0 <= value <= 24:
            return None
        if self.classifies and here in self.dates.terms["half"]:
            return self.clock_time(int(value), 30, last + 1) if value in HOURS else None
        return self.dotted_clock(first, last) if value % 1 else self.whole_hour(first, last, int(value))

    def whole_hour(self, first: int, last: int, hour: int) -> ClockTime | None:
        """A whole number with the word for hour, "o'clock" or a part of the day behind it."""
        here, terms = self.tokens[last], self.dates.terms
        if here in terms["hour"] or here in HOUR_LETTERS:
            return self.hour_clock(first, hour, last)
        if here in terms["oclock"]:
            return self.clock_time(hour, 0, last + 1)
        in_part = not self.classifies and longest(self.dates.day_parts, self.tokens, last)
        return self.clock_time(hour, 0, last) if in_part or here in terms["noon"] else None

    def past_or_to(self, at: int, minutes: float) -> ClockTime | None:
        """The time that so many minutes and the "past" or "to" at a token say: half past two, a quarter to nine."""
        hour = self.dates.hours.get(self.tokens[at + 1]) or small_number(self.words[at + 1].text)
        if hour not in HOURS or minutes not in MINUTES[1:]:
            return None
        time = self.clock_time(hour, 0, at + 2 + (self.tokens[at + 2] in self.dates.terms["oclock"]))
        shift = minutes if self.tokens[at] in self.dates.terms["past"] else -minutes
        return time._replace(minutes=tuple((start + shift) % DAY for start in time.minutes))

    def dotted_clock(self, first: int, last: int) -> ClockTime | None:
        """8.15 a.m."""
        shape = DOTTED.fullmatch(self.words[first].text)
        if not shape or not longest(self.dates.day_parts, self.tokens, last):
            return None
        return self.clock_time(int(shape[1]), int(shape[2]), last)

    def colon_clock(self, first: int, colon: int) -> ClockTime | None:
        """14:00, 14:00:30."""
        hour, minutes = small_number(self.words[first].text), self.two_digits(colon + 1)
        if hour not in DAY_HOURS or minutes not in MINUTES:
            return None
        seconds = self.two_digits(colon + 3) if self.tokens[colon + 2] == ":" and not self.gaps[colon + 2] else -1
        if seconds < 0:
            return self.clock_time(hour, minutes, colon + 2)
        return self.clock_time(hour, minutes + seconds / 60, colon + 4, hour * 3600.0 + minutes * 60 + seconds)

    def two_digits(self, at: int) -> int:
        """The number of exactly two digits at a token; -1 if there is none."""
        digits = self.digits(at)
        return int(digits) if len(digits) == 2 else -1

    def hour_clock(self, first: int, hour: int, last: int) -> ClockTime | None:
        """An hour with its minutes, which may be a time of day or a duration: 14h30."""
        at = last + 1
        if self.tokens[last] == MINUTES_NEEDED and not (self.is_glued(last) and self.two_digits(at) >= 0):
            return None
        minute, end = self.minutes(last)
        is_time = self.tokens[first - 1] in self.dates.clock_before
        return self.clock_time(hour, minute, end, None if is_time else hour * 3600.0 + minute * 60)

    def minutes(self, last: int) -> tuple[int, int]:
        """The minutes behind the word for hour, and where they end."""
        at, terms = last + 1, self.dates.terms
        if self.tokens[at] in terms["half"]:
            return 30, at + 1
        less = self.tokens[at] in terms["less"]
        value, end = self.small(at + less, self.dates.spelt_days)
        if value not in MINUTES or end == at or not (less or self.are_minutes(last, end)):
            return 0, at
        return -value if less else value, end + (self.tokens[end] == "'" or self.tokens[end] in terms["minute"])

    def are_minutes(self, last: int, end: int) -> bool:
        """Whether a number behind the word for hour says minutes: by its unit, without a gap, or with nothing to count."""
        if self.tokens[end] in self.dates.terms["minute"]:
            return True
        if self.tokens[last] in HOUR_LETTERS and self.gaps[last + 1] == "":
            return True
        return self.two_digits(last + 1) >= 0 and not self.is_counted_behind(end)

    def is_counted_behind(self, at: int) -> bool:
        """Whether the word at a token is counted by the number before it: "8 hours 30 people"."""
        here = self.tokens[at]
        if here in self.dates.day_parts or not self.words[at].word:
            return False
        is_unit = here in self.dates.not_dates and here not in self.dates.terms["day"]
        return is_unit or longest(self.dates.counted, self.tokens, at) is not None

    def clock_time(self, hour: int, minute: float, at: int, seconds: float | None = None) -> ClockTime:
        """A time with the part of the day behind it; without one, an hour up to twelve may be before or after noon."""
        part = longest(self.dates.day_parts, self.tokens, at)
        if part is None:
            start = (hour * 60.0 + minute) % DAY
            return ClockTime(at, (start, (start + DAY / 2) % DAY) if hour in HOURS else (start,), seconds)
        name, end = part
        if hour in AFTERNOON[name]:
            hour += 12
        elif hour == 12 and name in MIDNIGHT:
            hour = 0
        return ClockTime(end, ((hour * 60.0 + minute) % DAY,), None)
