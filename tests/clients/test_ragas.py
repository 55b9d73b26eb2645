"""The metric measured by real Ragas, alone and in an evaluation."""

from __future__ import annotations

import asyncio
import os

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")

import pytest
from ragas import EvaluationDataset, evaluate
from ragas.dataset_schema import SingleTurnSample

from stillme.adapters.ragas import Grounding
from stillme.errors import BackendError
from tests.clients.support import FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard


def sample(answer: str) -> SingleTurnSample:
    """An answer with what was retrieved for it."""
    return SingleTurnSample(user_input=QUESTION, response=answer, retrieved_contexts=[PASSAGE])


@pytest.mark.parametrize(("answer", "score"), [(TRUE, 1.0), (FALSE, 0.0)])
def test_the_share_of_supported_claims(answer: str, score: float) -> None:
    """As a metric of its own."""
    assert asyncio.run(Grounding(guard=guard("monitor")).single_turn_ascore(sample(answer))) == score


def test_it_is_a_column_of_an_evaluation() -> None:
    """Beside other metrics, without a model."""
    found = evaluate(
        EvaluationDataset([sample(TRUE), sample(FALSE)]),
        metrics=[Grounding(guard=guard("monitor"))],
        show_progress=False,
    )

    assert found["stillme_grounding"] == [1.0, 0.0]


def test_what_was_not_judged_has_no_score() -> None:
    """Neither a pass nor a zero."""
    with pytest.raises(BackendError, match="not judged"):
        asyncio.run(Grounding(guard=broken_guard("monitor")).single_turn_ascore(sample(TRUE)))
