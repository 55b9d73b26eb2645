"""Score an answer against passages: claims by windows, the best window for each, the weakest claim for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from training.batches import Batch, Claim, Group, TextEncoder, collate, packed
from training.encoder import SUPPORTED, GroundingModel
from training.text import Span, sentences
from training.windows import consecutive, gather, joined

Floats = npt.NDArray[np.float32]
Forward = Callable[[Batch], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Place:
    """Which claim of which answer a claim of a group is, and where its tokens stand in the answer."""

    answer: int
    span: Span
    offsets: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A window with claims, and the place of each."""

    group: Group
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """The three logits of a claim against a window and one logit for each claim token."""

    place: Place
    logits: Floats
    tokens: Floats

    @property
    def margin(self) -> float:
        """The log odds of support."""
        lacking = np.logaddexp.reduce(np.delete(self.logits, SUPPORTED))
        return float(self.logits[SUPPORTED] - lacking)


def torch_forward(model: GroundingModel, table: torch.Tensor) -> Forward:
    """The forward pass of a torch model over a batch."""

    def forward(batch: Batch) -> tuple[Floats, Floats]:
        with torch.no_grad():
            claims, tokens = model(
                table[batch.ids], batch.positions, batch.segments, batch.groups, batch.claim_tokens, batch.claim_starts
            )
        return claims.numpy(), tokens.numpy()

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
class Reader:
    """Makes the windows that read an answer against all its passages."""

    encoder: TextEncoder
    all_windows: bool = True
    split_claims: bool = True
    _windows: dict[tuple[str, ...], list[tuple[int, ...]]] = field(default_factory=dict)

    def readings(self, number: int, answer: str, passages: Sequence[str]) -> list[Reading]:
        """All claims with the whole text when it fits; otherwise with every window, each also with its gathered one."""
        claims, places = self._claims(number, answer)
        found = self.encoder.sentences(passages)
        limit = self.encoder.limit
        if sum(s.tokens + 1 for s in found) <= limit:
            return [Reading(Group(self._ids(joined(found)), claims), places)] if claims else []
        made = [
            Reading(Group(self._ids(joined(gather(claim.text, found, limit))), (claim,)), (place,))
            for claim, place in zip(claims, places, strict=True)
        ]
        if self.all_windows and claims:
            windows = self._consecutive(tuple(passages))
            made += [Reading(Group(window, claims), places) for window in windows]
        return made

    def _claims(self, number: int, answer: str) -> tuple[tuple[Claim, ...], tuple[Place, ...]]:
        spans = claims_of(answer) if self.split_claims else [(0, len(answer))]
        claims, places = [], []
        for start, end in spans:
            encoded = self.encoder.tokenizer.encode(answer[start:end])
            kept = self.encoder.claim_limit
            claims.append(Claim(answer[start:end], tuple(encoded.ids[:kept])))
            offsets = tuple((start + a, start + b) for a, b in encoded.offsets[:kept])
            places.append(Place(number, (start, end), offsets))
        return tuple(claims), tuple(places)

    def _consecutive(self, passages: tuple[str, ...]) -> list[tuple[int, ...]]:
        if passages not in self._windows:
            windows = consecutive(self.encoder.sentences(passages), self.encoder.limit)
            self._windows[passages] = [self._ids(joined(window)) for window in windows]
        return self._windows[passages]

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self.encoder.tokenizer.encode(text).ids[: self.encoder.limit])


def shared(readings: Sequence[Reading], most: int = 400) -> list[Reading]:
    """The same readings with equal windows read once, for up to `most` claim tokens together."""
    asked: dict[tuple[int, ...], list[tuple[Claim, Place]]] = {}
    for reading in readings:
        asked.setdefault(reading.group.window, []).extend(zip(reading.group.claims, reading.places, strict=True))
    made: list[Reading] = []
    for window, pairs in asked.items():
        current: list[tuple[Claim, Place]] = []
        for pair in pairs:
            if current and sum(len(claim.ids) + 2 for claim, _ in [*current, pair]) > most:
                made.append(_reading(window, current))
                current = []
            current.append(pair)
        made.append(_reading(window, current))
    return made


def _reading(window: tuple[int, ...], pairs: Sequence[tuple[Claim, Place]]) -> Reading:
    return Reading(Group(window, tuple(claim for claim, _ in pairs)), tuple(place for _, place in pairs))


def score_readings(forward: Forward, readings: Sequence[Reading], row: int = 512, rows: int = 4) -> list[ClaimScore]:
    """The scores of all claims of all readings, packed into rows of about `row` tokens."""
    together = shared(readings)
    reading_of = {id(reading.group): reading for reading in together}
    long = [[reading.group] for reading in together if len(reading.group) > row]
    packs = packed([reading.group for reading in together if len(reading.group) <= row], row)
    packs = sorted([*long, *packs], key=lambda pack: sum(map(len, pack)))
    scores: list[ClaimScore] = []
    for start in range(0, len(packs), rows):
        chosen = packs[start : start + rows]
        batch = collate(chosen)
        claims, tokens = forward(batch)
        flat = tokens.reshape(-1)
        places = [place for pack in chosen for group in pack for place in reading_of[id(group)].places]
        for place, logits, at in zip(places, claims, batch.claim_starts.tolist(), strict=True):
            scores.append(ClaimScore(place, logits, flat[at + 1 : at + 1 + len(place.offsets)]))
    return scores


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The log odds of support of the weakest claim, and the answer's unsupported spans."""

    margin: float
    spans: tuple[Span, ...]


def best_readings(scores: Sequence[ClaimScore]) -> list[ClaimScore]:
    """For each claim of an answer the score of the window that supports it most."""
    best: dict[Span, ClaimScore] = {}
    for score in scores:
        span = score.place.span
        if span not in best or score.margin > best[span].margin:
            best[span] = score
    return [best[span] for span in sorted(best)]


def combine(scores: Sequence[ClaimScore], claim_threshold: float = 0.0, token_threshold: float = 0.0) -> AnswerScore:
    """The best window speaks for a claim, the weakest claim for the answer."""
    best = best_readings(scores)
    marked: list[Span] = []
    for score in best:
        if score.margin < claim_threshold:
            marked += marked_spans(score, token_threshold)
    margin = min((score.margin for score in best), default=0.0)
    return AnswerScore(margin, tuple(marked))


def marked_spans(score: ClaimScore, threshold: float) -> list[Span]:
    """The characters whose tokens score above the threshold, neighbours joined."""
    return _merged([o for o, t in zip(score.place.offsets, score.tokens, strict=True) if t > threshold])


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
