"""Sums: the value of a question that is nothing but arithmetic, and whether a sentence gives that value.

Numbers, + - * /, squares, percentages and brackets, in signs and in the words of both languages, worked out exactly. Whatever else
stands in the question makes it none, and whatever else stands in a sentence leaves it unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Final

from stillme.languages import DEFAULT, accented_language, compiled, language_of, languages, load
from stillme.text.tokens import Text

__all__ = ["gives", "sum_of"]

LONGEST: Final = 60
MOST_DIGITS: Final = 15
MARKS: Final = frozenset("?.!,;“”\"'`*_[]…")
DATE: Final = re.compile(r"\d[-/]\d++[-/]\d")
Item = Fraction | str


@compiled
def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The words for operators, and those that only ask, by their first word, longest first; "" is what adds nothing."""
    rules = load("arithmetic")
    rows = [(phrase, sign) for sign, phrases in rules["operators"].items() for phrase in phrases]
    rows += [(phrase, "") for line in rules["asking"] for phrase in line.split("|")]
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, sign in rows:
        words = tuple(Text(phrase).lowers)
        found.setdefault(words[0], []).append((words, sign))
    return {head: sorted(each, key=lambda row: -len(row[0])) for head, each in found.items()}


@compiled
def _number_words() -> dict[str, Fraction]:
    rows = (each.rules("arithmetic").get("numbers", "") for each in languages())
    return {word: Fraction(n) for row in rows for n, word in enumerate(row.split())}


def sum_of(text: Text, first: int = 0, last: int | None = None, *, code: str | None = None) -> Fraction | None:
    """What the tokens come to, if they are a sum with an operator and nothing else but the words that ask for it."""
    end = len(text.words) if last is None else last
    items = None if DATE.search(text.slice(first, end)) else _items(text, first, end, code)
    if items is None:
        return None
    parts = [part for part in _parts(items) if part]
    asked = [part for part in parts if len(part) > 1]
    return _value(asked[0]) if len(parts) == len(asked) == 1 else None


def gives(text: Text, first: int, last: int, value: Fraction, *, code: str | None = None) -> bool:
    """Whether a sentence says that value and nothing else: each side of each "is" comes to it, and one is the figure itself."""
    items = _items(text, first, last, code)
    if items is None:
        return False
    parts = [part for part in _parts(items) if part]
    return bool(parts) and any(len(part) == 1 for part in parts) and all(_comes_to(part, value) for part in parts)


def _comes_to(part: Sequence[Item], value: Fraction) -> bool:
    """Whether one side is the value, or the value rounded where it cannot be written out."""
    found = _value(part)
    if found is None:
        return False
    if found == value:
        return True
    places = next((n for n in range(1, 7) if (found * 10**n).denominator == 1), None)
    endless = value.denominator != 1 and (value * 10**MOST_DIGITS).denominator != 1
    return endless and len(part) == 1 and places is not None and found == _rounded(value, places)


def _rounded(value: Fraction, places: int) -> Fraction:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def _parts(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What stands between the words for "is"."""
    part: list[Item] = []
    for item in items:
        if item in ("=", "≈"):
            yield part
            part = []
        else:
            part.append(item)
    yield part


def _items(text: Text, first: int, last: int, code: str | None) -> list[Item] | None:
    """Numbers and operators in order; None where anything else stands among them."""
    if last - first > LONGEST:
        return None
    decimal = _decimal(text, code)
    items: list[Item] = []
    at = first
    while at < last:
        read = _read(text, at, last, decimal)
        if read is None:
            return None
        item, at = read
        if item != "":
            items.append(item)
    return items


def _decimal(text: Text, code: str | None) -> str:
    """What stands before decimals in a language; where none is given, in one whose accents the text has."""
    return language_of(code or (accented_language() if text.accented else DEFAULT)).decimal


def _read(text: Text, at: int, last: int, decimal: str) -> tuple[Item, int] | None:
    """The number or operator at a token, and where the next one begins."""
    word, lowers = text.words[at], text.lowers
    if word.number:
        value = _figure(word.text, decimal)
        return None if value is None else (value, at + 1)
    for phrase, sign in _phrases().get(word.lower, ()):
        if at + len(phrase) <= last and tuple(lowers[at : at + len(phrase)]) == phrase:
            return sign, at + len(phrase)
    if word.lower in _number_words():
        return _number_words()[word.lower], at + 1
    return ("", at + 1) if word.text in MARKS else None


def _figure(written: str, decimal: str) -> Fraction | None:
    """A figure as its language writes it: 1,000.5 in English, 1.000,5 in Vietnamese; a separator that groups nothing is a decimal one."""
    if sum(c.isdigit() for c in written) > MOST_DIGITS or not written.isascii():
        return None
    thousands = "." if decimal == "," else ","
    whole, _, fraction = written.partition(decimal)
    groups = whole.split(thousands)
    if len(groups) > 1 and not (0 < len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])):
        if len(groups) != 2 or fraction:
            return None
        groups, fraction = groups[:1], groups[1]
    digits = "".join(groups)
    return Fraction(f"{digits}.{fraction or 0}") if digits.isdigit() and (not fraction or fraction.isdigit()) else None


# the value of a row of numbers and operators


def _value(items: Sequence[Item]) -> Fraction | None:
    """What a row comes to; None if it is no sum, or divides by nothing."""
    sums = _Calculation(items)
    try:
        found = sums.added()
    except (ArithmeticError, IndexError):
        return None
    return found if sums.at == len(items) else None


class _Calculation:
    """Reads a row from left to right: products bind before sums, squares and percent before both."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.at = 0

    def _next(self, *signs: str) -> str | None:
        item = self.items[self.at] if self.at < len(self.items) else None
        if isinstance(item, str) and item in signs:
            self.at += 1
            return item
        return None

    def added(self) -> Fraction:
        """A sum."""
        total = self._multiplied()
        while sign := self._next("+", "-"):
            term = self._multiplied()
            total = total + term if sign == "+" else total - term
        return total

    def _multiplied(self) -> Fraction:
        product = self._marked()
        while sign := self._next("*", "/", "of"):
            factor = self._marked()
            product = product / factor if sign == "/" else product * factor
        return product

    def _marked(self) -> Fraction:
        value = self._single()
        while sign := self._next("%", "²"):
            value = value / 100 if sign == "%" else value * value
        return value

    def _single(self) -> Fraction:
        if self._next("-"):
            return -self._single()
        if self._next("("):
            inner = self.added()
            if not self._next(")"):
                raise ArithmeticError("an open bracket")
            return inner
        item = self.items[self.at]
        if isinstance(item, str):
            raise ArithmeticError("an operator without a number")
        self.at += 1
        return item
