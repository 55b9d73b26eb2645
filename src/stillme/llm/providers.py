"""Model servers that speak OpenAI's chat completions, asked so that whatever is not a whole answer is an UpstreamError."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.errors import InputError, UpstreamError, shown
from stillme.llm.addresses import PinnedTransport, Resolve, is_public, resolved
from stillme.llm.breaker import Breaker, Call
from stillme.llm.client import EVENTS_TYPE, JSON_TYPE, CallLimits, Client, httpx_module, tls_context
from stillme.llm.confidence import generation_confidence, token_logprobs
from stillme.llm.endpoint import OPERATION, Endpoint, check_model
from stillme.llm.messages import Delta, Generation, Prompt
from stillme.llm.wire import (
    NO_TEXT,
    Choices,
    FaultError,
    StreamedAnswer,
    check_completion,
    events,
    json_object,
    said_in,
    usage,
)

__all__ = ["PRESETS", "OpenAICompatible", "Preset", "caller_given", "preset"]

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
MOST_MODELS_REMEMBERED: Final = 256


Shape = Callable[[dict[str, Any]], dict[str, Any]]


def as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    """An answer that has the shape of a chat completion, or of a chunk of one."""
    return value


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
    limits: CallLimits = field(default_factory=CallLimits)
    breaker: Breaker = field(default_factory=Breaker, repr=False)
    use_proxy: bool = True
    """Whether HTTPS_PROXY and its kin are honoured; never for this machine."""
    allow_insecure: bool = False
    """Whether a key may go over plain http to another machine."""
    transport: Any = field(default=None, repr=False)
    """In place of httpx's own."""
    _client: Client = field(init=False, repr=False)
    _refused: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            endpoint = Endpoint.of(self.base_url, self.model, self.api_key, allow_insecure=self.allow_insecure)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None
        self._client = Client(
            self.name, endpoint, self.limits, self.breaker, ADVICE, use_proxy=self.use_proxy, transport=self.transport
        )

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
        said = StreamedAnswer()
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

    async def complete(
        self, body: Mapping[str, Any], operation: str = OPERATION, shape: Shape = as_it_is
    ) -> dict[str, Any]:
        """The completion object for a body that is forwarded as it is; `stream` is set to false.

        `shape` makes a chat completion of what another operation answers.
        """
        async with self._reply({**body, "stream": False}, JSON_TYPE, operation) as (pieces, _):
            whole = shape(json_object(b"".join([piece async for piece in pieces])))
            check_completion(whole)
        return whole

    async def ask(self, operation: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that another operation of the server answers; without a body it is a GET."""
        async with self._reply(body, JSON_TYPE, operation) as (pieces, _):
            return json_object(b"".join([piece async for piece in pieces]))

    async def complete_stream(
        self, body: Mapping[str, Any], operation: str = OPERATION, shape: Shape = as_it_is
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The chunk objects for a body that is forwarded as it is, each as it arrives; `stream` is set to true.

        It ends after every choice that began has a finish_reason, else with an UpstreamError.
        """
        async with self._reply({**body, "stream": True}, EVENTS_TYPE, operation) as (pieces, call):
            choices = Choices()
            async with aclosing(events(pieces)) as found:
                async for kind, data in found:
                    if data.strip() == "[DONE]":
                        break
                    chunk = choices.checked(shape(json_object(data)), kind)
                    call.arrived()
                    yield chunk
            choices.check_finished()

    async def aclose(self) -> None:
        await self._client.aclose()

    # what is asked

    def _model(self, model: str | None) -> str:
        chosen = self.model if model is None else model
        check_model(chosen, self.name)
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

    @asynccontextmanager
    async def _reply(
        self, body: Mapping[str, Any] | None, accept: str, operation: str
    ) -> AsyncIterator[tuple[AsyncIterator[bytes], Call]]:
        """The bytes of an answer as they arrive; a fault is an error that names this server."""
        try:
            async with self._client.reply(None if body is None else _written(body), accept, operation) as reply:
                yield reply
        except FaultError as fault:
            raise self._error(fault) from None

    def _error(self, fault: FaultError) -> UpstreamError:
        tries = f" (tries: {fault.tries})" if fault.tries > 1 else ""
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
    limits: CallLimits | None = None,
    resolve: Resolve = resolved,
    allowed: Callable[[str], bool] = is_public,
) -> OpenAICompatible:
    """A server that a caller names: it must be public, and gets no key but the caller's. For one request; close it afterwards."""
    httpx = httpx_module()
    inner = httpx.AsyncHTTPTransport(
        verify=tls_context(), trust_env=False, limits=httpx.Limits(max_connections=10, max_keepalive_connections=0)
    )
    pinned = PinnedTransport(inner, resolve, allowed)
    return OpenAICompatible(
        "the given url", url, api_key, model, limits=limits or CallLimits(), use_proxy=False, transport=pinned
    )


def _written(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; what cannot be written is the caller's."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "the request holds what JSON has no words for: a lone surrogate, NaN, or a value of another type"
        ) from None
