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
    if kind == "value_error" and isinstance(value, Mapping):
        return f"{dotted(path)}: {message.removeprefix('Value error, ')}"
    if kind in ("value_error", "string_unicode"):
        text = message.removeprefix("Value error, ") if kind == "value_error" else "must be well-formed Unicode"
        return f"{dotted(path)} {text}, got {shown(value)}"
    return f"{dotted(path)} {_requirement(_node(schema, path), value)}, got {shown(value)}"


def _unknown_key(schema: dict[str, Any], path: KeyPath) -> str:
    """Names the nearest valid key, or the section where a key of this name does belong."""
    valid = _keys(_node(schema, path[:-1]))
    key = str(path[-1])
    elsewhere = [
        f"{name}.{key}" for name in schema["properties"] if key in _node(schema, (name,)).get("properties", {})
    ]
    elsewhere += [f"validators.{key}"] if key in BUILT_IN else []
    return f"unknown key {dotted(path)}: {_valid_keys(next(iter(elsewhere), None) or nearest(key, valid), valid)}"


def _valid_keys(guess: str | None, valid: Iterable[str]) -> str:
    return f"{f'did you mean {guess}? ' if guess else ''}valid keys: {', '.join(valid)}"


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
    problems = [
        PolicyProblem((*path, key), text)
        for key, value in settings.items()
        if (text := _unfit(name, key, value, known))
    ]
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
        keys = ", ".join(_keys(node))
        values = node.get("additionalProperties")
        is_list = isinstance(values, Mapping) and values.get("type") == "array"
        to = f" whose values are each {_kind(values or {})}" if is_list else ""
        return f"a mapping with the keys {keys}" if keys else f"a mapping{to}"
    limit = f" of 1 to {node['maxLength']} characters" if "maxLength" in node else ""
    limit = limit or (" that is not blank" if "minLength" in node else "")
    names = {"boolean": "true or false", "string": f"text{limit}"}
    return names.get(str(kind), f"{node['const']}" if "const" in node else "of another type")


def _range(node: Mapping[str, Any], noun: str) -> str:
    low, high = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum", node.get("exclusiveMaximum"))
    if low is None and high is None:
        return f"{noun.strip() or 'a finite number'}"
    if high is None:
        return f"{noun}{'of at least' if 'minimum' in node else 'above'} {low:g}"
    if low is None:
        return f"{noun}{'of at most' if 'maximum' in node else 'below'} {high:g}"
    return f"{noun}in {'[' if 'minimum' in node else '('}{low:g}, {high:g}{']' if 'maximum' in node else ')'}"
