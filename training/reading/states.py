"""What the lower layers that are not trained make of every window and claim, computed once and kept in half precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stillme.models.bundle import WEIGHTS
from stillme.models.grounding import CLAIM, WINDOW, WINDOW_START
from stillme.models.words import PAD
from training.encoder import HIDDEN_FROM
from training.reading.material import Read
from training.reading.model import LOWER, Reader

HALF = torch.bfloat16
TOKENS_AT_ONCE = 6000


class States:
    """The states of texts after the first `read` lower layers, by the key that each window and each claim is given."""

    def __init__(self, reader: Reader, read: int = LOWER) -> None:
        self._reader = reader
        self.read = read
        self._kept: list[Tensor] = []
        self._claims: dict[tuple[int, ...], int] = {}
        values, scales = np.load(WEIGHTS / "words.npy"), np.load(WEIGHTS / "scales.npy")
        self._table = torch.from_numpy(values.astype(np.float32) * scales[:, None]).to(HALF)

    def __getitem__(self, key: int) -> Tensor:
        return self._kept[key]

    def add(self, reads: Sequence[Read]) -> None:
        """Compute what is not there yet, and give every window and claim its key."""
        new = {
            tuple(asked.ids): CLAIM for read in reads for asked in read.asked if tuple(asked.ids) not in self._claims
        }
        texts: list[tuple[tuple[int, ...], int, Any]] = [(ids, kind, None) for ids, kind in new.items()]
        texts += [(tuple(read.ids), WINDOW, read) for read in reads]
        for some in _alike(sorted(texts, key=lambda text: len(text[0]))):
            for (ids, _, read), states in zip(some, self._lower([(ids, kind) for ids, kind, _ in some]), strict=True):
                self._kept.append(states[: len(ids)].clone())
                if read is None:
                    self._claims[ids] = len(self._kept) - 1
                else:
                    read.key = len(self._kept) - 1
        for read in reads:
            for asked in read.asked:
                asked.key = self._claims[tuple(asked.ids)]

    def _lower(self, texts: Sequence[tuple[tuple[int, ...], int]]) -> Tensor:
        longest = max(len(ids) for ids, _ in texts)
        ids = torch.full((len(texts), longest), PAD)
        for n, (text, _) in enumerate(texts):
            ids[n, : len(text)] = torch.tensor(text)
        kinds = torch.tensor([kind for _, kind in texts]).unsqueeze(1).expand_as(ids)
        positions = torch.arange(longest).unsqueeze(0) + torch.where(kinds == WINDOW, WINDOW_START, 0)
        bias = torch.where(ids == PAD, HIDDEN_FROM, 0.0)[:, None, None, :]
        with torch.no_grad(), torch.autocast("cpu", HALF):
            lower = self._reader.lower
            states = lower.norm(self._table[ids].float() + lower.position(positions) + lower.kind(kinds)).to(HALF)
            for layer in lower.layers[: self.read]:
                states = layer(states, bias.to(HALF))
            return states.to(HALF)


def _alike(texts: Sequence[tuple[tuple[int, ...], int, Any]]) -> Iterator[Sequence[tuple[tuple[int, ...], int, Any]]]:
    """Texts of like length, sorted by it, as many at once as memory likes."""
    at = 0
    while at < len(texts):
        size = max(1, TOKENS_AT_ONCE // len(texts[min(at + 64, len(texts) - 1)][0]))
        yield texts[at : at + size]
        at += size
