"""The metric measured by real DeepEval, alone and in an evaluation."""

from __future__ import annotations

import asyncio
import os

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")

import pytest
from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from stillme.adapters.deepeval import GroundingMetric
from stillme.errors import BackendError
from tests.clients.support import FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard


def case(answer: str) -> LLMTestCase:
    """An answer with what was retrieved for it."""
    return LLMTestCase(input=QUESTION, actual_output=answer, retrieval_context=[PASSAGE])


@pytest.mark.parametrize(("answer", "score"), [(TRUE, 1.0), (FALSE, 0.0)])
def test_the_share_of_supported_claims(answer: str, score: float) -> None:
    """With the reasons."""
    metric = GroundingMetric(guard("monitor"))

    assert metric.measure(case(answer)) == score
    assert (metric.score, metric.is_successful()) == (score, score == 1.0)
    assert ("contradicted" in str(metric.reason)) is (score == 0.0)
    assert asyncio.run(metric.a_measure(case(answer))) == score


def test_it_fails_a_test_of_deepeval() -> None:
    """As its own metrics do."""
    assert_test(case(TRUE), [GroundingMetric(guard("monitor"))], run_async=False)

    with pytest.raises(AssertionError, match="StillMe grounding"):
        assert_test(case(FALSE), [GroundingMetric(guard("monitor"))], run_async=False)


def test_what_was_not_judged_has_no_score() -> None:
    """Neither a pass nor a zero."""
    metric = GroundingMetric(broken_guard("monitor"))

    with pytest.raises(BackendError, match="not judged"):
        metric.measure(case(TRUE))

    assert (metric.score, metric.is_successful()) == (None, False)
