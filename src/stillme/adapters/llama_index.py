"""StillMe in LlamaIndex: a query engine behind the guard, an evaluator, and a precheck on retrieved nodes.

engine = GuardedQueryEngine(index.as_query_engine(), Guard("policy.yaml"))
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from stillme.adapters.guarding import GuardedStream, Judged, ajudged, judged, passage_of
from stillme.errors import InputError
from stillme.guard import Guard

__all__ = ["GuardEvaluator", "GuardedQueryEngine", "PrecheckPostprocessor", "passages_from"]

KEPT_AS = "stillme"


def passages_from(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    """Nodes as passages, each by its `source_id` or its document's id, else its number; scores are of any scale and stay out."""
    return [_passage(each, number) for number, each in enumerate(nodes, 1)]


def _passage(found: NodeWithScore, number: int) -> dict[str, Any]:
    about = found.node.metadata
    name = about.get("source_id") or about.get("file_name") or found.node.ref_doc_id or found.node.node_id
    known = {key: about.get(key) for key in ("title", "url", "timestamp")}
    return passage_of(found.node.get_content(), number, name, about.get("similarity"), **known)


class GuardedQueryEngine(BaseQueryEngine):
    """A query engine whose answers go past the guard, whole or streamed; its source nodes are the evidence.

    The verdict is in the response's `metadata["stillme"]`; of a streamed one once the stream is at its end.
    """

    def __init__(
        self, engine: BaseQueryEngine, guard: Guard, on_judged: Callable[[Judged], None] | None = None
    ) -> None:
        super().__init__(getattr(engine, "callback_manager", None))
        self._engine, self._guard, self._on_judged = engine, guard, on_judged or (lambda _: None)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"engine": self._engine}

    def _query(self, query_bundle: QueryBundle) -> Any:
        response = self._engine.query(query_bundle)
        if isinstance(response, StreamingResponse):
            return self._streamed(query_bundle, response)
        return self._kept(response, judged(self._guard, *_asked(query_bundle, response)))

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        response = await self._engine.aquery(query_bundle)
        if isinstance(response, AsyncStreamingResponse):
            return self._astreamed(query_bundle, response)
        return self._kept(response, await ajudged(self._guard, *_asked(query_bundle, response)))

    def _kept(self, response: Any, found: Judged) -> Response:
        self._on_judged(found)
        metadata = {**(response.metadata or {}), KEPT_AS: found.record}
        return Response(found.text, source_nodes=response.source_nodes, metadata=metadata)

    def _streamed(self, asked: QueryBundle, response: StreamingResponse) -> StreamingResponse:
        metadata = dict(response.metadata or {})
        stream = GuardedStream(self._guard, asked.query_str, passages_from(response.source_nodes))

        def tokens() -> Iterator[str]:
            for piece in response.response_gen:
                if out := stream.feed(piece):
                    yield out
            if rest := stream.close():
                yield rest
            self._note(metadata, stream.judged)

        return StreamingResponse(tokens(), source_nodes=response.source_nodes, metadata=metadata)

    def _astreamed(self, asked: QueryBundle, response: AsyncStreamingResponse) -> AsyncStreamingResponse:
        metadata = dict(response.metadata or {})
        stream = GuardedStream(self._guard, asked.query_str, passages_from(response.source_nodes))

        async def tokens() -> AsyncIterator[str]:
            async for piece in response.response_gen:
                if out := await asyncio.to_thread(stream.feed, piece):
                    yield out
            if rest := await asyncio.to_thread(stream.close):
                yield rest
            self._note(metadata, stream.judged)

        return AsyncStreamingResponse(tokens(), source_nodes=response.source_nodes, metadata=metadata)

    def _note(self, metadata: dict[str, Any], found: Judged) -> None:
        self._on_judged(found)
        metadata[KEPT_AS] = found.record


def _asked(query: QueryBundle, response: Any) -> tuple[str, str, list[dict[str, Any]]]:
    return query.query_str, str(response), passages_from(response.source_nodes)


class GuardEvaluator(BaseEvaluator):
    """The guard as a metric: passing where it would deliver the answer, with the share of supported claims as the score."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """There are none."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **_: Any,
    ) -> EvaluationResult:
        """The verdict on an answer; where there is none the result is invalid and says why, and it does not pass."""
        if not query or response is None:
            raise InputError("query and response must be given")
        passages = [passage_of(text, number) for number, text in enumerate(contexts or (), 1)]
        found = await ajudged(self._guard, query, response, passages)
        given = {"query": query, "contexts": contexts, "response": response}
        if found.verdict is None:
            return EvaluationResult(**given, passing=False, invalid_result=True, invalid_reason=found.problem)
        return EvaluationResult(**given, passing=found.passes, score=found.score, feedback=found.why)


class PrecheckPostprocessor(BaseNodePostprocessor):
    """Asks the guard whether the nodes suffice before anything is generated: where enforce says no, none is left.

    A synthesizer without nodes answers that it has nothing to answer from. `on_judged` hears the verdict.
    """

    _guard: Guard = PrivateAttr()
    _on_judged: Callable[[Judged], None] = PrivateAttr()

    def __init__(self, guard: Guard, on_judged: Callable[[Judged], None] | None = None) -> None:
        super().__init__()
        self._guard, self._on_judged = guard, on_judged or (lambda _: None)

    @classmethod
    def class_name(cls) -> str:
        """Its name."""
        return "PrecheckPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InputError("the precheck needs the question: call the postprocessor with a query")
        found = judged(self._guard, query_bundle.query_str, None, passages_from(nodes))
        self._on_judged(found)
        return [] if found.is_blocked else nodes
