"""What the guarded endpoints share: their parts, and how a verdict travels in an OpenAI-shaped answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from stillme.contract import RetrievedPassage, Turn
from stillme.decision import STRICTNESS
from stillme.errors import InputError
from stillme.guard import Guard, Occurrence, shown
from stillme.policy import Policy
from stillme.service.openai.evidence.formats import Formats
from stillme.service.openai.remembered_calls import Calls, RememberedCalls
from stillme.service.openai.request_sources import BELIEVED, Asked, Taken
from stillme.service.problems import ProblemError, openai_error_body, openai_type, problem_of
from stillme.service.telemetry import Telemetry
from stillme.validators.registry import BUILT_IN, validator_class

if TYPE_CHECKING:
    from starlette.requests import Request

    from stillme.chat.retrieval import Retriever
    from stillme.chat.router import Router
    from stillme.llm.providers import OpenAICompatible

__all__ = [
    "ERRORS",
    "ModelNotFoundError",
    "Parts",
    "brief",
    "delivery",
    "error_event",
    "error_response",
    "extension",
    "may_call",
    "only_waits",
    "strictest",
    "verdict_headers",
    "with_context",
]

MOST_HEADER_CHARS: Final = 500
# What a call of a tool may change.
WAITING: Final = frozenset({"SourceRequired", "AmbiguousQuery"})
ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "code": {"type": ["string", "null"]},
                "param": {"type": ["string", "null"]},
            },
        }
    },
}
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": words, "content": {"application/json": {"schema": ERROR_SCHEMA}}}
    for status, words in {
        400: "The request cannot be served as it stands.",
        401: "An API key is needed.",
        403: "The API key does not allow this.",
        404: "There is no such model.",
        408: "It took too long.",
        413: "The request is too large.",
        415: "The body is not JSON.",
        429: "Too much at once.",
        502: "The model server gave no usable answer.",
        503: "The service cannot do this now.",
        504: "The model server did not answer in time.",
    }.items()
}
"""What the endpoints that speak as OpenAI answer where something is wrong."""

Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class ModelNotFoundError(InputError):
    """There is no model of that name here."""

    code = "model_not_found"


@dataclass(frozen=True, slots=True)
class Parts:
    """What the guarded endpoints are made of."""

    guard: Guard
    run: Run
    """Runs work that would hold up the event loop, in the service's bounded pool."""
    caller: Callable[[Request], str | None]
    router: Router | None = None
    upstream: OpenAICompatible | None = None
    """The model server that the guard stands in front of."""
    retriever: Retriever | None = None
    allow_caller_urls: bool = False
    sources: tuple[str, ...] = BELIEVED
    """The roles of messages that may carry sources."""
    formats: Formats = field(default_factory=Formats)
    """In which formats they are found."""
    calls: Calls = field(default_factory=RememberedCalls)
    """What LiteLLM's calls asked."""
    telemetry: Telemetry | None = None
    """Where calls of the model server are told."""


# errors in OpenAI's shape, so that its clients raise their own exceptions


def error_response(error: Exception) -> Response:
    """Any error of ours in OpenAI's shape, with the status that its clients expect."""
    if isinstance(error, InputError):
        code = getattr(error, "code", None)
        status = 404 if code == "model_not_found" else 400
        return JSONResponse(openai_error_body(str(error), openai_type(status), code=code), status)
    problem = problem_of(error)
    body = openai_error_body(problem.detail, openai_type(problem.status))
    return JSONResponse(body, problem.status, dict(problem.headers))


def error_event(error: Exception) -> dict[str, Any]:
    """An error of ours as an event of a stream."""
    if isinstance(error, InputError):
        return openai_error_body(str(error), openai_type(400))
    problem = error.problem if isinstance(error, ProblemError) else problem_of(error)
    return openai_error_body(problem.detail, openai_type(problem.status))


# the verdict in an answer


def verdict_headers(own: Mapping[str, Any], *, verified: bool) -> dict[str, str]:
    """The verdict in brief, in ASCII and never long, from what an answer tells of it."""
    headers = {
        "x-stillme-decision": own["decision"],
        "x-stillme-action": own["action"],
        "x-stillme-verified": "true" if verified else "false",
        "x-stillme-validator-trace-id": own["validator_trace_id"] or "",
        "x-stillme-reasons": ",".join(own["reasons"])[:MOST_HEADER_CHARS].encode("ascii", "replace").decode(),
    }
    return {name: value for name, value in headers.items() if value}


def brief(own: Mapping[str, Any]) -> dict[str, Any]:
    """What matters most of a verdict."""
    told = {name: own[name] for name in ("decision", "action", "verified", "reasons", "validator_trace_id")}
    return told | {"evidence": own.get("evidence", [])}


def extension(
    occurrence: Occurrence, how: Mapping[str, Any], unverified: Sequence[str] = (), *, passed: bool = False
) -> dict[str, Any]:
    """The whole verdict as the policy shows it, what was delivered of the answer, and what could not be verified.

    What was withheld of an answer is withheld here too: its words stand in the record only. `passed` says that something was
    delivered that nobody has read: the answer is then not verified, whatever its text is.
    """
    verdict = shown(occurrence).model_dump(mode="json")
    released, length = how["withheld"]
    if released < length:
        hidden = {"text": "", "detail": None}
        verdict["claims"] = [c if c["end"] <= released else c | hidden for c in verdict["claims"]]
        verdict["findings"] = [f | {"detail": None} if f["stage"] == "draft" else f for f in verdict["findings"]]
    if passed or how["how"] == "passed_through":
        verdict["verified"] = False
    return verdict | {"delivery": dict(how), "unverified": list(unverified)}


def delivery(
    how: str, released: int, length: int, *, stopped: bool = False, complete: bool = True, **more: Any
) -> dict[str, Any]:
    """What went out of an answer, in characters of what the model wrote: it stands in the record, and in the answer."""
    spans = {"released": [0, released], "withheld": [released, length]}
    return {"how": how, **spans, "stopped": stopped, "complete": complete, **more}


def strictest(occurrences: Sequence[Occurrence]) -> int:
    """Which of several verdicts is the strictest; of equals the first."""
    return max(range(len(occurrences)), key=lambda n: (STRICTNESS[occurrences[n].verdict.decision], -n))


# calls of tools


def may_call(occurrence: Occurrence) -> bool:
    """Whether calls of tools may go out although the text beside them, or the question alone, does not hold: not where it is unsafe."""
    return _against(occurrence).isdisjoint(_always_run())


@cache
def _always_run() -> frozenset[str]:
    """The validators that judge whatever is asked, source or not: those of safety."""
    return frozenset(name for name in BUILT_IN if validator_class(name).runs_always)


def only_waits(occurrence: Occurrence) -> bool:
    """Whether nothing stands in the way of an answer but what the result of a tool may bring."""
    return _against(occurrence) <= WAITING


def _against(occurrence: Occurrence) -> frozenset[str]:
    """The validators that stand in the way."""
    findings = occurrence.verdict.findings
    return frozenset(f.validator for f in findings if f.outcome in ("flagged", "errored") and f.gate == "hard")


# the context


async def with_context(parts: Parts, asked: Asked, *, given: bool) -> Asked:
    """The question with what retrieval finds for it, where the request brought nothing itself, and turns within the limits."""
    bounded = replace(asked, conversation=_recent(asked.conversation, parts.guard.policy))
    retriever = parts.retriever
    if given or asked.passages or retriever is None:
        return bounded

    def find() -> tuple[RetrievedPassage, ...]:
        found = retriever.retrieve_context(
            bounded.question,
            conversation=bounded.conversation,
            language=bounded.language,
        )
        return tuple(found.passages)

    passages: tuple[RetrievedPassage, ...] = await parts.run(find)
    taken = (Taken("retrieval", "knowledge", tuple(p.source_id for p in passages)),) if passages else ()
    return replace(bounded, passages=passages, taken=taken, retrieved=True)


def _recent(turns: Sequence[Turn], policy: Policy) -> tuple[Turn, ...]:
    """The last turns, whole ones, as many as the policy's limits take."""
    limits = policy.limits
    kept: list[Turn] = []
    room = limits.conversation_chars
    for turn in reversed(turns[-limits.conversation_turns :]):
        room -= len(turn.content)
        if room < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
