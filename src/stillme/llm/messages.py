"""What goes to a model and what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from stillme.contract import RetrievedPassage, Turn
from stillme.languages import DEFAULT

__all__ = ["Delta", "Generation", "Prompt", "PromptMessage", "Provider"]

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message, as every OpenAI-compatible server takes it."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question with all that is needed to answer it: `messages` for a language model, the parts for one that is none."""

    question: str
    messages: tuple[PromptMessage, ...]
    passages: tuple[RetrievedPassage, ...] = ()
    conversation: tuple[Turn, ...] = ()
    language: str = DEFAULT


@dataclass(frozen=True, slots=True)
class Generation:
    """A whole answer."""

    text: str
    provider: str
    model: str
    finish_reason: str = "stop"
    confidence: float | None = None
    """How sure the model was of its words, 0..1, where it told; None where it did not."""
    usage: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer on its way; the last one has a `finish_reason`."""

    text: str = ""
    finish_reason: str | None = None
    provider: str = ""
    model: str = ""
    confidence: float | None = None
    """Of the whole answer, with the last piece, where it is known."""
    usage: dict[str, int] | None = None


class Provider(Protocol):
    """Answers prompts. What goes wrong is an UpstreamError, never text."""

    @property
    def name(self) -> str:
        """As requests name it: deepseek, openai, gemini, local, extractive."""

    async def generate(self, prompt: Prompt, model: str | None = None) -> Generation:
        """The whole answer."""

    def stream(self, prompt: Prompt, model: str | None = None) -> AsyncIterator[Delta]:
        """The answer piece by piece, ended by one Delta with a finish_reason; closing it ends the call upstream."""

    async def aclose(self) -> None:
        """Let go of connections."""
