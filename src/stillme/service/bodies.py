"""JSON bodies, read once and strictly: what cannot be read says where."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from stillme.errors import InputError, shown
from stillme.llm.strict_json import finite
from stillme.service.problems import Problem, ProblemError

__all__ = ["as_model", "check_structure", "json_response", "read_json"]

Model = TypeVar("Model", bound=BaseModel)
DEEPEST: Final = 64
STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
OPENING: Final = b"[{"
MOST_VALUES: Final = 250_000


async def read_json(request: Request) -> Any:
    """The body as JSON, or a ProblemError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(Problem(415, f"send JSON with `content-type: application/json`, got {shown(kind)}"))
    body = await request.body()
    try:
        text = body.decode(
            "utf-8-sig"
        )  # as the standard has it: in another encoding a letter may hold the byte of a quote or a bracket
        check_structure(body, request.scope.get("stillme.values", MOST_VALUES))
        found = json.loads(text, parse_constant=_refuse, parse_float=finite, object_pairs_hook=_object)
        if SURROGATE.search(body):
            json.dumps(found, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except UnicodeError:
        raise ProblemError(
            Problem(400, "the body is not well-formed Unicode: send UTF-8 without lone surrogates")
        ) from None
    except RecursionError:
        raise ProblemError(Problem(400, "the body is nested too deeply")) from None
    except json.JSONDecodeError as error:
        detail = f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise ProblemError(Problem(400, detail)) from None
    except ValueError as error:
        raise ProblemError(Problem(400, f"the body is not JSON: {shown(str(error))}")) from None
    return found


def check_structure(body: bytes, most: int) -> None:
    """Refuse JSON of too many values, or nested too deeply, before it is read: reading it would hold up everybody.

    Counting is a search for single bytes; strings are left out first, once it is known that there are not too many of them. A short
    body with few brackets cannot be either, whatever stands in its strings.
    """
    if len(body) <= most and body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    # An escaped quote is none, but a quote behind an escaped backslash is: at worst half of the strings are seen.
    if (body.count(b'"') - body.count(b'\\"')) // 2 <= most:
        outside = STRING.sub(b"", body)
        if sum(map(outside.count, (b",", b"[", b"{"))) <= most:
            _check_depth(outside.translate(None, NOT_BRACKETS))
            return
    detail = f"the body holds more than {most} values: send less, or raise STILLME_MAX_JSON_VALUES"
    raise ProblemError(Problem(413, detail, {"connection": "close"}))


def _check_depth(brackets: bytes) -> None:
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in OPENING else -1
        if depth > DEEPEST:
            raise ProblemError(Problem(400, f"the body is nested deeper than {DEEPEST} levels"))


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two that are alike, each reader would take another."""
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ProblemError(Problem(400, f"the key {shown(twice)} stands twice in one object: send it once"))
    return made


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def as_model(model: type[Model], value: Any) -> Model:
    """A value as a model, or an InputError that names the fields."""
    if not isinstance(value, dict):
        raise InputError(f"the body must be a JSON object, got {type(value).__name__}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        lines = [_line(model, problem) for problem in problems[:3]]
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise InputError("; ".join(lines) + more) from None


def _line(model: type[BaseModel], problem: Any) -> str:
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return f"unknown key {shown(path)}: valid keys are {', '.join(model.model_fields)}"
    if problem["type"] == "missing":
        return f"{path} is missing: it is required"
    return f"{path}: {problem['msg']}, got {shown(problem['input'])}"


def json_response(text: str | bytes, headers: dict[str, str] | None = None) -> Response:
    """A body that is JSON already."""
    return Response(text, headers=headers, media_type="application/json")
