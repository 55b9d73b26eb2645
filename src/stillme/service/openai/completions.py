"""`POST /v1/chat/completions`: the OpenAI-compatible guard.

The body goes to the model server as it came, but for our extension field; what comes back is verified before it is passed on.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.chat.prompt import build_prompt, build_prompt_context
from stillme.chat.router import Router
from stillme.contract import RetrievedPassage
from stillme.errors import InputError, StillMeError, UpstreamError, shown
from stillme.guard import Occurrence, asked_language, check_limits
from stillme.guard import shown as visible
from stillme.llm.confidence import generation_confidence, token_logprobs
from stillme.llm.messages import Prompt
from stillme.llm.providers import OpenAICompatible
from stillme.service.bodies import read_json
from stillme.service.openai.exchange import Exchange, Source, delivered_choice, precheck_choice
from stillme.service.openai.guarded import (
    Parts,
    delivery,
    error_response,
    extension,
    strictest,
    verdict_headers,
    with_context,
)
from stillme.service.openai.outgoing import acts_in, beside_text, draft_of, frame_of, number_or, usage_of
from stillme.service.openai.request_sources import EXTENSION, Asked, asked_in, request_of
from stillme.service.openai.stream_response import GuardedStream
from stillme.service.openapi import problems
from stillme.service.problems import ProblemError
from stillme.storage.knowledge.store import Chunk, Context, Found

__all__ = ["completions_routes"]

OWN: Final = "stillme"
MOST_CHOICES: Final = 16
# What the service's own providers cannot do, and would have to leave undone unsaid.
NEEDS_UPSTREAM: Final = ("tools", "tool_choice", "functions", "function_call", "response_format", "modalities", "audio")
# As much as the guard reads or acts on; whatever else a model server takes goes there as it is.
BODY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["messages"],
    "additionalProperties": True,
    "properties": {
        "model": {"type": "string"},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["role"],
                "properties": {"role": {"type": "string"}, "content": {}},
            },
        },
        "stream": {"type": "boolean"},
        "n": {"type": "integer", "minimum": 1, "maximum": MOST_CHOICES},
        EXTENSION: {
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
        },
    },
}
ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "code": {"type": ["string", "null"]},
                "param": {"type": ["string", "null"]},
            },
        }
    },
}
# What the door turns away it tells by a problem document; the status is what clients go by.
ERRORS: Final[dict[int | str, dict[str, Any]]] = problems(401, 403, 408, 413) | {
    status: {
        "description": words,
        "content": {"application/json": {"schema": ERROR_SCHEMA}, **problems(status)[status]["content"]},
    }
    for status, words in {
        400: "The request cannot be served as it stands.",
        404: "There is no such model.",
        415: "The body is not JSON.",
        429: "Too much at once.",
        502: "The model server gave no usable answer.",
        503: "The service cannot do this now.",
        504: "The model server did not answer in time.",
    }.items()
}


class _ModelNotFoundError(InputError):
    """There is no model of that name here."""

    code = "model_not_found"


def completions_routes(parts: Parts) -> APIRouter:
    """The routes of the OpenAI-compatible guard."""
    router = APIRouter(tags=["openai"])
    guard = _Completions(parts)
    router.add_api_route(
        "/v1/chat/completions",
        guard.create,
        methods=["POST"],
        response_model=None,
        summary="Chat completions, guarded.",
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": BODY_SCHEMA}}}},
        responses=ERRORS | {200: {"description": "The completion, or its chunks as server-sent events."}},
    )
    router.add_api_route(
        "/v1/models",
        guard.models,
        methods=["GET"],
        response_model=None,
        summary="The models that can be asked.",
        responses=problems(401, 403, 429),
    )
    return router


@dataclass(frozen=True, slots=True)
class _Completions:
    parts: Parts

    async def models(self) -> dict[str, Any]:
        """The models that can be asked, as OpenAI lists them."""
        upstream, router = self.parts.upstream, self.parts.router
        names = [(upstream.model, "upstream")] if upstream is not None and upstream.model else []
        names += [(f"{OWN}/{name}", OWN) for name in (router.names if router is not None else ())]
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": owner} for name, owner in names]
        return {"object": "list", "data": rows}

    async def create(self, request: Request) -> Response:
        """An answer that was verified, or what the policy puts in its place."""
        try:
            return await self._answered(await read_json(request), self.parts.caller(request))
        except (StillMeError, ProblemError) as error:
            return error_response(error)

    async def _answered(self, sent: object, caller: str | None) -> Response:
        body = _checked(sent)
        asked = asked_in(body, self.parts.sources)
        given = (body.get(EXTENSION) or {}).get("context") is not None
        asked = await with_context(self.parts, asked, given=given)
        exchange = Exchange(body, asked, self._source(body, asked), caller, _model(body, self.parts.upstream))
        check_limits(exchange.request(), self.parts.guard.policy)
        stopped = await self._prechecked(exchange)
        if body.get("stream"):
            return GuardedStream(self.parts, exchange, stopped)
        if stopped is not None:
            return self._refused(exchange, stopped)
        return await self._whole(exchange)

    async def _prechecked(self, exchange: Exchange) -> Occurrence | None:
        """What question and context alone already come to, where that is the end of it: only enforce acts on a decision."""
        guard = self.parts.guard
        if guard.policy.mode != "enforce":
            return None
        ahead: Occurrence = await self.parts.run(lambda: guard.examine(exchange.request(), record=False))
        if ahead.verdict.action not in ("block", "clarify"):
            return None
        request = exchange.request(delivery("precheck", 0, 0, stopped=True))
        found: Occurrence = await self.parts.run(lambda: guard.examine(request, caller=exchange.caller))
        return found

    async def _whole(self, exchange: Exchange) -> Response:
        completion = await exchange.source.complete()
        if len(completion["choices"]) > (exchange.body.get("n") or 1):
            raise UpstreamError("the model server sent more answers than were asked for")
        done = [await self._choice(exchange, completion, at) for at in range(len(completion["choices"]))]
        occurrences = [occurrence for _, occurrence, _ in done]
        worst = strictest(occurrences)
        extensions = [own for _, _, own in done]
        choices = [choice for choice, _, _ in done]
        if len(done) > 1:
            choices = [{**choice, EXTENSION: own} for choice, own in zip(choices, extensions, strict=True)]
        kept = _around(exchange, completion) if any(o.verdict.mode == "enforce" for o in occurrences) else completion
        answer = {**kept, "choices": choices, EXTENSION: extensions[worst]}
        verified = all(own["verified"] for own in extensions)
        return JSONResponse(answer, headers=verdict_headers(visible(occurrences[worst]), verified=verified))

    async def _choice(
        self, exchange: Exchange, completion: Mapping[str, Any], at: int
    ) -> tuple[dict[str, Any], Occurrence, dict[str, Any]]:
        """A choice as it is delivered, the verdict on it, and what is said of both."""
        guard, choice = self.parts.guard, completion["choices"][at]
        draft, _ = draft_of(choice["message"])
        if draft.strip():
            _check_length(draft, guard.policy.limits.draft_chars)
            how = None
            request = exchange.request(draft_answer=draft, generation_confidence=exchange.source.confidence(choice))
        else:
            how = delivery("passed_through", 0, 0, why="no text")
            request = exchange.request(how)
        occurrence: Occurrence = await self.parts.run(lambda: guard.examine(request, caller=exchange.caller))
        verdict = occurrence.verdict
        stops = verdict.action in ("block", "clarify")
        how = how or delivery("whole", 0 if stops else len(draft), len(draft), stopped=stops)
        beside = beside_text(completion, choice)
        passed = beside if verdict.mode != "enforce" else acts_in(choice["message"]) if not stops else ()
        own = extension(occurrence, how, [*exchange.asked.unread, *beside], passed=bool(passed)) | exchange.notes
        return delivered_choice(exchange, choice, verdict, number_or(choice.get("index"), at)), occurrence, own

    def _refused(self, exchange: Exchange, occurrence: Occurrence) -> Response:
        """What question and context alone came to, as a completion."""
        number, verdict = f"chatcmpl-{uuid.uuid4().hex}", occurrence.verdict
        answer = _completion(number, exchange.model, precheck_choice(exchange, verdict))
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        own = extension(occurrence, delivery("precheck", 0, 0, stopped=True)) | exchange.notes
        headers = verdict_headers(visible(occurrence), verified=verdict.verified)
        return JSONResponse({**answer, "usage": usage, EXTENSION: own}, headers=headers)

    # who answers

    def _source(self, body: Mapping[str, Any], asked: Asked) -> Source:
        model = _model(body, self.parts.upstream)
        if asked.upstream_url is not None:
            return _Forwarded(self._named(asked, model), _forwarded(body, asked, model), close=True)
        own = model == OWN or model.startswith(f"{OWN}/")
        if self.parts.upstream is not None and not own:
            return _Forwarded(self.parts.upstream, _forwarded(body, asked, model))
        return self._routed(body, asked, model)

    def _named(self, asked: Asked, model: str) -> OpenAICompatible:
        """A model server that the caller names."""
        if not self.parts.allow_caller_urls or self.parts.router is None:
            raise InputError(
                f"{EXTENSION}.upstream_url is not allowed here: an operator allows it with STILLME_ALLOW_CALLER_URLS=true"
            )
        return self.parts.router.at(asked.upstream_url or "", model, asked.upstream_api_key)

    def _routed(self, body: Mapping[str, Any], asked: Asked, model: str) -> Source:
        router = self.parts.router
        choices = ", ".join(f"{OWN}/{name}" for name in (router.names if router is not None else ()))
        if router is None:
            raise _ModelNotFoundError(f"model {shown(model)} is not served here: no model server is configured")
        name, its_model = _provider(router, model)
        if name is None:
            raise _ModelNotFoundError(
                f"model {shown(model)} is not served here: there are {choices}; STILLME_UPSTREAM_URL adds a model server"
            )
        for key in NEEDS_UPSTREAM:
            if body.get(key):
                raise InputError(
                    f"{key} needs a model server (STILLME_UPSTREAM_URL): {OWN}/{name} answers with text only"
                )
        if body.get("n") not in (None, 1):
            raise InputError(f"n must be 1 with {OWN}/{name}, got {shown(body.get('n'))}")
        prompt = build_prompt(
            asked.question, asked.passages, asked.conversation, language=asked_language(request_of(asked))
        )
        return _Routed(router, prompt, name, its_model)


# the request


def _checked(body: object) -> dict[str, Any]:
    """The body, if it is one that we can serve."""
    if not isinstance(body, dict):
        raise InputError(f"the body must be a JSON object, got {type(body).__name__}")
    streamed, n = body.get("stream"), body.get("n")
    if not isinstance(streamed, bool | None):
        raise InputError(f"stream must be true or false, got {shown(streamed)}")
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_CHOICES):
        raise InputError(f"n must be a number from 1 to {MOST_CHOICES}, got {shown(n)}")
    if streamed and n not in (None, 1):
        raise InputError(
            f"n must be 1 in a stream, got {n}: several answers cannot be let through claim by claim at once"
        )
    if not isinstance(body.get("model"), str | None):
        raise InputError(f"model must be the name of a model, got {shown(body.get('model'))}")
    return body


def _around(exchange: Exchange, completion: Mapping[str, Any]) -> dict[str, Any]:
    """What a completion says of itself, as it leaves where the policy is enforced."""
    own = _completion(f"chatcmpl-{uuid.uuid4().hex}", exchange.model, {}) | frame_of(completion)
    used = usage_of(completion.get("usage"))
    return own | ({"usage": used} if used else {})


def _check_length(draft: str, most: int) -> None:
    if len(draft) > most:
        raise UpstreamError(
            f"the model's answer has {len(draft)} characters, limits.draft_chars is {most}: "
            "ask for a shorter one, or raise the limit in the policy"
        )


def _model(body: Mapping[str, Any], upstream: OpenAICompatible | None) -> str:
    default = upstream.model if upstream is not None and upstream.model else OWN
    return str(body.get("model") or default)


def _provider(router: Router, model: str) -> tuple[str | None, str | None]:
    """Which provider a model name means, and which of its models; without one of our names, the default model server."""
    prefix, _, rest = model.partition("/")
    if prefix != OWN:
        return (None, None) if router.default == "extractive" else (router.default, model)
    name, _, its_model = rest.partition("/")
    if not name:
        return router.default, None
    return (name, its_model or None) if name in router.names else (None, None)


def _forwarded(body: Mapping[str, Any], asked: Asked, model: str) -> dict[str, Any]:
    """The body as the model server gets it; passages of our own retrieval stand in a system message before the conversation."""
    kept = {key: value for key, value in body.items() if key != EXTENSION} | {"model": model}
    if not asked.retrieved or not asked.passages:
        return kept
    messages = list(body["messages"])
    at = next((n for n, m in enumerate(messages) if m.get("role") not in ("system", "developer")), len(messages))
    return kept | {"messages": [*messages[:at], _context_message(asked), *messages[at:]]}


def _context_message(asked: Asked) -> dict[str, str]:
    language = asked_language(request_of(asked))
    rules = build_prompt(asked.question, asked.passages, language=language).messages[0].content
    context = build_prompt_context(Context(tuple(_found(p) for p in asked.passages)), language)
    return {"role": "system", "content": f"{rules}\n\n{context}"}


def _found(passage: RetrievedPassage) -> Found:
    chunk = Chunk(
        passage.source_id, passage.source_id, 0, passage.text, 0, len(passage.text),
        passage.title, passage.url, passage.timestamp,
    )  # fmt: skip
    return Found(chunk, passage.similarity or 0.0, 0.0)


# the sources


@dataclass(frozen=True, slots=True)
class _Forwarded:
    """A model server that gets the request as it is."""

    server: OpenAICompatible
    body: dict[str, Any]
    close: bool = False

    def confidence(self, choice: Mapping[str, Any]) -> float | None:
        """From the log-probabilities, where the server gave them."""
        return generation_confidence(token_logprobs(choice))

    async def complete(self) -> dict[str, Any]:
        """The completion of the server."""
        try:
            return await self.server.complete(self.body)
        finally:
            if self.close:
                await self.server.aclose()

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the server."""
        try:
            async with aclosing(self.server.complete_stream(self.body)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            if self.close:
                await self.server.aclose()


@dataclass(frozen=True, slots=True)
class _Routed:
    """One of the service's own providers."""

    router: Router
    prompt: Prompt
    provider: str
    model: str | None
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    told: list[float | None] = field(default_factory=list)

    def confidence(self, choice: Mapping[str, Any]) -> float | None:  # noqa: ARG002  (the provider tells it beside the answer)
        """As the provider told it."""
        return self.told[-1] if self.told else None

    async def complete(self) -> dict[str, Any]:
        """The provider's answer as a completion."""
        made = await self.router.generate(self.prompt, self.provider, self.model)
        choice = {"index": 0, "message": {"role": "assistant", "content": made.text, "refusal": None}}
        choice |= {"logprobs": None, "finish_reason": made.finish_reason}
        self.told.append(made.confidence)
        return _completion(self.id, f"{OWN}/{made.provider}", choice) | ({"usage": made.usage} if made.usage else {})

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The provider's pieces as chunks."""
        async with aclosing(self.router.stream(self.prompt, self.provider, self.model)) as deltas:
            async for delta in deltas:
                text = {"role": "assistant", "content": delta.text} if delta.text else {}
                self.told.extend([] if delta.confidence is None else [delta.confidence])
                choice = {"index": 0, "delta": text, "finish_reason": delta.finish_reason}
                whole = _completion(self.id, f"{OWN}/{delta.provider}", choice)
                yield whole | {"object": "chat.completion.chunk"}


def _completion(number: str, model: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    created = int(time.time())
    return {"id": number, "object": "chat.completion", "created": created, "model": model, "choices": [dict(choice)]}
