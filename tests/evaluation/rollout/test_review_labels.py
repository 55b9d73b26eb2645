"""What labels say should have been decided."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from stillme.audit.review.agreement import Review
from stillme.evaluation.rollout.review_labels import Opinion, opinions


@pytest.mark.parametrize(
    ("labels", "decision", "truth"),
    [
        pytest.param(["correct"], "refuse", "refuse", id="right"),
        pytest.param(["wrong_reason"], "answer", "answer", id="right for another reason"),
        pytest.param(["false_refusal"], "refuse", "answer", id="it should have been answered"),
        pytest.param(
            ["false_refusal"], "ask_clarify", "answer", id="it should have been answered instead of asked back"
        ),
        pytest.param(["missed_hallucination"], "answer", "not answer", id="it should not have been answered"),
        pytest.param(["unclear"], "answer", None, id="nobody can tell"),
        pytest.param(["false_refusal"], "answer", None, id="a label that cannot be of an answer"),
        pytest.param(["missed_hallucination"], "refuse", None, id="a label that cannot be of a refusal"),
        pytest.param(
            ["correct", "missed_hallucination"], "answer", "not answer", id="a disputed verdict counts as wrong"
        ),
        pytest.param(["correct", "correct", "missed_hallucination"], "answer", "answer", id="most say it is right"),
    ],
)
def test_labels_tell_what_should_have_been_decided(labels: list[str], decision: str, truth: str | None) -> None:
    assert Opinion(tuple(labels)).truth(decision) == truth


def test_of_each_reviewer_the_latest_label_counts() -> None:
    """A name is one name, however its accents are written."""
    given = [
        Review(3, "t", "Hạnh", "correct"),
        Review(2, "t", normalize("NFD", "Hạnh"), "unclear"),
        Review(4, "t", "lan", "unclear"),
    ]

    assert opinions(given) == {"t": Opinion(("correct", "unclear"))}
