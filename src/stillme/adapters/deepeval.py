"""StillMe as a metric of DeepEval: the share of supported claims, without a model that judges.

evaluate([LLMTestCase(input=…, actual_output=…, retrieval_context=[…])], [GroundingMetric()])
"""

from __future__ import annotations

import asyncio
from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from stillme.adapters.guarding import judged, passage_of
from stillme.errors import BackendError
from stillme.guard import Guard

__all__ = ["GroundingMetric"]


class GroundingMetric(BaseMetric):
    """Succeeds where the guard would answer, the answer is verified and the share of its supported claims reaches the threshold.

    Where there is no verdict it raises: what was not judged has no score.
    """

    def __init__(self, guard: Guard | None = None, threshold: float = 1.0) -> None:
        self._guard = guard or Guard()
        self.threshold = threshold
        self.async_mode, self.include_reason, self.verbose_mode = True, True, False

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """The share of supported claims."""
        self.score, self.success, self.reason, self.error = None, None, None, None
        texts = [str(each) for each in test_case.retrieval_context or test_case.context or ()]
        passages = [passage_of(text, number) for number, text in enumerate(texts, 1)]
        found = judged(self._guard, str(test_case.input), str(test_case.actual_output or ""), passages)
        if found.score is None:
            self.error, self.success = found.why, False
            raise BackendError(f"the answer was not judged: {found.why}")
        self.score, self.reason = found.score, found.why
        self.success = found.passes and found.score >= self.threshold
        return found.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """`measure` without holding up the event loop."""
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        """Whether the last test case succeeded."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "StillMe grounding"
