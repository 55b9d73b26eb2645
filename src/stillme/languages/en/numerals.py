"""How English spells numbers: tens and ones, hundreds, groups of a thousand; languages that do the same may use it."""

from __future__ import annotations

from collections.abc import Sequence

from stillme.languages.grammar import NumberWords, SpeltNumber

__all__ = ["spelt"]


def spelt(tokens: Sequence[str], t: NumberWords, i: int, start: float | None = None) -> SpeltNumber | None:
    """two hundred and five, one and a half million; `start` is the one of "a hundred"."""
    total, group, scale, j = 0.0, start, 1.0, i
    while True:
        here = tokens[j]
        if here in t.numerals and _continues(group, t.numerals[here]):
            group = (group or 0) + t.numerals[here]
            j += 2 if _is_hyphenated(tokens, t, group, j + 1) else 1
        elif here in t.scales and group is not None:
            size = t.scales[here]
            j += 1
            if size <= 100:
                group *= size
            else:
                total, group, scale = total + group * size, None, size
        elif here not in t.terms["and"]:
            break
        elif _joins_rest(tokens, t, total, group, j):
            j += 1
        elif group is not None and tokens[j + 1 : j + 3] == ["a", "half"]:
            group, j = group + 0.5, j + 3
        else:
            break
    if j == i:
        return None
    value = total + (group or 0)
    return value, int(value % 1 > 0), scale if group is None else 1.0, j


def _is_hyphenated(tokens: Sequence[str], t: NumberWords, group: float, j: int) -> bool:
    """Whether a hyphen joins ones to tens: twenty-one."""
    return tokens[j] == "-" and group % 100 >= 20 and t.numerals.get(tokens[j + 1], 99) < 10


def _joins_rest(tokens: Sequence[str], t: NumberWords, total: float, group: float | None, j: int) -> bool:
    """Whether an "and" joins tens or ones to hundreds or thousands: two hundred and five."""
    is_round = bool(total) if group is None else group % 100 == 0 and bool(total or group)
    return is_round and tokens[j + 1] in t.numerals


def _continues(group: float | None, value: float) -> bool:
    """Whether a spelt number may go on with a value: two hundred five, twenty one."""
    if not group:
        return group is None
    return group % 100 == 0 if value >= 10 else group % 10 == 0 and (group % 100 == 0 or group % 100 >= 20)
