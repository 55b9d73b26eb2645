"""Model servers that speak OpenAI's chat completions, asked so that whatever is not a whole answer is an UpstreamError.

Nothing that a server says ends up in an error: it knows the key, and may repeat it, or the user's text.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, cast

from stillme.errors import BackendError, InputError, UpstreamError, shown
from stillme.judge.endpoint import LONGEST_NAME, Endpoint
from stillme.llm.addresses import PinnedTransport, Resolve, is_loopback, is_public, resolved
from stillme.llm.breaker import Breaker, Call
from stillme.llm.confidence import generation_confidence, token_logprobs
from stillme.llm.messages import Delta, Generation, Prompt
from stillme.llm.wire import NO_TEXT, Choices, FaultError, Said, check_completion, events, json_object, said_in, usage

if TYPE_CHECKING:
    import httpx

__all__ = ["PRESETS", "Limits", "OpenAICompatible", "Preset", "caller_given", "preset"]

OK: Final = 200
TOO_MANY: Final = 429
SERVER_FAULTS: Final = frozenset({500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 529})
PARAMETER_REFUSED: Final = (400, 422)
JSON_TYPE: Final = "application/json"
EVENTS_TYPE: Final = "text/event-stream"
# A type is repeated in an error only where it is one of these.
COMMON_TYPES: Final = ("text/html", "text/plain", JSON_TYPE, EVENTS_TYPE, "application/problem+json")
ADVICE: Final = {
    400: "the model may be unknown, the text too long, or a parameter not allowed",
    401: "check its API key",
    402: "check the account behind its API key",
    403: "check its API key and what it may use",
    404: "check its address and model",
    413: "the text is too long for it",
    422: "the model may be unknown, the text too long, or a parameter not allowed",
}
# What we ask for of our own accord, and do without where a server refuses it, in the order in which that is tried.
OPTIONAL: Final = ("logprobs", "max_tokens", "seed", "stream_options", "temperature")
MOST_OF_A_REFUSAL: Final = 2_000
MOST_MODELS_REMEMBERED: Final = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a server is waited for, how often it is asked again, how much of it is read."""

    connect_s: float = 5.0
    first_byte_s: float = 60.0
    """Until the first byte of a streamed answer; a whole one comes when it is finished, and has `total_s`."""
    total_s: float = 120.0
    """For everything: retries, pauses, the last byte."""
    retries: int = 2
    backoff_s: float = 0.5
    """The first pause; each further one is twice as long, and all are shortened at random by up to a half."""
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
class Preset:
    """A server that is known by name."""

    url: str
    model: str | None
    key: str | None
    """The environment variable that holds its key; None where it needs none."""
    logprobs: bool = True
    seed: bool = True


PRESETS: Final[Mapping[str, Preset]] = {
    "deepseek": Preset("https://api.deepseek.com/v1", "deepseek-chat", "DEEPSEEK_API_KEY", seed=False),
    "openai": Preset("https://api.openai.com/v1", "gpt-4o-mini", "OPENAI_API_KEY"),
    "gemini": Preset(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-2.5-flash",
        "GEMINI_API_KEY",
        logprobs=False,
        seed=False,
    ),
    "local": Preset("http://127.0.0.1:11434/v1", None, None),
}


class _RefusedError(UpstreamError):
    """The server refuses the request as it stands."""

    def __init__(self, message: str, words: str) -> None:
        super().__init__(message)
        self.words = words


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer with status 200, on its way."""

    response: httpx.Response
    call: Call
    first_by: float
    """When its first byte must be here."""


@dataclass(slots=True, eq=False)
class OpenAICompatible:
    """One model at one server: `POST {base_url}/chat/completions`. Safe to share between the tasks of an event loop.

    It asks for temperature 0, a fixed seed and token log-probabilities; what of that a server refuses for a model, it is not asked
    for again. The address is the operator's and may be private; redirects are never followed.
    """

    name: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    model: str = ""
    logprobs: bool = True
    seed: int | None = 0
    temperature: float | None = 0.0
    max_tokens: int | None = None
    """How long an answer may get; without it as long as the server lets it."""
    limits: Limits = Limits()
    breaker: Breaker = field(default_factory=Breaker, repr=False)
    use_proxy: bool = True
    """Whether HTTPS_PROXY and its kin are honoured; never for this machine."""
    allow_insecure: bool = False
    """Whether a key may go over plain http to another machine."""
    transport: Any = field(default=None, repr=False)
    """In place of httpx's own."""
    _endpoint: Endpoint = field(init=False, repr=False)
    _client: httpx.AsyncClient | None = field(default=None, init=False, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)
    _refused: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self._endpoint = Endpoint.of(
                self.base_url, self.model, self.api_key, allow_insecure=self.allow_insecure, use_proxy=False
            )
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    # whole answers and streams

    async def generate(self, prompt: Prompt, model: str | None = None) -> Generation:
        """The whole answer."""
        chosen = self._model(model)
        body = self._body(prompt, chosen)
        while True:
            try:
                whole = await self.complete(body)
            except _RefusedError as refused:
                body = self._without(body, refused)
            else:
                break
        self._remember(chosen, body)
        choice = whole["choices"][0]
        return Generation(
            text=self._text(said_in(choice["message"])),
            provider=self.name,
            model=chosen,
            finish_reason=choice["finish_reason"],
            confidence=generation_confidence(token_logprobs(choice)),
            usage=usage(whole),
        )

    async def stream(self, prompt: Prompt, model: str | None = None) -> AsyncGenerator[Delta, None]:
        """The answer piece by piece, ended by one Delta with a finish_reason; closing it ends the call upstream."""
        chosen = self._model(model)
        said = Said()
        async with aclosing(self._chunks(self._body(prompt, chosen, stream=True), chosen)) as chunks:
            async for chunk in chunks:
                text = said.add(chunk)
                if text:
                    yield Delta(text=self._well_formed(text), provider=self.name, model=chosen)
        if not said.anything:
            raise self._error(FaultError(NO_TEXT))
        yield Delta(
            finish_reason=said.finish_reason,
            provider=self.name,
            model=chosen,
            confidence=generation_confidence(said.logprobs),
            usage=said.usage,
        )

    async def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The completion object for a body that is forwarded as it is; `stream` is set to false."""
        async with self._reply({**body, "stream": False}, JSON_TYPE) as (pieces, _):
            whole = json_object(b"".join([piece async for piece in pieces]))
            check_completion(whole)
        return whole

    async def complete_stream(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The chunk objects for a body that is forwarded as it is, each as it arrives; `stream` is set to true.

        It ends after every choice that began has a finish_reason, else with an UpstreamError.
        """
        async with self._reply({**body, "stream": True}, EVENTS_TYPE) as (pieces, call):
            choices = Choices()
            async with aclosing(events(pieces)) as found:
                async for kind, data in found:
                    if data.strip() == "[DONE]":
                        break
                    chunk = choices.checked(json_object(data), kind)
                    call.arrived()
                    yield chunk
            choices.check_finished()

    async def aclose(self) -> None:
        """Let go of connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    # what is asked

    def _model(self, model: str | None) -> str:
        chosen = self.model if model is None else model
        if not chosen.strip() or not chosen.isprintable() or len(chosen) > LONGEST_NAME:
            raise InputError(f"model must be the name of a model of {self.name}, got {shown(chosen)}")
        return chosen

    def _body(self, prompt: Prompt, model: str, *, stream: bool = False) -> dict[str, Any]:
        refused = self._refused.get(model, frozenset())
        return {
            "model": model,
            "messages": [{"role": m.role, "content": m.content} for m in prompt.messages],
            "stream": stream,
        } | {name: value for name, value in self._wishes(stream).items() if name not in refused}

    def _wishes(self, stream: bool) -> dict[str, Any]:
        """What we ask for of our own accord."""
        wishes = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "logprobs": True if self.logprobs else None,
            "stream_options": {"include_usage": True} if stream else None,
        }
        return {name: value for name, value in wishes.items() if value is not None}

    def _without(self, body: dict[str, Any], refused: _RefusedError) -> dict[str, Any]:
        """The body without what the server complains of; where it names nothing, without the log-probabilities."""
        named = [name for name in OPTIONAL if name in body and name in refused.words]
        dropped = named or [name for name in OPTIONAL[:1] if name in body]
        if not dropped:
            raise refused
        return {name: value for name, value in body.items() if name not in dropped}

    def _remember(self, model: str, body: Mapping[str, Any]) -> None:
        """What a server answered without, it is not asked for again."""
        missing = self._wishes(body["stream"]).keys() - body.keys()
        if missing and (model in self._refused or len(self._refused) < MOST_MODELS_REMEMBERED):
            self._refused[model] = self._refused.get(model, frozenset()) | missing

    async def _chunks(self, body: dict[str, Any], model: str) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of a stream, asked for again where a parameter was refused, which is before any chunk."""
        while True:
            try:
                async with aclosing(self.complete_stream(body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except _RefusedError as refused:
                body = self._without(body, refused)
            else:
                break
        self._remember(model, body)

    def _text(self, content: str) -> str:
        if not content.strip():
            raise self._error(FaultError(NO_TEXT))
        return self._well_formed(content)

    def _well_formed(self, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self._error(FaultError("sent text that is not well-formed Unicode")) from None
        return text

    # one exchange

    @asynccontextmanager
    async def _reply(self, body: Mapping[str, Any], accept: str) -> AsyncIterator[tuple[AsyncIterator[bytes], Call]]:
        """The bytes of an answer with status 200; the breaker is told how it went, the connection is let go of."""
        httpx = _httpx()
        deadline = time.monotonic() + self.limits.total_s
        reply = await self._opened(_written(body), accept, deadline)
        try:
            _check_head(reply.response, accept, self.limits.most_bytes)
            async with aclosing(_pieces(reply, deadline, self.limits)) as pieces:
                yield pieces, reply.call
            reply.call.succeeded()
        except FaultError as fault:
            reply.call.given_up() if fault.neutral else reply.call.failed()
            raise self._error(fault) from None
        except (httpx.HTTPError, OSError):
            reply.call.failed()
            raise self._error(FaultError("broke off its answer")) from None
        finally:
            reply.call.given_up()
            await reply.response.aclose()

    async def _opened(self, content: bytes, accept: str, deadline: float) -> _Reply:
        """A response with status 200, after as many tries as are worth it."""
        tried = 0
        while True:
            call = self._admitted(tried)
            try:
                return await self._attempt(content, accept, deadline, call)
            except FaultError as fault:
                tried += 1
                pause_s = self._pause_s(fault, tried)
                if pause_s is None or time.monotonic() + pause_s >= deadline:
                    raise self._error(fault, tried) from None
            await asyncio.sleep(pause_s)

    def _admitted(self, tried: int) -> Call:
        call = self.breaker.admit()
        if call is None:
            wait_s = self.breaker.wait_s
            when = f"in {wait_s:.0f} s" if wait_s else "when the call on trial has come back"
            what = f"failed too often in a row and is left alone; it is tried again {when}"
            raise self._error(FaultError(what, retry_after_s=max(1.0, wait_s)), tried)
        return call

    def _pause_s(self, fault: FaultError, tried: int) -> float | None:
        """How long to wait before asking again; None where that is not worth it."""
        if not fault.passing or tried > self.limits.retries:
            return None
        wanted_s = fault.retry_after_s or 0.0
        if wanted_s > self.limits.most_pause_s:
            return None
        backoff_s: float = self.limits.backoff_s * 2.0 ** (tried - 1) * (1 - secrets.randbelow(500) / 1000)
        return max(wanted_s, min(backoff_s, self.limits.most_pause_s))

    async def _attempt(self, content: bytes, accept: str, deadline: float, call: Call) -> _Reply:
        """One try: a response with status 200, or a fault that the breaker was told of."""
        try:
            first_by = deadline
            if accept == EVENTS_TYPE:
                first_by = min(deadline, time.monotonic() + self.limits.first_byte_s)
            response = await self._sent(content, accept, first_by)
            if response.status_code != OK:
                try:
                    raise await _status_fault(response, first_by)
                finally:
                    await response.aclose()
        except FaultError as fault:
            call.given_up() if fault.neutral else call.failed()
            raise
        except BaseException:  # cancelled, or an address that is not allowed: says nothing about the server
            call.given_up()
            raise
        return _Reply(response, call, first_by)

    async def _sent(self, content: bytes, accept: str, first_by: float) -> httpx.Response:
        """The head of the response; its body is still to be read."""
        httpx = _httpx()
        client = self._connected()
        headers = {"Content-Type": JSON_TYPE, "Accept": accept, "Accept-Encoding": "identity", "User-Agent": "stillme"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = client.build_request("POST", self._endpoint.url, content=content, headers=headers)
        try:
            async with asyncio.timeout(max(0.0, first_by - time.monotonic())):
                return await client.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            raise _late(self.limits, streamed=accept == EVENTS_TYPE) from None
        except (httpx.HTTPError, OSError) as error:
            raise _unreached(error) from None

    def _connected(self) -> httpx.AsyncClient:
        """The client of the running event loop; connections belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._new_client(), loop
        return self._client

    def _new_client(self) -> httpx.AsyncClient:
        module = _httpx()
        wait_s = self.limits.connect_s
        try:
            client = module.AsyncClient(
                transport=self.transport,
                verify=_tls(),
                trust_env=self.use_proxy and self.transport is None and not is_loopback(self._endpoint.host),
                # how long an answer takes is limited by deadlines of our own
                timeout=module.Timeout(None, connect=wait_s, pool=wait_s),
                limits=module.Limits(max_connections=1000, max_keepalive_connections=50),
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )
        except (ValueError, ImportError):
            raise InputError(
                f"{self.name}: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY must be an address such as 'http://proxy.example:3128'"
            ) from None
        return cast("httpx.AsyncClient", client)

    def _error(self, fault: FaultError, tried: int = 1) -> UpstreamError:
        tries = f" (tries: {tried})" if tried > 1 else ""
        message = f"{self.name} {fault}{tries}"
        if fault.refusal is not None:
            return _RefusedError(message, fault.refusal)
        return UpstreamError(message, retry_after_s=fault.retry_after_s, timed_out=fault.timed_out)


def preset(
    name: str, api_key: str | None = None, model: str | None = None, url: str | None = None, **more: Any
) -> OpenAICompatible:
    """A server that is known by name: deepseek, openai, gemini, local; `more` as `OpenAICompatible` takes it."""
    known = PRESETS.get(name)
    if known is None:
        raise InputError(f"provider must be one of {', '.join(PRESETS)}, got {shown(name)}")
    chosen = model or known.model
    if chosen is None:
        raise InputError(f"{name} needs the name of a model: there is none that every server has")
    asked = {"logprobs": known.logprobs, "seed": 0 if known.seed else None} | more
    return OpenAICompatible(name, url or known.url, api_key, chosen, **asked)


def caller_given(
    url: str,
    model: str,
    api_key: str | None = None,
    limits: Limits | None = None,
    resolve: Resolve = resolved,
    allowed: Callable[[str], bool] = is_public,
) -> OpenAICompatible:
    """A server that a caller names: it must be public, and gets no key but the caller's. For one request; close it afterwards."""
    httpx = _httpx()
    inner = httpx.AsyncHTTPTransport(
        verify=_tls(), trust_env=False, limits=httpx.Limits(max_connections=10, max_keepalive_connections=0)
    )
    pinned = PinnedTransport(inner, resolve, allowed)
    return OpenAICompatible(
        "the given url", url, api_key, model, limits=limits or Limits(), use_proxy=False, transport=pinned
    )


# what went wrong


def _late(limits: Limits, *, streamed: bool) -> FaultError:
    if streamed:
        return FaultError(f"sent nothing within {limits.first_byte_s:g} s", timed_out=True)
    return FaultError(f"took longer than {limits.total_s:g} s", timed_out=True)


def _unreached(error: Exception) -> FaultError:
    """What it means that no answer began."""
    httpx = _httpx()
    if _is_tls(error):
        return FaultError("has no certificate that can be trusted, or does not speak TLS: check its address")
    if isinstance(error, httpx.PoolTimeout):
        return FaultError("has too many calls under way", retry_after_s=1.0, neutral=True)
    if isinstance(error, httpx.ConnectTimeout):
        return FaultError("did not accept a connection in time", passing=True, timed_out=True)
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return FaultError("cannot be reached", passing=True)
    return FaultError("broke off the connection before it answered", passing=True)


def _is_tls(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


async def _status_fault(response: httpx.Response, by: float) -> FaultError:
    """What a status other than 200 means."""
    status = response.status_code
    if status == TOO_MANY or status in SERVER_FAULTS:
        wait_s = _retry_after_s(response.headers.get("retry-after"))
        return FaultError(f"answered {status}", passing=True, retry_after_s=wait_s)
    if 300 <= status < 400:
        return FaultError(f"answered {status}, a redirect, which is never followed: give its final address")
    refusal = await _refusal(response, by) if status in PARAMETER_REFUSED else None
    advice = ADVICE.get(status, "check its address and model")
    return FaultError(f"answered {status}: {advice}", neutral=400 <= status < 500, refusal=refusal)


async def _refusal(response: httpx.Response, by: float) -> str:
    """The beginning of what a server says about a request that it refuses."""
    httpx = _httpx()
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


def _check_head(response: httpx.Response, accept: str, most_bytes: int) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise FaultError("sent a compressed answer, which was not asked for")
    found = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != accept:
        named = found if found in COMMON_TYPES else "another content type"
        raise FaultError(f"answered with {named}, not {accept}: check its address")
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most_bytes):
        raise FaultError(f"sent more than {most_bytes} bytes")


# what comes back


def _raw(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    return cast("AsyncGenerator[bytes, None]", response.aiter_raw())


async def _pieces(reply: _Reply, deadline: float, limits: Limits) -> AsyncGenerator[bytes, None]:
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


def _written(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; what cannot be written is the caller's."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "the request holds what JSON has no words for: a lone surrogate, NaN, or a value of another type"
        ) from None


# what is there


def _httpx() -> Any:
    try:
        import httpx  # noqa: PLC0415  (an extra)
    except ImportError:
        raise BackendError("model servers need the package httpx: pip install 'stillme[chat]'") from None
    return httpx


@cache
def _tls() -> ssl.SSLContext:
    """The certificates that httpx trusts, or those that SSL_CERT_FILE names."""
    context: ssl.SSLContext = _httpx().create_ssl_context()
    return context
