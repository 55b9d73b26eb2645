"""What every adapter does with an answer: judge it whole or as it streams, and never let pass what could not be judged.

Where the guard itself fails (a store that is gone, an answer over the limits), enforce blocks and says so; the other modes deliver the
answer as they always do, and `problem` says that nothing vouches for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stillme.contract import Verdict, parse_request
from stillme.guard import Guard, asked_language, shown
from stillme.languages import DEFAULT
from stillme.reasons import Decision, Reason
from stillme.response import reason_words
from stillme.service.openai.release import ClaimEnds, ClaimGate
from stillme.validators.chain import attempt
from stillme.verification.growing import GrowingDraft

__all__ = ["GuardedStream", "Judged", "ajudged", "judged", "passage_of"]

Passage = Mapping[str, Any]
APART = "\n\n"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a user gets to read of a draft, and what is known of it."""

    text: str
    verdict: Verdict | None
    problem: str | None = None
    """Why there is no verdict; None where there is one, or where there was nothing to judge."""
    is_blocked: bool = False

    @property
    def record(self) -> dict[str, Any]:
        """What a framework keeps beside the text: the verdict as JSON, or that there is none and why."""
        if self.verdict is None:
            return {"verified": False, "problem": self.problem}
        return self.verdict.model_dump(mode="json")

    @property
    def score(self) -> float | None:
        """The share of supported claims; without a claim, whether the answer is verified. None where there is no verdict."""
        if self.verdict is None:
            return None
        metrics = self.verdict.metrics
        return metrics.claims_supported / metrics.claims_total if metrics.claims_total else float(self.verdict.verified)

    @property
    def passes(self) -> bool:
        """Whether it would be answered in every mode, and was verified."""
        return self.verdict is not None and self.verdict.verified and self.verdict.decision is Decision.ANSWER

    @property
    def why(self) -> str:
        """The reasons, and each claim that is not supported; else the problem."""
        if self.verdict is None:
            return self.problem or "there was nothing to judge"
        failed = [f"{c.status}: {c.text}" for c in self.verdict.claims if c.status in ("contradicted", "unsupported")]
        return "; ".join([", ".join(self.verdict.reasons) or "supported", *failed])

    @property
    def details(self) -> dict[str, Any]:
        """What an observability tool shows beside a score: reasons, ids, and each claim with its evidence."""
        if self.verdict is None:
            return {"problem": self.problem}
        kept = {"action", "mode", "reasons", "validator_trace_id", "policy_hash", "model_id", "calibrated"}
        claims = {"claims": {"__all__": {"text", "status", "score", "source_ids", "quote", "detail"}}}
        return self.verdict.model_dump(mode="json", include={**dict.fromkeys(kept, True), **claims})


def passage_of(
    text: str, number: int, source_id: object = None, score: object = None, **rest: object
) -> dict[str, Any]:
    """A passage of the contract from what a framework knows of a document; one without an id goes by its number."""
    about = {key: str(rest[key]) for key in ("title", "url", "timestamp") if rest.get(key)}
    similarity = {"similarity": float(score)} if isinstance(score, int | float) and -1 <= score <= 1 else {}
    return {"source_id": str(source_id or number), "text": text, **about, **similarity}


def judged(guard: Guard, query: str, draft: str | None, passages: Sequence[Passage] = (), **rest: Any) -> Judged:
    """The draft as the guard lets it go out; without a draft, whether the question may be answered at all."""
    request = _request(query, draft, passages, rest)
    verdict, problem = attempt(lambda: guard.verify(request))
    return _judged(guard, request, verdict, problem)


async def ajudged(guard: Guard, query: str, draft: str | None, passages: Sequence[Passage] = (), **rest: Any) -> Judged:
    """`judged` without holding up the event loop."""
    return await asyncio.to_thread(judged, guard, query, draft, passages, **rest)


def _request(query: str, draft: str | None, passages: Sequence[Passage], rest: Mapping[str, Any]) -> dict[str, Any]:
    return {"query": query, "draft_answer": draft, "retrieved_context": list(passages), **rest}


def _nothing(draft: str | None) -> Judged:
    return Judged(draft or "", None)


def _judged(guard: Guard, request: dict[str, Any], verdict: Verdict | None, problem: str | None) -> Judged:
    draft = request["draft_answer"] or ""
    if verdict is None:
        blocks = guard.policy.mode == "enforce"
        return Judged(_apology(request) if blocks else draft, None, problem, blocks)
    return Judged(verdict.delivered(draft), verdict, None, verdict.action in ("block", "clarify"))


def _apology(request: Mapping[str, Any]) -> str:
    """That the answer could not be checked, in the user's language."""
    language, _ = attempt(lambda: asked_language(parse_request({**request, "draft_answer": None})))
    words = reason_words(Reason.VALIDATOR_ERROR, language or DEFAULT)
    return " ".join(words[key][:1].upper() + words[key][1:] for key in ("say", "help") if words.get(key))


class GuardedStream:
    """An answer that is still being written: feed it pieces, send on what comes back, and close it. Used by one thread at a time.

    In enforce and warn text comes back claim by claim, each once it is verified; in monitor at once. `judged` is there after `close`.
    """

    def __init__(self, guard: Guard, query: str, passages: Sequence[Passage] = (), **rest: Any) -> None:
        self._guard, self._request = guard, _request(query, None, passages, rest)
        self._draft, self._sent = "", ""
        self._released = 0
        self._problem: str | None = None
        self._opening: str | None = None
        self._is_over = False
        self._passes = guard.policy.mode == "monitor"
        self._gate: ClaimGate | None = None
        self._growing: GrowingDraft | None = None
        self.judged: Judged = _nothing("")

    def feed(self, piece: str) -> str:
        """Take a piece in; what may go out now."""
        self._draft += piece
        if self._is_over:
            return ""
        return self._sending(piece) if self._passes else self._guarded(lambda: self._fed(piece))

    def close(self) -> str:
        """The answer is complete; what is still to go out of it."""
        rest = "" if self._passes or self._is_over else self._guarded(self._closed)
        if not self._draft.strip():
            self.judged = _nothing(self._draft)
            return rest
        request = {**self._request, "draft_answer": self._draft}
        verdict, problem = (None, self._problem) if self._problem else attempt(lambda: self._examined(request))
        found = _judged(self._guard, request, verdict, problem)
        if not self._is_over:
            rest += self._tail(found)
        self.judged = Judged(self._sent, found.verdict, found.problem, found.is_blocked or self._is_over)
        return rest

    def _examined(self, request: dict[str, Any]) -> Verdict:
        growing = (
            self._growing if self._gate is not None and self._gate.fits else None
        )  # one over the limits is not whole
        return shown(self._guard.examine(request, opening=self._opening, growing=growing))

    def _tail(self, found: Judged) -> str:
        """What stands below an answer: the warning of the mode, or in enforce that it could not be checked at the last."""
        if found.verdict is None:
            return self._stopped(found.text) if found.is_blocked else ""
        told = found.verdict.warning if found.verdict.action == "deliver_with_warning" else None
        return self._sending(f"{APART}{told}") if told and told not in self._sent else ""

    def _fed(self, piece: str) -> str:
        gate = self._opened()
        return self._steps(gate) if gate.feed(piece) else ""

    def _closed(self) -> str:
        gate = self._opened()
        gate.close()
        return self._steps(gate)

    def _opened(self) -> ClaimGate:
        if self._gate is None:
            request = parse_request(self._request)
            growing = self._growing = self._guard.growing(request)
            most = self._guard.policy.limits.draft_chars
            ends = ClaimEnds(request.retrieved_context)
            self._gate = ClaimGate(growing.look, ends, most_characters=most, hold=growing.holds_to_the_end)
        return self._gate

    def _steps(self, gate: ClaimGate) -> str:
        out = ""
        while (step := gate.step()) is not None:
            if self._opening is None and step.text:
                self._opening = self._guard.announce(self._request)
            out += self._stopped(step.text) if step.stopped else self._sending(step.text)
            self._released = step.end
        return out

    def _guarded(self, work: Callable[[], str]) -> str:
        """What the work lets out; where it fails, enforce ends the answer and the other modes let the rest of it through."""
        before = self._sent
        out, problem = attempt(work)
        if problem is None:
            return str(out)
        self._problem = problem
        missed = self._sent[len(before) :]  # what was let out before it failed
        if self._guard.policy.mode == "enforce":
            return missed + self._stopped(_apology(self._request))
        self._passes = True
        return missed + self._sending(self._draft[self._released :])

    def _stopped(self, words: str) -> str:
        self._is_over = True
        return self._sending(f"{APART if self._sent else ''}{words}")

    def _sending(self, text: str) -> str:
        self._sent += text
        return text
