"""StillMe for agents: an MCP server with the tools verify, precheck, search and explain.

    server(Guard("policy.yaml"), audit=store, retriever=retriever).run("stdio")

What a tool returns is structured, by the schemas of the contract. What cannot be verified is an error of the call, never a verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from stillme.audit import AuditStore
from stillme.audit.review.cases import request_of, standing_of, text_words, verdict_of
from stillme.chat.retrieval import Retriever
from stillme.contract import Metadata, RetrievedPassage, Turn, Verdict
from stillme.errors import InputError, StillMeError
from stillme.guard import Guard
from stillme.response import reason_words
from stillme.version import __version__

__all__ = ["Explanation", "Found", "ReasonInWords", "server"]

INSTRUCTIONS = (
    "Check an answer with `verify` before you give it: pass the user's question, your draft, and the passages that it rests on, unchanged. "
    "Give what `action` allows: on block or clarify give `safe_response` instead of the draft. `precheck` says beforehand whether "
    "question and passages suffice. `search` finds passages, `explain` says why an earlier verdict came out as it did."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
Result = TypeVar("Result")

Question = Annotated[str, Field(description="the user's question, as it was asked")]
Passages = Annotated[list[RetrievedPassage], Field(description="what the answer may rest on, as it was retrieved")]
Confidence = Annotated[float | None, Field(description="how sure the model was of the draft, 0 to 1")]
AsOf = Annotated[str | None, Field(description="the point in time that dates are judged at, ISO 8601; without it, now")]


class Found(BaseModel):
    """What a search found, the best first: passages to answer from and to verify with."""

    passages: list[RetrievedPassage]


class ReasonInWords(BaseModel):
    """A reason code, what it says, and what would help."""

    code: str
    says: str
    helps: str | None = None


class Explanation(BaseModel):
    """Why a recorded verdict came out as it did."""

    validator_trace_id: str
    recorded_at: str
    query: str | None
    """None where the texts of the record are gone."""
    draft_answer: str | None
    reasons: list[ReasonInWords]
    verdict: Verdict
    notice: str | None = None
    """What is to be said of texts that are not there as they were."""


def server(
    guard: Guard, *, audit: AuditStore | None = None, retriever: Retriever | None = None, name: str = "stillme"
) -> MCPServer:
    """A server over a guard; without a retriever there is no search, without an audit store no explain."""
    made: MCPServer = MCPServer(name, instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")

    @made.tool(title="Verify an answer", annotations=READS, structured_output=True)
    async def verify(
        query: Question,
        draft_answer: Annotated[str, Field(description="the answer as it would be given", min_length=1)],
        retrieved_context: Passages,
        metadata: Metadata | None = None,
        generation_confidence: Confidence = None,
        as_of: AsOf = None,
        conversation: Sequence[Turn] = (),
    ) -> Verdict:
        """Check a draft answer against the passages that it rests on: decision, action, each claim with its evidence."""
        request = _request(query, draft_answer, retrieved_context, metadata, generation_confidence, as_of, conversation)
        return await _told(lambda: guard.verify(request, caller="mcp"))

    @made.tool(title="Check before answering", annotations=READS, structured_output=True)
    async def precheck(
        query: Question,
        retrieved_context: Passages,
        metadata: Metadata | None = None,
        as_of: AsOf = None,
        conversation: Sequence[Turn] = (),
    ) -> Verdict:
        """Say whether a question may be answered from these passages, before anything is generated."""
        request = _request(query, None, retrieved_context, metadata, None, as_of, conversation)
        return await _told(lambda: guard.precheck(request, caller="mcp"))

    if retriever is not None:
        _add_search(made, retriever)
    if audit is not None:
        _add_explain(made, audit)
    return made


def _add_search(made: MCPServer, retriever: Retriever) -> None:
    @made.tool(title="Find passages", annotations=READS, structured_output=True)
    async def search(query: Question, most: Annotated[int, Field(ge=1, le=50)] = 5) -> Found:
        """Find the passages of the knowledge store that a question may be answered from."""
        return await _told(lambda: _found(retriever, query, most))


def _add_explain(made: MCPServer, audit: AuditStore) -> None:
    @made.tool(title="Explain a verdict", annotations=READS, structured_output=True)
    async def explain(
        validator_trace_id: Annotated[
            str, Field(description="the validator_trace_id or request_id of a verdict, or its beginning")
        ],
    ) -> Explanation:
        """Say why a recorded verdict came out as it did; a record that was changed since is not shown."""
        return await _told(lambda: _explained(audit, validator_trace_id))


async def _told(work: Callable[[], Result]) -> Result:
    """What the work gives; what it raises is told to the agent in one line."""
    try:
        return await asyncio.to_thread(work)
    except StillMeError as error:
        raise ToolError(str(error)) from None


def _request(
    query: str,
    draft: str | None,
    passages: list[RetrievedPassage],
    metadata: Metadata | None,
    confidence: float | None,
    as_of: str | None,
    conversation: Sequence[Turn],
) -> dict[str, Any]:
    return {
        "query": query,
        "draft_answer": draft,
        "retrieved_context": passages,
        "metadata": metadata or {},
        "generation_confidence": confidence,
        "as_of": as_of,
        "conversation": list(conversation),
    }


def _found(retriever: Retriever, query: str, most: int) -> Found:
    found = retriever.retrieve_context(query, most=most).knowledge_docs
    return Found(
        passages=[
            RetrievedPassage(
                source_id=each.chunk.id,
                text=each.chunk.text,
                title=each.chunk.title,
                url=each.chunk.url,
                timestamp=each.chunk.timestamp,
                similarity=each.similarity,
            )
            for each in found
        ]
    )


def _explained(audit: AuditStore, validator_trace_id: str) -> Explanation:
    record = audit.find(validator_trace_id)
    entry, standing = record.entry, standing_of(audit, record, audit.keyring)
    if standing.fault is not None:
        raise InputError(f"the record was changed since, and is not shown: {standing.fault}")
    if entry is None or entry.kind != "verdict":
        raise InputError("that record holds no verdict: pass the validator_trace_id of one")
    request, verdict = request_of(entry), verdict_of(entry)
    words = [(code, reason_words(code, verdict.language)) for code in verdict.reasons]
    return Explanation(
        validator_trace_id=entry.id,
        recorded_at=entry.at,
        query=request.query if request else None,
        draft_answer=request.draft_answer if request else None,
        reasons=[ReasonInWords(code=code, says=each["say"], helps=each.get("help")) for code, each in words],
        verdict=verdict,
        notice=text_words(audit, record),
    )
