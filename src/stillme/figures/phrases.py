"""Tables of phrases, looked up by the token at which a phrase begins or ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from stillme.text.tokens import Text, fold

__all__ = ["Phrases", "cells", "longest", "longest_before", "phrases", "phrases_before", "valued"]

T = TypeVar("T")
Phrases = dict[str, list[tuple[list[str], T]]]


def phrases(rows: Iterable[tuple[str, T]], exact: bool = False, folded: bool = False) -> Phrases[T]:
    """Phrases by their first token, the longest first; `exact` keeps capitals, `folded` drops accents."""
    return _table(((_tokens(row, exact, folded), payload) for row, payload in rows), 0)


def phrases_before(rows: Iterable[tuple[str, T]]) -> Phrases[T]:
    """Phrases by their last token, for a look to the left."""
    return _table(((_tokens(row, exact=False, folded=False), payload) for row, payload in rows), -1)


def _table(rows: Iterable[tuple[list[str], T]], head: int) -> Phrases[T]:
    table: Phrases[T] = {}
    for tokens, payload in rows:
        table.setdefault(tokens.pop(head), []).append((tokens, payload))
    for options in table.values():
        options.sort(key=_length)
    return table


def _length(option: tuple[list[str], object]) -> int:
    return -len(option[0])


def _tokens(row: str, exact: bool, folded: bool) -> list[str]:
    """The tokens of a phrase, whose words an underscore joins."""
    tokens = [row] if row.isalpha() else [word.text for word in Text(row.replace("_", " ")).words]
    if exact:
        return tokens
    return list(map(fold if folded else str.lower, tokens))


def longest(table: Phrases[T], tokens: list[str], at: int) -> tuple[T, int] | None:
    """The longest phrase that begins at a token, and where it ends."""
    for rest, payload in table.get(tokens[at], ()):
        end = at + 1 + len(rest)
        if tokens[at + 1 : end] == rest:
            return payload, end
    return None


def longest_before(table: Phrases[T], tokens: list[str], at: int) -> tuple[T, int] | None:
    """The longest phrase that ends with a token, and where it begins."""
    for rest, payload in table.get(tokens[at], ()):
        begin = at - len(rest)
        if tokens[begin:at] == rest:
            return payload, begin
    return None


def valued(row: str, folded: bool = False) -> dict[str, float]:
    """A row of word=number as a table."""
    pairs = (part.partition("=") for part in row.split())
    return {fold(word) if folded else word: float(value) for word, _, value in pairs}


def cells(row: str, width: int) -> list[str]:
    """A row that bars cut into cells, with empty cells up to a width."""
    found = list(map(str.strip, row.split("|")))
    return found + [""] * (width - len(found))
