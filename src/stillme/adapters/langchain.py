"""StillMe in LangChain: any chain behind the guard, and a middleware for agents.

    chain = GuardedRunnable(rag_chain, Guard("policy.yaml"))
    agent = create_agent(model, tools, middleware=[GuardMiddleware(Guard("policy.yaml"))])

Evidence is what retrievers returned while the chain ran; for an agent, what its tools returned since the user's last message.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from stillme.adapters.guarding import GuardedStream, Judged, ajudged, judged, passage_of
from stillme.errors import InputError, shown
from stillme.guard import Guard

__all__ = ["Evidence", "GuardMiddleware", "GuardedRunnable", "passages_from"]

QUESTION_KEYS = ("question", "input", "query")
ANSWER_KEYS = ("answer", "output", "result")
KEPT_AS = "stillme"


def passages_from(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Documents as passages, each by its id, its `source_id` or `source`, else its number."""
    return [_passage(document, number) for number, document in enumerate(documents, 1)]


def _passage(document: Document, number: int) -> dict[str, Any]:
    about = document.metadata
    name = about.get("source_id") or document.id or about.get("source")
    known = {key: about.get(key) for key in ("title", "url", "timestamp")}
    return passage_of(document.page_content, number, name, about.get("similarity"), **known)


class Evidence(BaseCallbackHandler):
    """Collects what retrievers return."""

    run_inline = True

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
        """Keep the documents."""
        self.documents += documents


class GuardedRunnable(Runnable[Any, Any]):
    """A chain whose answers go past the guard: whole, or streamed claim by claim.

    The chain takes a text, messages, or an object with a question; it gives a text, a message, or an object with an answer. `query` and
    `passages` find the question and further evidence where they stand elsewhere. The verdict is in a message's `response_metadata`, in
    an object's `stillme`, and told to `on_judged` in any case.
    """

    def __init__(
        self,
        chain: Runnable[Any, Any],
        guard: Guard,
        *,
        query: Callable[[Any], str] | None = None,
        passages: Callable[[Any], Sequence[Mapping[str, Any]]] | None = None,
        on_judged: Callable[[Judged], None] | None = None,
    ) -> None:
        self._chain, self._guard = chain, guard
        self._query, self._passages = query or _question, passages or (lambda _: ())
        self._on_judged = on_judged or (lambda _: None)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002  (their name)
        """The chain's answer as the guard lets it go out."""
        evidence = Evidence()
        output = self._chain.invoke(input, _with(config, evidence), **kwargs)
        draft = _text(output)
        if not draft.strip():
            return output
        return self._kept(
            output, judged(self._guard, self._query(input), draft, self._evidence(input, output, evidence))
        )

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """`invoke` without holding up the event loop."""
        evidence = Evidence()
        output = await self._chain.ainvoke(input, _with(config, evidence), **kwargs)
        draft = _text(output)
        if not draft.strip():
            return output
        found = await ajudged(self._guard, self._query(input), draft, self._evidence(input, output, evidence))
        return self._kept(output, found)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """The answer in chunks, each as soon as the guard lets it go out."""
        release = _Release(self, input)
        for chunk in self._chain.stream(input, _with(config, release.evidence), **kwargs):
            yield from release.take(chunk)
        yield from release.end()

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002
        """`stream` without holding up the event loop."""
        release = _Release(self, input)
        async for chunk in self._chain.astream(input, _with(config, release.evidence), **kwargs):
            for each in await asyncio.to_thread(release.take, chunk):
                yield each
        for each in await asyncio.to_thread(release.end):
            yield each

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """The stream of an answer to a question that itself comes in chunks."""
        yield from self.stream(_joined(list(input)), config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """`transform` without holding up the event loop."""
        async for chunk in self.astream(_joined([each async for each in input]), config, **kwargs):
            yield chunk

    def _evidence(self, asked: Any, output: Any, evidence: Evidence) -> list[Mapping[str, Any]]:
        """What was retrieved, else what the output says it rests on; then what the program adds."""
        found = evidence.documents or _documents(output)
        return [*passages_from(found), *self._passages(asked)]

    def _kept(self, output: Any, found: Judged) -> Any:
        self._on_judged(found)
        return _with_record(_with_text(output, found.text), found)


class _Release:
    """One answer on its way out, in chunks of the kind that the chain makes."""

    def __init__(self, of: GuardedRunnable, asked: Any) -> None:
        self._of, self._asked = of, asked
        self.evidence = Evidence()
        self._documents: list[Document] = []
        self._stream: GuardedStream | None = None
        self._last: Any = None

    def take(self, chunk: Any) -> list[Any]:
        text = _text(chunk)
        if not text:
            self._documents += _documents(chunk)
            return [chunk]
        self._last = chunk
        out = self._opened().feed(text)
        # Without its text a chunk may still carry a call of a tool or the number of its tokens.
        return [_with_text(chunk, out)] if out or isinstance(chunk, AIMessageChunk) else []

    def end(self) -> list[Any]:
        if self._stream is None:
            return []
        rest = self._stream.close()
        found = self._stream.judged
        self._of._on_judged(found)
        if isinstance(self._last, str):
            return [rest] if rest else []
        last = AIMessageChunk(rest) if isinstance(self._last, AIMessageChunk) else _with_text(self._last, rest)
        return [_with_record(last, found)]

    def _opened(self) -> GuardedStream:
        """Made at the first text: by then everything is retrieved."""
        if self._stream is None:
            passages = self._of._evidence(self._asked, {"context": self._documents}, self.evidence)
            self._stream = GuardedStream(self._of._guard, self._of._query(self._asked), passages)
        return self._stream


def _with(config: RunnableConfig | None, evidence: Evidence) -> RunnableConfig:
    return merge_configs(config, {"callbacks": [evidence]})


def _question(asked: Any) -> str:
    if isinstance(asked, str):
        return asked
    if isinstance(asked, Mapping):
        found = next((asked[key] for key in (*QUESTION_KEYS, "messages") if key in asked), None)
        return _question(found)
    messages = asked.to_messages() if hasattr(asked, "to_messages") else asked
    if isinstance(messages, Sequence):
        humans = [m for m in messages if isinstance(m, HumanMessage)]
        if humans:
            return str(humans[-1].text)
    raise InputError(
        f"the question is not known from {shown(asked)}: pass query= to GuardedRunnable, which finds it in the input"
    )


def _joined(chunks: list[Any]) -> Any:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


def _documents(output: Any) -> list[Document]:
    given = output.get("context") if isinstance(output, Mapping) else None
    return [each for each in given if isinstance(each, Document)] if isinstance(given, Sequence) else []


def _answer_key(output: Mapping[str, Any]) -> str | None:
    return next((key for key in ANSWER_KEYS if key in output), None)


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    if isinstance(output, BaseMessage):
        return str(output.text)
    if isinstance(output, Mapping):
        key = _answer_key(output)
        return "" if key is None else _text(output[key])
    raise InputError(f"a chain gives a text, a message or an object with an answer, got {type(output).__name__}")


def _with_text(output: Any, text: str) -> Any:
    if isinstance(output, str):
        return text
    if isinstance(output, BaseMessage):
        return output.model_copy(update={"content": text})
    key = _answer_key(output)
    return type(output)({**output, key: _with_text(output[key], text)})


def _with_record(output: Any, found: Judged) -> Any:
    if isinstance(output, BaseMessage):
        return output.model_copy(update={"response_metadata": {**output.response_metadata, KEPT_AS: found.record}})
    return output if isinstance(output, str) else type(output)({**output, KEPT_AS: found.record})


# agents

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
except ModuleNotFoundError:  # langchain-core alone has chains and no agents
    pass
else:

    class GuardMiddleware(AgentMiddleware):
        """The guard on the final answer of an agent: what its tools returned is the evidence.

        The answer is judged before it leaves the model's step, so that no stream of the agent carries it unverified: in warn and
        enforce it arrives whole, in monitor token by token. In enforce what fails is replaced, and so ends the agent.
        """

        def __init__(self, guard: Guard, *, evidence_tools: Sequence[str] | None = None) -> None:
            """`evidence_tools`: the tools whose results are sources; without it, all of them."""
            super().__init__()
            self._guard, self._tools = guard, evidence_tools

        def wrap_model_call(
            self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
        ) -> ModelResponse:
            """Ask the model, and judge what it answers."""
            response = handler(self._quiet(request))
            asked = self._asked(request.messages, response)
            return self._mute(response) if asked is None else _replaced(response, judged(self._guard, *asked))

        async def awrap_model_call(
            self, request: ModelRequest, handler: Callable[[ModelRequest], Any]
        ) -> ModelResponse:
            """The same without holding up the event loop."""
            response = await handler(self._quiet(request))
            asked = self._asked(request.messages, response)
            return self._mute(response) if asked is None else _replaced(response, await ajudged(self._guard, *asked))

        def _quiet(self, request: ModelRequest) -> ModelRequest:
            """A model whose tokens nobody sees, unless the mode delivers everything anyway."""
            if self._guard.policy.mode == "monitor":
                return request
            model = request.model
            return request.override(model=model.model_copy(update={"tags": [*(model.tags or []), "nostream"]}))

        def _mute(self, response: ModelResponse) -> ModelResponse:
            """In enforce, what a model says beside a call of a tool is not judged and therefore not said."""
            last = response.result[-1]
            if self._guard.policy.mode != "enforce" or not isinstance(last, AIMessage) or not last.text:
                return response
            return replace(response, result=[*response.result[:-1], _with_text(last, "")])

        def _asked(
            self, messages: Sequence[BaseMessage], response: ModelResponse
        ) -> tuple[str, str, list[dict[str, Any]]] | None:
            """Question, answer and evidence; None where the agent has not answered yet."""
            last = response.result[-1]
            if not isinstance(last, AIMessage) or last.tool_calls or not last.text.strip():
                return None
            at = max((n for n, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
            results = [m for m in messages[at + 1 :] if isinstance(m, ToolMessage) and m.status != "error"]
            used = [m for m in results if self._tools is None or m.name in self._tools]
            return str(messages[at].text) if at >= 0 else "", str(last.text), list(_numbered(used))


def _numbered(results: Sequence[ToolMessage]) -> Iterator[dict[str, Any]]:
    """What tools returned: the documents of a retriever, else the text."""
    number = 0
    for result in results:
        documents = [each for each in _listed(result.artifact) if isinstance(each, Document)]
        for document in documents or [Document(str(result.text), metadata={"source": result.name})]:
            number += 1
            yield _passage(document, number)


def _listed(artifact: Any) -> Sequence[Any]:
    return artifact if isinstance(artifact, list | tuple) else []


def _replaced(response: Any, found: Judged) -> Any:
    last = _with_record(_with_text(response.result[-1], found.text), found)
    return replace(response, result=[*response.result[:-1], last])
