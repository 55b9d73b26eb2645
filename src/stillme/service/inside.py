"""Asks the API from inside the process: the same routes, the same scopes and the same answers as over the network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stillme.service.auth import ApiKey, scope_of
from stillme.service.problems import Problem

__all__ = ["Inside"]

PASSED_ON = ("stillme.caller", "stillme.owner", "stillme.key", "client", "server", "scheme", "http_version", "app")


@dataclass(frozen=True, slots=True)
class Inside:
    """The application as somebody who came through the door may use it."""

    app: ASGIApp

    async def __call__(
        self, request: Request, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None
    ) -> tuple[int, bytes]:
        """The status and the body of what the API answers to whoever sent this request."""
        refusal = _refusal(request.scope, path)
        if refusal is not None:
            return refusal.status, bytes(refusal.response().body)
        sent, kind = _written(body)
        waiting: list[Message] = [{"type": "http.request", "body": sent, "more_body": False}]
        status, parts = 500, list[bytes]()

        async def receive() -> Message:
            return waiting.pop() if waiting else await request.receive()

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))

        await self.app(_scope(request.scope, method, path, query or {}, kind), receive, send)
        return status, b"".join(parts)

    def passed_on(self, request: Request, method: str, path: str, body: Any, told: Callable[[str], str]) -> Response:
        """What the API answers as it comes: whoever leaves before its end ends it there too. A problem is told in the reader's words."""
        refusal = _refusal(request.scope, path)
        if refusal is not None:
            return Problem(refusal.status, told(refusal.detail)).response()
        return _PassedOn(self.app, method, path, body, told)


class _PassedOn(Response):
    """A response that the API makes; its own headers are added to those of the API."""

    def __init__(self, app: ASGIApp, method: str, path: str, body: Any, told: Callable[[str], str]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._app, self._method, self._path, self._told = app, method, path, told
        self._sent, self._kind = _written(body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, and hand on whatever comes."""
        waiting: list[Message] = [{"type": "http.request", "body": self._sent, "more_body": False}]

        async def received() -> Message:
            return waiting.pop() if waiting else await receive()

        problem: tuple[int, list[bytes]] | None = None

        async def sent(message: Message) -> None:
            nonlocal problem
            if message["type"] == "http.response.start":
                if message["status"] >= 400:
                    problem = message["status"], []
                    return
                message = {**message, "headers": [*message["headers"], *self.raw_headers]}
            if problem is None:
                await send(message)
            else:
                problem[1].append(message.get("body", b""))

        await self._app(_scope(scope, self._method, self._path, {}, self._kind), received, sent)
        if problem is not None:
            response = Problem(problem[0], self._told(_detail(b"".join(problem[1])))).response()
            response.raw_headers += self.raw_headers
            await response(scope, receive, send)


def _detail(content: bytes) -> str:
    """What a problem document says, in whichever shape."""
    try:
        found = json.loads(content)
        return str(found.get("detail") or found["error"]["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def _written(body: Any) -> tuple[bytes, str]:
    """A body as it is sent, and its type: bytes are a file."""
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    return (b"" if body is None else json.dumps(body).encode()), "application/json"


def _refusal(scope: Scope, path: str) -> Problem | None:
    """What the door says of a key that does not open the path; without keys, on loopback, everything is open."""
    if scope.get("stillme.open"):
        return None
    key: ApiKey | None = scope.get("stillme.key")
    needed = scope_of(path)
    if key is None:
        return Problem(401, "sign in with an API key")
    if needed is not None and not key.allows(needed):
        return Problem(403, f"this needs a key with the scope {needed}")
    return None


def _scope(outer: Scope, method: str, path: str, query: Mapping[str, str], kind: str) -> Scope:
    kept = {name: outer[name] for name in PASSED_ON if name in outer}
    return {
        "type": "http",
        "asgi": outer["asgi"],
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": urlencode(query).encode(),
        "headers": [(b"content-type", kind.encode()), (b"host", b"inside")],
        "state": {},
        **kept,
    }
