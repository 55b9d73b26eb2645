"""One exchange with the OpenAI-compatible guard: what was asked, who answers, and an answer as it is delivered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from stillme.contract import Verdict, VerifyRequest
from stillme.response import delivered
from stillme.service.openai.outgoing import acts_in, draft_of, finish_of
from stillme.service.openai.request_sources import Asked, request_of

__all__ = [
    "Exchange",
    "Source",
    "calls_alone",
    "delivered_choice",
    "finish_reason",
    "precheck_choice",
]

MOST_HEADER_CHARS: Final = 500
JSON_FORMATS: Final = frozenset({"json_object", "json_schema"})


class Source(Protocol):
    """Who writes the answer, asked in OpenAI's shapes."""

    async def complete(self) -> dict[str, Any]:
        """The completion object."""
        ...

    def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The chunk objects, each as it arrives; closing it ends the call."""
        ...

    def confidence(self, choice: Mapping[str, Any]) -> float | None:
        """How sure the writer was of a whole choice, where that is known."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request on its way: what it asks, who answers it, and as of when."""

    body: Mapping[str, Any]
    asked: Asked
    source: Source
    caller: str | None
    model: str
    endpoint: str = "chat.completions"
    as_of: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def wants_json(self) -> bool:
        """Whether the answer has to be JSON: no refusal, marker or disclaimer can be written into it."""
        wanted = self.body.get("response_format")
        return isinstance(wanted, dict) and wanted.get("type") in JSON_FORMATS

    @property
    def offers_tools(self) -> bool:
        """Whether the model may call a tool."""
        return self.asked.offers_tools

    @property
    def choices(self) -> int:
        """How many answers were asked for."""
        return int(self.body.get("n") or 1)

    @property
    def notes(self) -> dict[str, Any]:
        """What is told of the request beside the verdict: what was taken as evidence, and what was not."""
        told: dict[str, Any] = {"evidence": [taken.shown for taken in self.asked.taken]}
        if self.asked.set_aside:
            told["sources_set_aside"] = self.asked.set_aside
        if self.asked.not_allowed:
            told["template_not_allowed"] = self.asked.not_allowed
        return told

    @property
    def headers(self) -> dict[str, str]:
        """The same in brief: who brought passages in which format, and how many."""
        taken = ",".join(f"{each.origin}/{each.format}={len(each.source_ids)}" for each in self.asked.taken)
        headers = {"x-stillme-evidence": (taken or "none")[:MOST_HEADER_CHARS]}
        if self.asked.not_allowed:
            headers["x-stillme-template-not-allowed"] = self.asked.not_allowed
        return headers

    def request(self, how: Mapping[str, Any] | None = None, **more: Any) -> VerifyRequest:
        """What the guard is asked; `how` the answer was delivered goes into the record."""
        metadata: dict[str, Any] = {"endpoint": self.endpoint, "model": self.model, **self.notes}
        if self.asked.unread:
            metadata["unread"] = list(self.asked.unread)
        if how is not None:
            metadata["delivery"] = dict(how)
        return request_of(self.asked, as_of=self.as_of, metadata=metadata, **more)


def finish_reason(verdict: Verdict) -> str:
    """How an answer ends that the policy put in the place of the model's."""
    return "content_filter" if verdict.action == "block" else "stop"


def precheck_choice(exchange: Exchange, verdict: Verdict) -> dict[str, Any]:
    """The choice that says what question and context alone came to."""
    return _said_instead(exchange, verdict, 0)


def delivered_choice(exchange: Exchange, choice: Mapping[str, Any], verdict: Verdict, at: int) -> dict[str, Any]:
    """A choice as it is delivered, with the text that the policy makes of it, or with what is said instead; `at` is its place.

    Where the policy is enforced nothing leaves that was not verified, but calls of tools where the request offers some. Log-probabilities
    spell a text, its unverified alternatives too.
    """
    if verdict.action in ("block", "clarify"):
        return _said_instead(exchange, verdict, at)
    message = choice["message"]
    draft, field = draft_of(message)
    text = draft if exchange.wants_json or not draft.strip() else delivered(verdict, draft)
    said = {"content": message.get("content"), "refusal": None} | ({field: text} if draft else {})
    said |= {"content": None} if field == "refusal" else {}
    if verdict.mode != "enforce":
        same = {"logprobs": choice.get("logprobs")} if text == draft else {"logprobs": None}
        return {**choice, "message": {**message, **said}, **same}
    spoken = {"role": "assistant", **said, **(acts_in(message) if exchange.offers_tools else {})}
    ended = finish_of(choice.get("finish_reason"))
    return {"index": at, "message": spoken, "logprobs": None, "finish_reason": ended}


def calls_alone(choice: Mapping[str, Any], at: int) -> dict[str, Any]:
    """A choice whose text does not go out and whose calls of tools do."""
    spoken = {"role": "assistant", "content": None, "refusal": None, **acts_in(choice["message"])}
    ended = finish_of(choice.get("finish_reason"))
    return {"index": at, "message": spoken, "logprobs": None, "finish_reason": ended}


def _said_instead(exchange: Exchange, verdict: Verdict, index: int) -> dict[str, Any]:
    text = verdict.safe_response or ""
    said = {"content": None, "refusal": text} if exchange.wants_json else {"content": text, "refusal": None}
    message = {"role": "assistant", **said}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish_reason(verdict)}
