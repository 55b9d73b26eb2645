"""Agents of the real SDK against a scripted model: tools are called, and the final answer goes past the guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from agents import (
    Agent,
    ModelResponse,
    OutputGuardrailTripwireTriggered,
    Runner,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from stillme.adapters.openai_agents import AgentGuard
from stillme.errors import InputError
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard

set_tracing_disabled(True)


class Scripted(Model):
    """Calls a tool first, then says one thing."""

    def __init__(self, *steps: Any) -> None:
        self._steps = list(steps)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        """The next step."""
        return ModelResponse(output=[self._steps.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not needed here."""
        raise NotImplementedError


def call(name: str) -> ResponseFunctionToolCall:
    """A call of a tool."""
    return ResponseFunctionToolCall(
        arguments='{"query": "returns"}', call_id=f"call-{name}", name=name, type="function_call"
    )


def said(text: str) -> ResponseOutputMessage:
    """A message of the model."""
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="m", content=[content], role="assistant", status="completed", type="message")


@function_tool
def handbook(query: str) -> str:  # noqa: ARG001  (a tool has arguments)
    """Look something up in the handbook."""
    return PASSAGE


@function_tool
def rumours(query: str) -> str:  # noqa: ARG001  (a tool has arguments)
    """What people say."""
    return "Unused gear can be returned within 90 days of delivery."


async def run(stillme: AgentGuard, answer: str, tools: Sequence[str] = ("handbook",), *, guarded: bool = True) -> Any:
    """The run of an agent that calls tools and then answers; the tripwire where it ends there."""
    script = Scripted(*(call(name) for name in tools), said(answer))
    rails = [stillme.output_guardrail()] if guarded else []
    agent = Agent(name="shop", model=script, tools=[handbook, rumours], output_guardrails=rails)
    try:
        return await Runner.run(agent, QUESTION, hooks=stillme.hooks())
    except OutputGuardrailTripwireTriggered as tripwire:
        return tripwire


def test_a_supported_answer_passes() -> None:
    """By what the tool returned; nobody had to pass it on."""
    stillme = AgentGuard(guard())

    result = asyncio.run(run(stillme, TRUE))

    assert (result.final_output, stillme.answer(result)) == (TRUE, TRUE)
    assert stillme.judged(result).record["claims"][0]["source_ids"] == ["handbook-1"]


def test_a_contradicted_answer_trips_the_wire() -> None:
    """And the refusal is at hand."""
    stillme = AgentGuard(guard())

    ended = asyncio.run(run(stillme, FALSE))

    assert isinstance(ended, OutputGuardrailTripwireTriggered)
    assert FALSE not in stillme.answer(ended)
    assert stillme.judged(ended).record["decision"] == "refuse"


@pytest.mark.parametrize("mode", ["monitor", "warn"])
def test_other_modes_trip_no_wire(mode: str) -> None:
    """The verdict is there all the same."""
    stillme = AgentGuard(guard(mode))

    result = asyncio.run(run(stillme, FALSE))

    assert stillme.answer(result).startswith(FALSE)
    assert stillme.judged(result).record["decision"] == "refuse"


def test_only_the_named_tools_are_sources() -> None:
    """What another tool says supports nothing."""
    stillme = AgentGuard(guard(), evidence_tools=["handbook"])

    assert FALSE not in stillme.answer(asyncio.run(run(stillme, FALSE, ("rumours",))))
    assert stillme.answer(asyncio.run(run(stillme, TRUE, ("rumours", "handbook")))) == TRUE


def test_runs_side_by_side_do_not_share_evidence() -> None:
    """Each has its own."""
    stillme = AgentGuard(guard())

    async def both() -> list[Any]:
        return list(await asyncio.gather(run(stillme, TRUE), run(stillme, TRUE, ())))

    with_source, without = asyncio.run(both())

    assert stillme.answer(with_source) == TRUE
    assert stillme.answer(without) != TRUE


def test_a_guard_that_fails_trips_the_wire_in_enforce() -> None:
    """And says why."""
    stillme = AgentGuard(broken_guard())

    ended = asyncio.run(run(stillme, TRUE))

    assert stillme.answer(ended) != TRUE
    assert BROKEN in stillme.judged(ended).record["problem"]


def test_a_run_without_the_guardrail_says_so() -> None:
    """Instead of passing as judged."""
    stillme = AgentGuard(guard())

    with pytest.raises(InputError, match="output_guardrail"):
        stillme.answer(asyncio.run(run(stillme, TRUE, guarded=False)))
