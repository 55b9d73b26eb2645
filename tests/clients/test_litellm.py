"""The guardrail with real LiteLLM: its client asks a scripted server over HTTP, and its objects go through the guardrail's hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import litellm
import pytest
from litellm.integrations.custom_guardrail import ModifyResponseException

from stillme.adapters.litellm import StillMeGuardrail
from tests.chat.upstream import Upstream, completion, stream
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard

HOOKS = ["pre_call", "post_call"]
SYSTEM = {"role": "system", "content": f'Answer from <source id="faq">{PASSAGE}</source>'}


def guardrail(made: Any = None) -> StillMeGuardrail:
    """One that always runs, as `default_on` says."""
    return StillMeGuardrail(made or guard(), event_hook=HOOKS, default_on=True)


def data(*, sources: bool = True) -> dict[str, Any]:
    """A request with a source, or without."""
    return {"model": "openai/scripted", "messages": [*[SYSTEM] * sources, {"role": "user", "content": QUESTION}]}


@pytest.fixture
def upstream(request: pytest.FixtureRequest) -> Iterator[Upstream]:
    """A model server that says what the test says."""
    said = request.param
    with Upstream(lambda asked: stream(said) if asked.body.get("stream") else completion(said)) as server:
        yield server


async def asked(server: Upstream, rail: StillMeGuardrail, *, streams: bool = False) -> Any:
    """What a client of the proxy gets: the model's answer behind the hooks."""
    request = await rail.async_pre_call_hook(None, None, data(), "acompletion")
    response = await litellm.acompletion(**request, api_base=server.url, api_key="none", stream=streams)
    if not streams:
        return await rail.async_post_call_success_hook(request, None, response)
    return [chunk async for chunk in rail.async_post_call_streaming_iterator_hook(None, response, request)]


@pytest.mark.parametrize(
    ("upstream", "said", "reason"), [(TRUE, TRUE, "stop"), (FALSE, None, "content_filter")], indirect=["upstream"]
)
def test_a_whole_answer(upstream: Upstream, said: str | None, reason: str) -> None:
    """What is supported arrives as it is, what is contradicted is replaced; the verdict stands beside it."""
    choice = asyncio.run(asked(upstream, guardrail())).choices[0]

    assert (choice.message.content == said, choice.finish_reason) == (said is not None, reason)
    assert FALSE not in choice.message.content
    assert choice.message.provider_specific_fields["stillme"]["claims"][0]["source_ids"] == ["faq"]


@pytest.mark.parametrize("upstream", [f"{TRUE} {FALSE}"], indirect=True)
def test_a_stream(upstream: Upstream) -> None:
    """The claim before the false one arrives, the false one does not, and the end says why."""
    chunks = asyncio.run(asked(upstream, guardrail(), streams=True))

    out = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert out.startswith(TRUE)
    assert FALSE not in out
    assert [c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason] == ["content_filter"]


@pytest.mark.parametrize("upstream", [TRUE], indirect=True)
@pytest.mark.parametrize("streams", [False, True])
def test_a_guard_that_fails_blocks_in_enforce(upstream: Upstream, streams: bool) -> None:
    """Whole and streamed, and the record says why."""
    rail = guardrail(broken_guard())

    async def run() -> Any:
        response = await litellm.acompletion(**data(), api_base=upstream.url, api_key="none", stream=streams)
        if not streams:
            return (await rail.async_post_call_success_hook(data(), None, response)).choices[0].message
        chunks = [c async for c in rail.async_post_call_streaming_iterator_hook(None, response, data())]
        return [choice.delta for chunk in chunks for choice in chunk.choices]

    found = asyncio.run(run())

    text = found.content if not streams else "".join(delta.content or "" for delta in found)
    kept = found if not streams else next(d for d in reversed(found) if getattr(d, "provider_specific_fields", None))
    assert TRUE not in text
    assert BROKEN in kept.provider_specific_fields["stillme"]["problem"]


def test_a_question_without_sources_is_not_asked_in_enforce() -> None:
    """LiteLLM answers it with the refusal."""
    with pytest.raises(ModifyResponseException) as raised:
        asyncio.run(guardrail().async_pre_call_hook(None, None, data(sources=False), "acompletion"))

    assert raised.value.message


def test_a_question_without_sources_is_asked_in_monitor() -> None:
    """As monitor delivers everything."""
    found = asyncio.run(guardrail(guard("monitor")).async_pre_call_hook(None, None, data(sources=False), "acompletion"))

    assert found["messages"][-1]["content"] == QUESTION


@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_apply_guardrail_on_texts(said: str, passes: bool) -> None:
    """The interface that LiteLLM's own endpoint for guardrails calls."""
    found = asyncio.run(guardrail().apply_guardrail({"texts": [said]}, data(), "response"))

    assert (found["texts"] == [said]) is passes


def test_an_answer_whose_question_is_not_known_is_blocked_in_enforce() -> None:
    """Nothing vouches for it."""
    found = asyncio.run(guardrail().apply_guardrail({"texts": [TRUE]}, {}, "response"))

    assert found["texts"] != [TRUE]
