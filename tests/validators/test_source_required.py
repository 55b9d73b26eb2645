"""SourceRequired: a question that needs a source has one that is close enough."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.validators.source_required import SourceRequired
from tests.validators.support import PASSED, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("query", "similarity", "expected"),
    [
        pytest.param("When was the bridge built?", 0.9, PASSED, id="close enough"),
        pytest.param("When was the bridge built?", 0.45, PASSED, id="equal to the threshold passes"),
        pytest.param("When was the bridge built?", 0.44, flagged("low_context_similarity"), id="below it fails"),
        pytest.param("When was the bridge built? Cite your sources.", 0.48, flagged("source_required_low_similarity"), id="sources asked for: the higher threshold"),
        pytest.param("When was the bridge built? Cite your sources.", 0.5, PASSED, id="equal to the higher threshold passes"),
        pytest.param("Cầu được xây năm nào?", 0.2, flagged("low_context_similarity"), id="Vietnamese below the threshold"),
        pytest.param("Cầu được xây năm nào? Cho tôi xin nguồn.", 0.47, flagged("source_required_low_similarity"), id="Vietnamese, sources asked for"),
        pytest.param("Who are you?", 0.0, SKIPPED, id="a question about the assistant needs none"),
        pytest.param("Viết cho tôi một bài thơ về mùa thu.", 0.0, SKIPPED, id="a poem needs none"),
    ],
)  # fmt: skip
def test_similarity(query: str, similarity: float, expected: list[tuple[str, str | None]]) -> None:
    """The best similarity against the threshold that the question calls for."""
    passages = [RetrievedPassage(source_id="a", text="The old bridge.", similarity=-1.0)]
    passages.append(RetrievedPassage(source_id="b", text="Another bridge.", similarity=similarity))

    assert observe(SourceRequired(), Evidence.of(query, passages=passages)) == expected


@pytest.mark.parametrize("query", ["When was the bridge built?", "Cầu được xây năm nào?", "boiling point of helium"])
@pytest.mark.parametrize("passages", [[], ["   ", "\n"]], ids=["no passages", "blank passages"])
def test_no_context(query: str, passages: list[str]) -> None:
    """A question of fact without anything to read is flagged, whatever its form."""
    assert observe(SourceRequired(), Evidence.of(query, passages=passages)) == flagged("source_required_no_context")
