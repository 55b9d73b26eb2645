"""EvidenceOverlap: the answer shares word sequences with its sources."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.evidence_overlap import EvidenceOverlap
from tests.validators.support import DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("draft", "passages", "expected"),
    [
        pytest.param("Larkfield Outdoor accepts returns of unused gear.", [RETURNS], PASSED, id="copied words"),
        pytest.param("Mộc An nhận đổi trả sản phẩm.", [DOI_TRA], PASSED, id="copied Vietnamese words"),
        pytest.param(
            "Dolphins sleep with one eye open every night.",
            [RETURNS],
            flagged("low_evidence_overlap"),
            id="nothing in common",
        ),
        pytest.param(
            "Cá heo ngủ với một mắt mở suốt đêm.",
            [DOI_TRA],
            flagged("low_evidence_overlap"),
            id="nothing in common in Vietnamese",
        ),
        pytest.param("Larkfield Outdoor accepts returns.", [], SKIPPED, id="no passages"),
        pytest.param("Hello there!", [RETURNS], SKIPPED, id="no claims"),
        pytest.param(
            "Mộc An nhận đổi trả sản phẩm trong 15 ngày.", [RETURNS], SKIPPED, id="another language than every passage"
        ),
        pytest.param("", [RETURNS], SKIPPED, id="no draft"),
    ],
)
def test_overlap(draft: str, passages: list[str], expected: list[tuple[str, str | None]]) -> None:
    """With the default threshold of 0.08."""
    assert observe(EvidenceOverlap(), Evidence.of("q", draft, passages)) == expected


def test_equal_to_the_threshold_passes() -> None:
    """A draft of four words is measured word by word; three of four stand in the source."""
    evidence = Evidence.of("q", "Gift cards are red.", ["Gift cards are blue."])

    assert observe(EvidenceOverlap(threshold=0.75), evidence) == PASSED
    assert observe(EvidenceOverlap(threshold=0.76), evidence) == flagged("low_evidence_overlap")


def test_longer_answers_are_measured_by_longer_sequences() -> None:
    """The same words in another order share no sequence of three."""
    source = "the quick brown fox jumps over the lazy dog near the old mill"
    evidence = Evidence.of("q", "The mill dog jumps near old fox brown lazy quick over the the.", [source])

    assert observe(EvidenceOverlap(ngram=1), evidence) == PASSED
    assert observe(EvidenceOverlap(ngram=3), evidence) == flagged("low_evidence_overlap")
