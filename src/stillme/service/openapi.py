"""How endpoints that read their bodies themselves describe them, so that the document says what holds."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from stillme.service.problems import PROBLEM_TYPE, TITLES

__all__ = ["PROBLEM_SCHEMA", "body_of", "problems", "with_components"]

REFERENCE: Final = "#/components/schemas/{model}"
PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "title": "Problem",
    "description": "An RFC 9457 problem document.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what went wrong, which value, the way out"},
    },
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem documents that an endpoint may answer with."""
    reference = {"$ref": REFERENCE.format(model="Problem")}
    return {
        status: {"description": TITLES[status], "content": {PROBLEM_TYPE: {"schema": reference}}} for status in statuses
    }


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """The body of a request, as a part of the document."""
    schema = {"$ref": REFERENCE.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def with_components(document: dict[str, Any], *models: type[BaseModel]) -> dict[str, Any]:
    """The document with the schemas that `body_of` and `problems` refer to."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = PROBLEM_SCHEMA
    for model in models:
        found = model.model_json_schema(ref_template=REFERENCE)
        for name, part in found.pop("$defs", {}).items():
            schemas.setdefault(name, part)
        schemas[model.__name__] = found
    return document
