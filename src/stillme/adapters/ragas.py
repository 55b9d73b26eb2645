"""StillMe as a metric of Ragas: the share of supported claims, without a model that judges.

evaluate(dataset, metrics=[Grounding()])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric

from stillme.adapters.guarding import ajudged, passage_of
from stillme.errors import BackendError
from stillme.guard import Guard

__all__ = ["Grounding"]


@dataclass
class Grounding(SingleTurnMetric):
    """The share of an answer's claims that its retrieved contexts support.

    Where there is no verdict it raises: what was not judged has no score, and Ragas counts it as none.
    """

    name: str = "stillme_grounding"
    guard: Guard = field(default_factory=Guard)
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"user_input", "response", "retrieved_contexts"}}
    )

    def init(self, run_config: Any) -> None:
        """There is nothing to prepare: no model is asked."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        passages = [passage_of(text, number) for number, text in enumerate(sample.retrieved_contexts or (), 1)]
        found = await ajudged(self.guard, sample.user_input or "", sample.response or "", passages)
        if found.score is None:
            raise BackendError(f"the answer was not judged: {found.why}")
        return found.score
