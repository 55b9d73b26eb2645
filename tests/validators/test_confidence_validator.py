"""ConfidenceValidator: Gate 3, and certainty that the support does not carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from stillme import Guard
from stillme.evidence import Evidence
from stillme.grounding.grounder import GroundingTask, Judgement
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


LIKELY, POSSIBLE = "likely, but not certain", "possible, but weakly supported"
NHIEU_KHA_NANG = "nhiều khả năng đúng, nhưng chưa chắc chắn"


@pytest.mark.parametrize(
    ("query", "draft", "source", "expected"),
    [
        pytest.param("Do gift cards expire?", "Gift cards never expire [1].", RETURNS, f"Gift cards never expire ({LIKELY}) [1].", id="before the marker and the stop"),
        pytest.param("Who pays the postage?", "The customer pays the return postage.", RETURNS, f"The customer pays the return postage ({LIKELY}) [1].", id="beside the citation that is repaired in with it"),
        pytest.param("Who pays the postage?", "The customer pays the **return postage** [1].", RETURNS, f"The customer pays the **return postage** ({LIKELY}) [1].", id="behind words in bold"),
        pytest.param("Do gift cards expire?", "I hope you are well. Gift cards never expire [1]. Shall I look for more?", RETURNS, f"I hope you are well. Gift cards never expire ({LIKELY}) [1]. Shall I look for more?", id="only the claim concerned"),
        pytest.param("Phí vận chuyển ai trả?", "Phí vận chuyển do khách hàng chi trả [1].", DOI_TRA, f"Phí vận chuyển do khách hàng chi trả ({NHIEU_KHA_NANG}) [1].", id="in Vietnamese"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["warn", "enforce"])
def test_the_uncertainty_that_is_missing_is_added(
    mode: str, query: str, draft: str, source: str, expected: str
) -> None:
    """The repaired text says how sure it is, of the weak claim alone, and was verified again."""
    policy = {"mode": mode, "validators": {"ConfidenceValidator": {"min_support": 1.0}}}
    context = [{"source_id": "a", "text": source, "similarity": 0.9}]

    verdict = Guard(policy).verify({"query": query, "draft_answer": draft, "retrieved_context": context})

    assert (verdict.decision, verdict.safe_response) == ("answer", expected)
    assert "uncertainty_missing" in verdict.reasons
    assert [f.repaired for f in verdict.findings if f.reason == "uncertainty_missing"] == [True]


@dataclass(frozen=True)
class Scored:
    """A grounder that supports every claim, the n-th one with the n-th score."""

    scores: tuple[float, ...]
    id: str = "scored"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """One judgement a claim."""
        return [[Judgement("supported", score, (0,)) for score in self.scores] for _ in tasks]


def test_of_several_claims_each_weak_one_is_hedged_as_far_as_it_is_weak() -> None:
    """A well supported claim stays certain; a fair one is likely, a poor one possible."""
    request = {
        "query": "What are the rules for returns?",
        "draft_answer": "Gift cards never expire [1]. The customer pays the return postage [1]. Unused gear can be returned [1].",
        "retrieved_context": [{"source_id": "a", "text": RETURNS, "similarity": 0.9}],
    }

    verdict = Guard({"mode": "enforce"}, grounder=Scored((0.7, 0.65, 0.55))).verify(request)

    assert verdict.safe_response == (
        f"Gift cards never expire [1]. The customer pays the return postage ({LIKELY}) [1]. "
        f"Unused gear can be returned ({POSSIBLE}) [1]."
    )


def test_a_hedge_in_brackets_is_no_part_of_the_claim() -> None:
    """The hedged claim is judged as the claim was, and asks for no second hedge."""
    plain = Evidence.of("q", "Gift cards never expire [1].", [RETURNS])
    hedged = Evidence.of("q", f"Gift cards never expire ({LIKELY}) [1].", [RETURNS])

    assert [j.status for j in hedged.judgements] == [j.status for j in plain.judgements] == ["supported"]
    assert observe(ConfidenceValidator(min_support=1.0), hedged) == PASSED


def test_the_policy_can_leave_the_wording_alone() -> None:
    """`repair: false` keeps the warning and changes nothing."""
    policy = {"mode": "enforce", "validators": {"ConfidenceValidator": {"min_support": 1.0, "repair": False}}}
    request = {
        "query": "Do gift cards expire?",
        "draft_answer": "Gift cards never expire [1].",
        "retrieved_context": [{"source_id": "a", "text": RETURNS, "similarity": 0.9}],
    }

    verdict = Guard(policy).verify(request)

    assert (verdict.action, verdict.safe_response) == ("deliver_with_warning", None)
