"""The chat, on one screen: retrieval → precheck → identity → model → validator chain → tone → response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from stillme.chat.identity import Identity, identity_from_file
from stillme.chat.prompt import build_prompt
from stillme.chat.retrieval import Retriever
from stillme.chat.router import Router, router_from_environment
from stillme.chat.settings import ChatSettings
from stillme.chat.tone.tone import align_tone
from stillme.contract import RetrievedPassage, Turn, VerifyRequest
from stillme.errors import BackendError, InputError, shown
from stillme.guard import Guard, Occurrence, Recorder, asked_language, grounder_for
from stillme.judge import judge_from_environment
from stillme.llm.messages import Generation
from stillme.policy import Policy, PolicyWatcher
from stillme.response import delivered
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at
from stillme.storage.knowledge.store import Context

__all__ = ["ChatOutcome", "ChatPipeline", "ChatRequest", "guard_from", "pipeline_from"]

Result = TypeVar("Result")
Run = Callable[[Callable[[], Result]], Awaitable[Result]]
MOST_TURNS = 20
MOST_TURN_CHARS = 8_000
log = logging.getLogger("stillme.chat")


class ChatRequest(BaseModel):
    """A message to the chat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: Annotated[str, Field(min_length=1, max_length=8_000, description="What the user says.")]
    session_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            pattern=r"^[A-Za-z0-9._:@-]{1,200}$",
            description="Names a session: what was answered in it is looked up for later questions.",
        ),
    ] = None
    conversation: Annotated[
        tuple[Turn, ...],
        Field(max_length=200, description="Earlier turns. They resolve references and are never evidence."),
    ] = ()
    provider: Annotated[str | None, Field(max_length=50, description="Which model provider answers.")] = None
    model: Annotated[str | None, Field(max_length=200, description="Which of its models.")] = None
    model_url: Annotated[
        str | None,
        Field(max_length=2_000, description="A model server of the caller's own, where the operator allows that."),
    ] = None
    model_api_key: Annotated[str | None, Field(max_length=2_000, description="Its key; it is kept nowhere.")] = None
    tone_style: Literal["neutral", "friendly", "scholarly"] | None = None
    language: Literal["auto", "en", "vi"] = "auto"
    enable_validators: Annotated[
        bool | None, Field(description="Switches the validators on; off only where the operator allows it.")
    ] = None


@dataclass(frozen=True, slots=True)
class ChatOutcome:
    """What came of a message."""

    response: str
    context: Context
    generation: Generation | None = None
    """What the model said, if it was asked."""
    occurrence: Occurrence | None = None
    """The verdict as it came about, if there was one."""
    record: Occurrence | None = None
    """What stands in the record of an answer that the validators did not see."""

    @property
    def refused(self) -> bool:
        """Whether the user got a refusal or a question in place of an answer."""
        return self.occurrence is not None and self.occurrence.verdict.action in ("block", "clarify")

    @property
    def failed(self) -> bool:
        """Whether a draft was written and did not pass, with no patch to deliver instead."""
        blocked = self.occurrence is not None and self.occurrence.verdict.action == "block"
        return blocked and self.generation is not None


async def _in_a_thread(work: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(work)


@dataclass(slots=True)
class ChatPipeline:
    """Answers messages from what was ingested. Safe to share between tasks."""

    retriever: Retriever
    router: Router
    guard: Guard
    settings: ChatSettings = field(default_factory=ChatSettings)
    identity: Identity | None = None
    store: KnowledgeStore | None = None
    run: Run[Any] = _in_a_thread

    async def answer(self, request: ChatRequest, *, caller: str | None = None, owner: str = "") -> ChatOutcome:
        """The answer to a message, a refusal, or a question back; a model that fails is an UpstreamError.

        `caller` goes into the record; a session is found by its `owner` alone.
        """
        if not request.message.strip():
            raise InputError(f"message is blank ({shown(request.message)}): send what the user says")
        validates = self._validates(request)
        context: Context = await self.run(lambda: self._context(request, owner))
        asked = _question(request, context.passages)
        if validates:
            ahead: Occurrence = await self.run(lambda: self.guard.examine(asked, record=False))
            if ahead.verdict.action in ("block", "clarify"):
                stopped: Occurrence = await self.run(lambda: self.guard.examine(asked, caller=caller))
                return ChatOutcome(stopped.verdict.safe_response or "", context, None, stopped)
        generation = await self._generated(request, asked, context)
        written = {"draft_answer": generation.text, "generation_confidence": generation.confidence}
        draft = asked.model_copy(update=written)
        if not validates:
            record: Occurrence = await self.run(lambda: self.guard.unverified(draft, caller=caller))
            return await self._finish(request, owner, ChatOutcome(generation.text, context, generation, record=record))
        occurrence: Occurrence = await self.run(lambda: self.guard.examine(draft, caller=caller))
        text = delivered(occurrence.verdict, generation.text)
        return await self._finish(request, owner, ChatOutcome(text, context, generation, occurrence))

    async def aclose(self) -> None:
        """Let go of connections and of the store."""
        await self.router.aclose()
        self.guard.close()
        if self.store is not None:
            await self.run(self.store.close)

    # the steps

    def _validates(self, request: ChatRequest) -> bool:
        wanted = request.enable_validators
        if wanted is False and self.settings.validate and not self.settings.may_skip:
            raise InputError(
                "enable_validators: false is not allowed here: an operator allows it with STILLME_ALLOW_UNVALIDATED=true"
            )
        return self.settings.validate if wanted is None else wanted

    def _context(self, request: ChatRequest, owner: str) -> Context:
        return self.retriever.retrieve_context(
            request.message,
            conversation=_recent(request.conversation),
            session=request.session_id or "",
            owner=owner,
            language=request.language,
        )

    async def _generated(self, request: ChatRequest, asked: VerifyRequest, context: Context) -> Generation:
        language: str = await self.run(lambda: asked_language(asked))
        prompt = build_prompt(
            request.message,
            asked.retrieved_context,
            conversation=[*_remembered(context), *asked.conversation],
            language=language,
            identity=self.identity,
        )
        if request.model_url is None:
            return await self.router.generate(prompt, provider=request.provider, model=request.model)
        if request.model is None or request.provider is not None:
            raise InputError("model_url names a server: name its model as `model`, and no provider")
        server = self.router.at(request.model_url, request.model, request.model_api_key)
        async with aclosing(server):
            return await server.generate(prompt)

    async def _finish(self, request: ChatRequest, owner: str, outcome: ChatOutcome) -> ChatOutcome:
        """The outcome in the right tone, remembered if there is a session; a refusal is neither touched nor remembered."""
        if outcome.refused:
            return outcome
        if self.settings.align:
            style = request.tone_style or self.settings.tone_style
            text = align_tone(outcome.response, style=style, language=request.language)
            outcome = replace(outcome, response=text)
        if request.session_id and self.settings.remembers:
            await self._remember(request.session_id, owner, request.message, outcome.response)
        return outcome

    async def _remember(self, session: str, owner: str, question: str, answer: str) -> None:
        """Keep a turn; an answer that was verified is not lost because its turn cannot be kept."""
        try:
            await self.run(lambda: self.retriever.remember(session, question, answer, owner=owner))
        except BackendError as error:
            log.warning("a turn was not remembered: %s", error)


def _question(request: ChatRequest, passages: Sequence[RetrievedPassage]) -> VerifyRequest:
    return VerifyRequest.model_validate(
        {
            "query": request.message,
            "retrieved_context": tuple(passages),
            "conversation": _recent(request.conversation),
            "metadata": {"language": request.language, "session_id": request.session_id},
        }
    )


def _recent(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The last turns that fit: whole ones, so many and so long at most."""
    kept: list[Turn] = []
    room = MOST_TURN_CHARS
    for turn in reversed(turns[-MOST_TURNS:]):
        room -= len(turn.content)
        if room < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))


def _remembered(context: Context) -> list[Turn]:
    return [Turn(role="earlier", content=found.chunk.text) for found in context.conversation_docs]


def pipeline_from(
    settings: ChatSettings,
    environment: Mapping[str, str],
    *,
    audit: Recorder | None = None,
    run: Run[Any] | None = None,
) -> ChatPipeline:
    """The pipeline that the settings and the environment describe."""
    store = store_at(settings.knowledge_store)
    guard = guard_from(settings.chat_policy(), settings, audit)
    retriever = Retriever(store, most_knowledge=settings.most_knowledge, most_conversation=settings.most_conversation)
    return ChatPipeline(
        retriever,
        router_from_environment(environment),
        guard,
        settings,
        identity_from_file(settings.identity) if settings.identity else None,
        store,
        run or _in_a_thread,
    )


def guard_from(policy: Policy | PolicyWatcher, settings: ChatSettings, audit: Recorder | None) -> Guard:
    """A guard for serving: it follows its policy file, asks the judge that the environment names, and remembers verdicts."""
    if isinstance(policy, PolicyWatcher):
        policy.start()
    in_force = policy.policy if isinstance(policy, PolicyWatcher) else policy
    judge = judge_from_environment(grounder_for(in_force))
    return Guard(policy, grounder=judge, audit=audit, remember=settings.recall)
