"""What the guarded endpoints share: their parts, and how a verdict travels in an OpenAI-shaped answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from stillme.contract import RetrievedPassage, Turn, Verdict
from stillme.decision import STRICTNESS
from stillme.errors import InputError
from stillme.guard import Guard, Occurrence, shown
from stillme.policy import Policy
from stillme.service.openai.request_sources import APPLICATION, Asked
from stillme.service.problems import ProblemError, problem_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from stillme.chat.retrieval import Retriever
    from stillme.chat.router import Router
    from stillme.llm.providers import OpenAICompatible

__all__ = [
    "Parts",
    "delivery",
    "error_event",
    "error_response",
    "extension",
    "openai_error",
    "openai_error_body",
    "strictest",
    "verdict_headers",
    "with_context",
]

MOST_HEADER_CHARS: Final = 500
TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    413: "invalid_request_error",
    415: "invalid_request_error",
    429: "rate_limit_error",
    502: "upstream_error",
    504: "upstream_error",
}

Run = Callable[[Callable[[], Any]], Awaitable[Any]]


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
    sources: tuple[str, ...] = APPLICATION
    """The roles of messages that may carry sources."""


# errors in OpenAI's shape, so that its clients raise their own exceptions


def openai_error_body(
    message: str, kind: str, *, code: str | None = None, param: str | None = None
) -> dict[str, dict[str, str | None]]:
    """An error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def openai_error(
    status: int,
    message: str,
    type: str | None = None,  # noqa: A002  (the name that the field has)
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error response in OpenAI's shape."""
    kind = type or TYPES.get(status, "server_error")
    return JSONResponse(openai_error_body(message, kind, code=code), status, dict(headers or {}))


def error_response(error: Exception) -> Response:
    """Any error of ours in OpenAI's shape, with the status that its clients expect."""
    if isinstance(error, InputError):
        code = getattr(error, "code", None)
        return openai_error(404 if code == "model_not_found" else 400, str(error), code=code)
    problem = problem_of(error)
    return openai_error(problem.status, problem.detail, headers=problem.headers)


def error_event(error: Exception) -> dict[str, Any]:
    """An error of ours as an event of a stream."""
    if isinstance(error, InputError):
        return openai_error_body(str(error), TYPES[400])
    problem = error.problem if isinstance(error, ProblemError) else problem_of(error)
    return openai_error_body(problem.detail, TYPES.get(problem.status, "server_error"))


# the verdict in an answer


def verdict_headers(verdict: Verdict, *, verified: bool) -> dict[str, str]:
    """The verdict in brief, in ASCII and never long."""
    reasons = ",".join(verdict.reasons)[:MOST_HEADER_CHARS]
    headers = {
        "x-stillme-decision": verdict.decision.value,
        "x-stillme-action": verdict.action,
        "x-stillme-verified": "true" if verified else "false",
        "x-stillme-trace-id": verdict.validator_trace_id or "",
        "x-stillme-reasons": reasons.encode("ascii", "replace").decode(),
    }
    return {name: value for name, value in headers.items() if value}


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

    return replace(bounded, passages=await parts.run(find), retrieved=True)


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
