"""Turn examples into padded batches of similar length, in an order that a seed fixes."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.examples import LABELS, SUPPORTED, Example
from training.vocabulary import BOS, EOS, PAD
from training.windows import Sentence, gather, joined, split

NO_TOKEN_LABEL = -1
PIECE_LIMIT = 96


@dataclass(frozen=True, slots=True)
class Encoded:
    """The ids of a claim and a window, and what the heads should say."""

    dataset: str
    label: int
    ids: tuple[int, ...]
    claim_length: int
    token_labels: tuple[int, ...] | None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded tensors; token labels are -1 wherever no loss is due."""

    ids: Tensor
    kinds: Tensor
    mask: Tensor
    labels: Tensor
    token_labels: Tensor


def pair_ids(claim: Sequence[int], window: Sequence[int]) -> tuple[int, ...]:
    """The layout the model reads: claim and window, each closed, behind one opening mark."""
    return (BOS, *claim, EOS, *window, EOS)


@dataclass(slots=True)
class PairEncoder:
    """Encodes claim and gathered window within `limit` tokens."""

    tokenizer: Tokenizer
    limit: int = 256
    claim_limit: int = 96
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

    def room(self, claim_length: int, limit: int) -> int:
        """The tokens left for the window; never so few that the evidence for a long claim is cut."""
        most = self.limit - 3 - claim_length
        return max(limit - 3 - claim_length, min(PIECE_LIMIT + 15 + claim_length, most))

    def encode(self, example: Example, limit: int | None = None) -> Encoded:
        limit = limit or self.limit
        claim = self.tokenizer.encode(example.claim)
        claim_ids = claim.ids[: self.claim_limit]
        room = self.room(len(claim_ids), limit)
        chosen = gather(example.claim, self.sentences(example.passages), room)
        ids = pair_ids(claim_ids, self.tokenizer.encode(joined(chosen)).ids[:room])
        return Encoded(
            dataset=example.dataset,
            label=LABELS.index(example.label),
            ids=ids,
            claim_length=len(claim_ids),
            token_labels=_token_labels(example, claim.offsets[: self.claim_limit]),
        )


def chance_of(example: Example, salt: str) -> float:
    """A number in [0, 1) that the example's id and the salt fix."""
    digest = hashlib.sha256(f"{salt}-{example.id}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def thinned(found: Iterable[Example], quotas: dict[str, int]) -> Iterator[Example]:
    """Of each set about three times its quota, chosen by id: enough for rounds that differ."""
    pools: dict[str, list[Example]] = defaultdict(list)
    for example in found:
        pools[example.dataset].append(example)
    for dataset, pool in sorted(pools.items()):
        share = 3 * quotas.get(dataset, 0) / len(pool)
        yield from (example for example in pool if chance_of(example, "thin") < share)


def varied(example: Example, limit: int) -> tuple[Example, int]:
    """Some examples in lower case, and windows of many lengths, so that neither tells the label."""
    if chance_of(example, "case") < 0.06:
        lowered = tuple(passage.lower() for passage in example.passages)
        if all(len(p) == len(q) for p, q in zip(lowered, example.passages, strict=True)):
            example = replace(example, claim=example.claim.lower(), passages=lowered)
    return example, int(limit * (0.4 + 0.6 * chance_of(example, "limit")))


def _token_labels(example: Example, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    if example.spans is None:
        return None
    return tuple(
        int(any(start < span_end and span_start < end for span_start, span_end in example.spans))
        for start, end in offsets
    )


def collate(items: Sequence[Encoded]) -> Batch:
    """Pad items to the longest of them."""
    length = max(len(item) for item in items)
    ids = torch.full((len(items), length), PAD)
    kinds = torch.zeros((len(items), length), dtype=torch.long)
    mask = torch.zeros((len(items), length))
    token_labels = torch.full((len(items), length), NO_TOKEN_LABEL)
    for row, item in enumerate(items):
        ids[row, : len(item)] = torch.tensor(item.ids)
        kinds[row, item.claim_length + 2 : len(item)] = 1
        mask[row, : len(item)] = 1
        if item.token_labels is not None:
            token_labels[row, 1 : 1 + item.claim_length] = torch.tensor(item.token_labels)
    labels = torch.tensor([item.label for item in items])
    return Batch(ids, kinds, mask, labels, token_labels)


def drawn(items: Sequence[Encoded], quotas: dict[str, int], seed: int) -> list[Encoded]:
    """A sample with each set's quota, half of it supported where the set has both labels."""
    chance = random.Random(seed)
    pools: dict[tuple[str, bool], list[Encoded]] = defaultdict(list)
    for item in items:
        pools[item.dataset, LABELS[item.label] == SUPPORTED].append(item)
    sample: list[Encoded] = []
    for dataset, quota in sorted(quotas.items()):
        present = [key for key in ((dataset, True), (dataset, False)) if pools[key]]
        for key in present:
            pool = sorted(pools[key], key=lambda _: chance.random())
            sample += pool[: quota // len(present)]
    return sample


def stream(
    items: Sequence[Encoded], quotas: dict[str, int], seed: int, size: int = 16, tokens: int = 3072
) -> Iterator[list[Encoded]]:
    """Batches without end: each round draws anew, sorts pools by length and shuffles the batches."""
    for turn in range(1_000_000):
        chance = random.Random(f"{seed}-{turn}")
        sample = drawn(items, quotas, chance.getrandbits(32))
        chance.shuffle(sample)
        batches: list[list[Encoded]] = []
        for start in range(0, len(sample), 1024):
            batches += _cut(sorted(sample[start : start + 1024], key=len), size, tokens)
        chance.shuffle(batches)
        yield from batches


def _cut(items: Sequence[Encoded], size: int, tokens: int) -> Iterator[list[Encoded]]:
    current: list[Encoded] = []
    for item in items:
        if current and (len(current) == size or (len(current) + 1) * len(item) > tokens):
            yield current
            current = []
        current.append(item)
    if current:
        yield current
