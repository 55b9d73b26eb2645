"""What of an upstream's answer may leave: where a policy is enforced what was verified, calls of tools, and a few plain values.

A server can put words into any field, under any name, and into the name itself. So nothing is taken over because it is not known to be
bad: the fields below leave, in the shapes below, and everything else is only named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from stillme.llm.wire import said_in

__all__ = [
    "acts_in",
    "beside_text",
    "draft_of",
    "finish_of",
    "frame_of",
    "is_number",
    "is_word",
    "number_or",
    "usage_of",
]

LONGEST_WORD: Final = 128
LONGEST_KEY: Final = 64
MOST: Final = 2**63
"""From here on a number is none that a client's JSON reads."""
FINISHES: Final = frozenset(
    {"stop", "length", "tool_calls", "function_call", "content_filter", "eos", "end_turn", "stop_sequence", "max_tokens", "safety", "error"}
)  # fmt: skip
"""How an answer may end, in the words of the servers there are: any other word could be anybody's."""
COUNTED: Final = frozenset({
    "prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens",
    "audio_tokens", "text_tokens", "image_tokens", "video_tokens", "reasoning_tokens", "accepted_prediction_tokens",
    "rejected_prediction_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens", "cache_read_input_tokens",
    "cache_creation_input_tokens", "prompt_time", "completion_time", "queue_time", "total_time", "cost",
})  # fmt: skip
"""What a server counts; `DETAILED` is told in parts."""
DETAILED: Final = frozenset(
    {"prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details"}
)
WORDS: Final = ("id", "model", "service_tier", "system_fingerprint")
TOP_LEVEL: Final = frozenset({*WORDS, "object", "created", "usage", "choices"})
CHOICE: Final = frozenset({"index", "message", "delta", "finish_reason"})
TEXTS: Final = ("content", "refusal")
ACTS: Final = ("tool_calls", "function_call")
"""They say nothing to a user: what a tool does with them is not ours to verify."""
CALLED: Final = {"function": ("name", "arguments"), "custom": ("name", "input")}


def draft_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """What a message says to a reader, and the field that it is said in; of both kinds of text, one text in `content`."""
    return said_in(message), "refusal" if message.get("refusal") and not message.get("content") else "content"


def frame_of(completion: Mapping[str, Any]) -> dict[str, Any]:
    """What a completion, or a chunk of one, says of itself: words and numbers, no text."""
    found: dict[str, Any] = {name: completion[name] for name in WORDS if is_word(completion.get(name))}
    if is_number(completion.get("created")):
        found["created"] = completion["created"]
    return found


def usage_of(value: object) -> dict[str, Any]:
    """What was used, in numbers under the names that servers count by."""
    if not isinstance(value, Mapping):
        return {}
    return _counted(value) | {
        name: found
        for name in DETAILED
        if isinstance(value.get(name), Mapping) and ((found := _counted(value[name])) or not value[name])
    }


def _counted(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: used for name, used in value.items() if name in COUNTED and is_number(used)}


def finish_of(value: object) -> str:
    """How the answer ended, in one word."""
    return value if isinstance(value, str) and value in FINISHES else "stop"


def number_or(value: object, other: int) -> int:
    """A whole number, or another one where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else other


def acts_in(message: Mapping[str, Any]) -> dict[str, Any]:
    """The calls of tools in a message or a piece of one, with what a call consists of and nothing else."""
    found: dict[str, Any] = {}
    calls = [_call(call) for call in message.get("tool_calls") or () if isinstance(call, Mapping)]
    if calls:
        found["tool_calls"] = calls
    if function := message.get("function_call"):
        found["function_call"] = _texts(function, CALLED["function"])
    return found


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: call[name] for name in ("id", "type") if isinstance(call.get(name), str)}
    if is_number(call.get("index")):
        found["index"] = call["index"]
    return found | {
        kind: _texts(call[kind], keys) for kind, keys in CALLED.items() if isinstance(call.get(kind), Mapping)
    }


def _texts(value: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value[key] for key in keys if isinstance(value.get(key), str)}


# what was not read


def beside_text(completion: Mapping[str, Any], choice: Mapping[str, Any]) -> list[str]:
    """The names of what an answer holds that is not its text: in its message, in the choice, beside the choices.

    Where words stand in the place of a plain value, that is among it.
    """
    message = choice.get("message") or choice.get("delta") or {}
    found = [
        *_others(message, ("role", *TEXTS)),
        *_others(choice, CHOICE),
        *_others(completion, TOP_LEVEL),
        *_worded(message, ("role",)),
        *_worded(choice, ("index", "finish_reason")),
        *_worded(completion, (*WORDS, "object", "created")),
    ]
    used = completion.get("usage")
    if used and usage_of(used) != used:
        found.append("usage")
    return list(dict.fromkeys(found))


def _worded(value: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    return (name for name in names if value.get(name) and not (is_word(value[name]) or is_number(value[name])))


def _others(value: Mapping[str, Any], known: Any) -> Iterator[str]:
    for key, held in value.items():
        if held and key not in known:
            yield key if _is_key(key) else "other"


def _is_key(key: str) -> bool:
    return key.isidentifier() and key.isascii() and len(key) <= LONGEST_KEY


def is_word(value: object) -> bool:
    """Whether a value is a text without a blank that is no longer than a name."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= LONGEST_WORD
        and value.isascii()
        and value.isprintable()
        and " " not in value
    )


def is_number(value: object) -> bool:
    """Whether a value is a number that a client can read."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST < value < MOST
