"""A judge from the environment: whole, or not at all, or an error."""

from __future__ import annotations

import pytest

from stillme import InputError
from stillme.judge import judge_from_environment
from tests.judge.support import KEY, Unsure, agreeing, playing, task

WHOLE = {"STILLME_JUDGE_URL": "https://judge.example/v1", "STILLME_JUDGE_MODEL": "a-model"}


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="nothing set"),
        pytest.param({"STILLME_JUDGE_URL": ""}, id="an empty address"),
        pytest.param({"STILLME_JUDGE_API_KEY": KEY, "STILLME_JUDGE_CACHE": "judge.db"}, id="no address and no model"),
    ],
)
def test_there_is_no_judge_unless_one_is_named(variables: dict[str, str]) -> None:
    """Off by default."""
    assert judge_from_environment(Unsure(), variables) is None


def test_the_environment_of_the_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no other is given."""
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    judge = judge_from_environment(Unsure())

    assert judge is not None
    assert judge.id.startswith("unsure/1+judge/judge.example/a-model#")


def test_everything_that_can_be_set() -> None:
    """Address, model, key, time and file."""
    more = {"STILLME_JUDGE_API_KEY": KEY, "STILLME_JUDGE_TIMEOUT_S": "7.5", "STILLME_JUDGE_CACHE": "judge.db"}
    judge = judge_from_environment(Unsure(), {**WHOLE, **more, "STILLME_POLICY": "strict"})

    assert judge is not None
    assert (judge.url, judge.model, judge.api_key, judge.timeout_s, judge.cache) == (
        "https://judge.example/v1",
        "a-model",
        KEY,
        7.5,
        "judge.db",
    )


@pytest.mark.parametrize(
    ("variables", "what"),
    [
        pytest.param({"STILLME_JUDGE_URL": "https://j.example"}, "JUDGE_URL is set and STILLME_JUDGE_MODEL is not", id="no model"),
        pytest.param({"STILLME_JUDGE_MODEL": "m"}, "JUDGE_MODEL is set and STILLME_JUDGE_URL is not", id="no address"),
        pytest.param({**WHOLE, "STILLME_JUDGE_TIMEOUT_S": "soon"}, "TIMEOUT_S must be a number from 0.001 to 3600, got 'soon'", id="a time that is none"),
        pytest.param({**WHOLE, "STILLME_JUDGE_TIMEOUT_S": "nan"}, "TIMEOUT_S must be a number", id="a time that is no number"),
        pytest.param({**WHOLE, "STILLME_JUDGE_TIMEOUT": "5"}, r"STILLME_JUDGE_TIMEOUT is not a setting of the judge; STILLME_JUDGE_TIMEOUT_S\?", id="a name that is nearly right"),
        pytest.param({**WHOLE, "STILLME_JUDGE_URL": "judge.example"}, "begin with http", id="an address that is none"),
        pytest.param({**WHOLE, "STILLME_JUDGE_API_KEY": f"{KEY}\n2"}, "api_key must be printable", id="a key with a line end"),
        pytest.param({**WHOLE, "STILLME_JUDGE_URL": "http://j.example", "STILLME_JUDGE_API_KEY": KEY}, "unencrypted", id="a key without encryption"),
    ],
)  # fmt: skip
def test_half_a_description_is_an_error(variables: dict[str, str], what: str) -> None:
    """It names the variable and never the key."""
    with pytest.raises(InputError, match=what) as error:
        judge_from_environment(Unsure(), variables)

    assert "STILLME_JUDGE_" in str(error.value)
    assert KEY not in str(error.value)


def test_it_works() -> None:
    """From variables to a judgement."""
    with playing(agreeing) as server:
        judge = judge_from_environment(
            Unsure(), {**WHOLE, "STILLME_JUDGE_URL": server.url, "STILLME_JUDGE_API_KEY": KEY}
        )
        assert judge is not None
        assert judge.judge([task()])[0][0].supported

    assert server.seen[0].headers["Authorization"] == f"Bearer {KEY}"
