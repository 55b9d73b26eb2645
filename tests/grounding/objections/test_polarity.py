"""A negation objects where only one side has it, and only there."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.polarity import denial_dropped, doubt, negation
from tests.grounding.objections.support import laid, raised_of_pair

NEGATIONS = [
    pytest.param("Guests may feed the swans.", "Guests may not feed the swans.", True, id="dropped"),
    pytest.param("Guests may not feed the swans.", "Guests may feed the swans.", True, id="added"),
    pytest.param("Guests may not feed the swans.", "Guests must never feed the swans.", False, id="in other words"),
    pytest.param("The gate is not open.", "The gate is closed.", False, id="made good by an opposite"),
    pytest.param(
        "The pump has not run out of oil.", "The pump has run out of oil.", True, id="beside a denying phrase of both"
    ),
    pytest.param("The pump has run out of oil.", "The pump has run out of oil.", False, id="a denying phrase of both"),
    pytest.param("Khách được cho thiên nga ăn.", "Khách không được cho thiên nga ăn.", True, id="vi, dropped"),
    pytest.param(
        "Khách không được cho thiên nga ăn.", "Khách không được phép cho thiên nga ăn.", False, id="vi, other words"
    ),
]


@pytest.mark.parametrize(("claim", "source", "objects"), NEGATIONS)
def test_negation(claim: str, source: str, objects: bool) -> None:
    """One side denies a word that the other affirms."""
    assert [kind for kind, _ in raised_of_pair(negation, laid(claim, source))] == ["negation"] * objects


@pytest.mark.parametrize(
    ("claim", "source", "objects"),
    [
        pytest.param("Nobody may enter.", "Nobody may enter without a ticket.", True, id="two negations cancel"),
        pytest.param("Nobody may enter.", "Nobody may enter the hall.", False, id="one negation stays"),
        pytest.param("Không ai được vào cổng.", "Không ai được vào cổng nếu không có vé.", True, id="vi"),
    ],
)
def test_doubt(claim: str, source: str, objects: bool) -> None:
    """What the source affirms by two negations is not denied by it."""
    assert [kind for kind, _ in raised_of_pair(doubt, laid(claim, source))] == ["doubt"] * objects


@pytest.mark.parametrize(
    ("claim", "source", "objects"),
    [
        pytest.param("Members eat oranges.", "Members avoid eating oranges.", True, id="a verb that denies"),
        pytest.param("Members avoid eating oranges.", "Members avoid eating oranges.", False, id="on both sides"),
        pytest.param("Members eat oranges.", "Members enjoy eating oranges.", False, id="a verb that affirms"),
    ],
)
def test_denial_dropped(claim: str, source: str, objects: bool) -> None:
    """A verb that denies counts as a negation."""
    assert [kind for kind, _ in raised_of_pair(denial_dropped, laid(claim, source))] == ["negation"] * objects
