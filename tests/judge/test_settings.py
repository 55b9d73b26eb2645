"""What a judge can be told, and that its key is never shown."""

from __future__ import annotations

from typing import Any

import pytest

from stillme import InputError
from stillme.judge import JudgeGrounder, JudgeScores
from tests.judge.support import KEY, Unsure


def test_no_representation_shows_the_key() -> None:
    """Neither the judge's nor that of its parts."""
    judge = JudgeGrounder(Unsure(), url="https://api.example.com/v1", model="a-model", api_key=KEY)

    assert [KEY in shown for shown in (repr(judge), str(judge), judge.id, repr(judge._client))] == [False] * 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"model": " "}, "model must be the name", id="a blank model"),
        pytest.param({"model": "a\nb"}, "model must be the name", id="a model of two lines"),
        pytest.param({"model": None}, "model must be the name", id="no model"),
        pytest.param({"ask_between": (0.8, 0.2)}, "lower bound first", id="bounds the wrong way round"),
        pytest.param({"ask_between": (0.5, 0.5)}, "lower bound first", id="nothing between the bounds"),
        pytest.param({"ask_between": (-0.1, 0.5)}, "ask_between must be a number from 0 to 1", id="a bound below 0"),
        pytest.param(
            {"ask_between": (0.1, float("nan"))}, "ask_between must be a number", id="a bound that is no number"
        ),
        pytest.param({"ask_between": (False, True)}, "ask_between must be a number", id="bounds of true and false"),
        pytest.param({"ask_between": 0.5}, "two numbers such as", id="one bound"),
        pytest.param({"structured": "yaml"}, "structured must be", id="a form that is not known"),
        pytest.param({"scores": (1, 0, 0)}, "scores must be JudgeScores", id="scores of another kind"),
        pytest.param({"max_tokens": 0}, "max_tokens must be a whole number", id="no tokens"),
        pytest.param({"max_tokens": 1.5}, "max_tokens must be a whole number", id="half a token"),
        pytest.param({"seed": -1}, "seed must be", id="a negative seed"),
        pytest.param({"most_chars": 0}, "most_chars must be", id="no characters"),
        pytest.param({"timeout_s": 0}, "timeout_s must be a number", id="no time"),
        pytest.param({"timeout_s": float("inf")}, "timeout_s must be a number", id="all the time in the world"),
        pytest.param({"timeout_s": "5"}, "timeout_s must be a number", id="time as a text"),
        pytest.param({"connect_timeout_s": -1}, "connect_timeout_s must be", id="negative time"),
        pytest.param({"retries": -1}, "retries must be", id="fewer than no retries"),
        pytest.param({"retries": True}, "retries must be", id="retries that are true"),
        pytest.param({"backoff_s": -0.1}, "backoff_s must be", id="a negative pause"),
        pytest.param({"parallel": 0}, "parallel must be", id="none at a time"),
        pytest.param({"remembered": 0}, "remembered must be", id="nothing remembered"),
        pytest.param({"cache": ":memory:"}, "cache must be the path", id="a cache in memory"),
        pytest.param({"cache": ""}, "cache must be the path", id="a cache without a name"),
        pytest.param({"cache": 5}, "cache must be the path", id="a cache that is a number"),
        pytest.param({"base": object()}, "base must be a grounder", id="a base that cannot judge"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(settings: dict[str, Any], message: str) -> None:
    """When the judge is made, not at the first claim."""
    with pytest.raises(InputError, match=message):
        JudgeGrounder(**{"base": Unsure(), "url": "https://api.example.com/v1", "model": "a-model", **settings})


@pytest.mark.parametrize(
    "scores",
    [
        {"supported": 0.4},
        {"supported": 1.1},
        {"unsupported": 0.5},
        {"contradicted": -0.1},
        {"contradicted": float("nan")},
    ],
    ids=str,
)
def test_scores_stand_on_the_side_of_their_answer(scores: dict[str, float]) -> None:
    """What a judge calls unsupported never scores as supported."""
    with pytest.raises(InputError, match=r"scores\."):
        JudgeScores(**scores)
