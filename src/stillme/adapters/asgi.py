"""StillMe around the answers of any ASGI application: JSON, plain text and server-sent events, streams kept as streams.

    app.add_middleware(GuardMiddleware, guard=Guard("policy.yaml"), paths=["/ask"])

    async def ask(request):
        passages = retrieve(question)
        rests_on(request.scope, question, passages)         # what the answer rests on, before the first byte of it
        return StreamingResponse(generate(question, passages), media_type="text/plain")

A response under `paths` is an answer. In enforce one whose evidence nobody declared, or that cannot be read, does not go out.
"""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

from stillme.adapters.guarding import GuardedStream, Judged, ajudged
from stillme.errors import StillMeError
from stillme.guard import Guard

__all__ = ["GuardMiddleware", "headers_of", "rests_on"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
STATE = "stillme"
JSON, EVENTS, TEXT = "application/json", "text/event-stream", "text/"
DONE = "[DONE]"


def rests_on(scope: Scope, query: str, passages: Sequence[Mapping[str, Any]], **rest: Any) -> None:
    """Say which question the response answers, and from which passages; `rest` is what else a request may hold (docs/concepts.md)."""
    scope.setdefault("state", {})[STATE] = (query, list(passages), rest)


class GuardMiddleware:
    """A pure ASGI middleware. `answer_key` is where a JSON answer has its text; `event_key` the same within the data of an event,
    which without it is the text itself.
    """

    def __init__(
        self, app: Any, guard: Guard, paths: Sequence[str], answer_key: str = "answer", event_key: str | None = None
    ) -> None:
        self._app, self._guard, self._paths = app, guard, tuple(paths)
        self._answer_key, self._event_key = answer_key, event_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; a response under the paths goes past the guard."""
        if scope["type"] != "http" or not scope["path"].startswith(self._paths):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Response(self, scope, send).take)

    def reader(self, scope: Scope, headers: Mapping[str, str]) -> _Reader | None:
        """What reads a response of this kind; None where it cannot be judged."""
        asked = scope.get("state", {}).get(STATE)
        kind = headers.get("content-type", "")
        if asked is None or headers.get("content-encoding", "identity") != "identity":
            return None
        if kind.startswith(JSON):
            return _Whole(self._guard, asked, self._answer_key)
        if kind.startswith(EVENTS):
            return _Events(self._guard, asked, self._event_key)
        return _Text(self._guard, asked) if kind.startswith(TEXT) else None

    @property
    def enforces(self) -> bool:
        """Whether what cannot be judged stays in."""
        return self._guard.policy.mode == "enforce"


class _Response:
    """One response on its way out."""

    def __init__(self, of: GuardMiddleware, scope: Scope, send: Send) -> None:
        self._of, self._scope, self._send = of, scope, send
        self._reader: _Reader | None = None
        self._passes = self._is_over = False

    async def take(self, message: Message) -> None:
        if self._is_over:
            return
        if message["type"] == "http.response.start":
            await self._start(message)
        elif self._passes or message["type"] != "http.response.body":
            await self._send(message)
        else:
            await self._body(message)

    async def _start(self, message: Message) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]}
        self._reader = self._of.reader(self._scope, headers) if message["status"] < 300 else None
        if self._reader is None:
            self._passes = message["status"] >= 300 or not self._of.enforces
            if self._passes:
                await self._send(message)
            else:
                await self._refuse("nobody said what the answer rests on, or it is in a form that cannot be read")
            return
        kept = [(name, value) for name, value in message["headers"] if name.lower() != b"content-length"]
        self._held = {**message, "headers": kept}
        if self._reader.streams:
            await self._send(self._held)

    async def _body(self, message: Message) -> None:
        reader, more = self._reader, message.get("more_body", False)
        assert reader is not None  # noqa: S101  (a body follows its start)
        try:
            out = await reader.take(message.get("body", b""), is_last=not more)
        except (StillMeError, ValueError) as error:
            await self._broken(str(error))
            return
        if not reader.streams and not more:
            length = (b"content-length", str(len(out)).encode())
            await self._send({**self._held, "headers": [*self._held["headers"], length, *reader.headers]})
        if out or not more:
            await self._send({"type": "http.response.body", "body": out, "more_body": more})

    async def _broken(self, why: str) -> None:
        """What is not readable stays in: a stream ends where it is."""
        if self._reader is not None and self._reader.streams:
            self._is_over = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._refuse(f"the answer cannot be read: {why}")

    async def _refuse(self, why: str) -> None:
        self._is_over = True
        body = json.dumps({"error": {"type": "not_verified", "message": why}}).encode()
        headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": 502, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


class _Reader(Protocol):
    """Reads the bytes of a response and gives those that go out."""

    streams: bool
    headers: list[tuple[bytes, bytes]]

    async def take(self, body: bytes, *, is_last: bool) -> bytes:
        """What goes out of these bytes."""


Asked = tuple[str, list[Mapping[str, Any]], dict[str, Any]]


class _Whole:
    """A JSON object with an answer: judged when it is complete."""

    streams = False

    def __init__(self, guard: Guard, asked: Asked, key: str) -> None:
        self._guard, self._asked, self._key, self._body = guard, asked, key, b""
        self.headers: list[tuple[bytes, bytes]] = []

    async def take(self, body: bytes, *, is_last: bool) -> bytes:
        self._body += body
        if not is_last:
            return b""
        values = json.loads(self._body)
        if not isinstance(values, dict) or not isinstance(values.get(self._key), str):
            raise ValueError(f"it has no text {self._key}")
        query, passages, rest = self._asked
        found = await ajudged(self._guard, query, values[self._key], passages, **rest)
        self.headers = headers_of(found)
        return json.dumps(values | {self._key: found.text, STATE: found.record}, ensure_ascii=False).encode()


class _Text:
    """Plain text, as it comes."""

    streams = True

    def __init__(self, guard: Guard, asked: Asked) -> None:
        query, passages, rest = asked
        self._stream = GuardedStream(guard, query, passages, **rest)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.headers: list[tuple[bytes, bytes]] = []

    async def take(self, body: bytes, *, is_last: bool) -> bytes:
        return (await asyncio.to_thread(self._taken, self._decoder.decode(body, is_last), is_last)).encode()

    def _taken(self, text: str, is_last: bool) -> str:
        return self._stream.feed(text) + (self._stream.close() if is_last else "")


class _Events(_Text):
    """Server-sent events, whose data is text or JSON with a text in it; other fields and other data stay as they are."""

    def __init__(self, guard: Guard, asked: Asked, key: str | None) -> None:
        super().__init__(guard, asked)
        self._key, self._rest, self._last = key, "", ""
        self._is_closed = False

    def _taken(self, text: str, is_last: bool) -> str:
        *whole, self._rest = (self._rest + text.replace("\r\n", "\n")).split("\n\n")
        if is_last and self._rest.strip():
            whole.append(self._rest)
        out = [self._event(event) for event in whole]
        if is_last and not self._is_closed:
            out.append(self._closing())
        return "".join(out)

    def _event(self, event: str) -> str:
        fields = [line for line in event.split("\n") if not line.startswith("data")]
        data = "\n".join(
            line.removeprefix("data:").removeprefix(" ") for line in event.split("\n") if line.startswith("data")
        )
        if data == DONE:
            self._is_closed = True
            return f"{self._closing()}{event}\n\n"
        piece = self._piece(data)
        if piece is None:
            return f"{event}\n\n"
        self._last = data
        return self._written(self._stream.feed(piece), fields)

    def _piece(self, data: str) -> str | None:
        """The text of an event; None where it has none."""
        if self._key is None:
            return data
        values = json.loads(data) if data else {}
        found = values.get(self._key) if isinstance(values, dict) else None
        return found if isinstance(found, str) else None

    def _closing(self) -> str:
        return self._written(self._stream.close(), [])

    def _written(self, text: str, fields: Sequence[str]) -> str:
        if not text:
            return ""
        data = (
            text
            if self._key is None
            else json.dumps({**json.loads(self._last or "{}"), self._key: text}, ensure_ascii=False)
        )
        return "".join(_lines([*fields, *(f"data: {line}" for line in data.split("\n"))]))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"{line}\n" for line in lines)
    yield "\n"


def headers_of(found: Judged) -> list[tuple[bytes, bytes]]:
    """What a response's headers say of its verdict; nothing where there is none."""
    verdict = found.verdict
    said = {"x-stillme-action": verdict.action, "x-stillme-decision": verdict.decision.value} if verdict else {}
    return [(name.encode(), value.encode()) for name, value in said.items()]
