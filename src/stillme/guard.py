"""The five stages wired: request → evidence → findings → decision → verdict."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from stillme.contract import (
    ClaimVerdict,
    Conflict,
    FindingRecord,
    Metrics,
    Statement,
    Verdict,
    VerifyRequest,
    made,
    parse_request,
)
from stillme.decision import Ruling, band, decide
from stillme.errors import PolicyError
from stillme.evidence import Evidence
from stillme.grounding.cascade import CascadeGrounder
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import ExactGrounder, Grounder, Judgement
from stillme.languages import DEFAULT, is_served
from stillme.limits import check_limits
from stillme.models.embedding import embed
from stillme.policy import Policy, PolicyWatcher
from stillme.reasons import Decision, Reason
from stillme.response import citations, respond
from stillme.stopping import Stop, checkpoint
from stillme.validators.base import Finding, Validator
from stillme.validators.chain import ConfiguredValidator, ValidatorChain, attempt
from stillme.validators.repairs import repair
from stillme.verdict_cache import Recall
from stillme.version import __version__

__all__ = ["Guard", "Occurrence", "Opening", "Recorder", "asked_language", "check_limits", "grounder_for", "shown"]

Request = VerifyRequest | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A verdict as it came about, whatever the policy lets the caller see of it."""

    request: VerifyRequest
    verdict: Verdict
    policy: Policy
    at: datetime
    caller: str | None = None
    added: tuple[str, ...] = ()
    """The validators that the program added, by name: the policy does not describe them."""
    opening: str | None = None
    """The record that said that the delivery of this answer began, which this one closes."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a delivery: an answer whose first claims go out before the verdict on the whole can be given."""

    id: str
    request: VerifyRequest
    policy: Policy
    at: datetime
    caller: str | None = None


class Recorder(Protocol):
    """Keeps verdicts; `stillme.audit.AuditStore` is one.

    A recorder that also has `open(opening)` is told before the first claim of a streamed answer goes out.
    """

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """Return when they are kept; raise when they cannot be, and no verdict is given."""


class Guard:
    """Verifies drafts against passages under a policy. Safe to share between threads; makes no network call
    unless its grounder does.

    `grounder` takes the place of the one that the policy names. `remember` keeps so many verdicts, to be given again when the very
    same content comes again; each is recorded all the same, and a request without `as_of` is then judged as of the current minute.
    """

    def __init__(
        self,
        policy: str | Path | Mapping[str, Any] | Policy | PolicyWatcher | None = None,
        validators: Iterable[Validator] = (),
        grounder: Grounder | None = None,
        audit: Recorder | None = None,
        remember: int = 0,
    ) -> None:
        self._watcher = policy if isinstance(policy, PolicyWatcher) else None
        self._policy = policy.policy if isinstance(policy, PolicyWatcher) else Policy.load(policy)
        self._added = tuple(validators)
        self._grounder = grounder
        self._audit = audit
        # A validator that the program added may see what is not in the request: its verdicts are not given again.
        self._recall = Recall(remember) if remember > 0 and not self._added else None
        self._chains = self._wire(self._policy)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._watcher.policy if self._watcher is not None else self._policy

    @property
    def added(self) -> tuple[Validator, ...]:
        """The validators that the program added to those of the policy."""
        return self._added

    @property
    def grounder(self) -> Grounder | None:
        """The grounder that takes the place of the policy's, if one does."""
        return self._grounder

    @property
    def policy_problem(self) -> PolicyError | None:
        """Why the policy file as it is now is not in force, or None where it is."""
        return self._watcher.error if self._watcher is not None else None

    def follow(self, on_event: Callable[[str, str], None]) -> None:
        """Tell a listener what becomes of the policy file, if one is followed, as PolicyWatcher tells it."""
        if self._watcher is not None:
            self._watcher.listen(on_event)

    def verify(self, request: Request, *, caller: str | None = None) -> Verdict:
        """The verdict on a draft; a request without a draft is prechecked (Pattern B). `caller` goes into the record."""
        return shown(self.examine(request, caller=caller))

    def precheck(self, request: Request, *, caller: str | None = None) -> Verdict:
        """The verdict on question and context alone, before anything is generated (Pattern B)."""
        parsed = parse_request(request)
        return self.verify(parsed.model_copy(update={"draft_answer": None}), caller=caller)

    def examine(
        self, request: Request, *, caller: str | None = None, record: bool = True, opening: str | None = None
    ) -> Occurrence:
        """The verdict as it came about, for a program that acts on it; `shown` gives what its callers may see.

        Without `record` it is a look ahead that nobody gets to see: nothing is kept of it. `opening` is what `announce` gave.
        """
        done = self._finish(self._begin(request))
        return self._recorded([done], caller, opening)[0] if record else Occurrence(*done, datetime.now(UTC), caller)

    def announce(self, request: Request, *, caller: str | None = None) -> str | None:
        """Record that an answer begins to go out, before its verdict is whole; `examine(opening=…)` closes that record.

        Raises where it cannot be kept, and then nothing may go out. None where nothing is recorded.
        """
        opens = getattr(self._audit, "open", None)
        if opens is None:
            return None
        begun = Opening(f"opening-{uuid.uuid4()}", parse_request(request), self.policy, datetime.now(UTC), caller)
        opens(begun)
        return begun.id

    def unverified(self, request: Request, *, caller: str | None = None) -> Occurrence:
        """The record of an answer that is delivered without being verified, because the validators are off."""
        parsed, policy = parse_request(request), self.policy
        evidence = Evidence(parsed, parsed.as_of or self._now(), self._grounder or grounder_for(policy), None)
        return self._recorded([(parsed, _unverified(evidence, policy), policy)], caller)[0]

    async def averify(self, request: Request, *, caller: str | None = None) -> Verdict:
        """`verify` without holding up the event loop; where the task is cancelled, the work ends too and nothing is recorded."""
        import asyncio  # noqa: PLC0415  (a tenth of a second that only asynchronous callers need to pay)

        stop = Stop()
        try:
            return await asyncio.to_thread(stop.run, lambda: self.verify(request, caller=caller))
        except asyncio.CancelledError:
            stop.set()
            raise

    def verify_batch(self, requests: Iterable[Request], *, caller: str | None = None) -> list[Verdict]:
        """A verdict for each request, in order, each equal to what `verify` gives; claims are grounded in one batch."""
        begun = [self._begin(request) for request in requests]
        waiting = [e for policy, e in begun if e.has_draft and self._known(policy, e)[1] is None]
        for grounder in dict.fromkeys(e.grounder for e in waiting):  # a policy may have changed in between
            _judge_together(grounder, [e for e in waiting if e.grounder is grounder])
        return [shown(each) for each in self._recorded([self._finish(item) for item in begun], caller)]

    def close(self) -> None:
        """Stop following the policy file, if one is followed; verdicts can still be asked for."""
        if self._watcher is not None:
            self._watcher.stop()

    # the stages

    def _begin(self, request: Request) -> tuple[Policy, Evidence]:
        parsed = parse_request(request)
        policy = self.policy
        check_limits(parsed, policy)
        grounder = self._grounder or grounder_for(policy)
        nearness = None if policy.grounding.model == "none" else embed
        return policy, Evidence(parsed, parsed.as_of or self._now(), grounder, nearness)

    def _now(self) -> datetime:
        now = datetime.now(UTC)
        return now if self._recall is None else now.replace(second=0, microsecond=0)

    def _known(self, policy: Policy, evidence: Evidence) -> tuple[bytes | None, Verdict | None]:
        """What a verdict is kept under, and the verdict if it is."""
        if self._recall is None:
            return None, None
        key = self._recall.key(evidence.request, evidence.as_of, policy, evidence.grounder.id)
        return key, self._recall.find(key, evidence.request)

    def _finish(self, begun: tuple[Policy, Evidence]) -> tuple[VerifyRequest, Verdict, Policy]:
        policy, evidence = begun
        key, verdict = self._known(policy, evidence)
        if verdict is None:
            verdict = self._judged(policy, evidence)
            if self._recall is not None:
                self._recall.keep(key, verdict)
        return evidence.request, verdict, policy

    def _judged(self, policy: Policy, evidence: Evidence) -> Verdict:
        started = time.perf_counter()
        chain = self._chain(policy, draft=evidence.has_draft)
        findings, patched = repair(chain, evidence, chain.observe(evidence, lambda: evidence.judgements))
        unjudged = _exited(findings) or (evidence.has_draft and attempt(lambda: evidence.judged)[1] is not None)
        claims_made = evidence.has_draft and (unjudged or bool(evidence.factual_claims))
        supported = claims_made and not unjudged and all(judged.supported for judged in evidence.judgements)
        needed = evidence.has_draft and (evidence.need.source_required or evidence.only_talks)
        ruling = decide(findings, policy, claims_made=claims_made, all_supported=supported, claims_needed=needed)
        return _verdict(evidence, policy, findings, ruling, patched, unjudged, started)

    def _recorded(
        self, done: list[tuple[VerifyRequest, Verdict, Policy]], caller: str | None, opening: str | None = None
    ) -> list[Occurrence]:
        """What came about, once it is recorded whole; what nobody waits for is not."""
        checkpoint()
        now, added = datetime.now(UTC), tuple(getattr(v, "name", type(v).__name__) for v in self._added)
        occurrences = [Occurrence(*each, now, caller, added, opening) for each in done]
        if self._audit is not None and occurrences:
            self._audit.record(occurrences)
        return occurrences

    def _wire(self, policy: Policy) -> tuple[Policy, ValidatorChain, ValidatorChain]:
        """The chain for drafts and the one for prechecks."""
        configured = policy.build(self._added)
        return policy, ValidatorChain(configured), ValidatorChain([c for c in configured if _on_query(c)])

    def _chain(self, policy: Policy, *, draft: bool) -> ValidatorChain:
        wired = self._chains
        if wired[0] is not policy:
            wired = self._chains = self._wire(policy)
        return wired[1] if draft else wired[2]


def shown(occurrence: Occurrence) -> Verdict:
    """What the policy lets a caller see of a verdict."""
    output, hidden = occurrence.policy.output, dict[str, Any]()
    if not output.include_reason_codes:
        hidden["reasons"] = []
        hidden["findings"] = [f.model_copy(update={"reason": None}) for f in occurrence.verdict.findings]
    if not output.include_validator_trace:
        hidden |= {"validator_trace_id": None, "findings": []}
    return occurrence.verdict.model_copy(update=hidden) if hidden else occurrence.verdict


def asked_language(request: VerifyRequest) -> str:
    """The language that the user is answered in."""
    return _language(Evidence(request, datetime.now(UTC), ExactGrounder(), None))


def grounder_for(policy: Policy) -> Grounder:
    """The grounder that a policy names."""
    return _grounder(policy.grounding.model, policy.grounding.most_tokens)


@lru_cache(maxsize=16)
def _grounder(model: str, most_tokens: int) -> Grounder:
    return ExactGrounder() if model == "none" else CascadeGrounder(most_tokens=most_tokens)


def _judge_together(grounder: Grounder, waiting: Sequence[Evidence]) -> None:
    """One batch; where it fails, each is judged alone, and the failure becomes a finding of its own."""
    batch, problem = attempt(lambda: grounder.judge([e.grounding_task for e in waiting]))
    if problem is None and isinstance(batch, list) and len(batch) == len(waiting):
        for evidence, judged in zip(waiting, batch, strict=True):
            sound, _ = attempt(lambda: evidence.checked(judged))  # noqa: B023  (called at once)
            if sound is not None:
                evidence.__dict__["judgements"] = sound


def _on_query(configured: ConfiguredValidator) -> bool:
    validator = configured.validator
    return (getattr(validator, "target", None) or getattr(validator, "stage", "draft")) == "query"


def _exited(findings: Sequence[Finding]) -> bool:
    """Whether an early exit left the claims unjudged."""
    return any(f.outcome == "skipped" and (f.detail or "").startswith("not run: ") for f in findings)


def _verdict(
    evidence: Evidence,
    policy: Policy,
    findings: Sequence[Finding],
    ruling: Ruling,
    patched: str | None,
    unjudged: bool,
    started: float,
) -> Verdict:
    response = respond(ruling, evidence, policy, patched)
    claims = _claims(evidence) if evidence.has_draft and not unjudged else []
    best = evidence.max_similarity
    return Verdict.model_construct(
        request_id=evidence.request.request_id or f"req-{uuid.uuid4()}",
        decision=ruling.decision,
        mode=policy.mode,
        action=response.action,
        source_required=evidence.need.source_required,
        confidence_band=band(_probability(evidence, ruling, unjudged), policy),
        reasons=list(ruling.reasons),
        validator_trace_id=f"trace-{uuid.uuid4()}",
        citations=[] if unjudged else citations(ruling, evidence),
        safe_response=response.safe_response,
        warning=response.warning,
        metrics=Metrics.model_construct(
            max_similarity=best,
            context_count=len(evidence.passages),
            claims_total=sum(c.status != "not_factual" for c in claims),
            claims_supported=sum(c.status == "supported" for c in claims),
            elapsed_ms=round((time.perf_counter() - started) * 1000, 3),
        ),
        claims=claims,
        findings=[_record(f) for f in findings],
        conflicts=[] if unjudged else _conflicts(evidence),
        verified=ruling.verified,
        language=_language(evidence),
        as_of=evidence.as_of,
        policy_hash=policy.hash,
        model_id=evidence.grounder.id,
        version=__version__,
        calibrated=_is_calibrated(policy, evidence),
    )


def _unverified(evidence: Evidence, policy: Policy) -> Verdict:
    """A verdict that vouches for nothing; nothing was acted on, so its mode is monitor."""
    given = [p.similarity for p in evidence.request.retrieved_context if p.similarity is not None]
    return Verdict.model_construct(
        request_id=evidence.request.request_id or f"req-{uuid.uuid4()}",
        decision=Decision.ANSWER,
        mode="monitor",
        action="deliver",
        source_required=evidence.need.source_required,
        confidence_band="low",
        reasons=[Reason.VALIDATORS_OFF.value],
        validator_trace_id=f"trace-{uuid.uuid4()}",
        citations=[],
        safe_response=None,
        warning=None,
        metrics=Metrics.model_construct(
            max_similarity=max(given, default=None),
            context_count=len(evidence.passages),
            claims_total=0,
            claims_supported=0,
            elapsed_ms=0.0,
        ),
        claims=[],
        findings=[],
        conflicts=[],
        verified=False,
        language=_language(evidence),
        as_of=evidence.as_of,
        policy_hash=policy.hash,
        model_id=evidence.grounder.id,
        version=__version__,
        calibrated=False,
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


def _probability(evidence: Evidence, ruling: Ruling, unjudged: bool) -> float:
    """That the answer is supported; in Pattern B, that the context suffices."""
    if unjudged or not ruling.verified:
        return 0.0
    if evidence.has_draft:
        return min((judged.score for judged in evidence.judgements), default=1.0)
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
