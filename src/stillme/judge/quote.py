"""Where a quote stands in a passage: literally, but for white space, invisible characters and the way accents are encoded."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from stillme.lazy import lazy

__all__ = ["Quotable"]

INVISIBLE: Final = frozenset("\xad\u200b\u200c\u200d\u2060\ufeff")
# A quote that stands in this many places, each time as a part of a longer word, is not looked for any further.
MOST_TRIES: Final = 100


@dataclass(frozen=True, slots=True)
class _Plain:
    """A text with single blanks, composed letters and nothing invisible; its character i was `starts[i]` to `ends[i]`."""

    text: str
    starts: list[int]
    ends: list[int]


class Quotable:
    """A text that quotes are looked for in."""

    def __init__(self, text: str) -> None:
        self._text = text

    @lazy
    def _plain(self) -> _Plain:
        return _made_plain(self._text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """The character range that reads like the quote, whole words only: the first one, or None."""
        literal = quote.strip()
        if not any(c.isalnum() for c in literal):
            return None
        at = _whole_words(literal, self._text)
        if at is not None:
            return at, at + len(literal)
        wanted, plain = _made_plain(literal).text, self._plain
        at = _whole_words(wanted, plain.text)
        return (plain.starts[at], plain.ends[at + len(wanted) - 1]) if at is not None else None


def _whole_words(wanted: str, text: str) -> int | None:
    """Where `wanted` first stands without cutting a word in two: 'able' is no quote of 'unable'."""
    at = -1
    for _ in range(MOST_TRIES):
        at = text.find(wanted, at + 1)
        if at < 0:
            return None
        if not _cuts_word(text, at) and not _cuts_word(text, at + len(wanted)):
            return at
    return None


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")


def _made_plain(text: str) -> _Plain:
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    is_composed = unicodedata.is_normalized("NFC", text)
    at = 0
    while at < len(text):
        end = at + 1 if is_composed else _letter_end(text, at)
        piece = text[at:end] if is_composed else unicodedata.normalize("NFC", text[at:end])
        if piece.isspace():
            piece = "" if letters and letters[-1] == " " else " "
        if piece not in INVISIBLE:
            letters += piece
            starts += [at] * len(piece)
            ends += [end] * len(piece)
        at = end
    return _Plain("".join(letters), starts, ends)


def _letter_end(text: str, at: int) -> int:
    """Where a letter ends together with the accents that follow it."""
    end = at + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end
