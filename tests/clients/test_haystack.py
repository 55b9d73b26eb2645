"""The components in pipelines of real Haystack: run, run asynchronously, written down and read again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.dataclasses import ChatMessage, ToolCall

from stillme.adapters.haystack import AnswerGuard, SourceGuard
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard

DOCUMENTS = [Document(content=PASSAGE, meta={"source_id": "faq", "similarity": 0.9})]
ENFORCE = {"mode": "enforce", "grounding": {"model": "none"}}


@component
class Scripted:
    """A generator that says one thing."""

    def __init__(self, said: str, chat: bool = True) -> None:
        self.said, self.chat = said, chat

    @component.output_types(replies=list[Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """The reply."""
        return {"replies": [ChatMessage.from_assistant(self.said) if self.chat else self.said]}


def pipeline(said: str, *, chat: bool = True) -> Pipeline:
    """A generator between both guards."""
    made = Pipeline()
    made.add_component("sources", SourceGuard(ENFORCE))
    made.add_component("llm", Scripted(said, chat))
    made.add_component("guard", AnswerGuard(ENFORCE))
    made.connect("sources.documents", "llm.documents")
    made.connect("llm.replies", "guard.replies")
    return made


def asked(documents: list[Document] = DOCUMENTS) -> dict[str, Any]:
    """What a pipeline is run with."""
    return {
        "sources": {"query": QUESTION, "documents": documents},
        "guard": {"query": QUESTION, "documents": documents},
    }


@pytest.mark.parametrize("chat", [True, False], ids=["messages", "texts"])
@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_replies_go_past_the_guard(said: str, passes: bool, chat: bool) -> None:
    """With a verdict for each."""
    found = pipeline(said, chat=chat).run(asked())["guard"]

    (reply,), (verdict,) = found["replies"], found["verdicts"]
    assert ((reply.text if chat else reply) == said) is passes
    assert verdict["claims"][0]["source_ids"] == ["faq"]
    assert not chat or reply.meta["stillme"] == verdict


def test_an_asynchronous_pipeline() -> None:
    """Gives the same."""
    found = asyncio.run(pipeline(FALSE).run_async(asked()))["guard"]

    assert FALSE not in found["replies"][0].text


def test_nothing_is_generated_from_documents_that_do_not_suffice() -> None:
    """The refusal comes instead."""
    found = pipeline(TRUE).run(asked([Document(content="Trời hôm nay đẹp.")]))

    assert found["sources"]["refusal"]
    assert "guard" not in found


def test_a_pipeline_is_written_down_and_read_again() -> None:
    """By its policy."""
    made = Pipeline()
    made.add_component("guard", AnswerGuard(ENFORCE))

    again = Pipeline.loads(made.dumps(), allowed_modules=["stillme.adapters.haystack"])

    found = again.run({"guard": {"query": QUESTION, "replies": [FALSE], "documents": DOCUMENTS}})
    assert found["guard"]["verdicts"][0]["mode"] == "enforce"
    assert FALSE not in found["guard"]["replies"][0]


def test_a_guard_of_the_programs_own_is_not_written_down() -> None:
    """Reading it again would give another one."""
    with pytest.raises(ValueError, match="give it a policy"):
        AnswerGuard(guard=guard()).to_dict()


def test_a_message_that_only_calls_a_tool_passes() -> None:
    """There is nothing to judge yet."""
    call = ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"query": "returns"})])

    found = AnswerGuard(guard=guard()).run(query=QUESTION, replies=[call], documents=[])

    assert found["replies"] == [call]


def test_a_guard_that_fails_blocks_in_enforce() -> None:
    """And says why."""
    found = AnswerGuard(guard=broken_guard()).run(query=QUESTION, replies=[TRUE], documents=DOCUMENTS)

    assert TRUE not in found["replies"][0]
    assert BROKEN in found["verdicts"][0]["problem"]
