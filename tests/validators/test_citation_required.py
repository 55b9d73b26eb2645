"""CitationRequired: every factual claim cites a source; a supported one can be repaired."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.base import Repair
from stillme.validators.citation_required import CitationRequired
from tests.validators.support import DELIVERY, DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param("Gift cards never expire [1].", PASSED, id="a cited claim"),
        pytest.param("Gift cards never expire. [1]", PASSED, id="the marker behind the stop"),
        pytest.param("Gift cards never expire.", flagged("citation_missing_for_factual_claim"), id="an uncited claim"),
        pytest.param(
            "Gift cards never expire [1]. Tents are free.",
            flagged("citation_missing_for_factual_claim"),
            id="one of two is uncited",
        ),
        pytest.param(
            "Sản phẩm đặt làm riêng không được đổi trả.",
            flagged("citation_missing_for_factual_claim"),
            id="an uncited Vietnamese claim",
        ),
        pytest.param("Hello! How can I help you?", SKIPPED, id="a greeting makes no claim"),
        pytest.param("I could not find anything about tents in the documents.", SKIPPED, id="a refusal makes no claim"),
        pytest.param("Rất tiếc, tôi không tìm thấy thông tin này.", SKIPPED, id="nor does a Vietnamese one"),
        pytest.param("In my opinion, the blue one looks nicer.", SKIPPED, id="nor does an opinion"),
        pytest.param("", SKIPPED, id="nothing makes no claim"),
    ],
)
def test_citations(draft: str, expected: list[tuple[str, str | None]]) -> None:
    """Factual sentences need a marker, others do not."""
    assert observe(CitationRequired(), Evidence.of("q", draft, [RETURNS, DOI_TRA])) == expected


def test_a_supported_claim_gets_the_marker_of_its_source() -> None:
    """The repair stands before the full stop and names the passage that supports the claim."""
    finding = CitationRequired().run(Evidence.of("q", "Standard delivery costs £4.50.", [RETURNS, DELIVERY]))

    assert finding.repairs == (Repair(29, 29, " [2]"),)


def test_an_unsupported_claim_gets_no_marker() -> None:
    """Nothing unsupported ever gains a citation."""
    finding = CitationRequired().run(
        Evidence.of("q", "Larkfield rents out wedding tents in Paris.", [RETURNS, DELIVERY])
    )

    assert (finding.outcome, finding.repairs) == ("flagged", ())


def test_some_claims_may_stay_uncited() -> None:
    """`allowed_uncited` is how many."""
    evidence = Evidence.of("q", "Gift cards never expire.", [RETURNS])

    assert observe(CitationRequired(allowed_uncited=1), evidence) == PASSED
