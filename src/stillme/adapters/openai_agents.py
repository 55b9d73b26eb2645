"""StillMe in the OpenAI Agents SDK: an output guardrail that judges the final answer by what the agent's tools returned.

    stillme = AgentGuard(Guard("policy.yaml"))
    agent = Agent(..., output_guardrails=[stillme.output_guardrail()])
    result = await Runner.run(agent, question, hooks=stillme.hooks())
    answer = stillme.answer(result)              # or, where the tripwire ended the run: stillme.answer(tripwire)

The SDK shows a guardrail neither the question nor what tools returned. The hooks collect both, run by run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import finalize

from agents import Agent, GuardrailFunctionOutput, OutputGuardrail, RunContextWrapper, RunHooks, Tool
from agents.exceptions import OutputGuardrailTripwireTriggered
from agents.result import RunResultBase

from stillme.adapters.guarding import Judged, ajudged, passage_of
from stillme.errors import InputError
from stillme.guard import Guard

__all__ = ["AgentGuard"]

NAME = "stillme"


@dataclass(slots=True)
class _Seen:
    """What a run was asked and what its tools returned."""

    query: str = ""
    passages: list[dict[str, Any]] = field(default_factory=list)


class AgentGuard:
    """A guard for agents: give each run its hooks, and each agent that answers its guardrail.

    `evidence_tools` names the tools whose results are sources; without it, all of them. A run without the hooks has no evidence, and
    in enforce nothing that states a fact passes.
    """

    def __init__(self, guard: Guard, *, evidence_tools: Sequence[str] | None = None) -> None:
        self._guard, self._tools = guard, evidence_tools
        self._runs: dict[int, _Seen] = {}

    def hooks(self) -> RunHooks[Any]:
        """The hooks of a run, which collect its question and the results of its tools."""
        return _Hooks(self)

    def output_guardrail(self) -> OutputGuardrail[Any]:
        """The guardrail of an agent: its tripwire ends a run whose answer enforce would not deliver."""
        return OutputGuardrail(guardrail_function=self._judge, name=NAME)

    def answer(self, ended: RunResultBase | OutputGuardrailTripwireTriggered) -> str:
        """What the user gets to read of a run, whichever way it ended."""
        return self.judged(ended).text

    def judged(self, ended: RunResultBase | OutputGuardrailTripwireTriggered) -> Judged:
        """What the guard said of a run's final answer; InputError where its agent has no guardrail of ours."""
        is_stopped = isinstance(ended, OutputGuardrailTripwireTriggered)
        results = [ended.guardrail_result] if is_stopped else ended.output_guardrail_results
        found = next((each.output.output_info for each in results if each.guardrail.get_name() == NAME), None)
        if not isinstance(found, Judged):
            raise InputError("the run's last agent has no output_guardrail of this guard: add it to the agent")
        return found

    async def _judge(self, context: RunContextWrapper[Any], _: Agent[Any], output: Any) -> GuardrailFunctionOutput:
        seen = self.seen(context)
        draft = output if isinstance(output, str) else getattr(output, "model_dump_json", lambda: str(output))()
        found = await ajudged(self._guard, seen.query, draft, seen.passages)
        return GuardrailFunctionOutput(found, tripwire_triggered=found.is_blocked)

    def seen(self, context: RunContextWrapper[Any]) -> _Seen:
        """What is known of the run of this context; it is forgotten with the run, which is known by the count of its tokens."""
        run = context.usage
        if id(run) not in self._runs:
            self._runs[id(run)] = _Seen()
            finalize(run, self._runs.pop, id(run), None)
        return self._runs[id(run)]

    def is_evidence(self, tool: str) -> bool:
        """Whether a tool's results are sources."""
        return self._tools is None or tool in self._tools


class _Hooks(RunHooks[Any]):
    def __init__(self, of: AgentGuard) -> None:
        self._of = of

    async def on_agent_start(self, context: Any, agent: Agent[Any]) -> None:
        seen = self._of.seen(context)
        seen.query = seen.query or _question(context.turn_input)

    async def on_tool_end(self, context: Any, agent: Agent[Any], tool: Tool, result: object) -> None:
        if self._of.is_evidence(tool.name):
            passages = self._of.seen(context).passages
            number = len(passages) + 1
            passages.append(passage_of(str(result), number, f"{tool.name}-{number}"))


def _question(items: Sequence[Any]) -> str:
    """The last thing that the user said."""
    said = [item for item in items if isinstance(item, dict) and item.get("role") == "user"]
    content = said[-1].get("content", "") if said else ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()
