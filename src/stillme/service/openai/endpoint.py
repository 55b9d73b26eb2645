"""An endpoint that OpenAI's clients ask: what it takes is read as a chat, what comes back is verified before it is passed on.

`CHAT_COMPLETIONS` is the plain case: the body goes to the model server as it came, but for our extension field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.contract import RetrievedPassage
from stillme.errors import InputError, StillMeError, shown
from stillme.service.bodies import read_json
from stillme.service.openai.answering import Answering, Natively
from stillme.service.openai.events import ChatEvents
from stillme.service.openai.guarded import ERRORS, error_response
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.openai.stream_response import GuardedStream, Shape
from stillme.service.problems import ProblemError

__all__ = ["CHAT_COMPLETIONS", "EXTENSION_SCHEMA", "GuardedEndpoint", "documented"]

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


@dataclass(frozen=True, slots=True)
class GuardedEndpoint:
    """An endpoint by its path: how its requests are read as chats, and how verified chats are written as its answers."""

    path: str
    name: str
    """What records call it."""
    summary: str
    answer: str
    properties: dict[str, Any]
    """What it takes; the first has to be there."""
    chat: Callable[[dict[str, Any]], tuple[dict[str, Any], Natively | None]] = lambda body: (body, None)
    """The request as one for chat completions, and as the model server gets it where that is something else."""
    written: Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]] = lambda _, completion: completion
    """The answer to a request, from a completion that was verified."""
    events: Callable[[Mapping[str, Any]], Shape] = lambda _: ChatEvents
    """What a streamed answer to a request looks like."""

    def routes(self, answering: Answering) -> APIRouter:
        """Its route."""

        async def create(request: Request) -> Response:
            try:
                return await self._answer(answering, request)
            except (StillMeError, ProblemError) as error:
                return error_response(error)

        router = APIRouter(tags=["openai"])
        router.add_api_route(
            self.path,
            create,
            methods=["POST"],
            response_model=None,
            summary=self.summary,
            description="An answer that was verified, or what the policy puts in its place.",
            openapi_extra=documented(next(iter(self.properties)), self.properties),
            responses=ERRORS | {200: {"description": self.answer}},
        )
        return router

    async def _answer(self, answering: Answering, request: Request) -> Response:
        body = _body_object(await read_json(request))
        chat, natively = self.chat(body)
        exchange = await answering.exchange(chat, answering.parts.caller(request), self.name, natively)
        if body.get("stream"):
            stopped = await answering.prechecked(exchange)
            return GuardedStream(answering.parts, exchange, stopped, self.events(body))
        completion, headers = await answering.whole(exchange)
        return JSONResponse(self.written(body, completion), headers=headers)


CHAT_COMPLETIONS: Final = GuardedEndpoint(
    path="/v1/chat/completions",
    name="chat.completions",
    summary="Chat completions, guarded.",
    answer="The completion, or its chunks as server-sent events.",
    properties=BODY,
)


def _body_object(body: object) -> dict[str, Any]:
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
