"""Chains and agents of real LangChain behind the guard, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool

from stillme.adapters.guarding import Judged
from stillme.adapters.langchain import GuardedRunnable, GuardMiddleware
from stillme.errors import InputError
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard


class Shelf(BaseRetriever):
    """Finds one document, whatever is asked."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(PASSAGE, id="faq", metadata={"title": "Returns", "similarity": 0.9})]


def model(*said: str | AIMessage) -> GenericFakeChatModel:
    """A model that says these, one call after another, streamed word by word."""
    messages: Iterator[AIMessage] = iter([m if isinstance(m, AIMessage) else AIMessage(m) for m in said])
    return GenericFakeChatModel(messages=messages)


def rag(said: str, *, parsed: bool = True) -> Runnable[Any, Any]:
    """The chain of LangChain's own tutorial."""
    prompt = ChatPromptTemplate.from_template("Context: {context}\nQuestion: {question}")
    chain = {"context": Shelf(), "question": RunnablePassthrough()} | prompt | model(said)
    return chain | StrOutputParser() if parsed else chain


@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_a_chain_that_gives_text(said: str, passes: bool) -> None:
    """Evidence is what its retriever returned; nobody had to pass it on."""
    kept: list[Judged] = []
    chain = GuardedRunnable(rag(said), guard(), on_judged=kept.append)

    found = chain.invoke(QUESTION)

    assert (found == said) is passes
    assert [c.source_ids for c in kept[0].verdict.claims] == [["faq"]]
    assert asyncio.run(GuardedRunnable(rag(said), guard()).ainvoke(QUESTION)) == found


def test_a_chain_that_gives_a_message_keeps_the_verdict_in_its_metadata() -> None:
    """Where LangChain keeps what a provider says beside the text."""
    found = GuardedRunnable(rag(FALSE, parsed=False), guard()).invoke(QUESTION)

    assert isinstance(found, AIMessage)
    assert FALSE not in found.text
    assert found.response_metadata["stillme"]["decision"] == "refuse"


def test_a_chain_that_gives_an_object_with_its_context() -> None:
    """As create_retrieval_chain does: question, documents and answer."""
    made = RunnableLambda(lambda asked: {**asked, "context": [Document(PASSAGE)], "answer": FALSE})

    found = GuardedRunnable(made, guard()).invoke({"input": QUESTION})

    assert FALSE not in found["answer"]
    assert found["stillme"]["action"] == "block"


def test_a_guarded_chain_is_a_step_of_another() -> None:
    """It composes with | and takes a batch, as any Runnable does."""
    chain = GuardedRunnable(rag(TRUE), guard()) | RunnableLambda(str.upper)

    assert chain.batch([QUESTION]) == [TRUE.upper()]


@pytest.mark.parametrize("parsed", [True, False], ids=["text", "messages"])
def test_a_stream_lets_out_claims_once_they_are_verified(parsed: bool) -> None:
    """What comes before the false claim arrives, the false claim does not."""
    chunks = list(GuardedRunnable(rag(f"{TRUE} {FALSE}", parsed=parsed), guard()).stream(QUESTION))

    out = "".join(chunk if isinstance(chunk, str) else chunk.text for chunk in chunks)
    assert out.startswith(TRUE)
    assert FALSE not in out


def test_an_asynchronous_stream() -> None:
    """The same, with the verdict in the last chunk."""

    async def chunks() -> list[Any]:
        return [chunk async for chunk in GuardedRunnable(rag(TRUE, parsed=False), guard()).astream(QUESTION)]

    found = asyncio.run(chunks())

    assert "".join(chunk.text for chunk in found) == TRUE
    assert found[-1].response_metadata["stillme"]["decision"] == "answer"


@pytest.mark.parametrize(("mode", "passes"), [("enforce", False), ("monitor", True)])
def test_a_guard_that_fails(mode: str, passes: bool) -> None:
    """Blocks in enforce and says so, whole and streamed."""
    whole = GuardedRunnable(rag(TRUE, parsed=False), broken_guard(mode)).invoke(QUESTION)
    out = "".join(GuardedRunnable(rag(TRUE), broken_guard(mode)).stream(QUESTION))

    assert (whole.text == TRUE, out == TRUE) == (passes, passes)
    assert BROKEN in whole.response_metadata["stillme"]["problem"]


def test_an_input_without_a_question_says_what_to_do() -> None:
    """And nothing goes out."""
    with pytest.raises(InputError, match="query="):
        GuardedRunnable(RunnableLambda(lambda _: TRUE), guard()).invoke({"topic": "gear"})


# agents


@tool(response_format="content_and_artifact")
def handbook(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001  (a tool has arguments)
    """Look a question up in the handbook."""
    return PASSAGE, [Document(PASSAGE, metadata={"source": "handbook", "similarity": 0.9})]


@tool
def clock() -> str:
    """The time of day."""
    return "Unused gear can be returned within 90 days of delivery."


class Scripted(GenericFakeChatModel):
    """A model that may be given tools, and calls them as the script says."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """It knows them already."""
        return self


def call(name: str, **arguments: Any) -> AIMessage:
    """A message that calls a tool."""
    return AIMessage("", tool_calls=[ToolCall(name=name, args=arguments, id=f"call-{name}")])


def agent(*said: str | AIMessage, mode: str = "enforce", **how: Any) -> Any:
    """An agent with both tools behind the guard."""
    script = Scripted(messages=iter([m if isinstance(m, AIMessage) else AIMessage(m) for m in said]))
    return create_agent(script, [handbook, clock], middleware=[GuardMiddleware(guard(mode), **how)])


ASKED = {"messages": [HumanMessage(QUESTION)]}


@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_an_agents_answer_is_judged_by_what_its_tools_returned(said: str, passes: bool) -> None:
    """The call of the tool goes through, the answer is replaced where it fails."""
    found = agent(call("handbook", query="returns"), said).invoke(ASKED)

    last = found["messages"][-1]
    assert (last.text == said) is passes
    assert last.response_metadata["stillme"]["claims"][0]["source_ids"] == ["handbook"]
    assert [m.type for m in found["messages"]] == ["human", "ai", "tool", "ai"]


def test_only_the_named_tools_are_sources() -> None:
    """What another tool says supports nothing."""
    found = agent(call("clock"), FALSE, evidence_tools=["handbook"]).invoke(ASKED)

    assert FALSE not in found["messages"][-1].text


def test_no_token_of_an_agents_answer_is_streamed_before_it_is_judged() -> None:
    """What arrives is the refusal, whole."""
    looked_up = [
        *ASKED["messages"],
        call("handbook", query="returns"),
        ToolMessage(PASSAGE, tool_call_id="call-handbook"),
    ]

    texts = asyncio.run(streamed_texts(agent(FALSE), {"messages": looked_up}))

    assert FALSE not in "".join(texts)
    assert not any(text.strip() in FALSE.split() for text in texts if text.strip())
    assert texts[-1]


@pytest.mark.parametrize(("mode", "said"), [("enforce", ""), ("monitor", FALSE)])
def test_what_is_said_beside_a_call_of_a_tool_is_not_said_in_enforce(mode: str, said: str) -> None:
    """It is not judged."""
    talking = call("handbook", query="returns").model_copy(update={"content": FALSE})

    found = agent(talking, TRUE, mode=mode).invoke(ASKED)

    assert (found["messages"][1].text, found["messages"][-1].text) == (said, TRUE)


async def streamed_texts(made: Any, asked: dict[str, Any]) -> list[str]:
    """The texts of messages as they stream."""
    return [message.text async for message, _ in made.astream(asked, stream_mode="messages")]
