"""Query engines, evaluator and postprocessor of real LlamaIndex, with its own mock model scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from llama_index.core import PromptTemplate, SummaryIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from stillme.adapters.guarding import Judged
from stillme.adapters.llama_index import GuardedQueryEngine, GuardEvaluator, PrecheckPostprocessor
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard


class Scripted(CustomLLM):
    """A model that says one thing, streamed word by word."""

    said: str

    @property
    def metadata(self) -> LLMMetadata:
        """What it is."""
        return LLMMetadata(model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """All of it."""
        return CompletionResponse(text=self.said)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Iterator[CompletionResponse]:
        """A word at a time."""
        text = ""
        for word in self.said.split(" "):
            piece = word if not text else f" {word}"
            text += piece
            yield CompletionResponse(text=text, delta=piece)


NODE = TextNode(text=PASSAGE, metadata={"source_id": "faq", "similarity": 0.9})


def engine(said: str, **how: Any) -> BaseQueryEngine:
    """A stock engine over one node."""
    template = PromptTemplate("{context_str}\n{query_str}")
    index = SummaryIndex(nodes=[NODE])
    made: BaseQueryEngine = index.as_query_engine(llm=Scripted(said=said), text_qa_template=template, **how)
    return made


@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_an_engine_answers_what_the_guard_lets_out(said: str, passes: bool) -> None:
    """Its source nodes are the evidence, and the verdict is in its metadata."""
    found = GuardedQueryEngine(engine(said), guard()).query(QUESTION)

    assert (str(found) == said) is passes
    assert found.metadata["stillme"]["claims"][0]["source_ids"] == ["faq"]
    assert found.source_nodes[0].node.node_id == NODE.node_id


def test_an_engine_asked_asynchronously() -> None:
    """The same."""
    found = asyncio.run(GuardedQueryEngine(engine(FALSE), guard()).aquery(QUESTION))

    assert FALSE not in str(found)


def test_a_stream_lets_out_claims_once_they_are_verified() -> None:
    """And has its verdict at the end."""
    kept: list[Judged] = []

    found = GuardedQueryEngine(engine(f"{TRUE} {FALSE}", streaming=True), guard(), kept.append).query(QUESTION)
    out = "".join(found.response_gen)

    assert out.startswith(TRUE)
    assert FALSE not in out
    assert found.metadata["stillme"]["decision"] == "refuse"
    assert kept[0].text == out


def test_an_asynchronous_stream() -> None:
    """Lets out the same."""

    async def run() -> str:
        response = await GuardedQueryEngine(engine(TRUE, streaming=True, use_async=True), guard()).aquery(QUESTION)
        gen: AsyncIterator[str] = response.response_gen
        return "".join([piece async for piece in gen])

    assert asyncio.run(run()) == TRUE


@pytest.mark.parametrize("streaming", [False, True])
def test_a_guard_that_fails_blocks_in_enforce(streaming: bool) -> None:
    """And the metadata says why."""
    found = GuardedQueryEngine(engine(TRUE, streaming=streaming), broken_guard()).query(QUESTION)

    out = "".join(found.response_gen) if streaming else str(found)
    assert out != TRUE
    assert BROKEN in found.metadata["stillme"]["problem"]


@pytest.mark.parametrize(("said", "passing", "score"), [(TRUE, True, 1.0), (FALSE, False, 0.0)])
def test_the_evaluator(said: str, passing: bool, score: float) -> None:
    """Passing, score and the reasons."""
    found = GuardEvaluator(guard("monitor")).evaluate(query=QUESTION, response=said, contexts=[PASSAGE])

    assert (found.passing, found.score, found.invalid_result) == (passing, score, False)
    assert ("contradicted_claim" in found.feedback) is not passing


def test_an_evaluator_whose_guard_fails_gives_no_score() -> None:
    """What was not judged is invalid, never a pass and never a zero."""
    found = GuardEvaluator(broken_guard("monitor")).evaluate(query=QUESTION, response=TRUE, contexts=[PASSAGE])

    assert (found.passing, found.score, found.invalid_result) == (False, None, True)


@pytest.mark.parametrize(
    ("nodes", "left"), [([NODE], 1), ([TextNode(text="Trời hôm nay đẹp.")], 0)], ids=["enough", "off the point"]
)
def test_the_precheck_leaves_no_node_where_they_do_not_suffice(nodes: list[TextNode], left: int) -> None:
    """So that nothing is generated from them."""
    found = PrecheckPostprocessor(guard()).postprocess_nodes(
        [NodeWithScore(node=node, score=1.0) for node in nodes], query_bundle=QueryBundle(QUESTION)
    )

    assert len(found) == left
