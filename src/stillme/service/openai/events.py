"""Server-sent events on their way to a client, as chunks of a chat; other endpoints word them in their own way."""

from __future__ import annotations

import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from starlette.types import Send

from stillme.service.openai.guarded import error_event
from stillme.service.openai.outgoing import frame_of
from stillme.service.openai.request_sources import EXTENSION

__all__ = ["ChatEvents", "Events"]

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-store",
    "x-accel-buffering": "no",
}


class Events(ABC):
    """The events of one answer; the head of the response goes with the first. What they look like is for those that derive from it."""

    def __init__(self, send: Send, model: str, headers: Mapping[str, str]) -> None:
        self.send = send
        self.begun = False
        self.model = model
        self._headers = [(name.encode(), value.encode()) for name, value in (HEADERS | dict(headers)).items()]

    def like(self, chunk: Mapping[str, Any]) -> None:  # noqa: B027  (not every shape names it)
        """From now on name what the model server names."""

    @abstractmethod
    async def chunk(self, index: int, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:
        """Send what is new in one answer: `delta`, the reason why it ended, `more` beside it."""

    @abstractmethod
    async def usage(self, used: Mapping[str, Any]) -> None:
        """Send what was used, behind every answer."""

    @abstractmethod
    async def done(self) -> None:
        """The end of a stream that came to its end."""

    async def broken(self, error: Exception) -> None:
        """The end of one that did not: an error, and no end."""
        await self.event(error_event(error))
        await self.write(b"", last=True)

    async def event(self, value: Mapping[str, Any], kind: str = "") -> None:
        """One event."""
        named = f"event: {kind}\n".encode() if kind else b""
        await self.write(named + b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Some bytes, behind the head of the response."""
        if not self.begun:
            self.begun = True
            await self.send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await self.send({"type": "http.response.body", "body": data, "more_body": not last})


class ChatEvents(Events):
    """Chunks of chat completions."""

    kind = "chat.completion.chunk"
    prefix = "chatcmpl"

    def __init__(self, send: Send, model: str, headers: Mapping[str, str]) -> None:
        super().__init__(send, model, headers)
        self._frame: dict[str, Any] = {
            "id": f"{self.prefix}-{uuid.uuid4().hex}",
            "object": self.kind,
            "created": int(time.time()),
            "model": model,
        }

    def like(self, chunk: Mapping[str, Any]) -> None:
        """From now on name what the model server names."""
        self._frame |= frame_of(chunk)

    async def chunk(self, index: int, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:
        """Send one chunk; `more` are keys of the choice, but for the extension field, which is one of the chunk."""
        own = {EXTENSION: more.pop(EXTENSION)} if EXTENSION in more else {}
        choice = self.choice(index, delta, finish, more)
        await self.event({**self._frame, "choices": [choice], **own})

    def choice(
        self, index: int, delta: Mapping[str, Any], finish: str | None, more: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A choice of a chunk."""
        return {"index": index, "delta": dict(delta), **more, "finish_reason": finish}

    async def usage(self, used: Mapping[str, Any]) -> None:
        """Send the chunk that has no choice and tells what was used."""
        await self.event({**self._frame, "choices": [], "usage": used})

    async def done(self) -> None:
        """The end of a stream that came to its end."""
        await self.write(b"data: [DONE]\n\n", last=True)
