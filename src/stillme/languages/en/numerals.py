"""How English spells numbers: tens and ones, hundreds, groups of a thousand; languages that do the same may use it."""

from __future__ import annotations

from collections.abc import Sequence

from stillme.languages.grammar import NumberWords, SpeltNumber

__all__ = ["spelt"]


def spelt(tokens: Sequence[str], t: NumberWords, i: int, start: float | None = None) -> SpeltNumber | None:
    """two hundred and five, one and a half million; `start` is the one of "a hundred"."""
    total, group, scale, j = 0.0, start, 1.0, i
    joining = t.terms["and"]
    while True:
        here = tokens[j]
        if here in t.numerals and _continues(group, t.numerals[here]):
            group = (group or 0) + t.numerals[here]
            j += 1
            if tokens[j] == "-" and group % 100 >= 20 and t.numerals.get(tokens[j + 1], 99) < 10:
                j += 1
        elif here in t.scales and group is not None:
            size = t.scales[here]
            if size <= 100:
                group *= size
            else:
                total, group, scale = total + group * size, None, size
            j += 1
        elif (
            here in joining and (group is None or group % 100 == 0) and tokens[j + 1] in t.numerals and (total or group)
        ):
            j += 1
        elif here in joining and tokens[j + 1 : j + 3] == ["a", "half"] and group is not None:
            group, j = group + 0.5, j + 3
        else:
            break
    if j == i:
        return None
    value = total + (group or 0)
    return value, int(value % 1 > 0), scale if group is None else 1.0, j


def _continues(group: float | None, value: float) -> bool:
    """Whether a spelt number may go on with a value: two hundred five, twenty one."""
    if not group:
        return group is None
    return group % 100 == 0 if value >= 10 else group % 10 == 0 and (group % 100 == 0 or group % 100 >= 20)
