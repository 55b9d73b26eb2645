"""The grounding model: one window of passages and several claims in, three logits a claim and one a token out.

The lower layers read the window, and each claim, by itself; what they made of a passage is kept, for it comes back from request to
request. The upper layers read the claims: each sees only itself and its window, so a score does not depend on the other claims. Each
window is a pass of its own, so it does not depend on the batch at all. Scores are rounded to what they are worth, so that the order
of additions in a longer or shorter row hardly ever shows.
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
from stillme.models.matches import matches_of
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
MOST_STATES: Final = 512
WINDOW, CLAIM = range(2)
BESIDE: Final = -1
"""Where there is no sentence, and no token."""
LOWER: Final = "reading_lower.onnx"
UPPER: Final = "reading_upper.onnx"
Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A window and the claims that are read against it, as tokens."""

    window: Tokens
    claims: tuple[Tokens, ...]
    sentences: tuple[int, ...] = ()
    """For each token of the window the number of its sentence; none where the window is one sentence."""


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
        self._lower, self._upper = session(LOWER), session(UPPER)
        self.recent: Recent[Group, list[Scored]] = Recent("readings", MOST_REMEMBERED)
        # Passages come back from request to request; kept in half precision, whether they come back or not.
        self.states: Recent[tuple[int, Tokens], Any] = Recent("states", MOST_STATES)

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
        if not group.claims:
            return []
        row = _laid(group, self._words.folded)
        logits, _, of_tokens = self._run(group, row)
        starts = row["places"][0, :, 0].tolist()
        scored = [
            Scored(supported, contradicted, unsupported, tuple(of_tokens[start + 1 : start + 1 + len(claim)]))
            for claim, start, (supported, contradicted, unsupported) in zip(group.claims, starts, logits, strict=True)
        ]
        return self.recent.keep(group, scored)

    def ask(self, group: Group) -> tuple[float, float, float]:
        """The chances that a window answers a question, does not, and answers it differently for several readings."""
        _, (logits,), _ = self._run(group, _laid(group, self._words.folded, is_question=True))
        chances = [exp(value - max(logits)) for value in logits]
        answered, unanswered, left_open = (chance / sum(chances) for chance in chances)
        return answered, unanswered, left_open

    def _run(self, group: Group, row: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The logits of claims, of questions and of tokens, rounded."""
        states = {
            "window_states": self._read_alone(WINDOW, group.window),
            "states": _joined([self._read_alone(CLAIM, claim) for claim in group.claims]),
        }
        claims, questions, tokens = self._upper.run(None, states | row)
        return _rounded(claims[0]), _rounded(questions[0]), _rounded(tokens[0])

    def _read_alone(self, kind: int, text: Tokens) -> Any:
        """What the lower layers make of a window or a claim by itself."""
        import numpy  # noqa: PLC0415  (loaded with the model)

        known = self.states.get((kind, text))
        if known is None:
            ids = numpy.array([[START, *text, END]], "int64")
            positions = numpy.arange(ids.shape[1], dtype="int64")[None] + (WINDOW_START if kind == WINDOW else 0)
            inputs = {
                "embeddings": self._words.vectors(ids),
                "positions": positions,
                "kinds": numpy.full_like(ids, kind),
            }
            known = self.states.keep((kind, text), self._lower.run(None, inputs)[0].astype("float16"))
        return known.astype("float32")


def _rounded(values: Any) -> Any:
    return values.astype("float64").round(DECIMALS).tolist()


def _joined(states: Sequence[Any]) -> Any:
    import numpy  # noqa: PLC0415

    return numpy.concatenate(states, axis=1)


def _laid(group: Group, folded: Any, *, is_question: bool = False) -> dict[str, Any]:
    """A window and its claims, one after the other, as the upper layers take them: tokens as they are compared, and what matches."""
    import numpy  # noqa: PLC0415

    window = folded[[START, *group.window, END]]
    claims = [folded[[START, *claim, END]] for claim in group.claims]
    sentences = [BESIDE, *(group.sentences or [0] * len(group.window)), BESIDE]
    matches = [matches_of(claim.tolist(), window.tolist(), sentences) for claim in claims]
    sizes = [len(claim) for claim in claims]
    places = numpy.full((1, len(claims), max(sizes)), BESIDE, "int64")
    for n, size in enumerate(sizes):
        start = sum(sizes[:n])
        places[0, n, :size] = range(start, start + size)
    return {
        "window_ids": window[None],
        "ids": numpy.concatenate(claims)[None],
        "owners": numpy.repeat(numpy.arange(len(claims), dtype="int64"), sizes)[None],
        "marks": numpy.concatenate([found.claim for found in matches])[None],
        "window_marks": numpy.stack([found.window.T for found in matches])[None],
        "is_question": numpy.full((1, len(claims)), is_question),
        "places": places,
    }


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
    return f"{found['name']}/{found['version']}+{found['files'][UPPER][:12]}"


def thresholds() -> dict[str, float]:
    """The figures that were fitted with the model: what its scores are joined and compared with."""
    return dict(manifest()["grounding"])


def question_thresholds() -> dict[str, Any]:
    """From which chance on a question counts as not answered, and what tells an open one."""
    return dict(manifest()["questions"])
