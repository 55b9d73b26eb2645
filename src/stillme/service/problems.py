"""Errors as RFC 9457 problem documents: what went wrong and the way out, nothing of our insides."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from stillme.errors import BackendError, InputError, PolicyError, StillMeError, UpstreamError

__all__ = [
    "PROBLEM_TYPE",
    "Problem",
    "ProblemError",
    "answer_problem",
    "openai_error_body",
    "openai_type",
    "problem_of",
    "wire",
]

PROBLEM_TYPE: Final = "application/problem+json"
TITLES: Final = {
    400: "The request cannot be read",
    401: "An API key is needed",
    403: "The API key does not allow this",
    404: "Nothing is here",
    405: "The method is not allowed here",
    408: "It took too long",
    413: "The request is too large",
    415: "The content type is not supported",
    422: "The request cannot be processed as it stands",
    429: "Too much at once",
    431: "The headers are too large",
    500: "The service failed",
    502: "The model server gave no usable answer",
    503: "The service cannot do this now",
    504: "The model server did not answer in time",
}
# Below /v1 clients of OpenAI's are served: each error is told in its shape, at our own endpoints beside the problem document.
OPENAI: Final = "/v1/"
NATIVE: Final = (
    "/v1/verify", "/v1/precheck", "/v1/policy", "/v1/reasons", "/v1/validators", "/v1/search", "/v1/try", "/v1/traces",
    "/v1/reviews", "/v1/appeals", "/v1/overview", "/v1/rollout", "/v1/documents",
)  # fmt: skip
TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    502: "upstream_error",
    504: "upstream_error",
}
log = logging.getLogger("stillme.service")


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem document."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What kind of problem it is."""
        return TITLES.get(self.status, "Error")

    @property
    def document(self) -> dict[str, Any]:
        """The document, its own members first."""
        own = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return own | dict(self.extra)

    def response(self, path: str = "") -> Response:
        """The document as it is sent, in the shape that whoever asks at that path reads."""
        document, kind = self.document, PROBLEM_TYPE
        if path.startswith(OPENAI):
            told = openai_error_body(self.detail, openai_type(self.status))
            is_native = path.startswith(NATIVE)
            document, kind = (document | told, kind) if is_native else (told, "application/json")
        body = json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Response(body, self.status, {**self.headers, "cache-control": "no-store"}, media_type=kind)


def openai_error_body(
    message: str, kind: str, *, code: str | None = None, param: str | None = None
) -> dict[str, dict[str, str | None]]:
    """An error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": kind, "code": code, "param": param}}


def openai_type(status: int) -> str:
    """How OpenAI calls errors of a status."""
    return TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")


def wire(problem: Problem) -> bytes:
    """The whole answer, for a connection whose request was not read."""
    response = problem.response()
    head = [f"HTTP/1.1 {problem.status} {problem.title}".encode()]
    head += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*head, b"", bytes(response.body)])


class ProblemError(Exception):
    """Ends a request with a problem document."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def problem_of(error: Exception) -> Problem:
    """The problem document for an exception; one that is not ours says nothing of itself."""
    match error:
        case ProblemError():
            return error.problem
        case InputError():
            return Problem(422, str(error))
        case UpstreamError():
            after = error.retry_after_s
            headers = {"retry-after": str(max(1, round(after)))} if after is not None else {}
            return Problem(504 if error.timed_out else 502, str(error), headers)
        case BackendError() | PolicyError() | StillMeError():
            log.error("a request failed: %s", error)
            return Problem(
                503, "the service could not reach what it depends on; its log says more", {"retry-after": "5"}
            )
        case _:
            return Problem(500, "the service failed on this request; its log says more")


async def answer_problem(request: Request, error: Exception) -> Response:
    """The exception handler of the application; what is a defect of ours, the server logs."""
    return problem_of(error).response(request.url.path)
