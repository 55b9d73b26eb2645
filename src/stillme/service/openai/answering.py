"""From a request to a verified answer: who is asked, what is seen before the call, and what goes out of a whole answer.

Every endpoint words its requests and answers in its own shape; here both have the shape of chat completions.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.chat.prompt import build_prompt, build_prompt_context
from stillme.chat.router import Router
from stillme.contract import RetrievedPassage
from stillme.errors import InputError, UpstreamError, shown
from stillme.guard import Occurrence, asked_language, check_limits
from stillme.llm.providers import OpenAICompatible, Shape
from stillme.service.openai.answer_sources import OWN, Forwarded, Routed, completion_of
from stillme.service.openai.exchange import Exchange, Source, calls_alone, delivered_choice, precheck_choice
from stillme.service.openai.guarded import (
    ModelNotFoundError,
    Parts,
    brief,
    delivery,
    extension,
    may_call,
    only_waits,
    strictest,
    verdict_headers,
    with_context,
)
from stillme.service.openai.models import UNNAMED, served_model
from stillme.service.openai.outgoing import acts_in, beside_text, draft_of, frame_of, number_or, usage_of
from stillme.service.openai.refining import remember_answer, with_earlier
from stillme.service.openai.request_sources import EXTENSION, Asked, asked_in, request_of
from stillme.service.openai.tracing import Traced
from stillme.storage.knowledge.store import Chunk, Context, Found

__all__ = ["Answering", "Natively", "with_brief"]

BELIEVED_S: Final = 60.0
# What the service's own providers cannot do, and would have to leave undone unsaid.
NEEDS_UPSTREAM: Final = ("tools", "tool_choice", "functions", "function_call", "response_format", "modalities", "audio")


@dataclass(frozen=True, slots=True)
class Natively:
    """An operation of a model server other than chat completions: its path, the body that it gets, and how its answers read in a chat."""

    operation: str
    body: Mapping[str, Any]
    shape: Shape

    def forwarded(self, asked: Asked, model: str) -> dict[str, Any]:
        """The body as the model server gets it; passages of our own retrieval stand before the prompt."""
        kept = {key: value for key, value in self.body.items() if key != EXTENSION} | {"model": model}
        if not asked.retrieved or not asked.passages:
            return kept
        return kept | {"prompt": f"{_context_message(asked)['content']}\n\n{kept['prompt']}"}


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers requests: each is read, prechecked, sent on, and verified on its way back."""

    parts: Parts
    known: list[tuple[float, str]] = field(default_factory=list)
    """What the model server's model turned out to be called, and until when that is believed."""

    async def exchange(
        self, body: Mapping[str, Any], caller: str | None, endpoint: str, natively: Natively | None = None
    ) -> Exchange:
        """The request as an exchange, or an InputError that says what is wrong with it."""
        asked = asked_in(body, self.parts.sources, self.parts.formats)
        given = (body.get(EXTENSION) or {}).get("context") is not None
        asked = await with_earlier(self.parts, await with_context(self.parts, asked, given=given), caller)
        model = await self.model(body)
        found = Exchange(body, asked, self._source(body, asked, model, natively), caller, model, endpoint)
        try:
            check_limits(found.request(), self.parts.guard.policy)
        except InputError as error:
            raise InputError(f"{error}{_hint(asked)}") from None
        return found

    async def prechecked(self, exchange: Exchange) -> Occurrence | None:
        """What question and context alone already come to, where that is the end of it: only enforce acts on a decision.

        Where tools are offered the model may fetch what is missing: it is asked.
        """
        guard = self.parts.guard
        if guard.policy.mode != "enforce":
            return None
        ahead: Occurrence = await self.parts.run(lambda: guard.examine(exchange.request(), record=False))
        if ahead.verdict.action not in ("block", "clarify") or (exchange.offers_tools and only_waits(ahead)):
            return None
        request = exchange.request(delivery("precheck", 0, 0, stopped=True))
        found: Occurrence = await self.parts.run(lambda: guard.examine(request, caller=exchange.caller))
        return found

    async def whole(self, exchange: Exchange) -> tuple[dict[str, Any], dict[str, str]]:
        """A completion that was verified, and its headers."""
        stopped = await self.prechecked(exchange)
        if stopped is not None:
            return _refused(exchange, stopped)
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
        headers = verdict_headers(extensions[worst], verified=verified) | exchange.headers
        return answer, headers

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
        acts = exchange.offers_tools and bool(acts_in(choice["message"]))
        calls = acts and may_call(occurrence)
        how = how or delivery("whole", 0 if stops else len(draft), len(draft), stopped=stops)
        beside = beside_text(completion, choice)
        passed = beside if verdict.mode != "enforce" else acts and (calls or not stops)
        own = extension(occurrence, how, [*exchange.asked.unread, *beside], passed=bool(passed)) | exchange.notes
        place = number_or(choice.get("index"), at)
        if stops and calls:
            own |= {"action": "deliver", "safe_response": None} if not draft.strip() else {}
            delivered = calls_alone(choice, place)
        else:
            delivered = delivered_choice(exchange, choice, verdict, place)
        await remember_answer(self.parts, exchange, delivered["message"].get("content") or "", own)
        return delivered | {"logprobs": with_brief(delivered.get("logprobs"), own)}, occurrence, own

    # who answers

    async def model(self, body: Mapping[str, Any]) -> str:
        """The model that is asked: `default` is the operator's, or the first of the model server."""
        named, upstream = body.get("model"), self.parts.upstream
        if named and named != UNNAMED:
            return str(named)
        if upstream is None:
            return OWN
        if not self.known or self.known[-1][0] < time.monotonic():
            self.known[:] = [(time.monotonic() + BELIEVED_S, await served_model(upstream))]
        return self.known[-1][1]

    def _source(self, body: Mapping[str, Any], asked: Asked, model: str, natively: Natively | None) -> Source:
        server, close = self.parts.upstream, False
        if asked.upstream_url is not None:
            server, close = self._named(asked, model), True
        elif model == OWN or model.startswith(f"{OWN}/") or server is None:
            return self._routed(body, asked, model)
        if natively is None:
            source = Forwarded(server, _forwarded(body, asked, model), close)
        else:
            source = Forwarded(server, natively.forwarded(asked, model), close, natively.operation, natively.shape)
        return Traced(source, self.parts.telemetry) if self.parts.telemetry else source

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
            raise ModelNotFoundError(f"model {shown(model)} is not served here: no model server is configured")
        name, its_model = _provider(router, model)
        if name is None:
            raise ModelNotFoundError(
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
        return Routed(router, prompt, name, its_model)


def _refused(exchange: Exchange, occurrence: Occurrence) -> tuple[dict[str, Any], dict[str, str]]:
    """What question and context alone came to, as a completion."""
    number, verdict = f"chatcmpl-{uuid.uuid4().hex}", occurrence.verdict
    own = extension(occurrence, delivery("precheck", 0, 0, stopped=True)) | exchange.notes
    choice = precheck_choice(exchange, verdict)
    answer = completion_of(number, exchange.model, choice | {"logprobs": with_brief(None, own)})
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    headers = verdict_headers(own, verified=verdict.verified) | exchange.headers
    return {**answer, "usage": usage, EXTENSION: own}, headers


def with_brief(logprobs: Any, own: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in brief where clients keep what they do not know: beside the log-probabilities, of which there may be none."""
    kept = logprobs if isinstance(logprobs, dict) else {"content": [], "refusal": []}
    return {**kept, EXTENSION: brief(own)}


def _hint(asked: Asked) -> str:
    """The way out where a question is long because a prompt was not read as one."""
    if asked.not_allowed is None:
        return ""
    name = asked.not_allowed
    return f" (the message is the prompt {name}: with STILLME_USER_TEMPLATES={name} its context is read as evidence)"


def _around(exchange: Exchange, completion: Mapping[str, Any]) -> dict[str, Any]:
    """What a completion says of itself, as it leaves where the policy is enforced."""
    own = completion_of(f"chatcmpl-{uuid.uuid4().hex}", exchange.model, {}) | frame_of(completion)
    used = usage_of(completion.get("usage"))
    return own | ({"usage": used} if used else {})


def _check_length(draft: str, most: int) -> None:
    if len(draft) > most:
        raise UpstreamError(
            f"the model's answer has {len(draft)} characters, limits.draft_chars is {most}: "
            "ask for a shorter one, or raise the limit in the policy"
        )


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
