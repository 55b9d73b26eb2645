"""`POST /v1/completions`: one prompt, one text. The prompt is the question; it goes to the model server's own completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.errors import InputError, StillMeError, shown
from stillme.service.bodies import read_json
from stillme.service.openai.answering import Answering, Natively
from stillme.service.openai.chat_completions import body_object, documented
from stillme.service.openai.events import ChatEvents
from stillme.service.openai.guarded import ERRORS, error_response
from stillme.service.openai.outgoing import finish_of, frame_of, usage_of
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.openai.stream_response import GuardedStream
from stillme.service.problems import ProblemError

__all__ = ["text_completions_routes"]

OPERATION: Final = "/completions"
KIND: Final = "text_completion"
BODY: Final[dict[str, Any]] = {
    "prompt": {
        "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}],
        "description": "one text",
    },
    "n": {"type": "integer", "minimum": 1},
}


def text_completions_routes(answering: Answering) -> APIRouter:
    """The route of completions."""
    router = APIRouter(tags=["openai"])
    router.add_api_route(
        "/v1/completions",
        _TextCompletions(answering).create,
        methods=["POST"],
        response_model=None,
        summary="Completions, guarded.",
        openapi_extra=documented("prompt", BODY),
        responses=ERRORS | {200: {"description": "The completion, or its chunks as server-sent events."}},
    )
    return router


@dataclass(frozen=True, slots=True)
class _TextCompletions:
    answering: Answering

    async def create(self, request: Request) -> Response:
        """A text that was verified, or what the policy puts in its place."""
        try:
            body = _checked(body_object(await read_json(request)))
            caller = self.answering.parts.caller(request)
            natively = Natively(OPERATION, body, _as_chat)
            exchange = await self.answering.exchange(_chat(body), caller, "completions", natively)
            if body.get("stream"):
                stopped = await self.answering.prechecked(exchange)
                return GuardedStream(self.answering.parts, exchange, stopped, TextEvents)
            answer, headers = await self.answering.whole(exchange)
        except (StillMeError, ProblemError) as error:
            return error_response(error)
        return JSONResponse(_as_text(answer), headers=headers)


def _checked(body: dict[str, Any]) -> dict[str, Any]:
    """The body with its prompt as one text, if it is one that we can serve."""
    prompt = body.get("prompt")
    one = prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt
    if not isinstance(one, str):
        raise InputError(f"prompt must be one text: send a request for each, and no tokens; got {shown(prompt)}")
    if body.get("echo"):
        raise InputError("echo cannot be served: what is repeated is no answer; leave it out")
    if body.get("best_of") not in (None, 1, body.get("n") or 1):
        raise InputError(f"best_of must be n, got {shown(body.get('best_of'))}: every answer is verified")
    return body | {"prompt": one}


def _chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as a chat: whoever writes a prompt writes as a user, so that it brings evidence only where an operator says so."""
    kept = {name: body[name] for name in ("model", "n", "stream", EXTENSION) if name in body}
    return kept | {"messages": [{"role": "user", "content": body["prompt"]}]}


def _as_chat(value: dict[str, Any]) -> dict[str, Any]:
    """What a model server completed, or a piece of it, in the shape of a chat."""
    choices = value.get("choices")
    if not isinstance(choices, list):
        return value
    return value | {"choices": [_choice(c) if isinstance(c, Mapping) else c for c in choices]}


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    said = {"content": choice.get("text")}
    named = {name: held for name, held in choice.items() if name not in ("text", "logprobs", "message", "delta")}
    # Their log-probabilities have another shape than those of a chat: they are not read, and do not leave.
    return {**named, "message": said | {"role": "assistant"}, "delta": said}


def _as_text(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion in the shape of a completion: what was verified and a few plain values, in every mode."""
    kept = frame_of(answer) | {"object": KIND}
    used = usage_of(answer.get("usage"))
    choices = [
        {
            "text": choice["message"].get("content") or choice["message"].get("refusal") or "",
            "index": choice["index"],
            "logprobs": None,
            "finish_reason": finish_of(choice.get("finish_reason")),
        }
        for choice in answer["choices"]
    ]
    told = [
        {**one, EXTENSION: c[EXTENSION]} if EXTENSION in c else one
        for one, c in zip(choices, answer["choices"], strict=True)
    ]
    return kept | {"choices": told, EXTENSION: answer[EXTENSION]} | ({"usage": used} if used else {})


class TextEvents(ChatEvents):
    """Chunks of completions."""

    kind = KIND
    prefix = "cmpl"

    def choice(
        self,
        index: int,
        delta: Mapping[str, Any],
        finish: str | None,
        more: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """A choice of a chunk: its text and nothing else."""
        text = (delta.get("content") or "") + (delta.get("refusal") or "")
        return {"text": text, "index": index, "logprobs": None, "finish_reason": finish}
