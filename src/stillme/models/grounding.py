"""The grounding model: one window of passages and several claims in, three logits a claim and one a token out.

Inside the model a window sees only itself and a claim only itself and its window: a score does not depend on the other claims.
Each window is a pass of its own, so it does not depend on the batch at all. Scores are rounded to what they are worth, so that the
order of additions in a longer or shorter row hardly ever shows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any, Final

from stillme.models import bundle
from stillme.models.bundle import loaded_once, manifest, session
from stillme.models.recent import Recent
from stillme.models.words import END, START, words
from stillme.stopping import watched

__all__ = [
    "CLAIM_TOKENS", "WINDOW_TOKENS", "GroundingModel", "Group", "Scored", "grounding_model", "model_id", "thresholds",
]  # fmt: skip

WINDOW_TOKENS: Final = 398
CLAIM_TOKENS: Final = 110
WINDOW_START: Final = 112
DECIMALS: Final = 2
MOST_REMEMBERED: Final = 1024
FILE: Final = "grounding.onnx"
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A window and the claims that are read against it, as tokens."""

    window: Tokens
    claims: tuple[Tokens, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model says of one claim against one window."""

    supported: float
    contradicted: float
    unsupported: float
    tokens: tuple[float, ...]
    """For each token of the claim how much it lacks support."""

    @property
    def margin(self) -> float:
        """The log odds of support."""
        high = max(self.contradicted, self.unsupported)
        rest = high + log(exp(self.contradicted - high) + exp(self.unsupported - high))
        return round(self.supported - rest, DECIMALS)

    @property
    def against(self) -> float:
        """By how much contradiction is likelier than the likelier of the others; below zero where it is not."""
        return round(self.contradicted - max(self.supported, self.unsupported), DECIMALS)


class GroundingModel:
    """Scores claims against windows; safe to share between threads."""

    def __init__(self) -> None:
        self._words = words()
        self._session = session(FILE)
        self.recent: Recent[Group, list[Scored]] = Recent("readings", MOST_REMEMBERED)

    def score(self, groups: Sequence[Group]) -> list[list[Scored]]:
        """For each group, what the model says of each claim, in order; a group that was asked lately is remembered."""
        found = {group: known for group in dict.fromkeys(groups) if (known := self.recent.get(group)) is not None}
        left = [group for group in dict.fromkeys(groups) if group not in found]
        found.update(zip(left, watched(self._passes(left)), strict=True))
        return [found[group] for group in groups]

    def _passes(self, groups: Sequence[Group]) -> Iterator[list[Scored]]:
        """A pass for each group, a few at a time: what a long draft asks for does not stand in front of all others."""
        if len(groups) == 1:
            yield self._read(groups[0])
            return
        under_way: deque[Future[list[Scored]]] = deque()
        for group in groups:
            under_way.append(_pool().submit(self._read, group))
            if len(under_way) > bundle.threads:
                yield under_way.popleft().result()
        for each in under_way:
            yield each.result()

    def _read(self, group: Group) -> list[Scored]:
        """One pass over one group: a wider batch would add up in another order, and show in the last digits."""
        import numpy  # noqa: PLC0415  (loaded with the model)

        if not group.claims:
            return []
        row = _laid(group)
        ids = numpy.array([row.ids], "int64")
        logits, tokens = self._session.run(
            None,
            {
                "embeddings": self._words.vectors(ids),
                "positions": numpy.array([row.positions], "int64"),
                "segments": numpy.array([row.segments], "int64"),
                "groups": numpy.ones_like(ids),
                "claim_tokens": numpy.array([row.claim_tokens], "int64"),
                "claim_starts": numpy.array(row.starts, "int64"),
            },
        )
        of_tokens = _rounded(tokens[0])
        scored = [
            Scored(supported, contradicted, unsupported, tuple(of_tokens[start + 1 : start + 1 + len(claim)]))
            for claim, start, (supported, contradicted, unsupported) in zip(
                group.claims, row.starts, _rounded(logits), strict=True
            )
        ]
        return self.recent.keep(group, scored)


def _rounded(values: Any) -> Any:
    return values.astype("float64").round(DECIMALS).tolist()


@dataclass(slots=True)
class _Row:
    ids: list[int]
    positions: list[int]
    segments: list[int]
    claim_tokens: list[int]
    starts: list[int]


def _laid(group: Group) -> _Row:
    """A group as one sequence: the window, then each claim, each with its marks."""
    window = [START, *group.window, END]
    row = _Row(window, list(range(WINDOW_START, WINDOW_START + len(window))), [0] * len(window), [], [])
    for number, claim in enumerate(group.claims, 1):
        marked = [START, *claim, END]
        row.starts.append(len(row.claim_tokens))
        row.claim_tokens += range(len(row.ids), len(row.ids) + len(marked))
        row.ids += marked
        row.positions += range(len(marked))
        row.segments += [number] * len(marked)
    return row


@cache
def _pool() -> ThreadPoolExecutor:
    """Two passes side by side take less time than one after the other, each on both processors; the figures are the same."""
    return ThreadPoolExecutor(bundle.threads, thread_name_prefix="stillme-grounding")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


@loaded_once
def grounding_model() -> GroundingModel:
    """The one model of this process, loaded when first asked for."""
    return GroundingModel()


def model_id() -> str:
    """Name and version of the shipped model, with the beginning of the hash of its weights; the model is not loaded for it."""
    found = manifest()
    return f"{found['name']}/{found['version']}+{found['files'][FILE][:12]}"


def thresholds() -> dict[str, float]:
    """The figures that were fitted with the model: what its scores are joined and compared with."""
    return dict(manifest()["grounding"])
