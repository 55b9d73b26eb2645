"""The door: every request passes it. It counts, lets in whoever has a key, bounds size and time, and logs without texts."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stillme.errors import BackendError
from stillme.service.auth import ApiKey, Keys, scope_of
from stillme.service.limits import busy
from stillme.service.metrics import Metrics
from stillme.service.problems import Problem, ProblemError, problem_of
from stillme.service.settings import ServiceSettings
from stillme.service.telemetry import Telemetry

__all__ = ["Door"]

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
UNLIMITED: Final = ("/healthz", "/readyz", "/metrics")  # whoever watches has to see an overload, not to suffer from it
log = logging.getLogger("stillme.service")


@dataclass(slots=True)
class Door:
    """An ASGI middleware around the application."""

    app: ASGIApp
    settings: ServiceSettings
    keys: Keys
    metrics: Metrics
    telemetry: Telemetry | None = None
    open: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem document."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault("x-content-type-options", "nosniff")
                headers.setdefault("cache-control", "no-store")
            await send(message)

        self.open += 1
        self.metrics.opened(self.open)
        span = self.telemetry.request(scope["method"], Headers(scope=scope)) if self.telemetry else nullcontext()
        try:
            with span as traced:
                await self._admitted(scope, receive, noted)
                if traced is not None:
                    traced.update_name(f"{scope['method']} {_route(scope)}")
                    traced.set_attributes({"http.route": _route(scope), "http.response.status_code": status})
        finally:
            self.open -= 1
            self.metrics.opened(self.open)
            seconds = time.perf_counter() - started
            route = _route(scope)
            self.metrics.request(scope["method"], route, status, seconds)
            log.info("%s %s %d %.1f ms", scope["method"], route, status, seconds * 1000)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self.open > self.settings.most_requests and scope["path"] not in UNLIMITED:
                raise busy()
            scope["stillme.caller"] = self._caller(scope)
            if scope["method"] in ("POST", "PUT", "PATCH"):
                receive = replayed(await self._body(scope, receive), receive)
        except (ProblemError, BackendError) as error:
            await problem_of(error).response()(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _caller(self, scope: Scope) -> str | None:
        """Who asks: the name of the key; nobody in particular where there are no keys."""
        needed, headers = scope_of(scope["path"]), Headers(scope=scope)
        if not self.keys.are_needed and self.settings.is_loopback:
            _check_host(headers.get("host", ""))
            return None
        if needed is None:
            return None
        key = self._presented(headers)
        if key is None:
            challenge = {"www-authenticate": 'Bearer realm="stillme"'}
            raise ProblemError(Problem(401, "send a key as `Authorization: Bearer …` or `x-api-key`", challenge))
        if not key.allows(needed):
            raise ProblemError(Problem(403, f"this needs a key with the scope {needed}"))
        scope["stillme.owner"] = key.hash  # a name may be given to another key one day
        return f"key:{key.name}"

    def _presented(self, headers: Headers) -> ApiKey | None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return self.keys.find(given) if given else None

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, if it is small and quick enough."""
        most = self.settings.most_bytes
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
            raise _too_large(most)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.settings.body_timeout_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ProblemError(Problem(400, "the request ended early"))
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _too_large(most)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            detail = f"the request did not arrive within {self.settings.body_timeout_s:g} s"
            raise ProblemError(Problem(408, detail, {"connection": "close"})) from None


def _route(scope: Scope) -> str:
    """The path as it was declared, so that no caller can make up new ones in figures and logs."""
    return getattr(scope.get("route"), "path", "") or ("/docs" if scope["path"].startswith("/docs") else "other")


def _check_host(host: str) -> None:
    """Without keys, only whoever names this machine is served: a web page that lets its own name point here does not."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if name.lower() not in LOOPBACK_NAMES:
        raise ProblemError(
            Problem(403, "without API keys only requests to localhost are served: `stillme keys create`")
        )


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body once, and then whatever comes."""
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _too_large(most: int) -> ProblemError:
    detail = f"a request may have {most} bytes at most: send less, or raise STILLME_MAX_BODY_BYTES"
    return ProblemError(Problem(413, detail, {"connection": "close"}))
