"""JSON that every reader reads the same."""

from __future__ import annotations

import pytest

from stillme.llm.strict_json import strict_json


def test_a_value_is_read() -> None:
    """What the standard knows is read as it is."""
    assert strict_json('{"a": [1, null, "ă"]}') == {"a": [1, None, "ă"]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param('{"a": 1, "a": 2}', "a key stands twice", id="a key given twice"),
        pytest.param("[NaN]", "NaN is not JSON", id="no number"),
        pytest.param("[1e999]", "out of range", id="a number that no JSON can say again"),
        pytest.param("[" * 100_000, "nested too deeply", id="bottomless nesting"),
        pytest.param("{", "Expecting property name", id="cut off"),
    ],
)
def test_what_two_readers_could_read_differently_is_an_error(text: str, problem: str) -> None:
    """It is a ValueError, never a value."""
    with pytest.raises(ValueError, match=problem):
        strict_json(text)
