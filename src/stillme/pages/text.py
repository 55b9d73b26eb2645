"""How numbers and texts are written, whatever the page.

A share has no more digits than the count behind it carries, an interval is rounded outwards, and nothing is 0 % or 100 % that is not.
"""

from __future__ import annotations

import math
from string import Formatter

from stillme.evaluation.runs.intervals import Interval

__all__ = ["Code", "clipped", "counted", "filled", "interval_ends", "interval_words", "on_one_line", "percent", "plain"]


class Code(str):
    """A name, a hash or a command: shown as it is, in a type of its own."""

    __slots__ = ()


def percent(value: float, count: int) -> str:
    """A share as a percentage with the digits that so many observations carry; "<" and ">" where rounding would hide the rest."""
    digits = _digits(count)
    least = 10.0**-digits
    if 0 < value * 100 < least / 2:
        return f"<{least:.{digits}f} %"
    if 100 - least / 2 < value * 100 < 100:
        return f">{100 - least:.{digits}f} %"
    return f"{value * 100:.{digits}f} %"


def interval_words(ends: Interval | tuple[float, float], count: int) -> str:
    """Both ends of an interval in percent, rounded outwards."""
    low, high = interval_ends(ends, count)
    return f"{low} to {high} %"


def interval_ends(ends: Interval | tuple[float, float], count: int) -> tuple[str, str]:
    """The ends in percent, each rounded outwards, so that an interval never looks narrower than it is."""
    digits = _digits(count)
    scale = 100 * 10**digits
    # What is a whole number but for the last bits of a float stays that number.
    low, high = math.floor(ends[0] * scale + 1e-9), math.ceil(ends[1] * scale - 1e-9)
    return f"{low / 10**digits:.{digits}f}", f"{high / 10**digits:.{digits}f}"


def _digits(count: int) -> int:
    return 0 if count < 100 else 1 if count < 10_000 else 2


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def clipped(text: str, most: int) -> str:
    """A text of at most so many characters, with how many were left out where it was longer."""
    return text if len(text) <= most else f"{text[:most]}… ({counted(len(text) - most, 'more character')})"


def plain(text: str) -> str:
    """A text without anything invisible: control and bidirectional characters are written out as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def on_one_line(text: str) -> str:
    """A text without line breaks and without anything invisible."""
    return plain(" ".join(text.split()))


def filled(pattern: str, **slots: object) -> list[str]:
    """A sentence with its {slots} filled: one text, or several where a slot is `Code`, which stays a part of its own."""
    parts: list[str] = [""]
    for literal, name, form, _ in Formatter().parse(pattern):
        parts[-1:] = [parts[-1] + literal] if not isinstance(parts[-1], Code) else [parts[-1], literal]
        value = slots[name] if name else ""
        if isinstance(value, Code):
            parts.append(value)
        elif name:
            parts[-1] += format(value, form or "")
    return [part for part in parts if part]
