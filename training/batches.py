"""Turn examples into packed rows: windows with their claims, in an order that a seed fixes."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.examples import LABELS, SUPPORTED, Example
from training.vocabulary import BOS, EOS, PAD
from training.windows import Sentence, gather, joined, split

NO_TOKEN_LABEL = -1
PIECE_LIMIT = 96
MOST_CLAIMS = 10
CLAIM_LIMIT = 110
WINDOW_LIMIT = 398
# Claim and window have positions of their own, as if each claim stood before the window.
WINDOW_START = CLAIM_LIMIT + 2


@dataclass(frozen=True, slots=True)
class Claim:
    """The ids of a claim and what the heads should say of it."""

    text: str
    ids: tuple[int, ...]
    label: int = 0
    token_labels: tuple[int, ...] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Bundle:
    """All claims of a set over the same passages."""

    dataset: str
    passages: tuple[str, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The ids of a window and the claims read with it."""

    window: tuple[int, ...]
    claims: tuple[Claim, ...]

    def __len__(self) -> int:
        return len(self.window) + 2 + sum(len(claim.ids) + 2 for claim in self.claims)


@dataclass(frozen=True, slots=True)
class Batch:
    """Packed rows; `claim_tokens` are places in a row, `claim_starts` places among all claim tokens."""

    ids: Tensor
    positions: Tensor
    segments: Tensor
    groups: Tensor
    claim_tokens: Tensor
    claim_starts: Tensor
    labels: Tensor
    weights: Tensor
    token_labels: Tensor


@dataclass(slots=True)
class TextEncoder:
    """Encodes claims and windows."""

    tokenizer: Tokenizer
    limit: int = WINDOW_LIMIT
    claim_limit: int = CLAIM_LIMIT
    _counts: dict[str, int] = field(default_factory=dict)
    _sentences: dict[tuple[str, ...], list[Sentence]] = field(default_factory=dict)

    def count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = len(self.tokenizer.encode(text).ids)
        return self._counts[text]

    def sentences(self, passages: Sequence[str]) -> list[Sentence]:
        """The passages' sentences, in pieces that fit any window."""
        key = tuple(passages)
        if key not in self._sentences:
            self._sentences[key] = split(key, self.count, PIECE_LIMIT)
        return self._sentences[key]

    def claim(self, example: Example) -> Claim:
        """The claim of an example with its labels."""
        encoded = self.tokenizer.encode(example.claim)
        return Claim(
            text=example.claim,
            ids=tuple(encoded.ids[: self.claim_limit]),
            label=LABELS.index(example.label),
            token_labels=_token_labels(example, encoded.offsets[: self.claim_limit]),
        )

    def window(self, text: str, passages: Sequence[str], limit: int | None = None) -> tuple[int, ...]:
        """The window of at most `limit` tokens that bears most on `text`."""
        limit = limit or self.limit
        chosen = gather(text, self.sentences(passages), limit)
        return tuple(self.tokenizer.encode(joined(chosen)).ids[:limit])


def _token_labels(example: Example, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    if example.spans is None:
        return None
    return tuple(
        int(any(start < span_end and span_start < end for span_start, span_end in example.spans))
        for start, end in offsets
    )


def chance_of(text: str, salt: str) -> float:
    """A number in [0, 1) that the text and the salt fix."""
    digest = hashlib.sha256(f"{salt}-{text}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def side_weights(found: Iterable[Example], families: dict[str, str]) -> dict[tuple[str, bool], float]:
    """The weight of each side of a set, so that both sides of a family weigh the same within limits."""
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    sets: set[str] = set()
    for example in found:
        counts[families.get(example.dataset, example.dataset), example.label == SUPPORTED] += 1
        sets.add(example.dataset)
    weights = {}
    for dataset in sets:
        family = families.get(dataset, dataset)
        total = counts[family, True] + counts[family, False]
        for side in (True, False):
            share = counts[family, side] / total
            weights[dataset, side] = min(3.0, 0.5 / share) if 0 < share < 1 else 1.0
    return weights


def bundled(found: Sequence[Example], encoder: TextEncoder, families: dict[str, str]) -> list[Bundle]:
    """The examples, encoded and brought together by set and passages; a few in lower case."""
    weights = side_weights(found, families)
    claims: dict[tuple[str, tuple[str, ...]], list[Claim]] = defaultdict(list)
    for example in found:
        claim = encoder.claim(example)
        weight = weights[example.dataset, example.label == SUPPORTED]
        weighed = Claim(claim.text, claim.ids, claim.label, claim.token_labels, weight)
        claims[example.dataset, example.passages].append(weighed)
    return [Bundle(dataset, passages, tuple(made)) for (dataset, passages), made in claims.items()]


def drawn(bundles: Sequence[Bundle], quotas: dict[str, int], chance: random.Random) -> list[Bundle]:
    """Bundles at random until each set's quota of claims is filled, none twice before all were drawn."""
    pools: dict[str, list[Bundle]] = defaultdict(list)
    for bundle in bundles:
        pools[bundle.dataset].append(bundle)
    sample: list[Bundle] = []
    for dataset, quota in sorted(quotas.items()):
        left: list[Bundle] = []
        while quota > 0 and pools[dataset]:
            left = left or chance.sample(pools[dataset], len(pools[dataset]))
            bundle = left.pop()
            chosen = chance.sample(bundle.claims, min(MOST_CLAIMS, len(bundle.claims)))
            sample.append(Bundle(dataset, bundle.passages, tuple(chosen)))
            quota -= len(chosen)
    return sample


def groups_of(bundle: Bundle, encoder: TextEncoder, row: int, chance: random.Random) -> Iterator[Group]:
    """A bundle as windows with claims; few claims share a window that cannot hold all the passages."""
    whole = sum(s.tokens for s in encoder.sentences(bundle.passages)) <= encoder.limit
    most = MOST_CLAIMS if whole else 2
    for claims in _shared(bundle.claims, most, row // 2):
        room = min(encoder.limit, row - 2 - sum(len(claim.ids) + 2 for claim in claims))
        if len(claims) == 1:
            least = min(room, PIECE_LIMIT + 15 + len(claims[0].ids))
            room = chance.randint(least, room)
        yield Group(encoder.window(" ".join(claim.text for claim in claims), bundle.passages, room), claims)


def _shared(claims: Sequence[Claim], most: int, tokens: int) -> Iterator[tuple[Claim, ...]]:
    current: list[Claim] = []
    for claim in claims:
        used = sum(len(c.ids) + 2 for c in current) + len(claim.ids) + 2
        if current and (len(current) == most or used > tokens):
            yield tuple(current)
            current = []
        current.append(claim)
    if current:
        yield tuple(current)


def packed(groups: Sequence[Group], row: int) -> list[list[Group]]:
    """Rows of at most `row` tokens, the longest groups placed first."""
    rows: list[list[Group]] = []
    room: list[int] = []
    for group in sorted(groups, key=len, reverse=True):
        place = next((i for i, left in enumerate(room) if left >= len(group)), None)
        if place is None:
            rows.append([group])
            room.append(row - len(group))
        else:
            rows[place].append(group)
            room[place] -= len(group)
    return rows


def stream(
    bundles: Sequence[Bundle], quotas: dict[str, int], encoder: TextEncoder, seed: int, row: int, rows: int
) -> Iterator[list[list[Group]]]:
    """Batches of packed rows without end; each round draws anew."""
    for turn in range(1_000_000):
        chance = random.Random(f"{seed}-{turn}")
        sample = drawn(bundles, quotas, chance)
        chance.shuffle(sample)
        for start in range(0, len(sample), 256):
            groups = [g for bundle in sample[start : start + 256] for g in groups_of(bundle, encoder, row, chance)]
            made = packed(groups, row)
            chance.shuffle(made)
            yield from (made[place : place + rows] for place in range(0, len(made), rows))


def collate(rows: Sequence[Sequence[Group]]) -> Batch:
    """The tensors of packed rows; padding has group 0 and is seen by nothing else."""
    length = max(sum(len(group) for group in row) for row in rows)
    asked = max(sum(len(claim.ids) + 2 for group in row for claim in group.claims) for row in rows)
    ids = torch.full((len(rows), length), PAD)
    positions, segments, groups = (torch.zeros((len(rows), length), dtype=torch.long) for _ in range(3))
    claim_tokens = torch.zeros((len(rows), asked), dtype=torch.long)
    token_labels = torch.full((len(rows), asked), NO_TOKEN_LABEL)
    starts: list[int] = []
    for place, row in enumerate(rows):
        at = asked_at = 0
        for number, group in enumerate(row, 1):
            for segment, piece in enumerate((group.window, *(claim.ids for claim in group.claims))):
                end = at + len(piece) + 2
                ids[place, at:end] = torch.tensor((BOS, *piece, EOS))
                first = 0 if segment else WINDOW_START
                positions[place, at:end] = torch.arange(first, first + len(piece) + 2)
                segments[place, at:end] = segment
                groups[place, at:end] = number
                if segment:
                    claim_tokens[place, asked_at : asked_at + len(piece) + 2] = torch.arange(at, end)
                    starts.append(place * asked + asked_at)
                    marks = group.claims[segment - 1].token_labels
                    if marks is not None:
                        token_labels[place, asked_at + 1 : asked_at + 1 + len(piece)] = torch.tensor(marks)
                    asked_at += len(piece) + 2
                at = end
    claims = [claim for row in rows for group in row for claim in group.claims]
    return Batch(
        ids, positions, segments, groups, claim_tokens, torch.tensor(starts),
        torch.tensor([claim.label for claim in claims]), torch.tensor([claim.weight for claim in claims]), token_labels,
    )  # fmt: skip
