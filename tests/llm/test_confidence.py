"""Token log-probabilities become one figure, or none."""

from __future__ import annotations

from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.llm.confidence import generation_confidence, token_logprobs
from tests.soak import examples


@pytest.mark.parametrize(
    ("logprobs", "figure"),
    [
        pytest.param([0.0], 1.0, id="a word without an alternative"),
        pytest.param([log(0.6)] * 7, 0.6, id="six chances in ten for each word"),
        pytest.param([log(0.9), log(0.4)], 0.6, id="the geometric mean, not the arithmetic one"),
        pytest.param([-9999.0], 0.0, id="a token that was beyond the server's list"),
        pytest.param([-9999.0, 0.0, 0.0, 0.0], 0.0067, id="one such token does not say more than very unlikely"),
        pytest.param([1e-7], 1.0, id="a rounding error above certainty"),
        pytest.param([], None, id="no tokens"),
        pytest.param(None, None, id="nothing told"),
    ],
)
def test_the_figure(logprobs: list[float] | None, figure: float | None) -> None:
    """exp of the mean, to four decimals."""
    assert generation_confidence(logprobs) == figure


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        pytest.param({"logprobs": {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1}]}}, [-0.5, -1.0], id="as OpenAI has them"),
        pytest.param({}, None, id="not there"),
        pytest.param({"logprobs": None}, None, id="null"),
        pytest.param({"logprobs": {"content": None}}, None, id="null inside"),
        pytest.param({"logprobs": {"content": []}}, [], id="an empty list"),
        pytest.param({"logprobs": {"tokens": ["a"], "token_logprobs": [-0.5]}}, None, id="in the older form, which tells other tokens"),
        pytest.param({"logprobs": {"content": [{"logprob": -0.5}, {"logprob": None}]}}, None, id="of some tokens only"),
        pytest.param({"logprobs": {"content": [{"logprob": True}]}}, None, id="a truth value"),
        pytest.param({"logprobs": {"content": [{"logprob": "-0.5"}]}}, None, id="a text"),
        pytest.param({"logprobs": {"content": [{"logprob": float("nan")}]}}, None, id="not a number"),
        pytest.param({"logprobs": {"content": ["a"]}}, None, id="tokens without figures"),
        pytest.param({"logprobs": [-0.5]}, None, id="a list"),
    ],
)  # fmt: skip
def test_what_a_choice_tells(choice: dict[str, Any], found: list[float] | None) -> None:
    """Only figures for every token count."""
    assert token_logprobs(choice) == found


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_the_figure_is_a_probability(logprobs: list[float]) -> None:
    """Whatever a server tells, the figure fits Gate 3."""
    figure = generation_confidence(logprobs)

    assert figure is not None
    assert 0.0 <= figure <= 1.0
