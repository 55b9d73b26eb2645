"""How often claims of the same standing were right: one figure for every standing that a supported claim can have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.grounding.grounder import Judgement
from stillme.grounding.precision import measured_precision, standing


@pytest.mark.parametrize(
    ("judged", "name"),
    [
        pytest.param(Judgement("supported", 0.9, verbatim=True, complete=True), "verbatim", id="a sentence says it word for word"),
        pytest.param(Judgement("supported", 0.9, complete=True), "whole", id="all its words stand in the source"),
        pytest.param(Judgement("supported", 0.9), "partial", id="some of its words do"),
        pytest.param(Judgement("supported", 0.79, decided_by="model", complete=True), "model 0.7", id="the model decided, whatever the words"),
    ],
)  # fmt: skip
def test_what_a_claim_stands_on(judged: Judgement, name: str) -> None:
    assert standing(judged) == name


@given(st.floats(0, 1), st.sampled_from(["exact", "model"]), st.booleans(), st.booleans())
def test_every_standing_was_measured(score: float, decided_by: str, complete: bool, verbatim: bool) -> None:
    """Whatever the score, there is a figure, and it is a share."""
    judged = Judgement("supported", score, decided_by=decided_by, complete=complete, verbatim=verbatim)

    assert 0 <= measured_precision(judged) <= 1


def test_better_standing_was_right_more_often() -> None:
    verbatim, whole, partial = (
        measured_precision(Judgement("supported", 0.9, complete=complete, verbatim=verbatim))
        for complete, verbatim in ((True, True), (True, False), (False, False))
    )

    assert verbatim > whole > partial


@pytest.mark.parametrize(
    "judged",
    [
        pytest.param(Judgement("unsupported", 0.3), id="a claim that is not supported"),
        pytest.param(Judgement("supported", 0.81, decided_by="judge"), id="a judge of the user's"),
    ],
)
def test_of_what_was_not_measured_the_score_is_given(judged: Judgement) -> None:
    assert measured_precision(judged) == judged.score
