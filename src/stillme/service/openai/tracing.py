"""A span around the call of a model server, as OpenTelemetry's conventions for generative AI have it; it holds no texts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from stillme.service.openai.answer_sources import Forwarded
from stillme.service.telemetry import Telemetry

__all__ = ["Traced"]

OPERATIONS: Final = {"/completions": "text_completion"}
"""What the conventions call an operation of a model server, where it is not `chat`."""
REQUESTED: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
}
USAGE: Final = {
    "prompt_tokens": "input_tokens",
    "input_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "output_tokens": "output_tokens",
}


@dataclass(frozen=True, slots=True)
class Traced:
    """A model server whose calls are spans."""

    source: Forwarded
    telemetry: Telemetry

    def confidence(self, choice: Mapping[str, Any]) -> float | None:
        """As the source has it."""
        return self.source.confidence(choice)

    async def complete(self) -> dict[str, Any]:
        """The completion of the server; its ids, counts and ends go into the span."""
        with self.telemetry.call(*self._named(stream=False)) as span:
            whole = await self.source.complete()
            span.set_attributes(_answered(whole))
            return whole

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the server; the span ends with the last of them, or when nobody wants more."""
        told: dict[str, Any] = {}
        with self.telemetry.call(*self._named(stream=True)) as span:
            try:
                async with aclosing(self.source.chunks()) as chunks:
                    async for chunk in chunks:
                        told |= _answered(chunk)
                        yield chunk
            finally:
                span.set_attributes(told)

    def _named(self, *, stream: bool) -> tuple[str, dict[str, Any]]:
        """The name of the span, and what is known before the call."""
        body, address = self.source.body, urlsplit(self.source.server.base_url)
        operation = OPERATIONS.get(self.source.operation, "chat")
        known = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": str(body.get("model") or ""),
            "gen_ai.request.stream": stream,
            "server.address": address.hostname or "",
            "server.port": address.port or (443 if address.scheme == "https" else 80),
            **{f"gen_ai.request.{REQUESTED[key]}": body[key] for key in REQUESTED if _is_number(body.get(key))},
        }
        if _is_number(body.get("n")) and body["n"] != 1:
            known["gen_ai.request.choice.count"] = body["n"]
        return f"{operation} {body.get('model') or ''}".strip(), known


def _answered(part: Mapping[str, Any]) -> dict[str, Any]:
    """What a completion, or a chunk of one, tells beside its text."""
    found: dict[str, Any] = {f"gen_ai.response.{key}": part[key] for key in ("id", "model") if part.get(key)}
    ends = [c["finish_reason"] for c in part.get("choices") or () if isinstance(c.get("finish_reason"), str)]
    if ends:
        found["gen_ai.response.finish_reasons"] = ends
    usage = part.get("usage") or {}
    return found | {f"gen_ai.usage.{USAGE[key]}": usage[key] for key in USAGE if _is_number(usage.get(key))}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
