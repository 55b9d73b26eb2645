"""Answerability: before there is a draft, the passages answer the question as the model reads them."""

from __future__ import annotations

import pytest

from stillme.contract import VerifyRequest
from stillme.evidence import Evidence
from stillme.grounding.question_reading import QuestionReading
from stillme.guard import Guard
from stillme.validators.answerability import Answerability
from tests.validators.support import PASSED, RETURNS, SKIPPED, flagged, observe

UNANSWERED = flagged("context_does_not_answer")
QUERY = "How long do I have to return unused gear?"


def reading(unanswered: float) -> Evidence:
    """A question of which the model has read so much."""
    evidence = Evidence.of(QUERY, passages=[RETURNS])
    evidence.__dict__["question_reading"] = QuestionReading(unanswered, 0.0)
    return evidence


@pytest.mark.parametrize(
    ("unanswered", "expected"),
    [
        pytest.param(1.0, UNANSWERED, id="surely not answered"),
        pytest.param(0.0, PASSED, id="surely answered"),
    ],
)
def test_what_the_model_reads_decides(unanswered: float, expected: list[tuple[str, str | None]]) -> None:
    """Above its threshold a question is flagged."""
    assert observe(Answerability(), reading(unanswered)) == expected


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(Evidence.of(QUERY, "Thirty days [1].", [RETURNS]), id="a draft is there"),
        pytest.param(Evidence.of(QUERY), id="no passages"),
        pytest.param(Evidence.of(QUERY, passages=[RETURNS]), id="no model"),
        pytest.param(Evidence.of("Hello!", passages=[RETURNS]), id="no question of fact"),
    ],
)
def test_it_is_skipped_where_there_is_nothing_to_read(evidence: Evidence) -> None:
    """Skipped is not passed."""
    assert observe(Answerability(), evidence) == SKIPPED


def test_a_precheck_reads_the_passages() -> None:
    """With the shipped model the finding is there; with a draft it is skipped."""
    context = [
        {"source_id": "pool", "text": "The pool opens at 7 a.m. Lockers need a one-pound coin.", "similarity": 0.8}
    ]
    asked = VerifyRequest(query="When does the pool open?", retrieved_context=context)
    drafted = asked.model_copy(update={"draft_answer": "The pool opens at 7 a.m. [1]."})

    outcomes = [
        next(f.outcome for f in Guard().verify(request).findings if f.validator == "Answerability")
        for request in (asked, drafted)
    ]

    assert outcomes == ["passed", "skipped"]
