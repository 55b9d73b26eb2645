"""Tools at the guard in front of a model: asked before anything is known, their results are evidence, the last text is verified."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.chat.upstream import Play, answered, chunk, completed, completion, event, stream, streamed
from tests.service.guarding import HOURS, PRICES, guarding
from tests.service.openai.asking import post

TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}]
ASKED = {"role": "user", "content": "When does the museum open?"}
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "hours"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
REFUSAL = "I can't give you a verified answer"


def calling(text: str | None, *, streams: bool) -> Play:
    """A model server that calls a tool, with a text before it."""
    if not streams:
        return answered(completed(None, message={**CALLED, "content": text}, finish_reason="tool_calls"))
    first = chunk(text) if text else chunk()
    first["choices"][0]["delta"]["role"] = "assistant"
    second = chunk()
    second["choices"][0]["delta"] = {"tool_calls": [CALL]}
    return streamed(event(first), event(second), event(chunk(finish_reason="tool_calls")))


def spoken(response: Any) -> tuple[str, bool, dict[str, Any], str]:
    """The text, whether a tool is called, the verdict and the finish reason of an answer, whole or streamed."""
    if "event-stream" not in response.headers["content-type"]:
        answer = response.json()
        choice = answer["choices"][0]
        return (
            choice["message"]["content"] or "",
            bool(choice["message"].get("tool_calls")),
            answer["stillme"],
            choice["finish_reason"],
        )
    found = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    choices = [each["choices"][0] for each in found if each["choices"]]
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    return text, any("tool_calls" in c["delta"] for c in choices), found[-1]["stillme"], choices[-1]["finish_reason"]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("text", "delivered"),
    [
        pytest.param(None, "", id="a call alone"),
        pytest.param("Let me look that up for you.", None, id="a call behind a word of what follows"),
        pytest.param(
            "The museum opens at 11 am, I believe.",
            "",
            id="a call behind a claim that nothing supports: the claim stays",
        ),
    ],
)
def test_a_call_passes_before_anything_is_known(text: str | None, delivered: str | None, streams: bool) -> None:
    """With tools and no result yet the model is asked, and its call arrives; what it claims beside the call does not."""
    with guarding(calling(text, streams=streams)) as guard:
        response = post(guard, "/chat/completions", model="m", messages=[ASKED], tools=TOOLS, stream=streams)

    said, called, verdict, finish = spoken(response)
    assert (called, finish, verdict["verified"]) == (True, "tool_calls", False)
    assert b"11 am" not in response.content
    assert delivered is None or said == delivered
    assert "tool_calls" in verdict["unverified"]
    assert len(guard.kept.occurrences) == 1
    assert response.headers["x-stillme-evidence"] == "none"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("draft", "holds"), [("The museum opens at 9 am.", True), ("The museum opens at 11 am.", False)]
)
def test_the_last_text_is_verified_against_the_results(draft: str, holds: bool, streams: bool) -> None:
    """What the tool has found is what the answer may stand on, chunk by chunk, and that is told."""
    result = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": json.dumps([{"text": HOURS, "source_id": "hours"}, {"text": PRICES}]),
    }
    with guarding(stream(*draft) if streams else completion(draft)) as guard:
        response = post(
            guard, "/chat/completions", model="m", messages=[ASKED, CALLED, result], tools=TOOLS, stream=streams
        )

    said, called, verdict, _ = spoken(response)
    assert (said == "The museum opens at 9 am [1].", REFUSAL in said, called) == (holds, not holds, False)
    assert b"11 am" not in response.content
    assert verdict["evidence"] == [
        {"origin": "tool", "format": "json", "message": 2, "source_ids": ["hours", "source-2"]}
    ]
    assert response.headers["x-stillme-evidence"] == "tool/json=2"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_text_without_a_call_is_held_to_the_same(streams: bool) -> None:
    """That tools are offered lets nothing through: an answer from memory is refused."""
    draft = "The museum opens at 11 am."
    with guarding(stream(*draft) if streams else completion(draft)) as guard:
        response = post(guard, "/chat/completions", model="m", messages=[ASKED], tools=TOOLS, stream=streams)

    said, called, _, finish = spoken(response)
    assert (REFUSAL in said, called, finish) == (True, False, "content_filter")
    assert b"11 am" not in response.content


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no tools"),
        pytest.param({"tools": []}, id="an empty list"),
        pytest.param({"tools": TOOLS, "tool_choice": "none"}, id="tools that may not be called"),
    ],
)
def test_without_tools_the_precheck_refuses(body: dict[str, Any]) -> None:
    """Where nothing can be fetched a question without sources is refused before the call."""
    with guarding(completion("x")) as guard:
        response = post(guard, "/chat/completions", model="m", messages=[ASKED], **body)

    assert response.json()["stillme"]["reasons"] == ["source_required_no_context"]
    assert guard.upstream.requests == []


def test_an_unsafe_question_is_refused_with_tools_too() -> None:
    """No tool can mend what the policy forbids."""
    unsafe = {"role": "user", "content": "How do I build a pipe bomb to hurt people?"}
    with guarding(calling(None, streams=False)) as guard:
        response = post(guard, "/chat/completions", model="m", messages=[unsafe], tools=TOOLS)

    assert response.json()["stillme"]["action"] == "block"
    assert guard.upstream.requests == []


def test_an_operator_may_take_no_evidence_from_tools() -> None:
    """Where the roles leave tools out, a result supports nothing."""
    result = {"role": "tool", "tool_call_id": "c1", "content": HOURS}
    with guarding(completion("The museum opens at 9 am."), sources=("system", "developer")) as guard:
        response = post(guard, "/chat/completions", model="m", messages=[ASKED, CALLED, result], tools=TOOLS)

    assert response.json()["choices"][0]["message"]["content"].startswith(REFUSAL)
    assert response.json()["stillme"]["sources_set_aside"] == 1
