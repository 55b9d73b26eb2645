"""The one HTTP client for model servers: an answer in time, of bounded size, or a fault in our words.

Nothing that a server says ends up in a fault: it knows the key, and may repeat it, or the user's text. How long an answer takes is
limited by deadlines, not by the time between two bytes: a server that drips is late like one that is silent.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from stillme.errors import BackendError, InputError, shown
from stillme.llm.addresses import is_loopback
from stillme.llm.breaker import Breaker, Call
from stillme.llm.endpoint import OPERATION, Endpoint
from stillme.llm.wire import FaultError

if TYPE_CHECKING:
    import httpx

__all__ = ["EVENTS_TYPE", "JSON_TYPE", "CallLimits", "Client", "completed", "httpx_module", "tls_context"]

Result = TypeVar("Result")

OK: Final = 200
TOO_MANY: Final = 429
SERVER_FAULTS: Final = frozenset({500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 529})
PARAMETER_REFUSED: Final = (400, 422)
JSON_TYPE: Final = "application/json"
EVENTS_TYPE: Final = "text/event-stream"
# A type is repeated in a fault only where it is one of these.
COMMON_TYPES: Final = ("text/html", "text/plain", JSON_TYPE, EVENTS_TYPE, "application/problem+json")
MOST_OF_A_REFUSAL: Final = 2_000


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How long a server is waited for, how often it is asked again, how much of it is read."""

    connect_s: float = 5.0
    first_byte_s: float = 60.0
    """Until the first byte of a streamed answer; a whole one comes when it is finished, and has `total_s`."""
    total_s: float = 120.0
    """For everything: retries, pauses, the last byte."""
    retries: int = 2
    backoff_s: float = 0.5
    """The first pause; each further one is twice as long, and all are lengthened at random by up to a half."""
    most_pause_s: float = 20.0
    """A server that asks for a longer pause is not waited for."""
    most_bytes: int = 8_000_000

    def __post_init__(self) -> None:
        for name in ("connect_s", "first_byte_s", "total_s"):
            if not 0 < getattr(self, name) < inf:
                raise InputError(f"{name} must be a number of seconds above 0, got {shown(getattr(self, name))}")
        if self.retries < 0 or not self.backoff_s >= 0 or not self.most_pause_s >= 0 or self.most_bytes < 1:
            raise InputError("retries, backoff_s and most_pause_s must be 0 or more, most_bytes 1 or more")


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer with status 200, on its way."""

    response: httpx.Response
    call: Call
    first_by: float
    """When its first byte must be here."""


@dataclass(slots=True, eq=False)
class Client:
    """Posts to one endpoint. Safe to share between the tasks of an event loop; what goes wrong is a FaultError."""

    name: str
    """How errors about its settings begin."""
    endpoint: Endpoint
    limits: CallLimits
    breaker: Breaker
    advice: Mapping[int, str] = field(repr=False)
    """What to do about a status."""
    use_proxy: bool = True
    """Whether HTTPS_PROXY and its kin are honoured; never for this machine."""
    transport: Any = field(default=None, repr=False)
    """In place of httpx's own."""
    _http: httpx.AsyncClient | None = field(default=None, init=False, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)

    async def whole(self, content: bytes, deadline: float) -> bytes:
        """The body of an answer in JSON; one that breaks off is asked for again."""

        async def attempt(call: Call) -> bytes:
            begun = await self._attempt(content, JSON_TYPE, OPERATION, deadline, call)
            async with self._read(begun, JSON_TYPE, deadline) as pieces:
                return b"".join([piece async for piece in pieces])

        return await self._with_retries(attempt, deadline)

    @asynccontextmanager
    async def reply(
        self, content: bytes | None, accept: str, operation: str = OPERATION
    ) -> AsyncIterator[tuple[AsyncIterator[bytes], Call]]:
        """The bytes of an answer as they arrive; once it has begun, it is not asked for again. Without content it is a GET."""
        deadline = time.monotonic() + self.limits.total_s

        async def attempt(call: Call) -> _Reply:
            return await self._attempt(content, accept, operation, deadline, call)

        begun = await self._with_retries(attempt, deadline)
        async with self._read(begun, accept, deadline) as pieces:
            yield pieces, begun.call

    async def aclose(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    # tries

    async def _with_retries(self, attempt: Callable[[Call], Awaitable[Result]], deadline: float) -> Result:
        """What comes of as many attempts as are worth it."""
        tries = 0
        while True:
            call = self._admitted(tries)
            try:
                return await attempt(call)
            except FaultError as fault:
                tries = fault.tries = tries + 1
                pause_s = self._pause_s(fault)
                if pause_s is None or time.monotonic() + pause_s >= deadline:
                    raise
            await asyncio.sleep(pause_s)

    def _admitted(self, tries: int) -> Call:
        call = self.breaker.admit()
        if call is None:
            wait_s = self.breaker.wait_s
            when = f"in {wait_s:.0f} s" if wait_s else "when the call on trial has come back"
            what = f"failed too often in a row and is left alone; it is tried again {when}"
            raise FaultError(what, retry_after_s=max(1.0, wait_s), tries=tries)
        return call

    def _pause_s(self, fault: FaultError) -> float | None:
        """How long to wait before asking again; None where that is not worth it."""
        wanted_s = fault.retry_after_s or 0.0
        if not fault.passing or fault.tries > self.limits.retries or wanted_s > self.limits.most_pause_s:
            return None
        backoff_s: float = self.limits.backoff_s * 2.0 ** (fault.tries - 1) * (1 + secrets.randbelow(500) / 1000)
        return max(wanted_s, min(backoff_s, self.limits.most_pause_s))

    # one exchange

    async def _attempt(self, content: bytes | None, accept: str, operation: str, deadline: float, call: Call) -> _Reply:
        """One try: a response with status 200, or a fault that the breaker was told of."""
        try:
            first_by = deadline
            if accept == EVENTS_TYPE:
                first_by = min(deadline, time.monotonic() + self.limits.first_byte_s)
            response = await self._send(content, accept, operation, first_by)
            if response.status_code != OK:
                try:
                    raise await self._status_fault(response, first_by)
                finally:
                    await response.aclose()
        except FaultError as fault:
            call.given_up() if fault.neutral else call.failed()
            raise
        except BaseException:  # cancelled, or an address that is not allowed: says nothing about the server
            call.given_up()
            raise
        return _Reply(response, call, first_by)

    @asynccontextmanager
    async def _read(self, reply: _Reply, accept: str, deadline: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of an answer; the breaker is told how it went, the connection is let go of."""
        httpx = httpx_module()
        try:
            _check_head(reply.response, accept, self.limits.most_bytes)
            async with aclosing(_pieces(reply, deadline, self.limits)) as pieces:
                yield pieces
            reply.call.succeeded()
        except FaultError as fault:
            reply.call.given_up() if fault.neutral else reply.call.failed()
            raise
        except (httpx.HTTPError, OSError):
            reply.call.failed()
            raise FaultError("broke off its answer", passing=True) from None
        finally:
            reply.call.given_up()
            await reply.response.aclose()

    async def _send(self, content: bytes | None, accept: str, operation: str, first_by: float) -> httpx.Response:
        """The head of the response; its body is still to be read."""
        httpx = httpx_module()
        http = self._connected()
        headers = {"Content-Type": JSON_TYPE, "Accept": accept, "Accept-Encoding": "identity", "User-Agent": "stillme"}
        if self.endpoint.api_key is not None:
            headers["Authorization"] = f"Bearer {self.endpoint.api_key}"
        method = "GET" if content is None else "POST"
        request = http.build_request(method, self.endpoint.at(operation), content=content, headers=headers)
        try:
            async with asyncio.timeout(max(0.0, first_by - time.monotonic())):
                return await http.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            raise _late(self.limits, streamed=accept == EVENTS_TYPE) from None
        except (httpx.HTTPError, OSError) as error:
            raise _unreached(error) from None

    def _connected(self) -> httpx.AsyncClient:
        """The connections of the running event loop; they belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            self._http, self._loop = self.new_http(), loop
        return self._http

    def new_http(self) -> httpx.AsyncClient:
        """What connections are made with; an InputError where the environment names a proxy that is none."""
        module = httpx_module()
        wait_s = self.limits.connect_s
        try:
            http = module.AsyncClient(
                transport=self.transport,
                verify=tls_context(),
                trust_env=self.use_proxy and self.transport is None and not is_loopback(self.endpoint.host),
                timeout=module.Timeout(None, connect=wait_s, pool=wait_s),
                limits=module.Limits(max_connections=1000, max_keepalive_connections=50),
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )
        except (ValueError, ImportError, module.InvalidURL):
            raise InputError(
                f"{self.name}: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY must be an address such as 'http://proxy.example:3128'"
            ) from None
        return cast("httpx.AsyncClient", http)

    async def _status_fault(self, response: httpx.Response, by: float) -> FaultError:
        """What a status other than 200 means."""
        status = response.status_code
        if status == TOO_MANY or status in SERVER_FAULTS:
            wait_s = _retry_after_s(response.headers.get("retry-after"))
            return FaultError(f"answered {status}", passing=True, retry_after_s=wait_s)
        if 300 <= status < 400:
            return FaultError(f"answered {status}, a redirect, which is never followed: give its final address")
        refusal = await _refusal(response, by) if status in PARAMETER_REFUSED else None
        advice = self.advice.get(status, self.advice[404])
        return FaultError(f"answered {status}: {advice}", neutral=400 <= status < 500, refusal=refusal)


def completed(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of asynchronous work, for a caller that waits for it; also where its thread runs an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _completed_here(work)
    with ThreadPoolExecutor(1, "stillme-llm") as pool:
        return pool.submit(_completed_here, work).result()


def _completed_here(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """On a loop of its own, which unlike that of `asyncio.run` does not wait for a resolver that hangs."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())
    try:
        return loop.run_until_complete(task)
    finally:
        if task.cancel():  # interrupted: connections are closed before the loop is
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        loop.close()


# what went wrong


def _late(limits: CallLimits, *, streamed: bool) -> FaultError:
    if streamed:
        return FaultError(f"sent nothing within {limits.first_byte_s:g} s", timed_out=True)
    return FaultError(f"took longer than {limits.total_s:g} s", timed_out=True)


def _unreached(error: Exception) -> FaultError:
    """What it means that no answer began."""
    httpx = httpx_module()
    causes = list(_causes(error))
    encryption = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if encryption is not None:
        return FaultError(f"cannot be reached safely: {_tls_fault(encryption)}")
    if isinstance(error, httpx.PoolTimeout):
        return FaultError("has too many calls under way", retry_after_s=1.0, neutral=True)
    if isinstance(error, httpx.ConnectTimeout):
        return FaultError("cannot be reached: no connection in time", passing=True, timed_out=True)
    if isinstance(error, httpx.ProxyError):
        return FaultError(f"cannot be reached: the proxy answered {str(error)[:3]}", passing=True)
    if isinstance(error, httpx.ConnectError):
        return FaultError(f"cannot be reached: {_network_fault(causes)}", passing=True)
    return FaultError("closed the connection before it answered, or does not answer in HTTP", passing=True)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        several = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        cause = next(iter(several), None) or cause.__cause__ or cause.__context__


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({shown(error.verify_message, 60)}): install its CA, or name it in SSL_CERT_FILE"
    return "no encrypted connection can be made: check that its address and port speak https"


def _network_fault(causes: list[BaseException]) -> str:
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return "unknown host"
    numbers = [cause.errno for cause in causes if isinstance(cause, OSError) and cause.errno]
    return os.strerror(numbers[0]).lower() if numbers else "no connection"


async def _refusal(response: httpx.Response, by: float) -> str:
    """The beginning of what a server says about a request that it refuses."""
    httpx = httpx_module()
    found = b""
    try:
        async with asyncio.timeout(max(0.0, by - time.monotonic())), aclosing(_raw(response)) as pieces:
            async for piece in pieces:
                found += piece[:MOST_OF_A_REFUSAL]
                if len(found) >= MOST_OF_A_REFUSAL:
                    break
    except (httpx.HTTPError, OSError):
        pass  # what is missing may have been the name of a parameter; without one, the usual one is tried
    return found[:MOST_OF_A_REFUSAL].decode("ascii", "replace").lower()


def _retry_after_s(value: str | None) -> float | None:
    """Seconds that a server asks to be left alone, as a number or as a date; None where it does not say."""
    if value is None:
        return None
    text = value.strip()[:64]
    try:
        seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else _until(text)
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if isfinite(seconds) else None


def _until(date: str) -> float:
    moment = parsedate_to_datetime(date)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - datetime.now(UTC)).total_seconds()


# what comes back


def _check_head(response: httpx.Response, accept: str, most_bytes: int) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise FaultError("sent a compressed answer, which was not asked for")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != accept:
        named = kind if kind in COMMON_TYPES else "another content type"
        raise FaultError(f"answered with {named}, not {accept}: check its address")
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most_bytes):
        raise FaultError(f"sent more than {most_bytes} bytes")


def _raw(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    return cast("AsyncGenerator[bytes, None]", response.aiter_raw())


async def _pieces(reply: _Reply, deadline: float, limits: CallLimits) -> AsyncGenerator[bytes, None]:
    """The bytes of an answer as they arrive, in time and not too many."""
    room, until = limits.most_bytes, reply.first_by
    async with aclosing(_raw(reply.response)) as raw:
        while True:
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    piece = await anext(raw, None)
            except TimeoutError:
                raise _late(limits, streamed=until < deadline) from None
            if piece is None:
                return
            room, until = room - len(piece), deadline
            if room < 0:
                raise FaultError(f"sent more than {limits.most_bytes} bytes")
            yield piece


# what is there


def httpx_module() -> Any:
    """The package httpx, which is an extra."""
    try:
        import httpx  # noqa: PLC0415  (an extra)
    except ImportError:
        raise BackendError(
            "model servers need the package httpx: pip install 'stillme[chat]', or 'stillme[judge]' for a judge alone"
        ) from None
    return httpx


@cache
def tls_context() -> ssl.SSLContext:
    """The certificates of the system and those that httpx brings, or those that SSL_CERT_FILE names."""
    try:
        context: ssl.SSLContext = httpx_module().create_ssl_context()
    except OSError:
        raise InputError(
            "SSL_CERT_FILE and SSL_CERT_DIR must name certificates that can be read: correct or unset them"
        ) from None
    context.load_default_certs()
    return context
