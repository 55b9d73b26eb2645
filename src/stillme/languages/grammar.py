"""What the number grammar of a language works on: the words of numbers, and the tokens they stand among."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

__all__ = ["NumberWords", "Speller", "SpeltNumber"]


class NumberWords(Protocol):
    """The words of numbers of one language, as numbers.yaml has them."""

    @property
    def numerals(self) -> Mapping[str, float]: ...
    @property
    def scales(self) -> Mapping[str, float]: ...
    @property
    def behind_ten(self) -> Mapping[str, float]: ...
    @property
    def terms(self) -> Mapping[str, frozenset[str]]: ...


SpeltNumber = tuple[float, int, float, int]
"""The value of a number in words, its decimals, the scale it is said in, and the token behind it."""

Speller = Callable[[Sequence[str], NumberWords, int, float | None], SpeltNumber | None]
"""Reads the number that begins at a token; the last argument is what an article before a scale word stands for."""
