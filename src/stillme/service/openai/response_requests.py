"""What `POST /v1/responses` takes, as a request for chat completions: every model server speaks those.

Nothing is kept between requests and no tool runs here: what needs either is an error that says what to send instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from stillme.errors import InputError, shown

__all__ = ["chat_request"]

ELSEWHERE: Final = {
    "previous_response_id": "responses are not kept here: send the whole input",
    "conversation": "conversations are not kept here: send the whole input",
    "prompt": "prompts are not kept here: send instructions and input",
    "background": "responses are not kept here: leave it out, or stream",
}
RENAMED: Final = {"max_output_tokens": "max_completion_tokens"}
# What says how responses are kept, cached or worded: there is nothing that it would change here.
WITHOUT_EFFECT: Final = frozenset({
    "background", "conversation", "include", "max_tool_calls", "metadata", "previous_response_id", "prompt", "prompt_cache_key",
    "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "store", "stream_options", "truncation",
})  # fmt: skip
READ: Final = frozenset({"input", "instructions", "tools", "tool_choice", "text", "reasoning", *RENAMED})
CHOICES: Final = ("auto", "none", "required")
ROLES: Final = ("user", "system", "developer", "assistant")


def chat_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as one for chat completions, or an InputError that names the field."""
    for name, way_out in ELSEWHERE.items():
        if body.get(name):
            raise InputError(f"{name} cannot be served: {way_out}")
    if body.get("n") not in (None, 1):
        raise InputError(f"n must be 1: a response is one answer, got {shown(body.get('n'))}")
    found = {name: held for name, held in body.items() if name not in READ | WITHOUT_EFFECT}
    found |= {new: body[old] for old, new in RENAMED.items() if body.get(old) is not None}
    found["messages"] = _messages(body)
    if body.get("stream"):
        found["stream_options"] = {"include_usage": True}
    return found | _tools(body) | _words(body)


# messages


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    instructions, given = body.get("instructions"), body.get("input")
    if not isinstance(instructions, str | None):
        raise InputError(f"instructions must be text, got {shown(instructions)}")
    found: list[dict[str, Any]] = [{"role": "system", "content": instructions}] if instructions else []
    if isinstance(given, str):
        return [*found, {"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise InputError(f"input must be a text or a list of at least one item, got {shown(given)}")
    for n, item in enumerate(given):
        _add(found, item, f"input[{n}]")
    return found


def _add(messages: list[dict[str, Any]], item: object, where: str) -> None:
    """Add an item of the input as a message, or to the message before it: calls of one turn stand in one."""
    if not isinstance(item, Mapping):
        raise InputError(f"{where} must be an object, got {shown(item)}")
    kind = item.get("type") or "message"
    if kind == "message":
        messages.append(_message(item, where))
    elif kind == "function_call":
        called = {name: _text(item, name, where) for name in ("name", "arguments")}
        call = {"id": _text(item, "call_id", where), "type": "function", "function": called}
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind == "function_call_output":
        output = item.get("output")
        content = output if isinstance(output, str) else _parts(output, f"{where}.output")
        messages.append({"role": "tool", "tool_call_id": _text(item, "call_id", where), "content": content})
    elif kind != "reasoning":  # thoughts of earlier turns: a chat has no place for them, and they are no evidence
        raise InputError(
            f"{where}.type {shown(kind)} cannot be served: send message, function_call and function_call_output items"
        )


def _text(item: Mapping[str, Any], name: str, where: str) -> str:
    found = item.get(name)
    if not isinstance(found, str):
        raise InputError(f"{where}.{name} must be text, got {shown(found)}")
    return found


def _message(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    role, content = item.get("role"), item.get("content")
    if role not in ROLES:
        raise InputError(f"{where}.role must be one of {', '.join(ROLES)}, got {shown(role)}")
    return {"role": role, "content": content if isinstance(content, str) else _parts(content, f"{where}.content")}


def _parts(content: object, where: str) -> list[dict[str, Any]]:
    if not isinstance(content, Sequence) or isinstance(content, str) or not content:
        raise InputError(f"{where} must be text or a list of parts, got {shown(content)}")
    return [_part(part, f"{where}[{k}]") for k, part in enumerate(content)]


def _part(part: object, where: str) -> dict[str, Any]:
    """One part, in the words of a chat."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if isinstance(part, Mapping):
        if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            return {"type": "text", "text": part["refusal"]}
        if kind == "input_image" and isinstance(part.get("image_url"), str):
            return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    raise InputError(
        f"{where} cannot be served: send input_text, output_text, refusal, or input_image with an image_url; got {shown(kind)}"
    )


# tools, and what the answer is to look like


def _tools(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if tools := body.get("tools"):
        if not isinstance(tools, list):
            raise InputError(f"tools must be a list, got {shown(tools)}")
        found["tools"] = [_tool(tool, f"tools[{n}]") for n, tool in enumerate(tools)]
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        found["tool_choice"] = {"type": "function", "function": {"name": _text(choice, "name", "tool_choice")}}
    elif choice is not None:
        if choice not in CHOICES:
            raise InputError(f"tool_choice must be {', '.join(CHOICES)} or a function, got {shown(choice)}")
        found["tool_choice"] = choice
    return found if "tools" in found else {}


def _tool(tool: object, where: str) -> dict[str, Any]:
    kind = tool.get("type") if isinstance(tool, Mapping) else tool
    if not isinstance(tool, Mapping) or kind != "function":
        raise InputError(
            f"{where} of the type {shown(kind)} cannot be served: no tool runs here, only functions of yours"
        )
    names = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {name: tool[name] for name in names if tool.get(name) is not None}}


def _words(body: Mapping[str, Any]) -> dict[str, Any]:
    """How long, how thoughtful, and in which format."""
    text, reasoning = body.get("text") or {}, body.get("reasoning") or {}
    for name, value in (("text", text), ("reasoning", reasoning)):
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must be an object, got {shown(value)}")
    wanted = {"verbosity": text.get("verbosity"), "reasoning_effort": reasoning.get("effort")}
    found = {name: value for name, value in wanted.items() if value is not None}
    shape = text.get("format") or {}
    if not isinstance(shape, Mapping):
        raise InputError(f"text.format must be an object, got {shown(shape)}")
    kind = shape.get("type")
    if kind == "json_schema":
        schema = {
            name: shape[name] for name in ("name", "description", "schema", "strict") if shape.get(name) is not None
        }
        return found | {"response_format": {"type": kind, "json_schema": schema}}
    if kind not in (None, "text", "json_object"):
        raise InputError(f"text.format.type must be text, json_object or json_schema, got {shown(kind)}")
    return found | ({"response_format": {"type": kind}} if kind == "json_object" else {})
