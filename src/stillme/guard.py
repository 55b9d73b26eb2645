"""What a program asks: requests in, verdicts out, each recorded; how a verdict comes about is the pipeline's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.errors import PolicyError
from stillme.evidence import Evidence
from stillme.grounding.grounder import Grounder
from stillme.limits import check_limits
from stillme.policy import Policy, PolicyWatcher
from stillme.stopping import Stop, checkpoint
from stillme.validators.base import Validator, declared
from stillme.validators.chain import attempt
from stillme.verdict_cache import Recall
from stillme.verification.growing import GrowingDraft
from stillme.verification.memory import JudgedOnce
from stillme.verification.pipeline import Pipeline, grounder_for
from stillme.verification.verdict import asked_language, unverified_verdict, verdict_of

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
        self._pipeline = Pipeline(self._policy, self._added, grounder)

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

    def refresh(self) -> None:
        """Look at the policy file now, if one is followed, instead of at the next time."""
        if self._watcher is not None:
            self._watcher.poll()

    def verify(self, request: Request, *, caller: str | None = None) -> Verdict:
        """The verdict on a draft; a request without a draft is prechecked (Pattern B). `caller` goes into the record."""
        return shown(self.examine(request, caller=caller))

    def precheck(self, request: Request, *, caller: str | None = None) -> Verdict:
        """The verdict on question and context alone, before anything is generated (Pattern B)."""
        parsed = parse_request(request)
        return self.verify(parsed.model_copy(update={"draft_answer": None}), caller=caller)

    def examine(
        self,
        request: Request,
        *,
        caller: str | None = None,
        record: bool = True,
        opening: str | None = None,
        growing: GrowingDraft | None = None,
    ) -> Occurrence:
        """The verdict as it came about, for a program that acts on it; `shown` gives what its callers may see.

        Without `record` nothing is kept of it. `opening` is what `announce` gave, `growing` the draft as it was looked at before.
        """
        begun = self._begin(request, growing.pipeline if growing else self._pipe())
        return self._examined([self._verdict(begun, growing)], caller, opening, record=record)[0]

    def examine_batch(
        self, requests: Iterable[Request], *, caller: str | None = None, record: bool = True
    ) -> list[Occurrence]:
        """`examine` for each request, in order; claims are judged in one batch."""
        pipeline = self._pipe()
        memory = JudgedOnce(pipeline.grounder)
        begun = [self._begin(request, pipeline, memory) for request in requests]
        waiting = [e.grounding_task for _, e in begun if e.has_draft and self._known(pipeline, e)[1] is None]
        attempt(
            lambda: memory.judge(waiting)
        )  # where it fails, each is judged alone, and the failure is a finding of its own
        return self._examined([self._verdict(item) for item in begun], caller, record=record)

    def growing(self, request: Request, confidence: Callable[[int], float | None] = lambda _: None) -> GrowingDraft:
        """Looks at a draft that is still being written, before its verdict can be given.

        `confidence` says how sure the model was of so many characters of it.
        """
        return GrowingDraft(self._pipe(), parse_request(request), confidence)

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
        parsed, pipeline = parse_request(request), self._pipe()
        evidence = pipeline.evidence(parsed, parsed.as_of or self._now())
        verdict = unverified_verdict(evidence, pipeline.policy)
        return self._examined([(parsed, verdict, pipeline.policy)], caller)[0]

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
        """A verdict for each request, in order, each equal to what `verify` gives; claims are judged in one batch."""
        return [shown(each) for each in self.examine_batch(requests, caller=caller)]

    def close(self) -> None:
        """Stop following the policy file, if one is followed; verdicts can still be asked for."""
        if self._watcher is not None:
            self._watcher.stop()

    # from a request to what is recorded

    def _pipe(self) -> Pipeline:
        """The stages under the policy in force."""
        policy, pipeline = self.policy, self._pipeline
        if pipeline.policy is not policy:
            pipeline = self._pipeline = Pipeline(policy, self._added, self._grounder)
        return pipeline

    def _begin(
        self, request: Request, pipeline: Pipeline, grounder: Grounder | None = None
    ) -> tuple[Pipeline, Evidence]:
        parsed = parse_request(request)
        check_limits(parsed, pipeline.policy)
        return pipeline, pipeline.evidence(parsed, parsed.as_of or self._now(), grounder)

    def _now(self) -> datetime:
        now = datetime.now(UTC)
        return now if self._recall is None else now.replace(second=0, microsecond=0)

    def _known(self, pipeline: Pipeline, evidence: Evidence) -> tuple[bytes | None, Verdict | None]:
        """What a verdict is kept under, and the verdict if it is."""
        if self._recall is None:
            return None, None
        key = self._recall.key(evidence.request, evidence.as_of, pipeline.policy, evidence.grounder.id)
        return key, self._recall.find(key, evidence.request)

    def _verdict(
        self, begun: tuple[Pipeline, Evidence], growing: GrowingDraft | None = None
    ) -> tuple[VerifyRequest, Verdict, Policy]:
        pipeline, evidence = begun
        key, verdict = self._known(pipeline, evidence)
        if verdict is None:
            verdict = growing.verdict(evidence.request) if growing else verdict_of(pipeline.outcome(evidence))
            if self._recall is not None:
                self._recall.keep(key, verdict)
        return evidence.request, verdict, pipeline.policy

    def _examined(
        self,
        done: list[tuple[VerifyRequest, Verdict, Policy]],
        caller: str | None,
        opening: str | None = None,
        *,
        record: bool = True,
    ) -> list[Occurrence]:
        """What came about, once it is recorded whole; what nobody waits for is not."""
        checkpoint()
        now, added = datetime.now(UTC), tuple(declared(v).name for v in self._added)
        occurrences = [Occurrence(*each, now, caller, added, opening) for each in done]
        if self._audit is not None and occurrences and record:
            self._audit.record(occurrences)
        return occurrences


def shown(occurrence: Occurrence) -> Verdict:
    """What the policy lets a caller see of a verdict."""
    output, hidden = occurrence.policy.output, dict[str, Any]()
    if not output.include_reason_codes:
        hidden["reasons"] = []
        hidden["findings"] = [f.model_copy(update={"reason": None}) for f in occurrence.verdict.findings]
    if not output.include_validator_trace:
        hidden |= {"validator_trace_id": None, "findings": []}
    return occurrence.verdict.model_copy(update=hidden) if hidden else occurrence.verdict
