"""ConfidenceValidator: Gate 3, and certainty that the support does not carry."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.confidence_validator import ConfidenceValidator
from tests.validators.support import DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        pytest.param(0.92, PASSED, id="sure enough"),
        pytest.param(0.6, PASSED, id="equal to the threshold passes"),
        pytest.param(0.59, flagged("low_generation_confidence"), id="below it fails"),
        pytest.param(0.0, flagged("low_generation_confidence"), id="not sure at all"),
        pytest.param(None, PASSED, id="not given: the support is still looked at"),
    ],
)
@pytest.mark.parametrize(
    ("draft", "source"),
    [("Gift cards never expire [1].", RETURNS), ("Phí vận chuyển do khách hàng chi trả [1].", DOI_TRA)],
    ids=["en", "vi"],
)
def test_generation_confidence(
    confidence: float | None, expected: list[tuple[str, str | None]], draft: str, source: str
) -> None:
    """The caller's figure against the threshold."""
    evidence = Evidence.of("q", draft, [source], generation_confidence=confidence)

    assert observe(ConfidenceValidator(), evidence) == expected


def test_nothing_given_and_nothing_claimed() -> None:
    """Then there is nothing to check, and it says so."""
    assert observe(ConfidenceValidator(), Evidence.of("q", "Hello!", [RETURNS])) == SKIPPED


def test_weak_support_worded_as_certain() -> None:
    """A claim that is supported, but less than `min_support` asks for, should sound less sure."""
    evidence = Evidence.of("q", "Gift cards never expire [1].", [RETURNS])
    hedged = Evidence.of("q", "Gift cards probably never expire [1].", [RETURNS])

    assert observe(ConfidenceValidator(min_support=1.0), evidence) == flagged("uncertainty_missing")
    assert observe(ConfidenceValidator(min_support=1.0), hedged) == PASSED
