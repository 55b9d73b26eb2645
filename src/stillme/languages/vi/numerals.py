"""How Vietnamese spells numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from stillme.languages.grammar import NumberWords, SpeltNumber

__all__ = ["spelt"]


def spelt(tokens: Sequence[str], t: NumberWords, i: int, start: float | None = None) -> SpeltNumber | None:  # noqa: ARG001
    """hai mươi mốt, năm trăm linh năm, hai nghìn không trăm linh tám, ba triệu rưỡi."""
    group, j = _group(tokens, t, i)
    if j == i:
        return None
    total, limit = 0.0, inf
    while True:
        scale = 1.0
        while t.scales.get(tokens[j], 0) >= 1000:
            scale *= t.scales[tokens[j]]
            j += 1
        total += group * scale
        if scale == 1.0 or scale >= limit:
            break
        limit = scale
        if tokens[j] in t.terms["half"]:
            return total + scale / 2, 0, scale / 10, j + 1
        group, end = _group(tokens, t, j, more=True)
        if end == j:
            break
        j = end
    if tokens[j] in t.terms["point"] and tokens[j + 1] in t.numerals:
        return total + t.numerals[tokens[j + 1]] / 10, 1, 1.0, j + 2
    return total, 0, limit if limit != inf and total % limit == 0 else 1.0, j


def _group(tokens: Sequence[str], t: NumberWords, i: int, more: bool = False) -> tuple[float, int]:
    """A number below a thousand and where it ends; behind a scale word (`more`) only one written out in full."""
    if more and tokens[i] in t.terms["odd"] and tokens[i + 1] in t.numerals:
        return t.numerals[tokens[i + 1]], i + 2
    digit = 0 if more and tokens[i] in t.terms["zero"] else t.numerals.get(tokens[i])
    if digit is None:
        return 0.0, i
    if tokens[i + 1] in t.terms["hundred"]:
        rest, end = _tens(tokens, t, i + 2)
        return 100.0 * digit + rest, end
    tens, end = _tens(tokens, t, i)
    if more and t.scales.get(tokens[end], 0) < 1000:
        return 0.0, i
    return (tens, end) if end > i else (digit, i + 1)


def _tens(tokens: Sequence[str], t: NumberWords, i: int) -> tuple[float, int]:
    """mười hai, hai mươi mốt, ba lăm, linh năm, rưỡi (fifty, behind a hundred); nothing for a single digit."""
    if tokens[i] in t.terms["odd"] and tokens[i + 1] in t.numerals:
        return t.numerals[tokens[i + 1]], i + 2
    if tokens[i] in t.terms["half"]:
        return 50.0, i + 1
    digit = t.numerals.get(tokens[i])
    if digit is None:
        return 0.0, i
    if digit == 10:
        return _behind_ten(tokens, t, 10.0, i + 1)
    if tokens[i + 1] in t.terms["tens"]:
        return _behind_ten(tokens, t, 10.0 * digit, i + 2)
    if tokens[i + 1] in t.terms["dozens"]:
        return 10.0 * digit, i + 2
    ending = t.behind_ten.get(tokens[i + 1], 0)
    if digit > 1 and tokens[i + 1] not in t.numerals and ending and ending != 4:
        return 10.0 * digit + ending, i + 2
    return 0.0, i


def _behind_ten(tokens: Sequence[str], t: NumberWords, tens: float, i: int) -> tuple[float, int]:
    """The digit behind a ten; "mười năm" is ten years, so five is only lăm, and one behind ten is một."""
    here = tokens[i]
    if tens == 10 and here in t.terms["one"]:
        return 11.0, i + 1
    digit = t.behind_ten.get(here, 0)
    return (tens + digit, i + 1) if digit else (tens, i)
