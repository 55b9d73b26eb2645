"""The grounding model: one window of passages and several claims in, three logits a claim and one a token out.

Inside the model a window sees only itself and a claim only itself and its window: a score does not depend on the other claims.
Each window is a pass of its own, so it does not depend on the batch at all. Scores are rounded to what they are worth, so that the
order of additions in a longer or shorter row hardly ever shows.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any, Final

from stillme.models.bundle import loaded_once, manifest, session
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
SIDE_BY_SIDE: Final = 2
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
        self._remembered: OrderedDict[Group, list[Scored]] = OrderedDict()
        self._lock = threading.Lock()

    def score(self, groups: Sequence[Group]) -> list[list[Scored]]:
        """For each group, what the model says of each claim, in order; a group that was asked lately is remembered."""
        found = {group: known for group in groups if (known := self._known(group)) is not None}
        left = [group for group in dict.fromkeys(groups) if group not in found]
        read = _passes().map(self._read, left) if len(left) > 1 else map(self._read, left)
        found.update((group, self._remember(group, scored)) for group, scored in zip(left, watched(read), strict=True))
        return [found[group] for group in groups]

    def forget(self) -> None:
        """Drop what is remembered: the next answer is computed anew."""
        with self._lock:
            self._remembered.clear()

    def _known(self, group: Group) -> list[Scored] | None:
        with self._lock:
            found = self._remembered.get(group)
            if found is not None:
                self._remembered.move_to_end(group)
            return found

    def _remember(self, group: Group, scored: list[Scored]) -> list[Scored]:
        with self._lock:
            self._remembered[group] = scored
            if len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        return scored

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
        return [
            Scored(supported, contradicted, unsupported, tuple(of_tokens[start + 1 : start + 1 + len(claim)]))
            for claim, start, (supported, contradicted, unsupported) in zip(
                group.claims, row.starts, _rounded(logits), strict=True
            )
        ]


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
def _passes() -> ThreadPoolExecutor:
    """Two passes side by side take less time than one after the other, each on both processors; the figures are the same."""
    return ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="stillme-grounding")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_passes.cache_clear)  # a child has none of its parent's threads


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
