"""Spans of a text: composed and mapped back, joined, blanked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

__all__ = ["BLANK", "UUID", "Finder", "Span", "blanked", "composed", "merged"]

Span = tuple[int, int]
Finder = Callable[[str], Iterator[Span]]

BLANK: Final = "█"


def composed(text: str) -> tuple[str, list[Span] | None]:
    """The text in NFC, and for each of its characters the place in the text it came from (None: the same place)."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text, None
    composed: list[str] = []
    places: list[Span] = []
    for cluster in CLUSTER.finditer(text):
        piece = unicodedata.normalize("NFC", cluster.group())
        composed.append(piece)
        places += [cluster.span()] * len(piece)
    return "".join(composed), places


CLUSTER: Final = re.compile(r"[^\u0300-\u036f][\u0300-\u036f]{0,8}+|[\u0300-\u036f]", re.DOTALL)
VISIBLE: Final = re.compile(r"\S")


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap joined."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def blanked(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], VISIBLE.sub(BLANK, text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


UUID: Final = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
