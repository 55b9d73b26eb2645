"""`POST /beta/litellm_basic_guardrail_api`: LiteLLM's generic guardrail.

LiteLLM calls twice: before the model (`input_type: request`, with the messages) and after it (`response`, with the texts alone). What
was asked is kept in between, under the id that LiteLLM gives the call, where every process that serves finds it: an answer is verified
against its own question and passages, whichever process gets it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.contract import VerifyRequest
from stillme.errors import InputError, shown
from stillme.guard import Guard, Occurrence
from stillme.guard import shown as visible
from stillme.response import delivered
from stillme.service.bodies import as_model, read_json
from stillme.service.openai.guarded import Parts, delivery, may_call, only_waits, strictest, with_context
from stillme.service.openai.request_sources import EXTENSION, Asked, asked_in, request_of
from stillme.service.openapi import body_of, problems

__all__ = ["GuardrailAnswer", "GuardrailRequest", "litellm_routes"]

PATH: Final = "/beta/litellm_basic_guardrail_api"
UNKNOWN: Final = (
    "the question that this answers is not known, so that the answer cannot be verified: let the guardrail run before the call "
    "too (mode: [pre_call, post_call])"
)
log = logging.getLogger("stillme.service")


class GuardrailRequest(BaseModel):
    """What LiteLLM sends; keys that are not named here are left aside."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input_type: Literal["request", "response"]
    texts: list[str] | None = Field(None, description="the texts of the messages, or those of the answer")
    structured_messages: list[dict[str, Any]] | None = Field(None, description="the messages, in OpenAI's shape")
    images: list[str] | None = Field(None, description="they cannot be verified")
    tools: list[Any] | None = Field(None, description="what the model may call: what is missing may come with a result")
    tool_calls: list[Any] | None = Field(None, description="what it calls: they pass, and are not verified")
    litellm_call_id: str | None = Field(None, max_length=512)
    litellm_trace_id: str | None = Field(None, max_length=512)
    model: str | None = None
    request_data: dict[str, Any] | None = None
    additional_provider_specific_params: dict[str, Any] | None = Field(
        None, description=f"`{EXTENSION}` in it: context, language, session_id, question"
    )


class GuardrailAnswer(BaseModel):
    """What LiteLLM does with the texts: let them be, end the call, or put `texts` in their place."""

    action: Literal["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]
    blocked_reason: str | None = None
    texts: list[str] | None = None
    verdicts: list[dict[str, Any]] = Field([], description="decision, action, reasons and trace id of each verdict")


def litellm_routes(parts: Parts) -> APIRouter:
    """The route that LiteLLM's generic guardrail calls."""
    router = APIRouter(tags=["litellm"])
    router.add_api_route(
        PATH,
        _Guardrail(parts).check,
        methods=["POST"],
        response_model=GuardrailAnswer,
        responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
        openapi_extra=body_of(GuardrailRequest),
        summary="LiteLLM's generic guardrail.",
    )
    return router


@dataclass(frozen=True, slots=True)
class _Guardrail:
    parts: Parts

    async def check(self, request: Request) -> Response:
        """What LiteLLM is to do with the texts."""
        sent = as_model(GuardrailRequest, await read_json(request))
        caller = self.parts.caller(request)
        answer = await (self._before if sent.input_type == "request" else self._after)(sent, caller)
        return JSONResponse(answer.model_dump(exclude_none=True))

    async def _before(self, sent: GuardrailRequest, caller: str | None) -> GuardrailAnswer:
        """Question and context, before the model is called."""
        found = _asked(sent, self.parts)
        if found is None:
            return GuardrailAnswer(action="NONE")  # nothing is asked: no text, or what some other kind of call sends
        asked = await with_context(self.parts, found, given=_context_given(sent))
        calls = self.parts.calls
        await self.parts.run(lambda: calls.keep(caller, _name(sent), asked))
        request = _request(sent, asked)
        guard = self.parts.guard
        occurrence: Occurrence = await self.parts.run(lambda: guard.examine(request, caller=caller))
        return _answer([occurrence], [], waits=asked.offers_tools and only_waits(occurrence))

    async def _after(self, sent: GuardrailRequest, caller: str | None) -> GuardrailAnswer:
        """The texts of an answer."""
        asked = _asked(sent, self.parts) if sent.structured_messages or _own(sent).get("question") else None
        if asked is not None:
            asked = await with_context(self.parts, asked, given=_context_given(sent))
        calls = self.parts.calls
        asked = asked or await self.parts.run(lambda: calls.find(caller, _name(sent)))
        if asked is None:
            return self._unknown()
        drafts = [text for text in sent.texts or [] if text.strip()]
        if not drafts:
            requests = [_request(sent, asked, delivery=delivery("passed_through", 0, 0, why="no text"))]
        else:
            requests = [_request(sent, asked, draft) for draft in drafts]
        guard = self.parts.guard
        occurrences: list[Occurrence] = await self.parts.run(lambda: _examined(guard, requests, caller))
        waits = asked.offers_tools and bool(sent.tool_calls) and not drafts and may_call(occurrences[0])
        return _answer(occurrences, sent.texts or [], read=bool(drafts), waits=waits)

    def _unknown(self) -> GuardrailAnswer:
        """An answer to nobody knows what: only enforce holds it back."""
        log.warning("LiteLLM sent an answer whose question is not known")
        if self.parts.guard.policy.mode == "enforce":
            return GuardrailAnswer(action="BLOCKED", blocked_reason=UNKNOWN)
        return GuardrailAnswer(action="NONE", verdicts=[{"verified": False, "detail": UNKNOWN}])


def _examined(guard: Guard, requests: Sequence[VerifyRequest], caller: str | None) -> list[Occurrence]:
    return [guard.examine(request, caller=caller) for request in requests]


# what is asked


def _own(sent: GuardrailRequest) -> Mapping[str, Any]:
    """What is meant for us among the parameters."""
    found = (sent.additional_provider_specific_params or {}).get(EXTENSION)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"additional_provider_specific_params.{EXTENSION} must be an object, got {shown(found)}")
    return found


def _name(sent: GuardrailRequest) -> str | None:
    """What a call is kept under; a client of LiteLLM may choose its id, and nothing else that is kept has such a name."""
    return f"call {sent.litellm_call_id}" if sent.litellm_call_id is not None else None


def _context_given(sent: GuardrailRequest) -> bool:
    return _own(sent).get("context") is not None


def _asked(sent: GuardrailRequest, parts: Parts) -> Asked | None:
    """The question and its passages, or None where nothing is asked."""
    own = dict(_own(sent))
    question = own.pop("question", None)
    if isinstance(question, str) and question.strip():
        messages: list[Any] = [{"role": "user", "content": question}]
    elif sent.structured_messages:
        messages = sent.structured_messages
    else:
        messages = [{"role": "user", "content": text} for text in sent.texts or [] if text.strip()]
    if not any(_says_something(message) for message in messages):
        return None
    body = {"messages": messages, "tools": sent.tools, EXTENSION: own}
    return asked_in(body, parts.sources, parts.formats)


def _says_something(message: Any) -> bool:
    speaks = isinstance(message, dict) and message.get("role") in ("user", "system", "developer")
    return speaks and bool(message.get("content"))


def _request(sent: GuardrailRequest, asked: Asked, draft: str | None = None, **more: Any) -> VerifyRequest:
    ids = {"litellm_call_id": sent.litellm_call_id, "litellm_trace_id": sent.litellm_trace_id, "model": sent.model}
    more["evidence"] = [taken.shown for taken in asked.taken]
    if asked.set_aside:
        more["sources_set_aside"] = asked.set_aside
    metadata = {"endpoint": "litellm", **{name: value for name, value in ids.items() if value}, **more}
    return request_of(asked, metadata=metadata, draft_answer=draft)


# what is answered


def _answer(
    occurrences: Sequence[Occurrence], texts: Sequence[str], *, read: bool = True, waits: bool = False
) -> GuardrailAnswer:
    """The strictest verdict decides; texts that the policy words otherwise take the place of the given ones.

    Without `read` nothing of the answer was text, and nothing of it is verified. Where it `waits` for a tool nothing ends the call.
    """
    verdicts = [_brief(occurrence) | ({} if read else {"verified": False}) for occurrence in occurrences]
    worst = occurrences[strictest(occurrences)].verdict
    if worst.action in ("block", "clarify") and not waits:
        return GuardrailAnswer(action="BLOCKED", blocked_reason=worst.safe_response, verdicts=verdicts)
    judged = iter(occurrences)
    written = [delivered(next(judged).verdict, text) if text.strip() else text for text in texts]
    if written != list(texts):
        return GuardrailAnswer(action="GUARDRAIL_INTERVENED", texts=written, verdicts=verdicts)
    return GuardrailAnswer(action="NONE", verdicts=verdicts)


def _brief(occurrence: Occurrence) -> dict[str, Any]:
    verdict = visible(occurrence)
    told = occurrence.request.metadata
    return {
        "evidence": getattr(told, "evidence", []),
        "decision": verdict.decision.value,
        "action": verdict.action,
        "reasons": verdict.reasons,
        "verified": verdict.verified,
        "validator_trace_id": verdict.validator_trace_id,
    }
