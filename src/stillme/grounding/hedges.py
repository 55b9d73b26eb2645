"""Hedges in brackets: what an answer says of how sure it is of one statement, which is no part of the statement."""

from __future__ import annotations

from typing import Final

from stillme.languages import compiled, language_of, languages
from stillme.text.tokens import Text

__all__ = ["LIKELY_AT", "find_hedges", "hedge"]

# From this support on a statement is likely; below it is possible.
LIKELY_AT: Final = 0.6


def hedge(score: float, language: str) -> str:
    """The words for a statement that is supported so well, in brackets."""
    return f"({language_of(language).rules('hedges')['likely' if score >= LIKELY_AT else 'possible']})"


@compiled
def _hedges() -> frozenset[tuple[str, ...]]:
    """Every hedge as the tokens between its brackets."""
    return frozenset(tuple(Text(words).lowers) for each in languages() for words in each.rules("hedges").values())


def find_hedges(text: Text) -> list[tuple[int, int]]:
    """The token ranges of the hedges in brackets, brackets included, in order."""
    if "(" not in text.lowers:
        return []
    lowers, longest = text.lowers, max(map(len, _hedges()))
    found: list[tuple[int, int]] = []
    opened = -1
    for i, lower in enumerate(lowers):
        if lower == "(":
            opened = i
        elif lower == ")" and opened >= 0 and i - opened - 1 <= longest:
            if tuple(lowers[opened + 1 : i]) in _hedges():
                found.append((opened, i + 1))
            opened = -1
    return found
