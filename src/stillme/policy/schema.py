"""The JSON Schema of a policy file, for editors and other tools."""

from __future__ import annotations

from typing import Any

from stillme.policy.model import Policy
from stillme.validators.registry import BUILT_IN, parameters, summary, validator_class

__all__ = ["policy_schema"]


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of a policy file, with the parameters of every built-in validator."""
    schema = _without_titles(Policy.model_json_schema())
    options = schema["$defs"].pop("ValidatorOptions")
    entries = {name: _entry_schema(validator_class(name), options["properties"]) for name in BUILT_IN}
    schema["properties"]["validators"] = {
        "type": "object",
        "default": {},
        "description": schema["properties"]["validators"]["description"],
        "properties": entries,
        "additionalProperties": {**options, "description": "a validator of another package"},
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "StillMe policy", **schema}


def _entry_schema(cls: type[Any], options: dict[str, Any]) -> dict[str, Any]:
    own = {name: each.file_schema() for name, each in parameters(cls).items() if each.schema is not None}
    return {
        "type": "object",
        "description": summary(cls),
        "properties": {**options, **_without_titles(own)},
        "additionalProperties": False,
    }


def _without_titles(node: Any) -> Any:
    """A schema without the titles that pydantic derives from names: they repeat the key."""
    if isinstance(node, list):
        return [_without_titles(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_titles(each) for key, each in node.items() if key != "title" or not isinstance(each, str)}
