"""A text cut where its marks begin and end, so that a template can write each stretch once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Mark", "Note", "Stretch", "stretches"]


@dataclass(frozen=True, slots=True)
class Note:
    """A small label at the end of a mark, linked to the place on the page that it is about."""

    label: str
    look: str
    target: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a text, how it looks, and the note that stands at its end."""

    start: int
    end: int
    look: str
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text in one look, and the notes that stand behind it."""

    text: str
    look: str
    notes: Sequence[Note]


def stretches(text: str, marks: Sequence[Mark]) -> list[Stretch]:
    """The whole text once, each stretch in the looks of all marks over it, however these overlap."""
    opening: dict[int, list[Mark]] = defaultdict(list)
    closing: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        opening[mark.start].append(mark)
        closing[mark.end].append(mark)
    looks: Counter[str] = Counter()
    parts = []
    for start, end in pairwise(sorted({0, len(text), *opening, *closing})):
        looks.update(mark.look for mark in opening[start])
        look = " ".join(sorted(look for look, times in looks.items() if times))
        parts.append(Stretch(text[start:end], look, [mark.note for mark in closing[end] if mark.note]))
        looks.subtract(mark.look for mark in closing[end])
    return parts
