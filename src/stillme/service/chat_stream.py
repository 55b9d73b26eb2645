"""`POST /api/chat/stream`: a message answered from what was ingested, claim by claim, each as soon as it is verified.

The events of the answer, in order: `sources` (what was found), `text` (one for each piece that was let through), `verdict` (the whole
verdict and what was withheld). A claim that may not go out ends the text: what is said in its place is the last `text`, and the verdict's
`delivery` says so. A failure is an event `error` and no verdict follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from stillme.contract import RetrievedPassage, Turn
from stillme.service.bodies import as_model, read_json
from stillme.service.openai.answer_sources import OWN
from stillme.service.openai.answering import Answering
from stillme.service.openai.events import Events
from stillme.service.openai.guarded import Parts, error_event
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.openai.stream_response import GuardedStream
from stillme.service.openapi import body_of, problems

__all__ = ["ChatQuestion", "ChatStream"]


class ChatQuestion(BaseModel):
    """A message to answer from what was ingested."""

    model_config = ConfigDict(extra="forbid")

    message: Annotated[str, Field(min_length=1, max_length=8_000, description="What the user says.")]
    conversation: Annotated[
        tuple[Turn, ...],
        Field(max_length=200, description="Earlier turns. They resolve references and are never evidence."),
    ] = ()
    language: Literal["auto", "en", "vi"] = "auto"
    provider: Annotated[str | None, Field(max_length=50, description="Which model provider answers.")] = None


@dataclass(frozen=True, slots=True)
class ChatStream:
    """The endpoint; `parts` are those of the guarded endpoints under the policy of the chat."""

    parts: Parts

    def add_to(self, app: FastAPI) -> None:
        """Add the route."""
        app.add_api_route(
            "/api/chat/stream",
            self.answer,
            methods=["POST"],
            response_model=None,
            responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 502, 503, 504)
            | {
                200: {
                    "description": "Server-sent events: sources, text, verdict.",
                    "content": {"text/event-stream": {}},
                }
            },
            openapi_extra=body_of(ChatQuestion),
            summary="Answer a message from what was ingested, claim by claim.",
            tags=["chat"],
        )

    async def answer(self, request: Request) -> Response:
        """Retrieval, precheck, model; every claim is verified before it goes out."""
        asked = as_model(ChatQuestion, await read_json(request))
        turns = [{"role": turn.role, "content": turn.content} for turn in asked.conversation]
        body = {
            "model": f"{OWN}/{asked.provider}" if asked.provider else OWN,
            "messages": [*turns, {"role": "user", "content": asked.message}],
            EXTENSION: {"language": asked.language},
        }
        answering = Answering(self.parts)
        exchange = await answering.exchange(body, self.parts.caller(request), "chat.stream")
        shape = partial(ClaimEvents, sources=exchange.asked.passages)
        return GuardedStream(self.parts, exchange, await answering.prechecked(exchange), shape)


class ClaimEvents(Events):
    """Named events: sources, text, verdict."""

    def __init__(
        self, send: Send, model: str, headers: Mapping[str, str], *, sources: Sequence[RetrievedPassage] = ()
    ) -> None:
        super().__init__(send, model, headers)
        self._sources = sources

    async def chunk(self, index: int, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:  # noqa: ARG002
        """The sources before anything else; then a piece of the answer, or the verdict that ends it."""
        if not self.begun:
            told = [source.model_dump(mode="json", exclude_none=True) for source in self._sources]
            await self.event({"sources": told}, "sources")
        if text := delta.get("content") or delta.get("refusal"):
            await self.event({"text": text}, "text")
        if EXTENSION in more:
            await self.event(more[EXTENSION], "verdict")

    async def usage(self, used: Mapping[str, Any]) -> None:
        """Nobody asked for it."""

    async def done(self) -> None:
        """The end of a stream that came to its end."""
        await self.write(b"", last=True)

    async def broken(self, error: Exception) -> None:
        """The end of one that did not."""
        await self.event(error_event(error)["error"], "error")
        await self.write(b"", last=True)
