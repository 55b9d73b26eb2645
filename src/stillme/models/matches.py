"""Which tokens of a claim stand in a window, and which sentences of the window share most with it.

A model of this size does not learn by itself to look for the same word in two texts; told where the matches are, it learns to read what
stands around them. Both the training and the package compute them here, from tokens alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any, Final

__all__ = ["CLAIM_MARKS", "WINDOW_MARKS", "Matches", "matches_of"]

CLAIM_MARKS: Final = 6
"""For a token of the claim: whether it, the pair with the one before, the pair with the one after and the triple around it stand in the
window, and whether the best sentence and one of the next three have it."""
WINDOW_MARKS: Final = 5
"""For a token of the window: whether it, the pair with the one before and the pair with the one after stand in the claim, and whether it
stands in the best sentence or one of the next three."""
NEXT_BEST: Final = 3
NOTHING: Final = -1
NO_WORDS: Final = range(4)
"""Beginning, padding, end, and what the vocabulary does not have."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The marks of one claim against one window, as arrays of zeros and ones."""

    claim: Any
    window: Any


def matches_of(claim: Sequence[int], window: Sequence[int], sentences: Sequence[int]) -> Matches:
    """What matches, by folded tokens; `sentences` says for each token of the window which sentence it stands in."""
    import numpy  # noqa: PLC0415  (loaded with the model)

    ranks = _ranks(claim, window, sentences)
    best = {token for token, s in zip(window, sentences, strict=True) if ranks.get(s) == 0}
    next_best = {token for token, s in zip(window, sentences, strict=True) if 0 < ranks.get(s, 0) <= NEXT_BEST}
    of_claim = numpy.zeros((len(claim), CLAIM_MARKS), "float32")
    of_window = numpy.zeros((len(window), WINDOW_MARKS), "float32")
    _mark(of_claim, claim, window)
    for n, token in enumerate(claim):
        of_claim[n, 4:] = token in best, token in next_best
    _mark(of_window, window, claim)
    for n, s in enumerate(sentences):
        rank = ranks.get(s, NEXT_BEST + 1)
        of_window[n, 3:] = rank == 0, 0 < rank <= NEXT_BEST
    return Matches(of_claim, of_window)


def _mark(marks: Any, own: Sequence[int], other: Sequence[int]) -> None:
    """Into the first columns, which tokens, pairs and triples (where there is room) of one text stand in the other."""
    tokens, pairs = set(other).difference(NO_WORDS), set(pairwise(other))
    triples = set(zip(other, other[1:], other[2:], strict=False))
    edged = [NOTHING, *own, NOTHING]
    for n, (before, token, after) in enumerate(zip(edged, own, edged[2:], strict=False)):
        marks[n, 0] = token in tokens
        marks[n, 1] = (before, token) in pairs
        marks[n, 2] = (token, after) in pairs
        if marks.shape[1] == CLAIM_MARKS:
            marks[n, 3] = (before, token, after) in triples


def _ranks(claim: Sequence[int], window: Sequence[int], sentences: Sequence[int]) -> dict[int, int]:
    """The rank of each sentence by the rare tokens that it shares with the claim; none for those that share nothing."""
    held: dict[int, set[int]] = {}
    for token, sentence in zip(window, sentences, strict=True):
        if token not in NO_WORDS:
            held.setdefault(sentence, set()).add(token)
    wanted = {token: sum(token in tokens for tokens in held.values()) for token in set(claim)}
    weight = {token: log((1 + len(held)) / (0.5 + count)) for token, count in wanted.items() if count}
    shared = {s: sum(w for token, w in sorted(weight.items()) if token in tokens) for s, tokens in held.items()}
    order = sorted((s for s in shared if shared[s] > 0), key=lambda s: (-shared[s], s))
    return {s: rank for rank, s in enumerate(order)}
