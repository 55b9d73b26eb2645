"""What a model reads: the passages cut into pieces of tokens, and pieces put together into windows.

A window of a passage depends on that passage alone, so that another passage never changes what is read of this one. A gathered
window holds the pieces, of all passages, that together share most words with one claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement
from stillme.lazy import lazy
from stillme.models import WINDOW_TOKENS, Encoded, words

__all__ = ["Piece", "Shelf", "Window"]

PIECE_TOKENS: Final = 96
GATHERED_TOKENS: Final = 160
MOST_GATHERED: Final = 12
# The pieces whose neighbours are read with them: what 'it' stands for is often said one sentence before.
WITH_NEIGHBOURS: Final = 2
BEFORE_FIRST: Final = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a passage, or a part of a long one: its place, its characters and its tokens. On one shelf its place tells it."""

    passage: int
    place: int
    start: int = field(compare=False)
    end: int = field(compare=False)
    ids: tuple[int, ...] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces that are read together, in the order of the text, and their tokens, with a mark where something was left out."""

    pieces: tuple[Piece, ...]
    ids: tuple[int, ...] = field(compare=False)
    sentences: tuple[int, ...] = field(compare=False)
    """For each token the number of its piece; a mark goes with the piece before it."""

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Window:
        """The window of some pieces."""
        found: list[int] = []
        sentences: list[int] = []
        for n, (piece, after) in enumerate(zip(pieces, [*pieces[1:], None], strict=True)):
            found += piece.ids
            if after is not None and _is_gap(piece, after):
                found += words().gap
            sentences += [n] * (len(found) - len(sentences))
        return cls(tuple(pieces), tuple(found), tuple(sentences))

    def holds(self, other: Window) -> bool:
        """Whether all of another window stands in this one."""
        return set(other.pieces) <= set(self.pieces)


def _is_gap(piece: Piece, after: Piece) -> bool:
    """Whether something of a passage was left out between two pieces of a window."""
    if piece.passage != after.passage:
        return False
    return piece.place + 1 != after.place


class Shelf:
    """The passages of one task as a model reads them, made when first asked for, and how much it may still read."""

    def __init__(self, library: Library, most_tokens: int) -> None:
        self.library = library
        self._left = most_tokens
        self._paid: set[Window] = set()
        self._held_by: dict[Window, frozenset[str]] = {}

    def affords(self, window: Window, claim_tokens: int) -> bool:
        """Whether a claim may still be read against a window; if so, that is paid for. A window is paid for once."""
        cost = claim_tokens + (0 if window in self._paid else len(window.ids))
        if cost > self._left:
            return False
        self._left -= cost
        self._paid.add(window)
        return True

    def shared(self, window: Window, claim: Statement) -> int:
        """How many stems of the claim the window holds."""
        return len(claim.stems & self._held(window))

    def language(self, passage: int) -> str:
        """The language of a passage."""
        return self.library.readings[passage].language

    def _held(self, window: Window) -> frozenset[str]:
        if window not in self._held_by:
            self._held_by[window] = frozenset().union(*map(self.stems, window.pieces))
        return self._held_by[window]

    @lazy
    def pieces(self) -> list[list[Piece]]:
        """For each passage its pieces, in order; its title, where it has one, is the first."""
        return [list(_pieces(n, p, _unsaid(self.library, n))) for n, p in enumerate(self.library.passages)]

    @lazy
    def windows(self) -> list[list[Window]]:
        """For each passage the windows that together read all of it; two neighbours share a piece."""
        return [_consecutive(pieces) for pieces in self.pieces]

    @lazy
    def whole(self) -> Window | None:
        """Everything in one window, where it fits into one."""
        fits = self._flat and sum(len(piece.ids) for piece in self._flat) <= WINDOW_TOKENS
        return Window.of(self._flat) if fits else None

    def gathered(self, claim: Statement) -> Window | None:
        """The pieces that together share most words with the claim, and what stands beside the best; None if none shares any."""
        found = [self._flat[at] for at in self._by_coverage(claim)]
        best = found[:WITH_NEIGHBOURS]
        chosen: dict[Piece, None] = {}
        used = 0
        for piece in (*best, *(beside for chief in best for beside in self._beside(chief)), *found):
            size = len(piece.ids) + len(words().gap)
            if piece not in chosen and used + size <= GATHERED_TOKENS:
                chosen[piece] = None
                used += size
        return Window.of(sorted(chosen, key=lambda p: (p.passage, p.place))) if chosen else None

    @lazy
    def _flat(self) -> list[Piece]:
        return [piece for pieces in self.pieces for piece in pieces]

    @lazy
    def _at_place(self) -> dict[tuple[int, int], Piece]:
        return {(piece.passage, piece.place): piece for piece in self._flat}

    @lazy
    def _holders(self) -> dict[str, list[int]]:
        """For each stem the pieces that hold it."""
        holders: dict[str, list[int]] = {}
        for at, piece in enumerate(self._flat):
            for stem in self.stems(piece):
                holders.setdefault(stem, []).append(at)
        return holders

    def stems(self, piece: Piece) -> frozenset[str]:
        """The stems of the content words of a piece."""
        passage = self.library.passages[piece.passage]
        if piece.place == BEFORE_FIRST:
            return frozenset(w.stem for w in passage.heading.words if w.content)
        text = passage.text
        first, last = text.token_at(piece.start), text.token_at(max(piece.start, piece.end - 1)) + 1
        return frozenset(w.stem for w in text.words[first:last] if w.content)

    def _by_coverage(self, claim: Statement) -> list[int]:
        """Pieces, each next one adding most stems that the claim has and those before it do not."""
        shared: dict[int, set[str]] = {}
        for stem in claim.stems:
            for at in self._holders.get(stem, ()):
                shared.setdefault(at, set()).add(stem)
        order: list[int] = []
        missing = set(claim.stems)
        while shared and len(order) < MOST_GATHERED:
            best = max(shared, key=lambda at: (len(shared[at] & missing) + 0.3 * len(shared[at]), -at))
            missing -= shared.pop(best)
            order.append(best)
        return order

    def _beside(self, piece: Piece) -> list[Piece]:
        beside = [(piece.passage, piece.place + step) for step in (-1, 1)]
        return [self._at_place[place] for place in beside if place in self._at_place]


def _unsaid(library: Library, number: int) -> frozenset[int]:
    """Where the sentences of a passage begin that say nothing for themselves: the model would take for said by the source what they tell
    their reader to say, and what they ask.
    """
    statements = library.readings[number].statements
    starts = [0, *(s.sentence.start for s in statements[1:])]
    return frozenset(start for start, s in zip(starts, statements, strict=False) if s.dictates or s.asks_in_vain)


def _pieces(number: int, passage: Passage, unsaid: frozenset[int]) -> Iterator[Piece]:
    raw = passage.text.raw
    edges = _edges([(s.start, s.end) for s in passage.sentences], raw)
    edges = [edge for edge in edges if edge[0] not in unsaid]
    texts = [raw[start:end] for start, end in edges]
    title = (passage.given.title or "").strip()
    encoded = words().encode_all([*texts, title])
    if title:
        yield Piece(number, BEFORE_FIRST, 0, 0, encoded[-1].ids[:PIECE_TOKENS])
    parts = (part for (start, _), tokens in zip(edges, encoded, strict=False) for part in _parts(start, tokens))
    for place, (start, end, ids) in enumerate(parts):
        yield Piece(number, place, start, end, ids)


def _parts(start: int, tokens: Encoded) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """A sentence in parts of so many tokens, each with its characters."""
    ids, offsets = tokens.ids, tokens.offsets
    for first in range(0, len(ids), PIECE_TOKENS):
        last = min(first + PIECE_TOKENS, len(ids))
        yield start + offsets[first][0], start + offsets[last - 1][1], ids[first:last]


def _edges(spans: Sequence[tuple[int, int]], raw: str) -> list[tuple[int, int]]:
    """Character ranges that leave nothing out: what stands between two sentences goes with the one before it."""
    if not spans:
        return [(0, len(raw))]
    starts = [0, *(start for start, _ in spans[1:])]
    return [(start, end) for start, end in zip(starts, [*starts[1:], len(raw)], strict=True) if raw[start:end].strip()]


def _consecutive(pieces: Sequence[Piece]) -> list[Window]:
    windows: list[Window] = []
    current: list[Piece] = []
    for piece in pieces:
        if current and sum(len(p.ids) for p in current) + len(piece.ids) > WINDOW_TOKENS:
            windows.append(Window.of(current))
            current = [current[-1]]
        current.append(piece)
    return [*windows, Window.of(current)] if current else windows
