"""A claim as the model reads it: a sentence of its own, without markers and markup, with measures as the sources write them."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import Final

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import GroundingTask
from stillme.grounding.restating import restated
from stillme.models import CLAIM_TOKENS, words

__all__ = ["ClaimPart", "claim_parts"]

# What may stand at the end of a claim and says nothing.
CLOSING: Final = frozenset(".,;:!?…。！？-–—()[]\"'“”‘’«»")


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """A claim, or a part of one that is longer than the model takes: its tokens and their characters in the draft."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def claim_parts(task: GroundingTask, claim: Claim) -> list[ClaimPart]:
    """What the claim says, without markers, markup and what leads in to it, in equal parts that the model can take."""
    said, places = _said(task, claim)
    encoded = words().encode(said)
    offsets = tuple((places[a][0], places[b - 1][1]) for a, b in encoded.offsets)
    count = math.ceil(len(encoded.ids) / CLAIM_TOKENS) or 1
    size = math.ceil(len(encoded.ids) / count) or 1
    starts = range(0, max(1, len(encoded.ids)), size)
    return [ClaimPart(encoded.ids[n : n + size], offsets[n : n + size]) for n in starts]


def _said(task: GroundingTask, claim: Claim) -> tuple[str, list[tuple[int, int]]]:
    """The claim as a sentence of its own, with a capital and a full stop, and for each character its place in the draft.

    However it was led in to or laid out, the model reads the same: what stands around a claim changes no verdict.
    """
    text, skipped = task.draft.text, task.draft.skipped
    tokens = [i for i in range(claim.first, claim.last) if i not in skipped]
    while tokens and (text.words[tokens[-1]].text in CLOSING or _decorates(text.words[tokens[-1]].text)):
        tokens.pop()
    otherwise = restated(task.draft.statements[claim.index], task.library)
    said, places, done = "", list[tuple[int, int]](), 0
    for n, i in enumerate(tokens):
        if i < done:
            continue
        plain, done = (otherwise[i].text, otherwise[i].last) if i in otherwise else (text.tokens[i], i + 1)
        start, end = text.starts[i], text.ends[done - 1]
        apart = n > 0 and (bool(text.gaps[i]) or tokens[n - 1] != i - 1)
        said += (" " if apart else "") + plain
        same = len(plain) == end - start
        places += [(start, start)] * apart
        places += [(start + k, start + k + 1) if same else (start, end) for k in range(len(plain))]
    opened = said[:1].upper() if len(said[:1].upper()) == 1 else said[:1]
    end = places[-1][1] if places else claim.end
    return f"{opened}{said[1:]} .", [*places, *[(end, end)] * 2]


def _decorates(text: str) -> bool:
    """Whether a token is a picture and no sign that belongs to a figure."""
    return bool(text) and text not in "°%" and unicodedata.category(text[0]) in ("So", "Sk", "Mn", "Cf")
