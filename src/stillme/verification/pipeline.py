"""The stages, wired once: request → evidence → findings → repairs → ruling. What a mode makes of the outcome is not decided here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from stillme.decision import Ruling, decide
from stillme.evidence import Evidence
from stillme.grounding.cascade import CascadeGrounder
from stillme.grounding.grounder import ExactGrounder, Grounder
from stillme.models.embedding import embed
from stillme.reasons import Gate
from stillme.validators.base import Finding, Validator, declared
from stillme.validators.chain import ConfiguredValidator, ValidatorChain, attempt
from stillme.validators.repairs import repair

if TYPE_CHECKING:
    from stillme.contract import VerifyRequest
    from stillme.policy import Policy

__all__ = ["Outcome", "Pipeline", "grounder_for"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the stages make of one request."""

    policy: Policy
    evidence: Evidence
    findings: Sequence[Finding]
    patched: str | None
    """The draft with the repairs that were taken."""
    ruling: Ruling
    is_judged: bool
    """Whether the claims were judged: not where the chain ended early, nor where the grounder failed."""
    started: float = field(default_factory=time.perf_counter)


class Pipeline:
    """The stages under one policy, with the validators and the grounder that a program gave beside it; safe to share between threads."""

    def __init__(self, policy: Policy, added: Sequence[Validator] = (), grounder: Grounder | None = None) -> None:
        self.policy = policy
        self.grounder = grounder or grounder_for(policy)
        self._embed = None if policy.grounding.model == "none" else embed
        configured = policy.build(added)
        self._drafts = ValidatorChain(configured)
        self._questions = ValidatorChain(c for c in configured if declared(c.validator).stage == "query")
        self._beginnings = ValidatorChain(c for c in configured if not declared(c.validator).whole_answer)
        self.holds_to_the_end = any(map(_needs_the_end, configured))
        """Whether the policy demands something of every answer that only its end can show."""

    def evidence(self, request: VerifyRequest, as_of: datetime, grounder: Grounder | None = None) -> Evidence:
        """What is there to be judged; everything in it is read when first asked for."""
        return Evidence(request, as_of, grounder or self.grounder, self._embed)

    def outcome(self, evidence: Evidence, *, is_beginning: bool = False) -> Outcome:
        """Findings, repairs and ruling; the beginning of an answer goes past the validators that need the whole of it."""
        started = time.perf_counter()
        chain = self._chain(evidence, is_beginning=is_beginning)
        findings, patched = repair(self._beginnings, evidence, chain.observe(evidence))
        is_judged = _is_judged(evidence, findings)
        ruling = self._ruling(evidence, findings, is_judged=is_judged)
        return Outcome(self.policy, evidence, findings, patched, ruling, is_judged, started)

    def _chain(self, evidence: Evidence, *, is_beginning: bool) -> ValidatorChain:
        if not evidence.has_draft:
            return self._questions
        return self._beginnings if is_beginning else self._drafts

    def _ruling(self, evidence: Evidence, findings: Sequence[Finding], *, is_judged: bool) -> Ruling:
        if not evidence.has_draft:
            return decide(findings, self.policy, claims_made=False, all_supported=False)
        claims_made = not is_judged or bool(evidence.factual_claims)
        return decide(
            findings,
            self.policy,
            claims_made=claims_made,
            all_supported=claims_made and is_judged and all(judged.supported for judged in evidence.judgements),
            claims_needed=evidence.need.source_required or evidence.only_talks,
        )


def _is_judged(evidence: Evidence, findings: Sequence[Finding]) -> bool:
    if any(finding.left_out for finding in findings):
        return False
    if not evidence.has_draft:
        return True
    _, problem = attempt(lambda: evidence.judged)
    return problem is None


def _needs_the_end(configured: ConfiguredValidator) -> bool:
    what = declared(configured.validator)
    return what.whole_answer and not what.idle and (configured.gate or what.gate) is Gate.HARD


def grounder_for(policy: Policy) -> Grounder:
    """The grounder that a policy names: the same object for policies that ground alike."""
    return _grounder(policy.grounding.model, policy.grounding.most_tokens)


@lru_cache(maxsize=16)
def _grounder(model: str, most_tokens: int) -> Grounder:
    return ExactGrounder() if model == "none" else CascadeGrounder(most_tokens=most_tokens)
