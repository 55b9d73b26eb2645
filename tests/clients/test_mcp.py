"""`stillme mcp` and its tools, called by the official client: in process, over standard input and output, and over HTTP."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from stillme import AuditStore, Guard, Verdict
from stillme.adapters.mcp import server
from stillme.chat.documents.ingest import ingest
from stillme.chat.retrieval import Retriever
from stillme.models.embedding import embed
from stillme.storage.knowledge.engines import store_at
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard
from tests.waiting import eventually

CONTEXT = [{"source_id": "faq", "text": PASSAGE, "similarity": 0.9}]


def asked(target: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """What a client gets from a server."""

    async def run() -> Any:
        async with Client(target) as client:
            return await work(client)

    return anyio.run(run)


def called(target: Any, tool: str, **arguments: Any) -> Any:
    """The result of one call."""
    return asked(target, lambda client: client.call_tool(tool, arguments))


def test_the_tools_are_those_that_can_be_served(tmp_path: Path) -> None:
    """Each with a schema of what it takes and of what it gives."""
    with AuditStore(tmp_path / "audit.db") as store:
        found = asked(server(guard(), audit=store), lambda client: client.list_tools())

    tools = {tool.name: tool for tool in found.tools}
    assert set(tools) == {"verify", "precheck", "explain"}
    assert "claims" in tools["verify"].output_schema["properties"]
    assert set(tools["verify"].input_schema["required"]) == {"query", "draft_answer", "retrieved_context"}


@pytest.mark.parametrize(("draft", "action"), [(TRUE, "deliver"), (FALSE, "block")])
def test_verify_gives_the_guards_verdict(draft: str, action: str) -> None:
    """Structured, in the shape of the contract."""
    result = called(server(guard()), "verify", query=QUESTION, draft_answer=draft, retrieved_context=CONTEXT)

    verdict = Verdict.model_validate(result.structured_content)
    alone = guard().verify({"query": QUESTION, "draft_answer": draft, "retrieved_context": CONTEXT})
    assert (verdict.action, verdict.reasons, verdict.claims) == (action, alone.reasons, alone.claims)


def test_precheck_refuses_a_question_without_sources() -> None:
    """In Vietnamese too."""
    result = called(server(guard()), "precheck", query="Công ty được thành lập vào năm nào?", retrieved_context=[])

    assert result.structured_content["decision"] == "refuse"
    assert result.structured_content["language"] == "vi"


@pytest.mark.parametrize(
    ("target", "arguments", "words"),
    [
        pytest.param(guard(), {"query": "  "}, "query is blank", id="a blank question"),
        pytest.param(guard(), {"as_of": "soon"}, "ISO 8601", id="no point in time"),
        pytest.param(broken_guard(), {}, BROKEN, id="a guard that fails"),
    ],
)
def test_what_cannot_be_verified_is_an_error_of_the_call(target: Guard, arguments: dict[str, Any], words: str) -> None:
    """And no verdict."""
    given = {"query": QUESTION, "draft_answer": TRUE, "retrieved_context": CONTEXT, **arguments}

    result = called(server(target), "verify", **given)

    assert (result.is_error, result.structured_content) == (True, None)
    assert words in result.content[0].text


def test_search_finds_passages_to_verify_with(tmp_path: Path) -> None:
    """What it gives is what verify takes."""
    (tmp_path / "faq.md").write_text(f"# Returns\n\n{PASSAGE}\n", encoding="utf-8")
    store = store_at(str(tmp_path / "knowledge.db"))
    ingest([tmp_path / "faq.md"], store, embed=embed)
    made = server(guard(), retriever=Retriever(store))

    found = called(made, "search", query=QUESTION, most=3).structured_content["passages"]
    verdict = called(made, "verify", query=QUESTION, draft_answer=TRUE, retrieved_context=found)

    assert PASSAGE in found[0]["text"]
    assert verdict.structured_content["decision"] == "answer"
    store.close()


def test_explain_says_why_and_finds_a_record_that_was_changed(tmp_path: Path) -> None:
    """The reasons in words; a changed record is not shown."""
    with AuditStore(tmp_path / "audit.db") as store:
        made = server(Guard({"mode": "enforce", "grounding": {"model": "none"}}, audit=store), audit=store)
        verdict = called(
            made, "verify", query=QUESTION, draft_answer=FALSE, retrieved_context=CONTEXT
        ).structured_content

        told = called(made, "explain", validator_trace_id=verdict["validator_trace_id"]).structured_content
        with closing(sqlite3.connect(tmp_path / "audit.db", isolation_level=None)) as other:
            other.execute("UPDATE stillme_audit_record SET decision = 'answer' WHERE decision = 'refuse'")
        changed = called(made, "explain", validator_trace_id=verdict["validator_trace_id"])

    assert (told["query"], told["draft_answer"], told["verdict"]["decision"]) == (QUESTION, FALSE, "refuse")
    assert "contradicted_claim" in [reason["code"] for reason in told["reasons"]]
    assert all(reason["says"] for reason in told["reasons"])
    assert changed.is_error


def test_an_unknown_trace_is_an_error(tmp_path: Path) -> None:
    """With the id."""
    with AuditStore(tmp_path / "audit.db") as store:
        result = called(server(guard(), audit=store), "explain", validator_trace_id="trace-none")

    assert result.is_error
    assert "trace-none" in result.content[0].text


# the command


def policy_file(folder: Path) -> str:
    """A policy that needs no model."""
    path = folder / "policy.yaml"
    path.write_text("mode: enforce\ngrounding: {model: none}\n", encoding="utf-8")
    return str(path)


def test_the_command_over_standard_input_and_output(tmp_path: Path) -> None:
    """As a desktop client starts it; the verdict is recorded and explained."""
    command = ["-m", "stillme", "mcp", "--policy", policy_file(tmp_path), "--store", str(tmp_path / "audit.db")]
    started = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def work(client: Client) -> Any:
        verdict = await client.call_tool(
            "verify", {"query": QUESTION, "draft_answer": FALSE, "retrieved_context": CONTEXT}
        )
        trace = verdict.structured_content["validator_trace_id"]
        return verdict, await client.call_tool("explain", {"validator_trace_id": trace})

    verdict, told = asked(started, work)

    assert verdict.structured_content["action"] == "block"
    assert told.structured_content["validator_trace_id"] == verdict.structured_content["validator_trace_id"]


def test_the_command_over_http(tmp_path: Path) -> None:
    """On loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "stillme", "mcp", "--transport", "streamable-http", "--port", str(port)]
    process = subprocess.Popen([*command, "--policy", policy_file(tmp_path)], stderr=subprocess.PIPE)
    try:
        assert eventually(lambda: is_open(port))
        result = called(
            f"http://127.0.0.1:{port}/mcp", "verify", query=QUESTION, draft_answer=TRUE, retrieved_context=CONTEXT
        )
        assert json.loads(json.dumps(result.structured_content))["action"] == "deliver"
    finally:
        process.terminate()
        process.communicate()


def is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
