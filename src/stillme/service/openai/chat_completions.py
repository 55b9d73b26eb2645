"""`POST /v1/chat/completions`: the OpenAI-compatible guard.

The body goes to the model server as it came, but for our extension field; what comes back is verified before it is passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.contract import RetrievedPassage
from stillme.errors import InputError, StillMeError, shown
from stillme.service.bodies import read_json
from stillme.service.openai.answering import Answering
from stillme.service.openai.guarded import ERRORS, error_response
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.openai.stream_response import GuardedStream
from stillme.service.problems import ProblemError

__all__ = ["EXTENSION_SCHEMA", "body_object", "chat_completions_routes", "documented"]

MOST_CHOICES: Final = 16
EXTENSION_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "description": "what the answer may stand on, and what is known of the request",
    "properties": {
        "context": {"type": "array", "items": RetrievedPassage.model_json_schema()},
        "language": {"enum": ["auto", "en", "vi"]},
        "session_id": {"type": "string"},
        "upstream_url": {"type": "string", "description": "where the operator allows it"},
        "upstream_api_key": {"type": "string"},
    },
}
# As much as the guard reads or acts on; whatever else a model server takes goes there as it is.
BODY: Final[dict[str, Any]] = {
    "messages": {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["role"],
            "properties": {"role": {"type": "string"}, "content": {}},
        },
    },
    "n": {"type": "integer", "minimum": 1, "maximum": MOST_CHOICES},
}


def documented(required: str, properties: dict[str, Any]) -> dict[str, Any]:
    """How the document describes a body: what every guarded endpoint takes, and what this one does."""
    shared = {"model": {"type": "string"}, "stream": {"type": "boolean"}, EXTENSION: EXTENSION_SCHEMA}
    schema = {
        "type": "object",
        "required": [required],
        "additionalProperties": True,
        "properties": shared | properties,
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def chat_completions_routes(answering: Answering) -> APIRouter:
    """The route of chat completions."""
    router = APIRouter(tags=["openai"])
    router.add_api_route(
        "/v1/chat/completions",
        _ChatCompletions(answering).create,
        methods=["POST"],
        response_model=None,
        summary="Chat completions, guarded.",
        openapi_extra=documented("messages", BODY),
        responses=ERRORS | {200: {"description": "The completion, or its chunks as server-sent events."}},
    )
    return router


@dataclass(frozen=True, slots=True)
class _ChatCompletions:
    answering: Answering

    async def create(self, request: Request) -> Response:
        """An answer that was verified, or what the policy puts in its place."""
        try:
            body = body_object(await read_json(request))
            caller = self.answering.parts.caller(request)
            exchange = await self.answering.exchange(body, caller, "chat.completions")
            if body.get("stream"):
                return GuardedStream(self.answering.parts, exchange, await self.answering.prechecked(exchange))
            answer, headers = await self.answering.whole(exchange)
        except (StillMeError, ProblemError) as error:
            return error_response(error)
        return JSONResponse(answer, headers=headers)


def body_object(body: object) -> dict[str, Any]:
    """The body, if it is one that we can serve."""
    if not isinstance(body, dict):
        raise InputError(f"the body must be a JSON object, got {type(body).__name__}")
    streamed, n = body.get("stream"), body.get("n")
    if not isinstance(streamed, bool | None):
        raise InputError(f"stream must be true or false, got {shown(streamed)}")
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_CHOICES):
        raise InputError(f"n must be a number from 1 to {MOST_CHOICES}, got {shown(n)}")
    if not isinstance(body.get("model"), str | None):
        raise InputError(f"model must be the name of a model, got {shown(body.get('model'))}")
    return body
