"""Who writes an answer: a model server that gets the request as it is, or one of the service's own providers."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from stillme.chat.router import Router
from stillme.llm.confidence import generation_confidence, token_logprobs
from stillme.llm.endpoint import OPERATION
from stillme.llm.messages import Prompt
from stillme.llm.providers import OpenAICompatible, Shape, as_it_is

__all__ = ["OWN", "Forwarded", "Routed", "completion_of"]

OWN = "stillme"
"""The name of the service among the models, before the name of a provider."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A model server that gets the request as it is; `shape` makes chat completions of what its operation answers."""

    server: OpenAICompatible
    body: dict[str, Any]
    close: bool = False
    operation: str = OPERATION
    shape: Shape = as_it_is

    def confidence(self, choice: Mapping[str, Any]) -> float | None:
        """From the log-probabilities, where the server gave them."""
        return generation_confidence(token_logprobs(choice))

    async def complete(self) -> dict[str, Any]:
        """The completion of the server."""
        try:
            return await self.server.complete(self.body, self.operation, self.shape)
        finally:
            if self.close:
                await self.server.aclose()

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the server."""
        try:
            async with aclosing(self.server.complete_stream(self.body, self.operation, self.shape)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            if self.close:
                await self.server.aclose()


@dataclass(frozen=True, slots=True)
class Routed:
    """One of the service's own providers."""

    router: Router
    prompt: Prompt
    provider: str
    model: str | None
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    told: list[float | None] = field(default_factory=list)

    def confidence(self, choice: Mapping[str, Any]) -> float | None:  # noqa: ARG002  (the provider tells it beside the answer)
        """As the provider told it."""
        return self.told[-1] if self.told else None

    async def complete(self) -> dict[str, Any]:
        """The provider's answer as a completion."""
        made = await self.router.generate(self.prompt, self.provider, self.model)
        choice = {"index": 0, "message": {"role": "assistant", "content": made.text, "refusal": None}}
        choice |= {"logprobs": None, "finish_reason": made.finish_reason}
        self.told.append(made.confidence)
        return completion_of(self.id, f"{OWN}/{made.provider}", choice) | ({"usage": made.usage} if made.usage else {})

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The provider's pieces as chunks."""
        async with aclosing(self.router.stream(self.prompt, self.provider, self.model)) as deltas:
            async for delta in deltas:
                text = {"role": "assistant", "content": delta.text} if delta.text else {}
                self.told.extend([] if delta.confidence is None else [delta.confidence])
                choice = {"index": 0, "delta": text, "finish_reason": delta.finish_reason}
                whole = completion_of(self.id, f"{OWN}/{delta.provider}", choice)
                yield whole | {"object": "chat.completion.chunk"}


def completion_of(number: str, model: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    """A completion with one choice."""
    created = int(time.time())
    return {"id": number, "object": "chat.completion", "created": created, "model": model, "choices": [dict(choice)]}
