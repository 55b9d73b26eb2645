"""Sentences of a source with two things exchanged: every word stands in the source, and the claim is false.

A reader that counts words cannot tell such a claim from the sentence itself; one that knows which figure belongs to what, and who
does it, can.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.text import WORD

__all__ = ["Swapped", "swapped"]

Span = tuple[int, int]
FIGURE = re.compile(r"(?<!\w)\d+(?:[.,:/]\d+)*(?!\w)")
FOLLOWING = re.compile(r"\s*([^\s\d.,;:]+)")
# With fewer words between them two things may stand in a list, and mean the same the other way round.
LEAST_BETWEEN = 2
LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class Swapped:
    """A false sentence and the characters that are wrong in it."""

    text: str
    spans: tuple[Span, ...]


def swapped(sentence: str, others: Sequence[str], chance: random.Random) -> Swapped | None:
    """The sentence with two of its figures or names exchanged, or with a figure of another sentence; none if nothing can be."""
    found = [
        *_exchanged(sentence, _figures(sentence)),
        *_exchanged(sentence, _names(sentence)),
        *_borrowed(sentence, others),
    ]
    return chance.choice(found) if found else None


def _figures(text: str) -> list[Span]:
    return [match.span() for match in FIGURE.finditer(text)]


def _names(text: str) -> list[Span]:
    """Runs of words with a capital, but for what the sentence begins with, whose capital says nothing."""
    runs: list[Span] = []
    for match in list(WORD.finditer(text))[1:]:
        start, end = match.span()
        if not text[start].isupper() or end - start < LEAST_LETTERS:
            continue
        if runs and text[runs[-1][1] : start] == " ":
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def _exchanged(text: str, places: Sequence[Span]) -> Iterator[Swapped]:
    for n, (a, b) in enumerate(places):
        for c, d in places[n + 1 :]:
            one, other = text[a:b], text[c:d]
            if one != other and len(WORD.findall(text[b:c])) >= LEAST_BETWEEN:
                made = f"{text[:a]}{other}{text[b:c]}{one}{text[d:]}"
                yield Swapped(made, ((a, a + len(other)), (c + len(other) - len(one), d)))


def _borrowed(text: str, others: Sequence[str]) -> Iterator[Swapped]:
    """With a figure in the place of another of the same thing: as long, and followed by the same word."""
    own = {text[a:b] for a, b in _figures(text)}
    for a, b in _figures(text):
        for other in others:
            for c, d in _figures(other):
                if other[c:d] not in own and d - c == b - a and _what(text, b) == _what(other, d):
                    yield Swapped(f"{text[:a]}{other[c:d]}{text[b:]}", ((a, b),))


def _what(text: str, at: int) -> str:
    """The word behind a figure."""
    match = FOLLOWING.match(text, at)
    return match.group(1).lower() if match else ""
