"""The request and the verdict: the v0.1 contract, validated once at the door.

`schemas/` holds the JSON Schema of both models; a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stillme.errors import InputError, nearest, shown
from stillme.reasons import Decision, Gate

__all__ = [
    "Citation",
    "ClaimVerdict",
    "Conflict",
    "FindingRecord",
    "Metadata",
    "Metrics",
    "RetrievedPassage",
    "Statement",
    "Turn",
    "Verdict",
    "VerifyRequest",
    "made",
    "parse_request",
]

Made = TypeVar("Made", bound=BaseModel)
Mode = Literal["monitor", "warn", "enforce"]
Action = Literal["deliver", "deliver_with_warning", "block", "clarify"]
Band = Literal["low", "medium", "high"]
Status = Literal["supported", "contradicted", "unsupported", "not_factual"]
Outcome = Literal["passed", "flagged", "skipped", "errored"]
Span = tuple[int, int]
# Built when a verdict is first written or read, not on import: making one from our own findings needs no validation.
OUTPUT: Final = ConfigDict(extra="forbid", defer_build=True)
MOMENT_EXPECTED: Final = "must be an ISO 8601 date and time such as '2026-02-01T09:00:00Z'"
PASSAGE_TEXTS: Final = ("source_id", "text", "title", "url", "timestamp")


def _timestamp_text(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _point_in_time(value: object) -> object:
    """ISO 8601 text or a datetime, in UTC; a naive one is read as UTC, a number is refused."""
    if value is None:
        return None
    if not isinstance(value, str | datetime):
        raise ValueError(MOMENT_EXPECTED)
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(MOMENT_EXPECTED) from None


def _none_to_empty(value: object) -> object:
    return [] if value is None else value


def _none_to_metadata(value: object) -> object:
    return {} if value is None else value


def _object_or_null(schema: dict[str, Any]) -> None:
    """In the schema as in the model: null is as good as leaving it out."""
    schema["anyOf"] = [{"$ref": schema.pop("$ref")}, {"type": "null"}]


def _or_null(schema: dict[str, Any]) -> None:
    """In the schema as in the model: null is an empty list."""
    schema["anyOf"] = [{key: schema.pop(key) for key in ("items", "type") if key in schema}, {"type": "null"}]


Similarity = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False, strict=True)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
PointInTime = Annotated[datetime | None, BeforeValidator(_point_in_time)]


class RetrievedPassage(BaseModel):
    """One retrieved chunk; extra keys are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    source_id: Annotated[str, Field(min_length=1, max_length=512)]
    text: str
    title: str | None = None
    url: str | None = None
    timestamp: Annotated[str | None, BeforeValidator(_timestamp_text)] = None
    similarity: Similarity | None = None


class Metadata(BaseModel):
    """What the caller knows about the request; extra keys are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    language: Literal["vi", "en", "auto"] = "auto"
    domain: str | None = None
    session_id: str | None = None


class Turn(BaseModel):
    """An earlier turn of the conversation: it resolves references and is never evidence."""

    model_config = ConfigDict(extra="allow", frozen=True)

    role: str
    content: str


class VerifyRequest(BaseModel):
    """A question, the passages retrieved for it, and the draft answer (blank: Pattern B, precheck)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    request_id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    query: str
    draft_answer: str | None = None
    retrieved_context: Annotated[
        tuple[RetrievedPassage, ...], BeforeValidator(_none_to_empty), Field(json_schema_extra=_or_null)
    ] = ()
    metadata: Annotated[Metadata, BeforeValidator(_none_to_metadata), Field(json_schema_extra=_object_or_null)] = (
        Metadata()
    )
    generation_confidence: Probability | None = None
    as_of: PointInTime = None
    conversation: Annotated[tuple[Turn, ...], BeforeValidator(_none_to_empty), Field(json_schema_extra=_or_null)] = ()


class Citation(BaseModel):
    """A source that supports the delivered answer."""

    model_config = OUTPUT

    source_id: str
    title: str | None = None
    url: str | None = None
    timestamp: str | None = None


class ClaimVerdict(BaseModel):
    """One claim of the draft: `text` is `draft_answer[start:end]`, `score` the probability that it is supported."""

    model_config = OUTPUT

    text: str
    start: int
    end: int
    status: Status
    score: float | None = None
    source_ids: list[str] = []
    quote: str | None = None
    unsupported_spans: list[Span] = []
    decided_by: str | None = None
    detail: str | None = None


class FindingRecord(BaseModel):
    """What one validator observed; `reason` is set when it flagged or errored."""

    model_config = OUTPUT

    validator: str
    outcome: Outcome
    gate: Gate
    stage: Literal["query", "draft"]
    reason: str | None = None
    detail: str | None = None
    spans: list[Span] = []
    repaired: bool = False
    elapsed_ms: float = 0.0

    def refuses(self) -> bool:
        """Whether it is a hard finding that no repair answered."""
        is_problem = self.outcome in ("flagged", "errored")
        return is_problem and self.gate is Gate.HARD and not self.repaired

    def explained(self) -> str:
        """Its reason and its detail."""
        return ": ".join(filter(None, (self.reason, self.detail)))


class Statement(BaseModel):
    """What one source says in a conflict, quoted verbatim."""

    model_config = OUTPUT

    source_id: str
    quote: str
    value: str | None = None


class Conflict(BaseModel):
    """Sources that disagree, and on what."""

    model_config = OUTPUT

    source_ids: list[str]
    about: str
    statements: list[Statement]


class Metrics(BaseModel):
    """The figures behind the decision."""

    model_config = OUTPUT

    max_similarity: float | None
    context_count: int
    claims_total: int = 0
    claims_supported: int = 0
    elapsed_ms: float = 0.0


class Verdict(BaseModel):
    """The decision, what it rests on, and what the mode made of it."""

    model_config = OUTPUT

    request_id: str
    decision: Decision
    mode: Mode
    action: Action
    source_required: bool
    confidence_band: Band
    reasons: list[str]
    validator_trace_id: str | None
    citations: list[Citation]
    safe_response: str | None
    warning: str | None = None
    metrics: Metrics
    claims: list[ClaimVerdict]
    findings: list[FindingRecord]
    conflicts: list[Conflict]
    verified: bool
    language: str
    as_of: datetime
    policy_hash: str
    model_id: str
    version: str
    calibrated: bool

    def delivered(self, draft_answer: str | None) -> str:
        """What the user gets to read, in any mode: the draft, the draft above its warning, or what takes its place."""
        draft = draft_answer or ""
        if self.safe_response is None:
            return draft
        if self.safe_response == self.warning:
            return "\n\n".join(filter(None, (draft.rstrip(), self.warning)))
        return self.safe_response

    def to_adr(self, draft_answer: str | None = None) -> dict[str, Any]:
        """The response shape of ADR-004: what the user gets to read, its sources, and why it was refused if it was.

        `draft_answer` is the draft that was verified. A question back is no refusal. Where the mode leaves the draft alone although
        there is something to warn of, `warning` says it.
        """
        refused = self.action == "block"
        shape: dict[str, Any] = {
            "answer": self.delivered(draft_answer),
            "sources": [citation.model_dump(mode="json") for citation in self.citations if not refused],
            "refused": refused,
            "refusal_reason": self._refusal_reason() if refused else None,
        }
        if self.warning and self.safe_response is None:
            shape["warning"] = self.warning
        return shape

    def _refusal_reason(self) -> str:
        """What the hard findings say, else the reason codes, else the decision."""
        details = [finding.explained() for finding in self.findings if finding.refuses()]
        return "; ".join(filter(None, details)) or ", ".join(self.reasons) or self.decision.value


def made(model: type[Made], values: dict[str, Any]) -> Made:
    """A model of our own findings without validating them again; `values` has every field, in order.

    It does what `model_construct` does, without its look for aliases and defaults: two dozen of these make a verdict.
    """
    new = model.__new__(model)
    object.__setattr__(new, "__dict__", values)
    object.__setattr__(new, "__pydantic_fields_set__", set(values))
    object.__setattr__(new, "__pydantic_extra__", None)
    object.__setattr__(new, "__pydantic_private__", None)
    return new


def parse_request(request: VerifyRequest | Mapping[str, Any]) -> VerifyRequest:
    """The request as a model, or an InputError that names the field, the value and the way out."""
    if isinstance(request, VerifyRequest):
        parsed = request
    elif not isinstance(request, Mapping):
        raise InputError(f"a request is a JSON object or a VerifyRequest, got {type(request).__name__}")
    else:
        try:
            parsed = VerifyRequest.model_validate(dict(request))
        except ValidationError as error:
            raise InputError(_explain(error)) from None
    _check_texts(parsed)
    return parsed


def _check_texts(request: VerifyRequest) -> None:
    """A question that asks something, and text that can be written down again: no lone surrogates."""
    if not request.query.strip():
        raise InputError(f"query is blank ({shown(request.query)}): send the user's question")
    for field, text in _texts(request):
        _check_unicode(field, text or "")


def _texts(request: VerifyRequest) -> Iterator[tuple[str, str | None]]:
    """Every text of a request, with the name of its field."""
    yield "query", request.query
    yield "draft_answer", request.draft_answer
    for n, passage in enumerate(request.retrieved_context):
        for key in PASSAGE_TEXTS:
            yield f"retrieved_context[{n}].{key}", getattr(passage, key)
    for n, turn in enumerate(request.conversation):
        yield f"conversation[{n}].content", turn.content


def _check_unicode(field: str, text: str) -> None:
    """An error where a text holds half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{field} has a lone surrogate at character {error.start}: send well-formed Unicode text"
        ) from None


def _explain(error: ValidationError) -> str:
    """The first three problems of a request, each with field, value and way out."""
    problems = error.errors(include_url=False, include_context=False)
    lines = [_problem(p["type"], p["loc"], p["msg"], p.get("input")) for p in problems[:3]]
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return "; ".join(lines) + more


def _problem(kind: str, loc: tuple[int | str, ...], message: str, value: object) -> str:
    field = _path(loc)
    if kind == "extra_forbidden":
        guess = nearest(str(loc[-1]), VerifyRequest.model_fields)
        hint = f"did you mean {guess!r}?" if guess else f"valid keys: {', '.join(VerifyRequest.model_fields)}"
        return f"unknown key {shown(str(loc[-1]))}: {hint}"
    if kind == "missing":
        return f"{field} is missing: it is required"
    text = message.removeprefix("Value error, ").replace("Input should", "should")
    return f"{field}: {text}, got {shown(value)}"


def _path(loc: tuple[int | str, ...]) -> str:
    steps = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(steps).removeprefix(".")
