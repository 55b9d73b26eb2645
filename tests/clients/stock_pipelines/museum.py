"""What the stock pipelines of these tests talk about, and a model server that answers them whole or streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.chat.upstream import Answer, Asked, Play, answered, chunk, completed, event, stream, streamed
from tests.service.guarding import HOURS, PRICES

QUESTION = "When does the museum open?"
RIGHT = "The museum opens at 9 am."
WRONG = "The museum opens at 11 am."
REFUSED = "I can't give you a verified answer"
DOCUMENTS = (HOURS, PRICES)


def says(text: str) -> Play:
    """A model server that says this, however it is asked."""

    def play(asked: Asked) -> Answer:
        if asked.method == "GET":
            return answered({"object": "list", "data": [{"id": "served-model", "object": "model"}]})
        if asked.path.endswith("/embeddings"):
            return answered(
                {"object": "list", "model": "e", "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]}
            )
        return stream(text) if asked.body.get("stream") else answered(completed(text, usage=USED))

    return play


USED = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def calls_then_says(name: str, arguments: str, text: str) -> Play:
    """A model server that calls a tool where it has no result yet, and says this where it has."""

    def play(asked: Asked) -> Answer:
        if any(message["role"] == "tool" for message in asked.body["messages"]):
            return stream(text) if asked.body.get("stream") else answered(completed(text, usage=USED))
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
        if asked.body.get("stream"):
            calling = chunk()
            calling["choices"][0]["delta"] = {"role": "assistant", "tool_calls": [call]}
            return streamed(event(calling), event(chunk(finish_reason="tool_calls")), b"data: [DONE]\n\n")
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return answered(completed(None, message=message, finish_reason="tool_calls", usage=USED))

    return play


def evidence_of(verdict: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Who brought evidence, in which format."""
    return [(each["origin"], each["format"]) for each in verdict["evidence"]]
