"""SourceConsensusValidator: sources that disagree on what is asked."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.source_consensus_validator import SourceConsensusValidator
from tests.validators.support import PASSED, SKIPPED, flagged, observe

CONFLICT = flagged("context_conflict_low_consensus")


@pytest.mark.parametrize(
    ("query", "sources", "expected"),
    [
        pytest.param("What does a ticket cost?", ["An adult ticket costs $12.", "An adult ticket costs $18."], CONFLICT, id="two prices"),
        pytest.param("What does a ticket cost?", ["An adult ticket costs $12.", "Tickets for adults cost $12."], PASSED, id="one price in other words"),
        pytest.param("Is the pool open on Sunday?", ["The pool is open on Sunday.", "The pool is not open on Sunday."], CONFLICT, id="a negation"),
        pytest.param("When was the bridge built?", ["The Halden Bridge was built in 1932.", "The Halden Bridge was built in 1935."], CONFLICT, id="two years of building"),
        pytest.param("When was the bridge built?", ["The Halden Bridge was built in 1932.", "The Orr Bridge was built in 1967."], PASSED, id="two bridges"),
        pytest.param("What did a ticket cost?", ["In 2019 a ticket for adults cost $6.", "In 2025 a ticket for adults cost $9."], PASSED, id="prices of two years"),
        pytest.param("Giá vé là bao nhiêu?", ["Giá vé người lớn là 40.000 đồng.", "Giá vé người lớn là 60.000 đồng."], CONFLICT, id="two Vietnamese prices"),
        pytest.param("Giá vé là bao nhiêu?", ["Giá vé người lớn là 40.000 đồng.", "Giá vé người lớn là 40 nghìn đồng."], PASSED, id="one Vietnamese price written twice"),
        pytest.param("What does a ticket cost?", ["A ticket costs $12."], SKIPPED, id="one source cannot disagree"),
        pytest.param("What does a ticket cost?", [], SKIPPED, id="nor can none"),
    ],
)  # fmt: skip
def test_consensus(query: str, sources: list[str], expected: list[tuple[str, str | None]]) -> None:
    """Only what the question is about counts."""
    assert observe(SourceConsensusValidator(), Evidence.of(query, passages=sources)) == expected


def test_a_disagreement_on_something_else_is_not_flagged() -> None:
    """Opening hours do not matter to a question about the price."""
    sources = ["The museum opens at 9 a.m. every day.", "The museum opens at 10 a.m. every day."]

    assert observe(SourceConsensusValidator(), Evidence.of("What does parking cost?", passages=sources)) == PASSED
