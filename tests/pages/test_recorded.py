"""Values of a record, also of one that is damaged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from stillme.pages.recorded import items, moment, number, rows, span_within, text

RECORD: dict[str, Any] = {
    "claims": [{"text": "a"}, "b", 3],
    "score": 0.5,
    "count": 3,
    "is": True,
    "at": datetime(2026, 2, 1, tzinfo=UTC),
}


def test_what_has_another_shape_is_left_out() -> None:
    """Lists, objects, texts and numbers are read where they are such."""
    assert (rows(RECORD, "claims"), list(items(RECORD, "score"))) == ([{"text": "a"}], [])
    assert (text(RECORD, "at"), text(RECORD, "none")) == ("2026-02-01T00:00:00+00:00", "")
    assert [number(RECORD, key, ".2f") for key in ("score", "count", "is", "claims")] == ["0.50", "3", "", ""]


@pytest.mark.parametrize(
    ("given", "part"),
    [
        pytest.param((2, 9), (2, 5), id="the part within"),
        pytest.param([0, 3], (1, 3), id="from where the whole begins"),
        pytest.param((6, 9), None, id="outside"),
        pytest.param((1, True), None, id="no numbers"),
        pytest.param("12", None, id="no stretch"),
    ],
)
def test_a_stretch_is_kept_within_another(given: object, part: tuple[int, int] | None) -> None:
    """What is no stretch, or lies outside, is none."""
    assert span_within(given, (1, 5)) == part


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        pytest.param("2026-02-01T09:00:00+07:00", "2026-02-01 02:00:00 UTC", id="in UTC"),
        pytest.param("2026-02-01T09:00:00", "2026-02-01T09:00:00", id="without a zone"),
        pytest.param("soon", "soon", id="no moment"),
    ],
)
def test_a_moment_is_shown_in_utc_or_as_it_is(recorded: str, shown: str) -> None:
    """Nothing is made up about a time."""
    assert moment(recorded) == shown
