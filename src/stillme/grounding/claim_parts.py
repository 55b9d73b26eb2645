"""A claim as the model reads it: a sentence of its own, without markers and markup, with measures as the sources write them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import GroundingTask
from stillme.grounding.restating import restated
from stillme.grounding.statements import Reading
from stillme.grounding.working import asked_figures
from stillme.languages import has, word_set
from stillme.models import CLAIM_TOKENS, words
from stillme.text.tokens import Text

__all__ = ["ClaimPart", "claim_parts"]

MARKER_ENDS: Final = frozenset("])】")
# A clause of fewer words says too little to be judged alone.
LEAST_WORDS: Final = 4
# What may stand at the end of a claim and says nothing.
CLOSING: Final = frozenset(".,;:!?…。！？-–—()[]\"'“”‘’«»")


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """A claim, or a part of one that is longer than the model takes: its tokens and their characters in the draft."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def claim_parts(task: GroundingTask, claim: Claim) -> list[ClaimPart]:
    """What the claim says, without markers, markup and what leads in to it: its clauses, in parts that the model can take."""
    return [part for tokens in _clauses(task, claim) for part in _parts(*_said(task, claim, tokens))]


def _parts(said: str, places: Sequence[tuple[int, int]]) -> Iterator[ClaimPart]:
    """A text in equal parts that the model can take."""
    encoded = words().encode(said)
    offsets = tuple((places[a][0], places[b - 1][1]) for a, b in encoded.offsets)
    count = math.ceil(len(encoded.ids) / CLAIM_TOKENS) or 1
    size = math.ceil(len(encoded.ids) / count) or 1
    for n in range(0, max(1, len(encoded.ids)), size):
        yield ClaimPart(encoded.ids[n : n + size], offsets[n : n + size])


def _clauses(task: GroundingTask, claim: Claim) -> list[list[int]]:
    """The tokens of each clause that says something of its own: two short claims are read better than a long one."""
    text, skipped = task.draft.text, task.draft.skipped
    clauses: list[list[int]] = [[]]
    for i in range(claim.first, claim.last):
        if (
            _opens_clause(task.draft, i, claim.last)
            and _is_long(text, clauses[-1])
            and _is_long(text, range(i, claim.last))
        ):
            clauses.append([])
        if i not in skipped and (clauses[-1] or len(clauses) == 1 or not _joins(text, i)):
            clauses[-1].append(i)
    return clauses


def _opens_clause(draft: Reading, at: int, last: int) -> bool:
    """Whether a clause begins here: at a semicolon, or with two of a citation before, a comma, and a word that sets things side by side."""
    text = draft.text
    if text.tokens[at] == ";":
        return True
    is_cited = at - 1 in draft.skipped and text.tokens[at - 1] in MARKER_ENDS
    first = at + (text.tokens[at] == ",")
    joined = first < last and _is_joint(text, first, "clause_joints", *(["parting"] if is_cited else []))
    signs = (is_cited, first > at, joined)
    return sum(signs) > 1 and first + joined < last and _may_be_subject(draft, first + joined)


def _may_be_subject(draft: Reading, at: int) -> bool:
    """Whether a clause can begin with a word; where verbs do not tell, any word may."""
    word = draft.text.words[at]
    if word.capital or word.number or has(draft.language, "accents"):
        return True
    return word.lower in word_set("grammar", "determiners") | word_set("grammar", "pronouns")


def _is_joint(text: Text, at: int, *lists: str) -> bool:
    return any(text.lowers[at] in word_set("grammar", name) for name in lists)


def _joins(text: Text, at: int) -> bool:
    """Whether a token only leads in to a clause."""
    return not text.words[at].word or _is_joint(text, at, "clause_joints", "parting")


def _is_long(text: Text, tokens: Iterable[int]) -> bool:
    return sum(text.words[i].word for i in tokens) >= LEAST_WORDS


def _said(task: GroundingTask, claim: Claim, tokens: list[int]) -> tuple[str, list[tuple[int, int]]]:
    """Tokens as a sentence of its own, with a capital and a full stop, and for each character its place in the draft.

    However it was led in to or laid out, the model reads the same: what stands around a claim changes no verdict.
    """
    text = task.draft.text
    while tokens and (text.words[tokens[-1]].text in CLOSING or _decorates(text.words[tokens[-1]].text)):
        tokens = tokens[:-1]
    otherwise = restated(task.draft.statements[claim.index], task.library, asked_figures(task.query))
    said, places, done = "", list[tuple[int, int]](), 0
    for n, i in enumerate(tokens):
        if i < done:
            continue
        plain, done = (otherwise[i].text, otherwise[i].last) if i in otherwise else (text.tokens[i], i + 1)
        start, end = text.starts[i], text.ends[done - 1]
        apart = n > 0 and plain != "" and (bool(text.gaps[i]) or tokens[n - 1] != i - 1)
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
