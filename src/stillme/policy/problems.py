"""What is wrong with a policy, in words: the key, the value, what it must be, and the line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from stillme.errors import PolicyError, nearest, shown
from stillme.policy.instances import built
from stillme.policy.reader import KeyPath, PolicySource, dotted
from stillme.policy.sections import ValidatorOptions
from stillme.validators.registry import BUILT_IN, CHAIN, Parameter, Slot, parameters, validator_class

__all__ = ["PolicyProblem", "misfits", "validator_problems", "worded"]

PROBLEMS_SHOWN = 5


@dataclasses.dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One thing that is wrong, and the key where it is."""

    path: KeyPath
    text: str


def worded(problems: list[PolicyProblem], source: PolicySource) -> str:
    """The first problems, in the order of the file, one a line, each with its place."""
    placed = sorted(((source.line(problem.path) or 0, problem.text) for problem in problems), key=lambda pair: pair[0])
    lines = [f"{text} ({source.file} line {line})" if line else text for line, text in placed[:PROBLEMS_SHOWN]]
    return "\n".join(lines if len(placed) <= PROBLEMS_SHOWN else [*lines, "and more"])


def misfits(error: ValidationError, source: PolicySource, schema: dict[str, Any]) -> Iterator[PolicyProblem]:
    """What pydantic found, in the order of the file; `schema` is that of the whole policy."""
    errors = sorted(error.errors(include_url=False), key=lambda problem: source.line(problem["loc"]) or 0)
    for problem in errors[: PROBLEMS_SHOWN + 1]:
        path: KeyPath = tuple(part for part in problem["loc"] if part != "[key]")
        yield PolicyProblem(path, _misfit(schema, path, problem["type"], problem["msg"], problem["input"]))


def _misfit(schema: dict[str, Any], path: KeyPath, kind: str, message: str, value: object) -> str:
    if kind == "extra_forbidden":
        return _unknown_key(schema, path)
    if kind == "invalid_key" or not all(isinstance(part, str) for part in path):
        return f"{dotted(path)}: a key must be text, got {shown(path[-1])}"
    if kind == "value_error":
        text = message.removeprefix("Value error, ")
        return f"{dotted(path)}: {text}" if isinstance(value, Mapping) else f"{dotted(path)} {text}, got {shown(value)}"
    if kind == "string_unicode":
        return f"{dotted(path)} must be well-formed Unicode, got {shown(value)}"
    return f"{dotted(path)} {_requirement(_node(schema, path), value)}, got {shown(value)}"


def _unknown_key(schema: dict[str, Any], path: KeyPath) -> str:
    """Names the nearest valid key, or the section where a key of this name does belong."""
    valid = _keys(_node(schema, path[:-1]))
    key = str(path[-1])
    guess = next(_other_places(schema, key), None) or nearest(key, valid)
    return f"unknown key {dotted(path)}: {_valid_keys(guess, valid)}"


def _other_places(schema: dict[str, Any], key: str) -> Iterator[str]:
    """Where in a policy a key of this name belongs."""
    for section in schema["properties"]:
        if key in _node(schema, (section,)).get("properties", {}):
            yield f"{section}.{key}"
    if key in BUILT_IN:
        yield f"validators.{key}"


def _valid_keys(guess: str | None, valid: Iterable[str]) -> str:
    keys = f"valid keys: {', '.join(valid)}"
    return f"did you mean {guess}? {keys}" if guess else keys


def validator_problems(given: object) -> Iterator[PolicyProblem]:
    """What is wrong under `validators`, beyond the types of the options that all of them have."""
    for name, options in given.items() if isinstance(given, Mapping) else ():
        if isinstance(name, str):
            yield from _option_problems(name, options if isinstance(options, Mapping) else {})


def _option_problems(name: str, options: Mapping[str, Any]) -> Iterator[PolicyProblem]:
    """What is wrong with one entry under `validators`; the class is imported only if its parameters are set."""
    path = ("validators", name)
    given = {key: value for key, value in options.items() if isinstance(key, str)}
    settings = {key: value for key, value in given.items() if key not in ValidatorOptions.model_fields}
    if name in BUILT_IN and not settings:
        return
    try:
        cls = validator_class(name)
    except PolicyError as error:
        yield PolicyProblem(path, f"{dotted(path)}: {error}")
        return
    known = parameters(cls)
    misfitting = {key: _unfit(name, key, value, known) for key, value in settings.items()}
    problems = [PolicyProblem((*path, key), text) for key, text in misfitting.items() if text]
    yield from problems
    if not problems and options.get("enabled") is not False:
        try:
            built(cls, next((slot for slot in CHAIN if slot.name == name), Slot(name, "draft")), settings)
        except PolicyError as error:
            yield PolicyProblem(path, str(error))


def _unfit(name: str, key: str, value: object, known: Mapping[str, Parameter]) -> str | None:
    """Why this parameter cannot be set to this value, if it cannot."""
    path: KeyPath = ("validators", name, key)
    if key not in known:
        valid = [*ValidatorOptions.model_fields, *(each for each, parameter in known.items() if parameter.schema)]
        return f"unknown parameter {dotted(path)}: {_valid_keys(nearest(key, valid), valid)}"
    schema = known[key].schema
    if schema is None:
        return f"{dotted(path)} cannot be set in a policy: give Guard an instance, validators=[{name}({key}=...)]"
    try:
        known[key].read(value)
    except ValueError:
        return f"{dotted(path)} {_requirement(schema, value)}, got {shown(value)}"
    return None


def _node(schema: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    """The part of a JSON Schema that describes the value at this path; empty where it describes nothing."""
    node = schema
    for part in path:
        node = _keys(node).get(str(part)) or node.get("additionalProperties") or {}
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return node


def _keys(node: Mapping[str, Any]) -> dict[str, Any]:
    """The keys a mapping at this node may have."""
    return {key: each for option in node.get("anyOf", [node]) for key, each in option.get("properties", {}).items()}


def _requirement(node: Mapping[str, Any], value: object) -> str:
    """What a value must be, in words, such as `must be in [0, 1]`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    kinds = [each for each in node.get("anyOf", [node]) if each.get("type") != "null"]
    return "must be " + " or ".join(_kind(each, is_number) for each in kinds)


def _kind(node: Mapping[str, Any], is_number: bool = False) -> str:
    if "enum" in node:
        return f"one of {', '.join(str(choice) for choice in node['enum'])}"
    kind = node.get("type")
    nouns = {"number": "" if is_number else "a number ", "integer": "a whole number "}
    if kind in nouns:
        return _range(node, nouns[str(kind)])
    if kind == "array":
        return f"a list of {_kind(node.get('items', {}))}"
    if kind == "object":
        return _mapping(node)
    if kind == "string":
        return _text(node)
    if "$ref" in node:
        return "a mapping"
    return "true or false" if kind == "boolean" else str(node.get("const", "of another type"))


def _mapping(node: Mapping[str, Any]) -> str:
    keys = ", ".join(_keys(node))
    if keys:
        return f"a mapping with the keys {keys}"
    values = node.get("additionalProperties")
    if isinstance(values, Mapping) and values.get("type") == "array":
        return f"a mapping whose values are each {_kind(values)}"
    return "a mapping"


def _text(node: Mapping[str, Any]) -> str:
    if "maxLength" in node:
        return f"text of 1 to {node['maxLength']} characters"
    return "text that is not blank" if "minLength" in node else "text"


def _range(node: Mapping[str, Any], noun: str) -> str:
    """The bounds of a number: brackets are in, parentheses are out."""
    low = node.get("minimum", node.get("exclusiveMinimum"))
    high = node.get("maximum", node.get("exclusiveMaximum"))
    if low is None and high is None:
        return f"{noun.strip() or 'a finite number'}"
    if high is None:
        return f"{noun}{'of at least' if 'minimum' in node else 'above'} {low:g}"
    if low is None:
        return f"{noun}{'of at most' if 'maximum' in node else 'below'} {high:g}"
    return f"{noun}in {'[' if 'minimum' in node else '('}{low:g}, {high:g}{']' if 'maximum' in node else ')'}"
