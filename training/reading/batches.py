"""Windows with their claims as tensors, several at a time."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from stillme.models.matches import CLAIM_MARKS, WINDOW_MARKS
from stillme.models.words import PAD
from training.examples import LABELS, NOT_SUPPORTED, UNSUPPORTED
from training.reading.material import FOLD, UNKNOWN, Asked, Read, marked, with_some_made
from training.reading.model import Rows
from training.reading.states import HALF, States

Pair = tuple[Read, Read | None]
POOLED = 32
OTHERS_POOLED = 1024
WINDOW_TOKENS_AT_ONCE = 2400
MOST_OTHERS, LEAST_OTHERS = 32, 2
STRANGE_CLAIMS = 5
# How many of the claims that are made of others a document has in one epoch.
MOST_MADE = 7


@dataclass(frozen=True, slots=True)
class Batch:
    """What the reader takes, and what it should say: of each claim a label and its weight, of each token whether it lacks support."""

    rows: Rows
    texts: Tensor
    """For each row the first row whose claims begin with its own: those of a document in its second world."""
    labels: Tensor
    weights: Tensor
    token_labels: Tensor


@dataclass(frozen=True, slots=True)
class Step:
    """Windows that are read at once; `worlds` are the places of the same claims in two worlds."""

    reads: list[Read]
    worlds: list[tuple[int, int]]


def collated(reads: Sequence[Read], states: States) -> Batch:
    """The tensors of some windows and all that is asked of them, padded."""
    b, c = len(reads), max(len(read.asked) for read in reads)
    x, w = max(sum(len(asked.ids) for asked in read.asked) for read in reads), max(len(read.ids) for read in reads)
    longest = max(len(asked.ids) for read in reads for asked in read.asked)
    hidden = states[reads[0].key].shape[-1]
    rows = Rows(
        window_states=torch.zeros(b, w, hidden, dtype=HALF), window_ids=torch.full((b, w), PAD),
        states=torch.zeros(b, x, hidden, dtype=HALF), ids=torch.full((b, x), PAD), owners=torch.full((b, x), UNKNOWN),
        marks=torch.zeros(b, x, CLAIM_MARKS), window_marks=torch.zeros(b, c, WINDOW_MARKS, w),
        is_question=torch.zeros(b, c, dtype=torch.bool), places=torch.full((b, c, longest), UNKNOWN),
    )  # fmt: skip
    batch = Batch(rows, _texts(reads), torch.full((b, c), UNKNOWN), torch.zeros(b, c), torch.full((b, x), UNKNOWN))
    for row, read in enumerate(reads):
        rows.window_states[row, : len(read.ids)] = states[read.key]
        rows.window_ids[row, : len(read.ids)] = torch.from_numpy(FOLD[read.ids])
        _fill(batch, row, read, states)
    return batch


def _texts(reads: Sequence[Read]) -> Tensor:
    first: list[int] = []
    for n, read in enumerate(reads):
        before = reads[n - 1] if n else None
        keys = [asked.key for asked in read.asked]
        shares = before is not None and [asked.key for asked in before.asked[: len(keys)]] == keys
        first.append(first[-1] if shares else n)
    return torch.tensor(first)


def _fill(batch: Batch, row: int, read: Read, states: States) -> None:
    """Put what is asked of a window into its row."""
    rows, start = batch.rows, 0
    for number, (asked, (of_claim, of_window)) in enumerate(zip(read.asked, read.marks, strict=True)):
        size = len(asked.ids)
        at = slice(start, start + size)
        rows.states[row, at] = states[asked.key]
        rows.ids[row, at] = torch.from_numpy(FOLD[asked.ids])
        rows.owners[row, at] = number
        rows.marks[row, at] = torch.from_numpy(of_claim)
        rows.window_marks[row, number, :, : len(read.ids)] = torch.from_numpy(of_window.T)
        rows.is_question[row, number] = asked.is_question
        rows.places[row, number, :size] = torch.arange(start, start + size)
        batch.labels[row, number], batch.weights[row, number] = asked.label, asked.weight
        if asked.tokens is not None:
            batch.token_labels[row, at] = torch.tensor(asked.tokens)
        start += size


def epoch(
    documents: Sequence[Pair], others: Sequence[Read], size: int, wanted: int, chance: random.Random
) -> list[Step]:
    """Every written document once, `size` at a time, and `wanted` windows of other sets, those of like length together."""
    steps = [*_written(chance.sample(documents, len(documents)), size, chance)]
    steps += _of_others(chance.sample(others, min(len(others), wanted)))
    chance.shuffle(steps)
    return steps


def _written(documents: Sequence[Pair], size: int, chance: random.Random) -> Iterator[Step]:
    for start in range(0, len(documents), POOLED * size):
        pool = sorted(documents[start : start + POOLED * size], key=lambda pair: len(pair[0].ids))
        for at in range(0, len(pool), size):
            step = Step([], [])
            for pair in pool[at : at + size]:
                one, other = with_some_made(pair, MOST_MADE, chance)
                if other is not None:
                    step.worlds.append((len(step.reads), len(step.reads) + 1))
                step.reads.extend(read for read in (one, other) if read is not None)
            yield step


def _of_others(others: Sequence[Read]) -> Iterator[Step]:
    for start in range(0, len(others), OTHERS_POOLED):
        pool = sorted(others[start : start + OTHERS_POOLED], key=lambda read: len(read.ids))
        at = 0
        while at < len(pool):
            size = max(LEAST_OTHERS, min(MOST_OTHERS, WINDOW_TOKENS_AT_ONCE // len(pool[at].ids)))
            yield Step(pool[at : at + size], [])
            at += size


def estranged(step: Step, chance: random.Random) -> Step:
    """Claims of each document against the window of another one, two places on: none of them is supported."""
    strange = []
    if len({read.document for read in step.reads}) == 1:
        return step
    for read, other in zip(step.reads, step.reads[2:] + step.reads[:2], strict=True):
        claims = [a for a in read.asked if not a.is_question and a.label != LABELS.index(NOT_SUPPORTED)]
        chosen = chance.sample(claims, min(STRANGE_CLAIMS, len(claims)))
        label = LABELS.index(UNSUPPORTED)
        made = Read(
            other.ids, other.sentences, [Asked(a.ids, label, key=a.key) for a in chosen], read.lang, key=other.key
        )
        marked(made)
        strange.append(made)
    return Step(strange, [])
