"""A draft that is verified again as it grows: at each look it is what the guard would say of the same words.

Every look goes past the whole of what was written so far. What makes that cheap is kept from look to look: what was read of question
and passages, and each claim once judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from stillme.contract import Action, Verdict, VerifyRequest
from stillme.evidence import EarlierDrafts
from stillme.limits import Amount, check_work, context_amount
from stillme.reasons import Decision, Reason
from stillme.response import respond
from stillme.verification.memory import JudgedOnce
from stillme.verification.pipeline import Outcome, Pipeline
from stillme.verification.verdict import verdict_of

__all__ = ["GrowingDraft", "Look"]


@dataclass(frozen=True, slots=True)
class Look:
    """What a draft comes to as far as it is written: whether it may go out, and as what text."""

    action: Action
    text: str
    """What goes out; where the action is block or clarify, what is said instead."""
    waits: bool = False
    """Whether it is too early to tell: nothing that could be checked was said yet, or how its end is to be read shows only later."""

    @property
    def stops(self) -> bool:
        """Whether nothing of what is new in the draft may go out."""
        return self.action in ("block", "clarify")


class GrowingDraft:
    """The looks at one draft, and the verdict on it; used by one thread at a time."""

    def __init__(
        self, pipeline: Pipeline, request: VerifyRequest, confidence: Callable[[int], float | None] = lambda _: None
    ) -> None:
        self.pipeline, self._confidence = pipeline, confidence
        self._context = context_amount(request)
        evidence = pipeline.evidence(request, request.as_of or datetime.now(UTC), JudgedOnce(pipeline.grounder))
        self._evidence = replace(evidence, earlier=EarlierDrafts())
        self._whole: tuple[str, float | None, Verdict] | None = None

    @property
    def holds_to_the_end(self) -> bool:
        """Whether nothing may go out before the draft is complete."""
        return self.pipeline.holds_to_the_end

    def look(self, draft: str, *, is_complete: bool = False) -> Look:
        """What the draft comes to; one over the limit of work is an InputError."""
        check_work(Amount.of(draft).against(self._context), self.pipeline.policy)
        outcome = self._outcome(draft, self._confidence(len(draft)), is_complete=is_complete)
        if not is_complete and _is_too_early(outcome):
            return Look("deliver", draft, waits=True)
        response = respond(outcome.ruling, outcome.evidence, outcome.policy, outcome.patched)
        if response.action in ("block", "clarify"):
            return Look(response.action, response.safe_response or "")
        return Look(response.action, _text_of(outcome))

    def verdict(self, request: VerifyRequest) -> Verdict:
        """The verdict on a draft of this request; what a look has seen of the same draft is not worked out again."""
        draft, confidence = request.draft_answer or "", request.generation_confidence
        if self._whole is None or self._whole[:2] != (draft, confidence):
            self._outcome(draft, confidence, is_complete=True)
        assert self._whole is not None  # noqa: S101  (it was just worked out)
        return self._whole[2]

    def _outcome(self, draft: str, confidence: float | None, *, is_complete: bool) -> Outcome:
        self._evidence = self._evidence.with_draft(draft, generation_confidence=confidence)
        outcome = self.pipeline.outcome(self._evidence, is_beginning=not is_complete)
        self._whole = (draft, confidence, verdict_of(outcome)) if is_complete else None
        return outcome


def _text_of(outcome: Outcome) -> str:
    """The draft as it goes out: repaired, where it is an answer and the mode may change a text."""
    draft = outcome.evidence.draft.raw
    if outcome.policy.mode == "monitor" or outcome.ruling.decision is not Decision.ANSWER:
        return draft
    return draft if outcome.patched is None else outcome.patched


def _is_too_early(outcome: Outcome) -> bool:
    """Whether what follows may turn the outcome: only a claim is missing, or a bare yes, which a fact behind it makes a lead-in."""
    mode, decisive = outcome.policy.mode, outcome.ruling.decisive
    if decisive:
        return mode == "enforce" and {f.reason for f in decisive} == {Reason.NO_VERIFIABLE_CLAIM}
    if mode == "monitor":
        return False
    return any(claim.assent and not claim.markers for claim in outcome.evidence.claims)
