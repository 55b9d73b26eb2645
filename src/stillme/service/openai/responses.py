"""`POST /v1/responses`: OpenAI's Responses, guarded, whole and as events, over any model server that speaks chat completions.

What goes out is made here from what was verified: a message, calls of functions, and figures; nothing of the model server's is copied.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.types import Send

from stillme.service.openai.endpoint import GuardedEndpoint
from stillme.service.openai.events import Events
from stillme.service.openai.guarded import brief, error_event
from stillme.service.openai.outgoing import frame_of, usage_of
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.openai.response_requests import chat_request
from stillme.service.openai.stream_response import Shape

__all__ = ["RESPONSES", "ResponseEvents"]

# What a response repeats of its request, and what it says where that is silent.
ECHOED: Final[dict[str, Any]] = {
    "instructions": None,
    "max_output_tokens": None,
    "parallel_tool_calls": True,
    "reasoning": None,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
}
BODY: Final[dict[str, Any]] = {
    "input": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}, "minItems": 1}]},
    "instructions": {"type": "string"},
}
LONGEST_VALUE: Final = 512
"""Characters of a value of a response's metadata."""


# the object


def _response(body: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion as a response."""
    choice, own = answer["choices"][0], answer[EXTENSION]
    message = choice["message"]
    parts = [_part(kind, message[name]) for name, kind in KINDS.items() if message.get(name)]
    output = [_message(f"msg_{uuid.uuid4().hex}", parts)] if parts else []
    output += [_call_item(call) for call in message.get("tool_calls") or () if "function" in call]
    made = _frame(body, str(frame_of(answer).get("model") or ""))
    ended = _ending(choice.get("finish_reason"), own, made["metadata"])
    return made | ended | {"output": output, "usage": _usage(answer.get("usage"))}


def _frame(body: Mapping[str, Any], model: str) -> dict[str, Any]:
    echoed = {name: body[name] if body.get(name) is not None else other for name, other in ECHOED.items()}
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [],
        "previous_response_id": None,
        "store": False,
        "usage": None,
        "metadata": body.get("metadata") if isinstance(body.get("metadata"), Mapping) else {},
        **echoed,
    }


def _ending(finish: str | None, own: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """How a response ends. Words of ours in the place of the model's are a whole answer: clients give up on one that is cut off."""
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = None if own["delivery"]["stopped"] else reasons.get(finish or "")
    ended = {"status": "incomplete", "incomplete_details": {"reason": reason}} if reason else {"status": "completed"}
    return ended | {"metadata": _metadata(metadata, own), EXTENSION: own}


def _metadata(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict in brief where clients keep what they do not know: in words, beside what the caller put there."""
    told = brief(own)
    told["reasons"] = ",".join(told["reasons"])
    told["evidence"] = ",".join(f"{e['origin']}/{e['format']}={len(e['source_ids'])}" for e in told["evidence"])
    words = {f"{EXTENSION}_{name}": value for name, value in told.items() if value is not None}
    return {
        **given,
        **{k: (str(v).lower() if isinstance(v, bool) else str(v))[:LONGEST_VALUE] for k, v in words.items()},
    }


KINDS: Final = {"content": "output_text", "refusal": "refusal"}


def _part(kind: str, text: str) -> dict[str, Any]:
    return (
        {"type": kind, "refusal": text}
        if kind == "refusal"
        else {"type": kind, "text": text, "annotations": [], "logprobs": []}
    )


def _message(number: str, parts: list[dict[str, Any]], status: str = "completed") -> dict[str, Any]:
    return {"id": number, "type": "message", "role": "assistant", "status": status, "content": parts}


def _call_item(call: Mapping[str, Any], status: str = "completed") -> dict[str, Any]:
    called = call["function"]
    return {
        "id": f"fc_{uuid.uuid4().hex}",
        "type": "function_call",
        "call_id": call.get("id") or f"call_{uuid.uuid4().hex}",
        "name": called.get("name") or "",
        "arguments": called.get("arguments") or "",
        "status": status,
    }


def _usage(value: object) -> dict[str, Any] | None:
    used = usage_of(value)
    if not used:
        return None
    took, gave = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
    before, after = used.get("prompt_tokens_details") or {}, used.get("completion_tokens_details") or {}
    return {
        "input_tokens": took,
        "input_tokens_details": {"cached_tokens": before.get("cached_tokens", 0), "cache_write_tokens": 0},
        "output_tokens": gave,
        "output_tokens_details": {"reasoning_tokens": after.get("reasoning_tokens", 0)},
        "total_tokens": int(used.get("total_tokens") or took + gave),
    }


# the events


@dataclass(slots=True)
class _Item:
    """An item of the output that is being written."""

    at: int
    value: dict[str, Any]
    parts: list[str] = field(default_factory=list)


class ResponseEvents(Events):
    """The events of a response: it begins, its items are written one by one, it is complete."""

    def __init__(self, send: Send, model: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        super().__init__(send, model, headers)
        self._response = _frame(body, model)
        self._number = 0
        self._message: _Item | None = None
        self._calls: dict[object, _Item] = {}

    def like(self, chunk: Mapping[str, Any]) -> None:
        """From now on name what the model server names."""
        self._response["model"] = frame_of(chunk).get("model") or self._response["model"]

    async def chunk(self, index: int, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:  # noqa: ARG002
        """Send what is new: text of the message, pieces of calls, or the end of every item."""
        if not self.begun:
            for kind in ("created", "in_progress"):
                await self._say(kind, response=dict(self._response))
        for name, kind in KINDS.items():
            if delta.get(name):
                await self._text(kind, delta[name])
        for call in delta.get("tool_calls") or ():
            await self._call(call)
        if EXTENSION in more:
            await self._end_items()
            self._response |= _ending(finish, more[EXTENSION], self._response["metadata"])

    async def usage(self, used: Mapping[str, Any]) -> None:
        """Keep what was used for the end."""
        self._response["usage"] = _usage(used)

    async def done(self) -> None:
        """The whole response, and the end."""
        await self._say(self._response["status"], response=self._response)
        await self.write(b"", last=True)

    async def broken(self, error: Exception) -> None:
        """The end of one that did not come to its end."""
        told = error_event(error)["error"]
        value = {"code": told["code"] or told["type"], "message": told["message"], "param": told["param"]}
        await self._event("error", value)
        await self.write(b"", last=True)

    async def _say(self, kind: str, **value: Any) -> None:
        await self._event(f"response.{kind}", value)

    async def _event(self, kind: str, value: Mapping[str, Any]) -> None:
        await self.event({"type": kind, "sequence_number": self._number, **value}, kind)
        self._number += 1

    async def _text(self, kind: str, text: str) -> None:
        """Some text, in the part of the message that is open, or in a new one."""
        message = self._message
        if message is None:
            value = _message(f"msg_{uuid.uuid4().hex}", [], "in_progress")
            message = self._message = await self._added(value)
        content = message.value["content"]
        if not content or content[-1]["type"] != kind:
            await self._end_part(message)
            content.append(_part(kind, ""))
            await self._say("content_part.added", **self._place(message), part=_part(kind, ""))
        message.parts.append(text)
        said: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
        await self._say(f"{kind}.delta", **self._place(message), delta=text, **said)

    def _place(self, message: _Item) -> dict[str, Any]:
        return {
            "item_id": message.value["id"],
            "output_index": message.at,
            "content_index": len(message.value["content"]) - 1,
        }

    async def _end_part(self, message: _Item) -> None:
        if not message.value["content"]:
            return
        part = message.value["content"][-1]
        name = "refusal" if part["type"] == "refusal" else "text"
        part[name] = "".join(message.parts)
        message.parts.clear()
        said: dict[str, Any] = {"logprobs": []} if name == "text" else {}
        await self._say(f"{part['type']}.done", **self._place(message), **{name: part[name]}, **said)
        await self._say("content_part.done", **self._place(message), part=part)

    async def _call(self, call: Mapping[str, Any]) -> None:
        """A piece of a call; the first one names it."""
        called = call.get("function") or {}
        item = self._calls.get(call.get("index"))
        if item is None:
            named = {**call, "function": {"name": called.get("name")}}
            item = self._calls[call.get("index")] = await self._added(_call_item(named, "in_progress"))
        if called.get("arguments"):
            item.parts.append(called["arguments"])
            place = {"item_id": item.value["id"], "output_index": item.at}
            await self._say("function_call_arguments.delta", **place, delta=called["arguments"])

    async def _added(self, value: dict[str, Any]) -> _Item:
        item = _Item(len(self._response["output"]), value)
        self._response["output"] = [*self._response["output"], value]
        await self._say("output_item.added", output_index=item.at, item=dict(value))
        return item

    async def _end_items(self) -> None:
        """Everything that is open is complete."""
        if self._message is not None:
            await self._end_part(self._message)
        for item in self._calls.values():
            item.value["arguments"] = "".join(item.parts)
            place = {"item_id": item.value["id"], "output_index": item.at}
            said = {"arguments": item.value["arguments"], "name": item.value["name"]}
            await self._say("function_call_arguments.done", **place, **said)
        for item in [*([self._message] if self._message else []), *self._calls.values()]:
            item.value["status"] = "completed"
            await self._say("output_item.done", output_index=item.at, item=item.value)


def _events(body: Mapping[str, Any]) -> Shape:
    return lambda send, model, headers: ResponseEvents(send, model, headers, body)


RESPONSES: Final = GuardedEndpoint(
    path="/v1/responses",
    name="responses",
    summary="Responses, guarded.",
    answer="The response, or its events as server-sent events.",
    properties=BODY,
    chat=lambda body: (chat_request(body), None),
    written=_response,
    events=_events,
)
