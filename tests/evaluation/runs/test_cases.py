"""A case whose labels stand in its draft."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stillme.evaluation.runs.cases import Case

DRAFT = "It is open. It is open on Sunday."


def case(**label: Any) -> Case:
    """A case with one label."""
    return Case.model_validate({"id": "a", "request": {"query": "Open?", "draft_answer": DRAFT}, "claims": [label]})


@pytest.mark.parametrize(
    ("label", "span"),
    [
        pytest.param({"text": "on Sunday", "supported": False}, (23, 32, False), id="found by its words"),
        pytest.param({"text": "It is open", "supported": True, "start": 12}, (12, 22, True), id="told by its start"),
    ],
)
def test_a_label_has_its_place(label: dict[str, Any], span: tuple[int, int, bool]) -> None:
    """Where it stands, and what it says of that part."""
    assert case(**label).spans == [span]


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        pytest.param({"text": "on Monday"}, "does not stand in draft_answer", id="not there"),
        pytest.param({"text": "on Sunday", "start": 3}, "does not stand in draft_answer at 3", id="elsewhere"),
        pytest.param({"text": "It is open"}, "more than once: give its start", id="twice"),
    ],
)
def test_a_label_without_a_place_is_refused(label: dict[str, Any], problem: str) -> None:
    """The message says what to give."""
    with pytest.raises(ValidationError, match=problem):
        case(supported=True, **label)
