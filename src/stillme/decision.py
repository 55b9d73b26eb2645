"""Findings and policy make a decision. Pure: no I/O, no clock, no mode."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from stillme.policy import Policy
from stillme.reasons import WEAK_EVIDENCE, Decision, Gate, Reason, asked_by
from stillme.validators.base import Finding

__all__ = ["STRICTNESS", "Ruling", "asked", "band", "decide", "strictest"]

Band = Literal["low", "medium", "high"]
BANDS: Final[tuple[Band, ...]] = ("low", "medium", "high")
# The outcomes by which a hard gate changes the decision, by what the policy does on errors.
DECIDING: Final = {"refuse": frozenset(("flagged", "errored")), "deliver": frozenset(("flagged",))}
RAN: Final = frozenset(("passed", "flagged"))
STRICTNESS: Final = {Decision.ANSWER: 0, Decision.ASK_CLARIFY: 1, Decision.REFUSE: 2}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision, its reason codes in the order they were found, and whether it rests on checks that really ran."""

    decision: Decision
    reasons: tuple[str, ...]
    verified: bool
    decisive: tuple[Finding, ...] = ()
    """The findings that made it more than an answer."""


def decide(
    findings: Sequence[Finding], policy: Policy, *, claims_made: bool, all_supported: bool, claims_needed: bool = False
) -> Ruling:
    """The strictest decision that a hard finding asks for.

    `claims_made`: the draft makes factual claims; `all_supported`: and every one of them is supported; `claims_needed`: a draft without
    any cannot answer the question.
    """
    deciding = [(f, asked(f.outcome, str(f.reason))) for f in findings if _decides(f, policy)]
    forgives = all((policy.behavior.allow_soft_answer_with_warning, claims_made, all_supported))
    decision = strictest([(str(f.reason), wanted) for f, wanted in deciding], forgives=forgives)
    return Ruling(
        decision,
        _codes(findings, decision),
        verified=_verified(findings, claims_made=claims_made, claims_needed=claims_needed),
        decisive=tuple(f for f, wanted in deciding if wanted is decision),
    )


def _codes(findings: Sequence[Finding], decision: Decision) -> tuple[str, ...]:
    """The reason codes, each once; those of an answer are warnings, and the first of them says so."""
    codes = tuple(dict.fromkeys(str(f.reason) for f in findings if f.reason))
    if codes and decision is Decision.ANSWER:
        return (Reason.PASSED_WITH_WARNINGS.value, *codes)
    return codes


def strictest(hard: Sequence[tuple[str, Decision]], *, forgives: bool) -> Decision:
    """What hard findings come to, each a code and what it asks for; those of weak evidence alone may be forgiven."""
    if forgives and {code for code, _ in hard} <= WEAK_EVIDENCE:
        return Decision.ANSWER
    return max([decision for _, decision in hard], key=STRICTNESS.__getitem__, default=Decision.ANSWER)


def asked(outcome: str, code: str) -> Decision:
    """The decision that a hard finding asks for."""
    return Decision.REFUSE if outcome == "errored" else asked_by(code)


def _decides(finding: Finding, policy: Policy) -> bool:
    """Whether a finding changes the decision: a hard flag, or a crashed hard gate where the policy refuses on errors."""
    may_decide = finding.gate is Gate.HARD and not finding.repaired
    return may_decide and finding.outcome in DECIDING[policy.on_error]


def _verified(findings: Sequence[Finding], *, claims_made: bool, claims_needed: bool) -> bool:
    """No hard gate errored, something was checked, and factual claims went past a validator that judges them."""
    if any(map(_is_crashed_gate, findings)):
        return False
    ran = [f.judges_claims for f in findings if f.outcome in RAN]
    if claims_made:
        return any(ran)
    return bool(ran) and not claims_needed


def _is_crashed_gate(finding: Finding) -> bool:
    """Whether a validator that may refuse could not be run."""
    return finding.outcome == "errored" and finding.gate is Gate.HARD


def band(probability: float, policy: Policy) -> Band:
    """The confidence band of a probability."""
    return BANDS[bisect((policy.confidence.medium, policy.confidence.high), probability)]
