"""`POST /v1/completions`: one prompt, one text. The prompt is the question; it goes to the model server's own completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stillme.errors import InputError, shown
from stillme.service.openai.answering import Natively
from stillme.service.openai.endpoint import GuardedEndpoint
from stillme.service.openai.events import ChatEvents
from stillme.service.openai.outgoing import finish_of, frame_of, usage_of
from stillme.service.openai.request_sources import EXTENSION

__all__ = ["TEXT_COMPLETIONS"]

OPERATION: Final = "/completions"
KIND: Final = "text_completion"
BODY: Final[dict[str, Any]] = {
    "prompt": {
        "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}],
        "description": "one text",
    },
    "n": {"type": "integer", "minimum": 1},
}


def _checked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with its prompt as one text, if it is one that we can serve."""
    prompt = body.get("prompt")
    one = prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt
    if not isinstance(one, str):
        raise InputError(f"prompt must be one text: send a request for each, and no tokens; got {shown(prompt)}")
    if body.get("echo"):
        raise InputError("echo cannot be served: what is repeated is no answer; leave it out")
    if body.get("best_of") not in (None, 1, body.get("n") or 1):
        raise InputError(f"best_of must be n, got {shown(body.get('best_of'))}: every answer is verified")
    return {**body, "prompt": one}


def _chat(given: Mapping[str, Any]) -> tuple[dict[str, Any], Natively]:
    """The request as a chat: whoever writes a prompt writes as a user, so that it brings evidence only where an operator says so."""
    body = _checked(given)
    kept: dict[str, Any] = {name: body[name] for name in ("model", "n", "stream", EXTENSION) if name in body}
    kept["messages"] = [{"role": "user", "content": body["prompt"]}]
    return kept, Natively(OPERATION, body, _as_chat)


def _as_chat(value: dict[str, Any]) -> dict[str, Any]:
    """What a model server completed, or a piece of it, in the shape of a chat."""
    choices = value.get("choices")
    if not isinstance(choices, list):
        return value
    return value | {"choices": [_choice(c) if isinstance(c, Mapping) else c for c in choices]}


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    said = {"content": choice.get("text")}
    named = {name: held for name, held in choice.items() if name not in ("text", "logprobs", "message", "delta")}
    # Their log-probabilities have another shape than those of a chat: they are not read, and do not leave.
    return {**named, "message": said | {"role": "assistant"}, "delta": said}


def _as_text(_: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion in the shape of a completion: what was verified and a few plain values, in every mode."""
    kept = frame_of(answer) | {"object": KIND}
    used = usage_of(answer.get("usage"))
    choices = [
        {
            "text": choice["message"].get("content") or choice["message"].get("refusal") or "",
            "index": choice["index"],
            "logprobs": None,
            "finish_reason": finish_of(choice.get("finish_reason")),
        }
        for choice in answer["choices"]
    ]
    told = [
        {**one, EXTENSION: c[EXTENSION]} if EXTENSION in c else one
        for one, c in zip(choices, answer["choices"], strict=True)
    ]
    return kept | {"choices": told, EXTENSION: answer[EXTENSION]} | ({"usage": used} if used else {})


class TextEvents(ChatEvents):
    """Chunks of completions."""

    kind = KIND
    prefix = "cmpl"

    def choice(
        self,
        index: int,
        delta: Mapping[str, Any],
        finish: str | None,
        more: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """A choice of a chunk: its text and nothing else."""
        text = (delta.get("content") or "") + (delta.get("refusal") or "")
        return {"text": text, "index": index, "logprobs": None, "finish_reason": finish}


TEXT_COMPLETIONS: Final = GuardedEndpoint(
    path="/v1/completions",
    name="completions",
    summary="Completions, guarded.",
    answer="The completion, or its chunks as server-sent events.",
    properties=BODY,
    chat=_chat,
    written=_as_text,
    events=lambda _: TextEvents,
)
