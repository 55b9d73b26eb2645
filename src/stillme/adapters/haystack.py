"""StillMe in Haystack: a component behind a generator, and a precheck before it.

pipeline.add_component("guard", AnswerGuard(policy="policy.yaml"))
pipeline.connect("llm.replies", "guard.replies")
pipeline.connect("retriever.documents", "guard.documents")
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage

from stillme.adapters.guarding import Judged, judged, passage_of
from stillme.guard import Guard

__all__ = ["AnswerGuard", "SourceGuard", "passages_from"]

KEPT_AS = "stillme"


def passages_from(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Documents as passages, each by its meta's `source_id` or `file_path`, else its id; scores are of any scale and stay out."""
    return [_passage(document, number) for number, document in enumerate(documents, 1) if document.content]


def _passage(document: Document, number: int) -> dict[str, Any]:
    about = document.meta
    name = about.get("source_id") or about.get("file_path") or document.id
    known = {key: about.get(key) for key in ("title", "url", "timestamp")}
    return passage_of(str(document.content), number, name, about.get("similarity"), **known)


class _Guarded:
    """A component that is written down by its policy; a guard of the program's own cannot be."""

    def __init__(self, policy: str | Mapping[str, Any] | None = None, guard: Guard | None = None) -> None:
        self.policy = policy
        self._guard = guard
        self._is_given = guard is not None

    def warm_up(self) -> None:
        """Read the policy."""
        self._guard = self._guard or Guard(self.policy)

    @property
    def guard(self) -> Guard:
        """The guard, made when it is first needed."""
        self.warm_up()
        assert self._guard is not None  # noqa: S101  (it was just made)
        return self._guard

    def to_dict(self) -> dict[str, Any]:
        """The component as a pipeline file has it."""
        if self._is_given:
            raise ValueError("a component with a guard of its own cannot be written down: give it a policy instead")
        written: dict[str, Any] = default_to_dict(self, policy=self.policy)
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """The component of a pipeline file."""
        return default_from_dict(cls, data)


@component
class AnswerGuard(_Guarded):
    """Judges replies by the documents that they rest on: `replies` as the guard lets them go out, `verdicts` one for each.

    Replies are texts or chat messages. A message keeps its verdict in `meta["stillme"]`; one that only calls tools passes.
    """

    @component.output_types(replies=list[Any], verdicts=list[dict[str, Any]])
    def run(self, query: str, replies: list[Any], documents: list[Document] | None = None) -> dict[str, Any]:
        """Judge the replies to a question."""
        passages = passages_from(documents or [])
        found = [self._judged(query, reply, passages) for reply in replies]
        return {"replies": [reply for reply, _ in found], "verdicts": [each.record for _, each in found]}

    @component.output_types(replies=list[Any], verdicts=list[dict[str, Any]])
    async def run_async(
        self, query: str, replies: list[Any], documents: list[Document] | None = None
    ) -> dict[str, Any]:
        """`run` without holding up the event loop."""
        found: dict[str, Any] = await asyncio.to_thread(self.run, query, replies, documents)
        return found

    def _judged(self, query: str, reply: Any, passages: list[dict[str, Any]]) -> tuple[Any, Judged]:
        text = reply.text if isinstance(reply, ChatMessage) else str(reply)
        if not (text or "").strip():
            return reply, Judged("", None)
        found = judged(self.guard, query, text, passages)
        return (_with(reply, found) if isinstance(reply, ChatMessage) else found.text), found


def _with(reply: ChatMessage, found: Judged) -> ChatMessage:
    calls, meta = reply.tool_calls, {**reply.meta, KEPT_AS: found.record}
    return ChatMessage.from_assistant(found.text, meta=meta, name=reply.name, tool_calls=calls or None)


@component
class SourceGuard(_Guarded):
    """Asks whether documents suffice for a question before anything is generated.

    `documents` goes on to the generator where they do or the mode delivers anyway; else `refusal` has the words for the user.
    """

    @component.output_types(documents=list[Document], refusal=str)
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Check question and documents."""
        found = judged(self.guard, query, None, passages_from(documents))
        return {"refusal": found.text} if found.is_blocked else {"documents": documents}
