"""A prompt that a framework or an operator writes around context and question: found by its own words, never by a pattern.

Whoever asks writes the question, and may write the prompt's own words into it. So the question is taken as far as it can reach: what
stands before it ends at the first place where it may end, what stands behind it begins at the last place where it may begin. Whatever
context a question pretends to have is then a part of the question. Time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.errors import InputError, shown

__all__ = ["SLOTS", "Template", "folded_head", "template_of"]

SLOTS: Final = ("context", "question", "answer")
SLOT: Final = re.compile(r"\{(\w{1,40})\}")
SPACE: Final = re.compile(r"\s+")
HEAD: Final = 8_000
"""So many characters are read to see whether a text begins as a template does."""


class _Folded:
    """A text whose white space is one line end, where it holds one, or else one blank; and where its characters came from."""

    def __init__(self, text: str) -> None:
        self._ends: list[int] = [0]
        self._origins: list[int] = [0]
        pieces: list[str] = []
        at = length = 0
        for space in SPACE.finditer(text):
            first, last = space.span()
            pieces += (text[at:first], "\n" if "\n" in space[0] else " ")
            length += first - at + 1
            self._ends.append(length)
            self._origins.append(last)
            at = last
        self.text = "".join([*pieces, text[at:]])

    def origin(self, at: int) -> int:
        """Where in the text a character stood."""
        k = bisect_right(self._ends, at) - 1
        return self._origins[k] + at - self._ends[k]


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a prompt around its slots: `words[n]` stands before `slots[n]`, the last ones behind them all."""

    name: str
    words: tuple[str, ...]
    slots: tuple[str, ...]

    def fill(self, text: str, head: str | None = None) -> Mapping[str, tuple[int, int]] | None:
        """The stretch of a text that each slot has; None where the text is not made by this template.

        `head` is the beginning of the text, folded, where several templates are tried.
        """
        if not (folded_head(text) if head is None else head).startswith(self.words[0]):
            return None
        begin = len(text) - len(text.lstrip())
        folded = _Folded(text.strip())
        edges = self._edges(folded.text)
        if edges is None:
            return None
        return {
            slot: _trimmed(text, begin + folded.origin(first), begin + folded.origin(last))
            for slot, (first, last) in zip(self.slots, edges, strict=True)
        }

    def _edges(self, text: str) -> list[tuple[int, int]] | None:
        """Where each slot begins and ends: from the left up to the question, from the right down to it."""
        first, last = len(self.words[0]), len(text) - len(self.words[-1])
        if last < first or not text.endswith(self.words[-1]):
            return None
        at = self.slots.index("question") if "question" in self.slots else len(self.slots) - 1
        left: list[tuple[int, int]] = []
        for words in self.words[1 : at + 1]:
            place = text.find(words, first, last)
            if place < 0:
                return None
            left.append((first, place))
            first = place + len(words)
        right: list[tuple[int, int]] = []
        for words in reversed(self.words[at + 1 : -1]):
            place = text.rfind(words, first, last)
            if place < 0:
                return None
            right.insert(0, (place + len(words), last))
            last = place
        return [*left, (first, last), *right]


def folded_head(text: str) -> str:
    """The beginning of a text with its white space folded: what templates are told apart by."""
    return _Folded(text[:HEAD].lstrip()).text


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    inner = text[first:last]
    return first + len(inner) - len(inner.lstrip()), max(first, last - len(inner) + len(inner.rstrip()))


def template_of(name: str, text: str) -> Template:
    """A template by its text, or an InputError that says what is wrong with it."""
    slots = tuple(match[1] for match in SLOT.finditer(text))
    words = tuple(SLOT.split(text)[::2])
    _check_slots(name, slots)
    # Blanks before a slot may be a line end once it is filled; those behind it tell where a line begins.
    folded = [_Folded(piece.rstrip()).text for piece in words]
    folded[0] = folded[0].lstrip()
    if not folded[0]:
        raise InputError(f"{name}: a template must begin with words of its own, got {shown(text)}")
    if any(not piece.strip() for piece in folded[1:-1]):
        raise InputError(f"{name}: two slots must have words between them, got {shown(text)}")
    return Template(name, tuple(folded), slots)


def _check_slots(name: str, slots: Sequence[str]) -> None:
    unknown = [slot for slot in slots if slot not in SLOTS]
    if unknown:
        raise InputError(
            f"{name}: {{{unknown[0]}}} is no slot: a template has {{context}}, {{question}} and {{answer}}"
        )
    if slots.count("context") != 1 or len(set(slots)) != len(slots):
        raise InputError(f"{name}: a template has {{context}} once, and {{question}} and {{answer}} at most once")
