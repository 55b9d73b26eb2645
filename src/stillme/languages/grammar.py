"""What of a language only code can say: how it spells numbers, and the forms and spellings of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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


class Forms(Protocol):
    """The forms of words; a module with these three functions is one."""

    def bases(self, lower: str, irregular: Mapping[str, str]) -> Iterable[str]:
        """The words that a word may be an inflected form of."""
        ...

    def forms_of_rest(self, rest: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
        """What may follow the first word of a phrase, in all forms."""
        ...

    def spellings(self, word: str) -> tuple[str, ...]:
        """A word in the spellings in use."""
        ...
