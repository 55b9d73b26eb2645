"""Sentences and words of English and Vietnamese text, with character offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

Span = tuple[int, int]

WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*", re.UNICODE)
_BOUNDARY = re.compile(r"(?<=[.!?…。])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\s\Wa-zà-ỹ]|[-•*])|\s*\n+\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Sgt|Capt|Rev|Hon|No|Nos|vs|etc|Inc|Ltd|Co|Corp|"
    r"Fig|e\.g|i\.e|cf|ca|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|TP|Tp|[A-ZĐ]|(?:[A-Z]\.)+[A-Z])\.$"
)
_SPACE_BEFORE = re.compile(r"(?<=\S) +(?=(?:[,.;:!?%)\]}]|'(?:s|re|ve|ll|d|m|t)\b|n't\b)(?![.\d]))")
_SPACE_AFTER = re.compile(r"(?<=[(\[{]) +")


def sentences(text: str) -> list[Span]:
    """The spans of the sentences of `text`; together they hold all that is not white space."""
    spans: list[Span] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        if "\n" not in match.group() and _ABBREVIATION.search(text[start : match.start()]):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + piece.index(stripped[0])
        spans.append((first, first + len(stripped)))


def words(text: str) -> list[str]:
    """The words and numbers of `text`, case folded."""
    return [match.group().casefold() for match in WORD.finditer(text)]


def tidy(text: str, spans: Iterable[Span] = ()) -> tuple[str, list[Span]]:
    """Remove the spaces that tokenised corpora put around punctuation, and move `spans` along."""
    text = unicodedata.normalize("NFC", text) if not spans else text
    text = text.replace("-LRB-", "(").replace("-RRB-", ")") if not spans else text
    dropped = {
        place
        for pattern in (_SPACE_BEFORE, _SPACE_AFTER)
        for match in pattern.finditer(text)
        for place in range(*match.span())
    }
    before = [0]
    for place in range(len(text)):
        before.append(before[-1] + (place not in dropped))
    kept = "".join(char for place, char in enumerate(text) if place not in dropped)
    return kept, [(before[start], before[end]) for start, end in spans]
