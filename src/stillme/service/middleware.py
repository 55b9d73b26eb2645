"""The door: every request passes it. It counts, lets in whoever has a key, bounds size and time, and logs without texts."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stillme.errors import BackendError
from stillme.service.auth import ApiKey, Keys, is_console, scope_of
from stillme.service.connections import headers_too_large
from stillme.service.limits import Rate, address_of, busy
from stillme.service.metrics import Metrics
from stillme.service.problems import Problem, ProblemError, problem_of
from stillme.service.sessions import COOKIE, Sessions
from stillme.service.settings import ServiceSettings
from stillme.service.telemetry import Telemetry

__all__ = ["Door"]

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
UNLIMITED: Final = ("/healthz", "/readyz", "/metrics")  # whoever watches has to see an overload, not to suffer from it
LEFT: Final = 499  # nobody is there to read it: for figures and logs only
log = logging.getLogger("stillme.service")


@dataclass(slots=True)
class Door:
    """An ASGI middleware around the application."""

    app: ASGIApp
    settings: ServiceSettings
    keys: Keys
    metrics: Metrics
    telemetry: Telemetry | None = None
    sessions: Sessions | None = None
    open: int = 0
    by_address: Rate = field(init=False)
    by_key: Rate = field(init=False)

    def __post_init__(self) -> None:
        self.by_address = Rate(self.settings.rate_per_address, "STILLME_RATE_PER_ADDRESS")
        self.by_key = Rate(self.settings.rate_per_key, "STILLME_RATE_PER_KEY")

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
            status = LEFT if scope.get("stillme.left") else status
            self.metrics.request(scope["method"], route, status, seconds)
            answered = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
            log.info("%(method)s %(route)s %(status)d %(ms).1f ms", answered)

    async def _admitted(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_bounds(scope)
            caller = scope["stillme.caller"] = self._caller(scope)
            if caller is not None and scope["path"] not in UNLIMITED:
                self.by_key.take(caller)
            body = await self._body(scope, receive) if scope["method"] in ("POST", "PUT", "PATCH") else None
        except (ProblemError, BackendError) as error:
            await problem_of(error).response(scope["path"])(scope, receive, send)
            return
        if body is None:
            await self.app(scope, receive, send)
        else:
            scope["stillme.values"] = self.settings.most_values
            await attended(self.app, scope, body, receive, send)

    def _check_bounds(self, scope: Scope) -> None:
        """What can be told before anybody is known: headers, how many are here, how often this address asks."""
        most = self.settings.most_header_bytes
        if sum(len(name) + len(value) for name, value in scope["headers"]) > most:
            raise ProblemError(headers_too_large(most))
        if scope["path"] in UNLIMITED:
            return
        if self.open > self.settings.most_requests:
            raise busy()
        self.by_address.take(address_of(scope.get("client")))

    def _caller(self, scope: Scope) -> str | None:
        """Who asks: the name of the key; nobody in particular where there are no keys."""
        needed, headers = scope_of(scope["path"]), Headers(scope=scope)
        try:
            are_needed = self.keys.are_needed
        except BackendError as error:
            if needed is not None:
                raise
            log.error("%s", error)  # what is open to everyone stays so: a process is not dead for want of its keys
            return None
        if not are_needed and self.settings.is_loopback:
            _check_host(headers.get("host", ""))
            scope["stillme.open"] = True
            return None
        if needed is None:
            return self._signed_in(scope, headers)
        key = self._presented(headers)
        if key is None:
            challenge = {"www-authenticate": 'Bearer realm="stillme"'}
            raise ProblemError(Problem(401, "send a key as `Authorization: Bearer …` or `x-api-key`", challenge))
        if not key.allows(needed):
            raise ProblemError(Problem(403, f"this needs a key with the scope {needed}"))
        return _named(scope, key)

    def _signed_in(self, scope: Scope, headers: Headers) -> str | None:
        """Who looks at a page of the console; nobody in particular before signing in."""
        if self.sessions is None or not is_console(scope["path"]):
            return None
        number = self.sessions.key_of(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))
        key = self.keys.by_id(number) if number else None
        return _named(scope, key) if key else None

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


def _named(scope: Scope, key: ApiKey) -> str:
    scope["stillme.key"] = key
    scope["stillme.owner"] = key.hash  # a name may be given to another key one day
    return f"key:{key.name}"


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


async def attended(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Serve a request whose body was read, as long as somebody waits: who leaves before the answer begins ends the work."""
    gone, begun, serving = asyncio.Event(), False, asyncio.current_task()
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        if waiting:
            return waiting.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def noted(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()
        if not begun and serving is not None:
            scope["stillme.left"] = True
            serving.cancel()

    watching = asyncio.create_task(watch())
    try:
        await app(scope, again, noted)
    except asyncio.CancelledError:
        if not scope.get("stillme.left") or serving is None or serving.uncancel():
            raise
    finally:
        watching.cancel()


def _too_large(most: int) -> ProblemError:
    detail = f"a request may have {most} bytes at most: send less, or raise STILLME_MAX_BODY_BYTES"
    return ProblemError(Problem(413, detail, {"connection": "close"}))
