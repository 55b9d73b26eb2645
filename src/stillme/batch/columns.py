"""A request from a row: as the contract has it, or from columns that go by other names.

query, draft_answer, context            the contract's own fields, `context` being the passages
{"query": "messages.user", …}           where else they stand; a dot goes into an object
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from stillme.batch.input_files import json_value
from stillme.errors import InputError, nearest, shown

__all__ = ["CONTEXT", "FIELDS", "assembled", "from_json", "parse_mapping", "request_of", "row_values"]

FIELDS: Final = (
    *("query", "draft_answer", "context", "request_id", "as_of", "generation_confidence"),
    *("language", "domain", "session_id", "conversation"),
)
"""What a column may hold; `context_2`, `context_3` and so on hold further passages."""
IN_METADATA: Final = ("language", "domain", "session_id")
AS_JSON: Final = ("conversation",)
CONTEXT: Final = re.compile(r"context(?:_[1-9]\d?+)?+")
WHOLE: Final = "request"
CONTRACT: Final = "retrieved_context"
TEXT_KEYS: Final = ("text", "content", "page_content")


def parse_mapping(pairs: tuple[str, ...]) -> dict[str, str]:
    """`query=question` and so on, as a mapping of fields to columns."""
    found: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not column:
            raise InputError(f"--map takes FIELD=COLUMN, got {shown(pair)}")
        if field not in FIELDS and not CONTEXT.fullmatch(field):
            guess = nearest(field, FIELDS)
            raise InputError(f"{shown(field)} is no field: {f'did you mean {guess}?' if guess else ', '.join(FIELDS)}")
        found[field] = column
    return found


def row_values(text: bytes) -> dict[str, Any]:
    """The JSON object of a row; InputError where it is none."""
    values = json_value(text, "a row")
    if not isinstance(values, dict):
        raise InputError(f"a row is a JSON object, got {type(values).__name__}")
    return values


def request_of(values: Mapping[str, Any], mapping: Mapping[str, str], *, is_table: bool) -> Mapping[str, Any]:
    """The request of a row: the row itself, what its column `request` holds, or what stands in columns."""
    if not mapping and not is_table:
        return values
    if WHOLE in values and not mapping:
        whole = from_json(WHOLE, values[WHOLE])
        if not isinstance(whole, dict):
            raise InputError(f"the column request holds a JSON object, got {type(whole).__name__}")
        return whole
    places = _places(values, mapping)
    fields = {field: found for field, column in places if (found := _at(values, column)) is not None}
    if "query" not in fields:
        there = shown(", ".join(values), 200)
        raise InputError(f"the row has no query: name its column with --map query=COLUMN; it has {there}")
    return assembled(fields)


def _places(values: Mapping[str, Any], mapping: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each field and the column that it is in: a mapped one first, else the column of its own name."""
    own = [name for name in values if name in (*FIELDS, CONTRACT) or CONTEXT.fullmatch(name)]
    fields = {"context" if name == CONTRACT else name: name for name in own}
    return list((fields | dict(mapping)).items())


def _at(values: Mapping[str, Any], column: str) -> Any:
    if column in values:
        return values[column]
    here: Any = values
    for key in column.split("."):
        here = here.get(key) if isinstance(here, Mapping) else None
    return here


def assembled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The request whose fields stand in columns of their own."""
    request: dict[str, Any] = {
        key: fields[key] for key in ("query", "draft_answer", "as_of", "request_id") if key in fields
    }
    request |= {key: from_json(key, fields[key]) for key in AS_JSON if key in fields}
    if "generation_confidence" in fields:
        request["generation_confidence"] = _number(fields["generation_confidence"])
    request["metadata"] = {key: fields[key] for key in IN_METADATA if key in fields}
    request[CONTRACT] = _passages(fields)
    return request


def _passages(fields: Mapping[str, Any]) -> list[Any]:
    """The passages of all context columns in the order of their numbers; one without a source_id goes by its place."""
    columns = sorted((int(name.partition("_")[2] or 1), name) for name in fields if CONTEXT.fullmatch(name))
    found = [each for _, name in columns for each in _texts(name, fields[name])]
    return [_passage(each, str(number)) for number, each in enumerate(found, 1)]


def _texts(name: str, value: Any) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith(("[{", '["', "[]")):
        value = from_json(name, value)
    return list(value) if isinstance(value, list | tuple) else [value]


def _passage(value: Any, number: str) -> Any:
    if isinstance(value, str):
        return {"source_id": number, "text": value}
    if not isinstance(value, Mapping):
        raise InputError(f"a passage is a text or an object with a text, got {shown(value)}")
    given = {key: each for key, each in value.items() if each is not None}
    text = next((given.pop(key) for key in TEXT_KEYS if key in given), None)
    return {"source_id": number, **given} | ({} if text is None else {"text": text})


def from_json(name: str, value: Any) -> Any:
    """What a column holds as JSON text, or has been read from it already."""
    if not isinstance(value, str):
        return value
    try:
        return json_value(value.encode("utf-8", "surrogatepass"), "a value")
    except InputError as error:
        raise InputError(f"{name} is {error}") from None


def _number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise InputError(f"generation_confidence is a number from 0 to 1, got {shown(value)}") from None
