"""OpenAI Agents with a retrieval tool, unchanged but for `base_url`, over both of its APIs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from tests.clients.stock_pipelines.museum import DOCUMENTS, QUESTION, REFUSED, RIGHT, WRONG, calls_then_says
from tests.service.guarding import guarding

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@function_tool
def search(query: str) -> str:
    """Search the museum's pages."""
    return "\n\n".join(DOCUMENTS) if query else ""


async def ask(url: str, kind: Any, *, streams: bool) -> tuple[str, list[str]]:
    """What the agent answers, and the kinds of the events that it saw."""
    async with AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
        agent = Agent(
            name="guide", instructions="Answer from what you find.", tools=[search], model=kind("default", client)
        )
        config = RunConfig(tracing_disabled=True)
        if not streams:
            return str((await Runner.run(agent, QUESTION, run_config=config)).final_output), []
        run = Runner.run_streamed(agent, QUESTION, run_config=config)
        kinds = [e.data.type async for e in run.stream_events() if e.type == "raw_response_event"]
        return str(run.final_output), kinds


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_a_retrieval_agent(kind: Any, streams: bool) -> None:
    """It is asked before anything is known, what its tool finds is evidence, and its last answer is verified."""
    texts = []
    for draft in (RIGHT, WRONG):
        with guarding(calls_then_says("search", '{"query": "opening hours"}', draft)) as guard:
            text, kinds = asyncio.run(ask(guard.base_url, kind, streams=streams))
            texts.append(text)
        assert guard.kept.deliveries[0]["how"] == "passed_through"
        assert [p.source_id for p in guard.kept.occurrences[-1].request.retrieved_context] == ["call_1"]

    assert "9 am" in texts[0]
    assert texts[1].startswith(REFUSED)
    assert guard.upstream.bodies[0]["model"] == "served-model"
    assert not streams or "response.completed" in kinds
