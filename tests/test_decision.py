"""Findings and policy make a decision: pure, and the strictest wins."""

from __future__ import annotations

import itertools

import pytest

from stillme import Decision, Finding, Gate, Policy, Reason
from stillme.decision import band, decide

PASSED = Finding("Own", "passed", gate=Gate.HARD, judges_claims=True)
SOFT = Finding("EvidenceOverlap", "flagged", gate=Gate.SOFT, reason=Reason.LOW_EVIDENCE_OVERLAP)
HARD = Finding("CitationRelevance", "flagged", gate=Gate.HARD, reason=Reason.FABRICATED_CITATION)
ASKS = Finding("AmbiguousQuery", "flagged", "query", Gate.HARD, Reason.AMBIGUOUS_QUERY)
CONFLICT = Finding("SourceConsensusValidator", "flagged", gate=Gate.HARD, reason=Reason.CONTEXT_CONFLICT)
REPAIRED = Finding("CitationRequired", "flagged", gate=Gate.HARD, reason=Reason.CITATION_MISSING, repaired=True)
CRASHED = Finding("Own", "errored", gate=Gate.HARD, reason=Reason.VALIDATOR_ERROR)
OWN = Finding("Own", "flagged", gate=Gate.HARD, reason="own_code")


@pytest.mark.parametrize(
    ("findings", "decision", "reasons"),
    [
        pytest.param([PASSED], "answer", [], id="nothing flagged"),
        pytest.param([PASSED, SOFT], "answer", ["passed_with_warnings", "low_evidence_overlap"], id="a soft flag warns"),
        pytest.param([PASSED, HARD], "refuse", ["fabricated_citation"], id="a hard flag refuses"),
        pytest.param([PASSED, ASKS], "ask_clarify", ["ambiguous_query_needs_clarification"], id="an ambiguity asks back"),
        pytest.param([PASSED, CONFLICT], "ask_clarify", ["context_conflict_low_consensus"], id="a hardened conflict asks back"),
        pytest.param([PASSED, ASKS, HARD], "refuse", ["ambiguous_query_needs_clarification", "fabricated_citation"], id="refuse beats ask"),
        pytest.param([PASSED, REPAIRED], "answer", ["passed_with_warnings", "citation_missing_for_factual_claim"], id="a repaired flag counts as soft"),
        pytest.param([PASSED, CRASHED], "refuse", ["validator_error"], id="a crashed hard gate refuses"),
        pytest.param([PASSED, OWN], "refuse", ["own_code"], id="a plugin's own code refuses"),
        pytest.param([], "answer", [], id="no findings at all"),
    ],
)  # fmt: skip
def test_decisions(findings: list[Finding], decision: str, reasons: list[str]) -> None:
    """Decision and reason codes of a list of findings."""
    ruling = decide(findings, Policy.load(None), claims_made=True, all_supported=True)

    assert (ruling.decision, list(ruling.reasons)) == (decision, reasons)


def test_the_order_of_findings_does_not_matter() -> None:
    """Any order gives the same decision and the same set of reasons."""
    findings = [PASSED, SOFT, ASKS, HARD, REPAIRED]
    rulings = {
        (r.decision, frozenset(r.reasons), r.verified)
        for order in itertools.permutations(findings)
        for r in [decide(order, Policy.load(None), claims_made=True, all_supported=False)]
    }

    assert rulings == {(Decision.REFUSE, frozenset({*(str(f.reason) for f in findings[1:])}), True)}


@pytest.mark.parametrize(
    ("findings", "claims_made", "verified"),
    [
        pytest.param([PASSED], True, True, id="Gate 4 ran"),
        pytest.param([SOFT], True, False, id="claims without Gate 4"),
        pytest.param([SOFT], False, True, id="no claims, something ran"),
        pytest.param([], False, False, id="nothing ran"),
        pytest.param([PASSED, CRASHED], True, False, id="a hard gate crashed"),
        pytest.param([Finding("X", "skipped")], False, False, id="everything was skipped"),
    ],
)
def test_verified(findings: list[Finding], claims_made: bool, verified: bool) -> None:
    """Skipped is not passed, an error is not passed."""
    assert decide(findings, Policy.load(None), claims_made=claims_made, all_supported=False).verified is verified


@pytest.mark.parametrize(
    ("probability", "expected"),
    [(1.0, "high"), (0.85, "high"), (0.8499, "medium"), (0.6, "medium"), (0.5999, "low"), (0.0, "low")],
)
def test_bands(probability: float, expected: str) -> None:
    """The policy's default bounds; equal belongs to the higher band."""
    assert band(probability, Policy.load(None)) == expected
