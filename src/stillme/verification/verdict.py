"""What came of a request, as the verdict that a caller gets: claims, findings, conflicts and figures, in the contract's terms."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from stillme.contract import ClaimVerdict, Conflict, FindingRecord, Metrics, Statement, Verdict, VerifyRequest, made
from stillme.decision import band
from stillme.evidence import Evidence
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import ExactGrounder, Judgement
from stillme.grounding.precision import measured_precision
from stillme.languages import DEFAULT, is_served
from stillme.policy import Policy
from stillme.reasons import Decision, Reason
from stillme.response import citations, respond
from stillme.validators.base import Finding
from stillme.verification.pipeline import Outcome
from stillme.version import __version__

__all__ = ["asked_language", "unverified_verdict", "verdict_of"]


def verdict_of(outcome: Outcome) -> Verdict:
    """The verdict on a request, once the policy's mode has made an action of the outcome."""
    evidence, policy, ruling = outcome.evidence, outcome.policy, outcome.ruling
    response = respond(ruling, evidence, policy, outcome.patched)
    is_judged = outcome.is_judged
    claims = _claims(evidence) if evidence.has_draft and is_judged else []
    return Verdict.model_construct(
        **_conditions(evidence, policy),
        decision=ruling.decision,
        mode=policy.mode,
        action=response.action,
        confidence_band=band(_probability(outcome), policy),
        reasons=list(ruling.reasons),
        citations=citations(ruling, evidence) if is_judged else [],
        safe_response=response.safe_response,
        warning=response.warning,
        metrics=_metrics(evidence, evidence.max_similarity, claims, time.perf_counter() - outcome.started),
        claims=claims,
        findings=[_record(f) for f in outcome.findings],
        conflicts=_conflicts(evidence) if is_judged else [],
        verified=ruling.verified,
        calibrated=_is_calibrated(policy, evidence),
    )


def unverified_verdict(evidence: Evidence, policy: Policy) -> Verdict:
    """A verdict that vouches for nothing; nothing was acted on, so its mode is monitor."""
    given = [p.similarity for p in evidence.request.retrieved_context if p.similarity is not None]
    return Verdict.model_construct(
        **_conditions(evidence, policy),
        decision=Decision.ANSWER,
        mode="monitor",
        action="deliver",
        confidence_band="low",
        reasons=[Reason.VALIDATORS_OFF.value],
        citations=[],
        safe_response=None,
        warning=None,
        metrics=_metrics(evidence, max(given, default=None), [], 0.0),
        claims=[],
        findings=[],
        conflicts=[],
        verified=False,
        calibrated=False,
    )


def asked_language(request: VerifyRequest) -> str:
    """The language that the user is answered in."""
    return _language(Evidence(request, datetime.now(UTC), ExactGrounder(), None))


def _conditions(evidence: Evidence, policy: Policy) -> dict[str, Any]:
    """What every verdict has, whatever came of it: its ids, and what it depends on."""
    return {
        "request_id": evidence.request.request_id or f"req-{uuid.uuid4()}",
        "validator_trace_id": f"trace-{uuid.uuid4()}",
        "source_required": evidence.need.source_required,
        "language": _language(evidence),
        "as_of": evidence.as_of,
        "policy_hash": policy.hash,
        "model_id": evidence.grounder.id,
        "version": __version__,
    }


def _metrics(evidence: Evidence, similarity: float | None, claims: list[ClaimVerdict], seconds: float) -> Metrics:
    return Metrics.model_construct(
        max_similarity=similarity,
        context_count=len(evidence.passages),
        claims_total=sum(c.status != "not_factual" for c in claims),
        claims_supported=sum(c.status == "supported" for c in claims),
        elapsed_ms=round(seconds * 1000, 3),
    )


def _is_calibrated(policy: Policy, evidence: Evidence) -> bool:
    """Whether the thresholds were calibrated with this model for this language and domain, and no drift was found since."""
    found = policy.calibration
    return (
        found is not None
        and found.drifted is None
        and found.model_id == evidence.grounder.id
        and evidence.language in found.languages
        and (not found.domains or evidence.request.metadata.domain in found.domains)
    )


def _language(evidence: Evidence) -> str:
    """The user's language; where it cannot be told, that of the draft, else English."""
    if evidence.language != "unknown":
        return evidence.language
    return evidence.draft_language if evidence.has_draft and is_served(evidence.draft_language) else DEFAULT


def _probability(outcome: Outcome) -> float:
    """How often an answer like this one is supported, as measured; in Pattern B, that the context suffices."""
    evidence = outcome.evidence
    if not outcome.is_judged or not outcome.ruling.verified:
        return 0.0
    if evidence.has_draft:
        return min(map(measured_precision, evidence.judgements), default=1.0)
    if not evidence.need.source_required:
        return 1.0
    return max(0.0, evidence.max_similarity or 0.0)


def _claims(evidence: Evidence) -> list[ClaimVerdict]:
    judged = {claim.start: judgement for claim, judgement in evidence.judged}
    return [_claim(evidence, claim, judged.get(claim.start)) for claim in evidence.claims]


def _claim(evidence: Evidence, claim: Claim, judged: Judgement | None) -> ClaimVerdict:
    quote = judged.quote if judged else None
    passages = evidence.passages
    values = {
        "text": evidence.draft.raw[claim.start : claim.end],
        "start": claim.start,
        "end": claim.end,
        "status": judged.status if judged else "not_factual",
        "score": judged.score if judged else None,
        "source_ids": list(dict.fromkeys(passages[i].source_id for i in judged.passages)) if judged else [],
        "quote": passages[quote.passage].given.text[quote.start : quote.end] if quote else None,
        "unsupported_spans": list(judged.unsupported) if judged else [],
        "decided_by": judged.decided_by if judged else None,
        "detail": (judged.detail or None) if judged else claim.kind,
    }
    return made(ClaimVerdict, values)


def _record(f: Finding) -> FindingRecord:
    values = {
        "validator": f.validator,
        "outcome": f.outcome,
        "gate": f.gate,
        "stage": f.stage,
        "reason": str(f.reason) if f.reason else None,
        "detail": f.detail,
        "spans": list(f.spans),
        "repaired": f.repaired,
        "elapsed_ms": f.elapsed_ms,
    }
    return made(FindingRecord, values)


def _conflicts(evidence: Evidence) -> list[Conflict]:
    found: list[Conflict] = []
    for c in evidence.conflicts:
        sides = [evidence.passages[i] for i in c.passages]
        statements = [
            Statement.model_construct(source_id=p.source_id, quote=p.given.text[a:b], value=value or None)
            for p, (a, b), value in zip(sides, c.spans, c.values, strict=True)
        ]
        found.append(
            Conflict.model_construct(source_ids=[p.source_id for p in sides], about=c.about, statements=statements)
        )
    return found
