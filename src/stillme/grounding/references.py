"""References a draft gives besides citation markers, and whether a source has them.

Web addresses, DOIs, arXiv and ISBN numbers, 'Lewis et al. (2020)'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.grounding.passage import Passage
from stillme.languages import compiled, load
from stillme.text.tokens import LATIN, Text, fold_text, within

__all__ = ["Reference", "find_references"]

DOI: Final = re.compile(r"\b10\.\d{4,9}+/[^\s\"'<>\[\]{}|]++")
ARXIV: Final = re.compile(r"\barxiv[:\s]\s?+(\d{4}\.\d{4,5}+)", re.IGNORECASE)
ISBN: Final = re.compile(r"\bISBN(?:-1[03])?+[:\s]\s?+([\d][\d -]{8,15}+[\dXx])", re.IGNORECASE)
AUTHORS: Final = (
    rf"(?<![{LATIN}'’-])([{LATIN}][{LATIN}'’-]{{0,60}}+)"  # begins where a word begins, so that each is tried once
)


@compiled
def _work_patterns() -> tuple[re.Pattern[str], ...]:
    """Works by their authors: 'X et al. (2020)', '(X and Y, 2020)', 'X and Y (2020)'."""
    others, in_brackets, joining, joined_in_brackets = (
        "|".join(map(_spaced, load("references")[name]))
        for name in ("others", "others_in_brackets", "joining", "joining_in_brackets")
    )
    second = rf"(?:{in_brackets}|(?:&|{joined_in_brackets})\s+{AUTHORS})"
    return (
        re.compile(rf"{AUTHORS}\s+(?:{others})\s*+[,(]\s*+(\d{{4}})[a-z]?\b\)?+"),
        re.compile(rf"\(\s*+{AUTHORS}(?:\s+{second})?,\s*+(\d{{4}})[a-z]?\s*+\)"),
        re.compile(rf"{AUTHORS}\s+(?:&|{joining})\s+{AUTHORS}\s+\((\d{{4}})[a-z]?\)"),
    )


def _spaced(phrase: str) -> str:
    """A phrase as a pattern: any spaces between its words, its full stop optional."""
    written = r"\s+".join(map(re.escape, phrase.rstrip(".").split()))
    return rf"{written}\.?+" if phrase.endswith(".") else written


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference of the draft, and whether a source has it."""

    start: int
    end: int
    text: str
    known: bool


def find_references(draft: Text, query: Text, passages: Sequence[Passage]) -> list[Reference]:
    """The references of a draft in order; those of the question count as known: the user gave them."""
    raw = draft.raw
    found = [*_addresses(draft), *_identifiers(raw), *_works(raw)]
    if not found:
        return []
    said = fold_text(" \n ".join([query.raw, *(f"{p.given.text} {p.heading.raw}" for p in passages)]))
    outside = [f for f in found if not within(draft.code, f[0])]
    unique = {
        (start, end): Reference(start, end, raw[start:end], all(part in said for part in parts))
        for start, end, parts in outside
    }
    return [unique[span] for span in sorted(unique)]


def _addresses(draft: Text) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    for start, end in draft.urls:
        address = fold_text(draft.raw[start:end]).rstrip("/")
        bare = address.split("://", 1)[-1].removeprefix("www.")
        yield start, end, (bare,)


def _identifiers(raw: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    if "10." in raw:
        for match in DOI.finditer(raw):
            doi = match.group().rstrip(".,;:)]*_")
            yield match.start(), match.start() + len(doi), (fold_text(doi),)
    lowered = raw.lower()
    for pattern in [p for p, cue in ((ARXIV, "arxiv"), (ISBN, "isbn")) if cue in lowered]:
        for match in pattern.finditer(raw):
            yield match.start(), match.end(), (fold_text(match.group(1)),)


def _works(raw: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Author and year; each must stand in a source."""
    if "(" not in raw and not any(cue in raw for cue in load("references")["cues"]):
        return
    for pattern in _work_patterns():
        for match in pattern.finditer(raw):
            parts = tuple(fold_text(g) for g in match.groups() if g)
            if match.group(1)[0].isupper():
                yield match.start(), match.end(), parts
