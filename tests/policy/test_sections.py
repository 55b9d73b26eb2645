"""The sections of a policy: values that do not fit each other, or that nobody could read, are refused."""

from __future__ import annotations

from typing import Any

import pytest

from stillme.errors import PolicyError
from stillme.policy import Policy


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        pytest.param({"confidence": {"high": 0.5, "medium": 0.6}}, "medium must not be above high", id="bands crossed"),
        pytest.param({"messages": {"refusal": " "}}, "must not be blank", id="a blank message"),
        pytest.param({"messages": {"refusal": {"vi": "x" * 4_001}}}, "at most 4000 characters", id="a long message"),
        pytest.param({"audit": {"redact": {"plate": "("}}}, r"audit\.redact", id="a pattern that is none"),
        pytest.param({"limits": {"passages": 0}}, "limits.passages", id="a limit of nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], problem: str) -> None:
    """The error names the key and the value."""
    with pytest.raises(PolicyError, match=problem):
        Policy.load(settings)


def test_one_text_is_said_in_both_languages() -> None:
    """A message without languages holds for each."""
    messages = Policy.load({"messages": {"clarify": "Which?"}}).messages

    assert messages.clarify is not None
    assert (messages.clarify.en, messages.clarify.vi) == ("Which?", "Which?")
