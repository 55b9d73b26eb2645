"""Score an answer against passages: sentences by windows, the best window for each, the worst sentence for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from training.batches import PairEncoder, pair_ids
from training.encoder import SUPPORTED, GroundingModel
from training.text import Span, sentences
from training.vocabulary import PAD
from training.windows import consecutive, gather, joined

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Forward = Callable[[Ints, Ints, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim (its place in the answer) and one window."""

    answer: int
    span: Span
    claim_ids: tuple[int, ...]
    offsets: tuple[Span, ...]
    window_ids: tuple[int, ...]
    gathered: bool


@dataclass(frozen=True, slots=True)
class PairScore:
    """The three logits of a pair and one logit for each claim token."""

    pair: Pair
    logits: Floats
    tokens: Floats

    @property
    def margin(self) -> float:
        """The log odds of support."""
        lacking = np.logaddexp.reduce(np.delete(self.logits, SUPPORTED))
        return float(self.logits[SUPPORTED] - lacking)


def torch_forward(model: GroundingModel) -> Forward:
    """The forward pass of a torch model over arrays."""

    def forward(ids: Ints, kinds: Ints, mask: Floats) -> tuple[Floats, Floats]:
        with torch.no_grad():
            claim, tokens = model(torch.from_numpy(ids), torch.from_numpy(kinds), torch.from_numpy(mask))
        return claim.numpy(), tokens.numpy()

    return forward


def claims_of(answer: str, least: int = 25) -> list[Span]:
    """The sentences of an answer; a very short one goes with the one before it."""
    spans: list[Span] = []
    for start, end in sentences(answer):
        if spans and end - start < least:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


@dataclass(slots=True)
class PairMaker:
    """Makes the pairs that read an answer against all its passages."""

    tokenizer: Tokenizer
    limit: int = 256
    claim_limit: int = 96
    all_windows: bool = True
    split_claims: bool = True

    def pairs(self, number: int, answer: str, passages: Sequence[str]) -> list[Pair]:
        encoder = PairEncoder(self.tokenizer, self.limit, self.claim_limit)
        found = encoder.sentences(passages)
        spans = claims_of(answer) if self.split_claims else [(0, len(answer))]
        made: list[Pair] = []
        for start, end in spans:
            claim = answer[start:end]
            encoded = self.tokenizer.encode(claim)
            claim_ids = tuple(encoded.ids[: self.claim_limit])
            offsets = tuple((start + a, start + b) for a, b in encoded.offsets[: self.claim_limit])
            room = self.limit - 3 - len(claim_ids)
            windows = [gather(claim, found, room)]
            if self.all_windows and len(windows[0]) < len(found):
                windows += consecutive(found, room)
            for place, window in enumerate(windows):
                ids = tuple(self.tokenizer.encode(joined(window)).ids[:room])
                made.append(Pair(number, (start, end), claim_ids, offsets, ids, place == 0))
        return made


def score_pairs(forward: Forward, pairs: Sequence[Pair], size: int = 16) -> list[PairScore]:
    """Score pairs in batches of similar length; the order of the result is that of `pairs`."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].claim_ids) + len(pairs[i].window_ids))
    scores: dict[int, PairScore] = {}
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        ids, kinds, mask = _arrays([pairs[i] for i in chosen])
        claim, tokens = forward(ids, kinds, mask)
        for row, index in enumerate(chosen):
            length = len(pairs[index].claim_ids)
            scores[index] = PairScore(pairs[index], claim[row], tokens[row, 1 : 1 + length])
    return [scores[index] for index in range(len(pairs))]


def _arrays(pairs: Sequence[Pair]) -> tuple[Ints, Ints, Floats]:
    rows = [pair_ids(pair.claim_ids, pair.window_ids) for pair in pairs]
    length = max(len(row) for row in rows)
    ids = np.full((len(rows), length), PAD, np.int64)
    kinds = np.zeros((len(rows), length), np.int64)
    mask = np.zeros((len(rows), length), np.float32)
    for place, (row, pair) in enumerate(zip(rows, pairs, strict=True)):
        ids[place, : len(row)] = row
        kinds[place, len(pair.claim_ids) + 2 : len(row)] = 1
        mask[place, : len(row)] = 1
    return ids, kinds, mask


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The log odds of support of the weakest claim, and the answer's unsupported spans."""

    margin: float
    spans: tuple[Span, ...]


def combine(scores: Sequence[PairScore], claim_threshold: float = 0.0, token_threshold: float = 0.0) -> AnswerScore:
    """The best window speaks for a claim, the weakest claim for the answer."""
    best: dict[Span, PairScore] = {}
    for score in scores:
        span = score.pair.span
        if span not in best or score.margin > best[span].margin:
            best[span] = score
    marked: list[Span] = []
    for score in best.values():
        if score.margin < claim_threshold:
            marked += [o for o, t in zip(score.pair.offsets, score.tokens, strict=True) if t > token_threshold]
    margin = min((score.margin for score in best.values()), default=0.0)
    return AnswerScore(margin, tuple(_merged(marked)))


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
