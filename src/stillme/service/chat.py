"""`POST /api/chat/rag` and what belongs to it: the chat pipeline over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.chat.pipeline import ChatOutcome, ChatPipeline, ChatRequest
from stillme.contract import Verdict
from stillme.errors import InputError, UpstreamError, shown
from stillme.guard import shown as shown_verdict
from stillme.service.bodies import as_model, read_json
from stillme.service.limits import Pool, within
from stillme.service.metrics import Metrics
from stillme.service.openapi import body_of, problems
from stillme.service.settings import ServiceSettings
from stillme.storage.knowledge.store import Context, Found

__all__ = ["Chat"]

SHAPE_HEADER: Final = "x-stillme-response"
LONGEST_ORIGINAL: Final = 200
TIMEOUT: Final = "STILLME_CHAT_TIMEOUT_S"
Session = Annotated[str, Path(pattern=r"^[A-Za-z0-9._:@-]{1,200}$")]


class ContextDocument(BaseModel):
    """A chunk that the answer could stand on."""

    id: str
    content: str
    title: str | None
    url: str | None
    timestamp: str | None
    similarity: float


class ContextUsed(BaseModel):
    """What was retrieved for the message; `[n]` in the answer is the n-th knowledge document."""

    knowledge_docs: list[ContextDocument]
    conversation_docs: list[ContextDocument]
    total_context_docs: int


class ValidatorOutcome(BaseModel):
    """What one validator observed."""

    validator: str
    outcome: str
    reason: str | None
    detail: str | None


class ValidationMetrics(BaseModel):
    """What the validators made of the answer."""

    passed: bool
    decision: str
    action: str
    mode: str
    verified: bool
    reasons: list[str]
    confidence_band: str
    warning: str | None
    validator_trace_id: str | None
    claims_total: int
    claims_supported: int
    max_similarity: float | None
    context_count: int
    elapsed_ms: float
    validators: list[ValidatorOutcome]


class ChatResponse(BaseModel):
    """The answer; `validation_metrics` is there when validators are on, and only then."""

    model_config = ConfigDict(json_schema_extra={"required": ["response", "context_used"]})

    response: str
    context_used: ContextUsed
    validation_metrics: ValidationMetrics | None = Field(default=None)


class FailedValidation(BaseModel):
    """Why an answer did not pass, in the shape of the integration plan."""

    error: Literal["validation_failed"]
    reasons: list[str]
    original_response: str = Field(description=f"the first {LONGEST_ORIGINAL} characters of what the model said")


class ValidationFailure(BaseModel):
    """A draft that did not pass and that nothing could mend."""

    detail: FailedValidation
    safe_response: str = Field(description="what to show in its place")


class AdrSource(BaseModel):
    """A source of the answer."""

    source_id: str
    title: str | None
    url: str | None
    timestamp: str | None


class AdrResponse(BaseModel):
    """The answer in the shape of ADR-004; the preset `book` or the header `x-stillme-response: adr` asks for it."""

    answer: str
    sources: list[AdrSource]
    refused: bool
    refusal_reason: str | None
    warning: str | None = Field(default=None, description="there where the mode leaves the answer alone, and only then")


class SearchResult(BaseModel):
    """What retrieval finds for a question."""

    results: list[ContextDocument]


@dataclass(frozen=True, slots=True)
class Chat:
    """The chat endpoints over a pipeline."""

    pipeline: ChatPipeline
    pool: Pool
    settings: ServiceSettings
    metrics: Metrics

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        common = (400, 401, 403, 408, 413, 415, 422, 429, 502, 503, 504)
        app.add_api_route(
            "/api/chat/rag",
            self.rag,
            methods=["POST"],
            response_model=ChatResponse | AdrResponse,
            responses=problems(*common) | {422: problems(422)[422] | {"model": ValidationFailure}},
            openapi_extra=body_of(ChatRequest),
            summary="Answer a message from what was ingested.",
            tags=["chat"],
        )
        app.add_api_route(
            "/api/chat/sessions/{session_id}",
            self.forget,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404, 408, 422, 429, 503),
            summary="Forget what was said in a session.",
            tags=["chat"],
        )
        app.add_api_route(
            "/v1/search",
            self.search,
            methods=["GET"],
            response_model=SearchResult,
            responses=problems(401, 403, 408, 422, 429, 503),
            summary="What retrieval finds for a question.",
            tags=["chat"],
        )

    async def rag(self, request: Request) -> Response:
        """Retrieval, precheck, identity, model, validators, tone."""
        asked = as_model(ChatRequest, await read_json(request))
        shape = self._shape(request)
        outcome = await within(self.settings.chat_timeout_s, self._answered(asked, request), TIMEOUT)
        headers = _headers(outcome)
        if shape == "adr":
            return JSONResponse(_adr(outcome), headers=headers)
        if outcome.failed:
            return JSONResponse(_failure(outcome), 422, {**headers, "cache-control": "no-store"})
        content: dict[str, Any] = {"response": outcome.response, "context_used": _context(outcome.context)}
        if outcome.occurrence is not None:
            content["validation_metrics"] = _metrics(shown_verdict(outcome.occurrence))
        return JSONResponse(content, headers=headers)

    async def forget(self, request: Request, session_id: Session) -> Response:
        """Forget a session of the caller's; one that is not known, or another's, is forgotten already."""
        owner = request.scope.get("stillme.owner", "")
        work = self.pool.run(lambda: self.pipeline.retriever.forget(session_id, owner=owner))
        await within(self.settings.timeout_s, work, "STILLME_REQUEST_TIMEOUT_S")
        return Response(status_code=204)

    async def search(
        self, q: Annotated[str, Query(min_length=1, max_length=8000)], most: Annotated[int, Query(ge=1, le=50)] = 5
    ) -> SearchResult:
        """The chunks that an answer to this question could stand on, best first."""
        if not q.strip():
            raise InputError(f"q is blank ({shown(q)}): send a question")
        work = self.pool.run(lambda: self.pipeline.retriever.retrieve_context(q, most=most))
        context: Context = await within(self.settings.timeout_s, work, "STILLME_REQUEST_TIMEOUT_S")
        return SearchResult.model_validate({"results": [_document(found) for found in context.knowledge_docs]})

    async def _answered(self, asked: ChatRequest, request: Request) -> ChatOutcome:
        provider = asked.provider or "default"
        known = provider if provider in self.pipeline.router.names else "other"
        try:
            who = {"caller": request.scope.get("stillme.caller"), "owner": request.scope.get("stillme.owner", "")}
            outcome = await self.pipeline.answer(asked, **who)
        except UpstreamError:
            self.metrics.model(known, "failed")
            raise
        if outcome.generation is not None:
            self.metrics.model(outcome.generation.provider, "answered")
        return outcome

    def _shape(self, request: Request) -> Literal["chat", "adr"]:
        wanted = request.headers.get(SHAPE_HEADER, "").strip().lower()
        if wanted not in ("", "chat", "adr"):
            raise InputError(f"{SHAPE_HEADER} must be chat or adr, got {shown(wanted)}")
        if wanted:
            return "adr" if wanted == "adr" else "chat"
        return "adr" if self.pipeline.guard.policy.extends == "book" else "chat"


def _headers(outcome: ChatOutcome) -> dict[str, str]:
    """Who answered, and where the record is; the bodies keep their shapes."""
    found: dict[str, str] = {}
    if outcome.generation is not None:
        found["x-stillme-provider"] = outcome.generation.provider
    if outcome.occurrence is not None:
        verdict = shown_verdict(outcome.occurrence)
        found["x-stillme-decision"] = verdict.decision.value
        found["x-stillme-action"] = verdict.action
        if verdict.validator_trace_id:
            found["x-stillme-validator-trace-id"] = verdict.validator_trace_id
    if outcome.record is not None:
        found["x-stillme-verified"] = "false"
        found["x-stillme-validator-trace-id"] = outcome.record.verdict.validator_trace_id or ""
    return found


def _failure(outcome: ChatOutcome) -> dict[str, Any]:
    """What a caller gets of a draft that did not pass and that nothing could mend."""
    verdict = shown_verdict(outcome.occurrence) if outcome.occurrence else None
    original = outcome.generation.text if outcome.generation else ""
    failed = FailedValidation(
        error="validation_failed",
        reasons=verdict.reasons if verdict else [],
        original_response=original[:LONGEST_ORIGINAL],
    )
    return ValidationFailure(detail=failed, safe_response=outcome.response).model_dump(mode="json")


def _document(found: Found) -> dict[str, Any]:
    chunk = found.chunk
    return {
        "id": chunk.id,
        "content": chunk.text,
        "title": chunk.title,
        "url": chunk.url,
        "timestamp": chunk.timestamp,
        "similarity": found.similarity,
    }


def _context(context: Context) -> dict[str, Any]:
    return {
        "knowledge_docs": [_document(found) for found in context.knowledge_docs],
        "conversation_docs": [_document(found) for found in context.conversation_docs],
        "total_context_docs": context.total_context_docs,
    }


def _metrics(verdict: Verdict) -> dict[str, Any]:
    figures = verdict.metrics
    found = ValidationMetrics(
        passed=verdict.decision.value == "answer",
        decision=verdict.decision.value,
        action=verdict.action,
        mode=verdict.mode,
        verified=verdict.verified,
        reasons=verdict.reasons,
        confidence_band=verdict.confidence_band,
        warning=verdict.warning,
        validator_trace_id=verdict.validator_trace_id,
        claims_total=figures.claims_total,
        claims_supported=figures.claims_supported,
        max_similarity=figures.max_similarity,
        context_count=figures.context_count,
        elapsed_ms=figures.elapsed_ms,
        validators=[
            ValidatorOutcome(validator=f.validator, outcome=f.outcome, reason=f.reason, detail=f.detail)
            for f in verdict.findings
        ],
    )
    return found.model_dump(mode="json")


def _adr(outcome: ChatOutcome) -> dict[str, Any]:
    if outcome.occurrence is None:
        sources = [
            {"source_id": f.chunk.id, "title": f.chunk.title, "url": f.chunk.url, "timestamp": f.chunk.timestamp}
            for f in outcome.context.knowledge_docs
        ]
        return {"answer": outcome.response, "sources": sources, "refused": False, "refusal_reason": None}
    return shown_verdict(outcome.occurrence).to_adr(outcome.response) | {"answer": outcome.response}
