"""The policy: what the operator decides, read from one YAML file and checked whole before it is used.

`Policy.load` merges a file or mapping over the preset it extends and raises one PolicyError with all that is wrong.
`Policy.build` gives the validators that the policy asks for. `PolicyWatcher` follows a file, keeping the last good one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Annotated, Any, Literal, Self, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from stillme.contract import Mode
from stillme.errors import PolicyError, nearest, shown
from stillme.reasons import Gate
from stillme.validators.chain import ConfiguredValidator
from stillme.validators.registry import (
    BUILT_IN,
    CHAIN,
    Parameter,
    Slot,
    chain_with,
    foreign_code,
    parameters,
    summary,
    validator_class,
)

__all__ = ["ConfiguredValidator", "Policy", "PolicyWatcher", "policy_schema"]

Preset = Literal["lite", "book", "strict"]
MessageKind = Literal["refusal", "clarify", "disclaimer"]
KeyPath = tuple[str | int, ...]

PRESETS: tuple[str, ...] = get_args(Preset)
PRESET_FILES = Path(__file__).with_name("presets")
IDENTITY_VALIDATORS = frozenset({"EgoNeutralityValidator", "IdentityCheckValidator"})
# A policy with everything written out has 4 KB, 250 values and 3 levels; these only keep out what is no policy.
MAX_FILE_BYTES = 256 * 1024
MAX_NODES = 5_000
MAX_DEPTH = 12
MAX_MESSAGE_CHARS = 4_000
PROBLEMS_SHOWN = 5
# Time stamps of files are coarse: for this long after a change, a second one may leave them as they are.
SETTLED_NS = 2_000_000_000
STEADY_READS = 10
STEADY_PAUSE_S = 0.02

STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
# The sections are validated as parts of Policy only: their own validators need not be built at import.
SECTION = ConfigDict(**STRICT, defer_build=True)
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class Thresholds(BaseModel):
    """How similar the best passage must be to the question; below fails, equal passes."""

    model_config = SECTION

    min_similarity_for_factual: Share = Field(0.45, description="for a question that asks for facts")
    min_similarity_for_source_required: Share = Field(0.50, description="for a question that asks for sources")


class Behavior(BaseModel):
    """Switches over several validators; a setting under `validators` wins over them."""

    model_config = SECTION

    enforce_no_source_refusal: bool = Field(True, description="false makes SourceRequired soft")
    enforce_anti_anthropomorphism: bool = Field(True, description="false switches both identity validators off")
    allow_soft_answer_with_warning: bool = Field(
        False,
        description="true answers with warnings where only weak evidence asks to refuse and every claim is supported",
    )


class Output(BaseModel):
    """What a verdict shows; the audit store keeps everything."""

    model_config = SECTION

    include_validator_trace: bool = Field(True, description="false empties findings and the trace id")
    include_reason_codes: bool = Field(True, description="false empties reasons")


class ValidatorOptions(BaseModel):
    """What every validator has; any other key is a parameter of that validator."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False, defer_build=True)

    enabled: bool | None = Field(
        None, description="false switches it off, true switches it on whatever `behavior` says"
    )
    gate: Literal["hard", "soft"] | None = Field(None, description="hard: a flag decides; soft: a flag only warns")
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = Field(5.0, description="seconds until it counts as errored")
    repair: bool = Field(True, description="whether the repairs it proposes may be applied")


def _sayable(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    if len(value) > MAX_MESSAGE_CHARS:
        raise ValueError(f"must have at most {MAX_MESSAGE_CHARS} characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("must be well-formed Unicode")
    return value


def _in_both_languages(value: object) -> object:
    return {"en": _sayable(value), "vi": value} if isinstance(value, str) else value


Wording = Annotated[str, AfterValidator(_sayable)]


class Message(BaseModel):
    """The operator's own wording; a language that is not given keeps the built-in wording."""

    model_config = SECTION

    en: Wording | None = None
    vi: Wording | None = None


_TEXT_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_CHARS}
_MESSAGE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _TEXT_SCHEMA,
        {"type": "object", "properties": {"en": _TEXT_SCHEMA, "vi": _TEXT_SCHEMA}, "additionalProperties": False},
        {"type": "null"},
    ],
}
OwnMessage = Annotated[Message | None, BeforeValidator(_in_both_languages), WithJsonSchema(_MESSAGE_SCHEMA)]


class Messages(BaseModel):
    """Wording that replaces the built-in one: one text for all, or one for each language."""

    model_config = SECTION

    refusal: OwnMessage = Field(None, description="what a refused user reads")
    clarify: OwnMessage = Field(None, description="what a user who is asked back reads")
    disclaimer: OwnMessage = Field(None, description="what goes with an answer delivered with a warning")


class Limits(BaseModel):
    """The largest request that is accepted; over a limit is an input error, nothing is cut."""

    model_config = SECTION

    query_chars: Count = Field(8_000, description="characters of the question")
    draft_chars: Count = Field(64_000, description="characters of the draft answer")
    passages: Count = Field(64, description="retrieved passages")
    passage_chars: Count = Field(64_000, description="characters of one passage")
    conversation_turns: Count = Field(64, description="earlier turns of the conversation")
    conversation_chars: Count = Field(64_000, description="characters of all earlier turns together")


class Confidence(BaseModel):
    """Where the bands of the probability that the answer is supported begin."""

    model_config = SECTION

    high: Share = Field(0.85, description="from here the band is high")
    medium: Share = Field(0.6, description="from here it is medium, below it is low")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.medium > self.high:
            raise ValueError(f"medium must not be above high, got medium {self.medium} and high {self.high}")
        return self


class Policy(BaseModel):
    """Everything an operator can decide, with the values of the preset `lite` where nothing else is said."""

    model_config = STRICT
    # Outside the fields, so that a copy or a pickle does not carry what was computed for the original.
    __slots__ = ("_digest", "_places")

    mode: Mode = Field("monitor", description="monitor delivers, warn adds a disclaimer, enforce acts on the decision")
    extends: Preset = Field("lite", description="the preset whose values hold where this file says nothing")
    thresholds: Thresholds = Field(default_factory=Thresholds)
    behavior: Behavior = Field(default_factory=Behavior)
    output: Output = Field(default_factory=Output)
    validators: dict[str, ValidatorOptions] = Field(
        {}, description="options and parameters of single validators, by name"
    )
    messages: Messages = Field(default_factory=Messages)
    limits: Limits = Field(default_factory=Limits)
    on_error: Literal["refuse", "deliver"] = Field(
        "refuse", description="what a crashed or timed-out hard gate leads to"
    )
    confidence: Confidence = Field(default_factory=Confidence)

    def __init__(self, /, **settings: Any) -> None:
        """The preset with these settings changed, checked as `load` checks a file."""
        _fill(self, _Source(settings))

    @classmethod
    def load(cls, source: Policy | Mapping[str, Any] | str | os.PathLike[str] | None = None) -> Policy:
        """The policy of a YAML file, a preset name, a mapping, or `lite` for None; else a PolicyError."""
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return _made(_Source(source))
        if source is None or (isinstance(source, str) and source in PRESETS):
            return _preset(source or "lite")
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            return _made(_parsed(_file_bytes(path), path.name))
        raise PolicyError(f"a policy is a file, one of {', '.join(PRESETS)}, or a mapping, got {type(source).__name__}")

    def with_changes(self, changes: Mapping[str, Any]) -> Policy:
        """This policy with some settings replaced, for a command-line flag or a comparison; checked like a file."""
        if "extends" in changes:
            raise PolicyError("extends cannot be changed on a loaded policy: load it from the other preset")
        return _made(
            _Source(_merged(self.model_dump(mode="json", exclude_unset=True), _without_empty_sections(changes)))
        )

    def message(self, kind: MessageKind, language: str) -> str | None:
        """The operator's own wording in that language (English for any but Vietnamese); None: use the built-in one."""
        message: Message | None = getattr(self.messages, kind)
        if message is None:
            return None
        return message.vi if language == "vi" else message.en

    @property
    def hash(self) -> str:
        """SHA-256 of what is in force: the same for any order of keys and for defaults written out or left out."""
        known: str | None = getattr(self, "_digest", None)
        if known is None:
            known = hashlib.sha256(self._canonical().encode("ascii")).hexdigest()
            object.__setattr__(self, "_digest", known)
        return known

    def build(self, added: Iterable[Any] = ()) -> list[ConfiguredValidator]:
        """The enabled validators in chain order, always the same instances; `added` ones come before EthicsAdapter."""
        extra = list(added)
        chain: list[ConfiguredValidator] = []
        for slot, configured in self._all_places():
            if slot.target is not None:
                chain += [self._configured(validator) for validator in extra if _stage(validator) == slot.stage]
            if configured is not None:
                chain.append(configured)
        return chain

    def to_yaml(self) -> str:
        """The policy in force, every value written out, as a file that loads to the same policy."""
        settings = self.model_dump(mode="json", exclude={"extends", "validators"})
        settings["validators"] = {slot.name: self._written(slot, configured) for slot, configured in self._all_places()}
        body = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=120)
        return f"# from preset {self.extends}, sha256 {self.hash}\n{body}"

    def _all_places(self) -> tuple[_Place, ...]:
        known: tuple[_Place, ...] | None = getattr(self, "_places", None)
        if known is None:
            with _BUILDING:  # two threads must not get different instances
                known = getattr(self, "_places", None) or tuple(self._filled_places())
                object.__setattr__(self, "_places", known)
        return known

    def _filled_places(self) -> Iterator[_Place]:
        plugins = {name: validator_class(name) for name in self.validators if name not in BUILT_IN}
        for slot in chain_with(plugins):
            if not self._is_enabled(slot.name):
                yield slot, None
                continue
            cls = plugins.get(slot.name) or validator_class(slot.name)
            yield slot, self._configured(_instance(cls, slot, self._given(slot.name), self._derived(slot.name)))

    def _is_enabled(self, name: str) -> bool:
        options = self.validators.get(name)
        if options is not None and options.enabled is not None:
            return options.enabled
        return self.behavior.enforce_anti_anthropomorphism or name not in IDENTITY_VALIDATORS

    def _given(self, name: str) -> dict[str, Any]:
        """What the policy says under the name of that validator, options and parameters."""
        options = self.validators.get(name)
        if options is None:
            return {}
        common = {key: getattr(options, key) for key in options.model_fields_set & set(ValidatorOptions.model_fields)}
        return common | (options.model_extra or {})

    def _derived(self, name: str) -> dict[str, Any]:
        """The parameters that other sections set on that validator."""
        if name != "SourceRequired":
            return {}
        return {key: getattr(self.thresholds, key) for key in Thresholds.model_fields}

    def _configured(self, validator: Any) -> ConfiguredValidator:
        name = getattr(validator, "name", type(validator).__name__)
        is_softened = name == "SourceRequired" and not self.behavior.enforce_no_source_refusal
        options = self.validators.get(name)
        if options is None:
            return ConfiguredValidator(validator, Gate.SOFT if is_softened else None)
        gate = Gate(options.gate) if options.gate else Gate.SOFT if is_softened else None
        return ConfiguredValidator(validator, gate, options.timeout_s, options.repair)

    def _canonical(self) -> str:
        settings = self.model_dump(mode="json", exclude={"extends", "validators"})
        settings["validators"] = [_fingerprint(configured) for configured in self.build()]
        return json.dumps(settings, sort_keys=True, separators=(",", ":"), default=_plain)

    def _written(self, slot: Slot, configured: ConfiguredValidator | None) -> dict[str, Any]:
        """The options of one validator; what `thresholds` fills in stays out, or a change there would do nothing."""
        if configured is None:
            return {"enabled": False}
        written: dict[str, Any] = {}
        if slot.name in IDENTITY_VALIDATORS and not self.behavior.enforce_anti_anthropomorphism:
            written["enabled"] = True
        fingerprint = _fingerprint(configured)
        gates = set(fingerprint["gates"].values())
        if len(gates) == 1:
            written["gate"] = str(gates.pop())
        written |= {"timeout_s": configured.timeout_s, "repair": configured.repair}
        derived = self._derived(slot.name).items()
        for name, parameter in parameters(type(configured.validator)).items():
            value = fingerprint["parameters"][name]
            if parameter.adapter is not None and (name, value) not in derived:
                written[name] = parameter.adapter.dump_python(value, mode="json")
        return written


SECTIONS = frozenset(Policy.model_fields) - {"mode", "on_error"}
_Place = tuple[Slot, ConfiguredValidator | None]
_BUILDING = threading.RLock()


@dataclasses.dataclass(frozen=True, slots=True)
class _Source:
    """Settings as they were given; for a file also its name and the line of every key."""

    settings: Mapping[str, Any]
    file: str | None = None
    lines: Mapping[KeyPath, int] = dataclasses.field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """The line of that key, or of the nearest one above it that stands in the file."""
        ends = range(len(path), 0, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), None)


@dataclasses.dataclass(frozen=True, slots=True)
class _Problem:
    path: KeyPath
    text: str


def _made(source: _Source) -> Policy:
    policy = Policy.__new__(Policy)
    _fill(policy, source)
    return policy


@cache
def _preset(name: str) -> Policy:
    return _made(_Source({"extends": name}))


@cache
def _preset_settings(name: str) -> dict[str, Any]:
    """The settings of a preset file, merged over those of the preset it extends."""
    path = PRESET_FILES / f"{name}.yaml"
    settings = _parsed(_file_bytes(path), path.name).settings
    return _merged(_preset_settings(settings["extends"]) if "extends" in settings else {}, settings)


def _fill(policy: Policy, source: _Source) -> None:
    """Make `policy` what the source says, or raise with every problem it has."""
    settings = _without_empty_sections(source.settings)
    extends = settings.get("extends")
    base = _preset_settings(extends if isinstance(extends, str) and extends in PRESETS else "lite")
    merged = _merged(base, settings)
    problems: list[_Problem] = []
    try:
        Policy.__pydantic_validator__.validate_python(merged, self_instance=policy)
    except ValidationError as error:
        problems += _misfits(error, source)
    problems += islice(_validator_problems(merged.get("validators")), PROBLEMS_SHOWN + 1)
    if problems:
        raise PolicyError(_worded(problems, source))


def _without_empty_sections(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without headings that have nothing below them, as when every line of a section is commented out."""
    kept = {key: value for key, value in settings.items() if value is not None or key not in SECTIONS}
    validators = kept.get("validators")
    if isinstance(validators, Mapping):
        kept["validators"] = {name: {} if options is None else options for name, options in validators.items()}
    return kept


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        below = base.get(key)
        merged[key] = _merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def _instance(
    cls: type[Any], slot: Slot, given: Mapping[str, Any], derived: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """A validator with the settings that are fields of its class; PolicyError if it refuses them."""
    known = parameters(cls) if given else {}
    read = {name: known[name].read(value) for name, value in given.items() if name in known}
    with foreign_code(f"validators.{slot.name}"):
        return cls(**{**derived, **read, **slot.fixed})


def _stage(validator: Any) -> str:
    stage = getattr(validator, "target", None) or getattr(validator, "stage", None)
    return "query" if stage == "query" else "draft"


def _fingerprint(configured: ConfiguredValidator) -> dict[str, Any]:
    """Everything about a validator that can change a verdict, as plain data."""
    validator, gate = configured.validator, configured.gate
    own = {str(reason): str(gate or default) for reason, default in getattr(validator, "gates", {}).items()}
    fields: tuple[dataclasses.Field[Any], ...] = (
        dataclasses.fields(validator) if dataclasses.is_dataclass(validator) else ()
    )
    return {
        "name": validator.name,
        "gates": own or ({"*": str(gate)} if gate else {}),
        "timeout_s": configured.timeout_s,
        "repair": configured.repair,
        "parameters": {field.name: getattr(validator, field.name) for field in fields if field.init},
    }


def _plain(value: object) -> Any:
    """A parameter that JSON does not know, in a form that is the same in every process."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _worded(problems: list[_Problem], source: _Source) -> str:
    """The first problems, in the order of the file, one a line, each with its place."""
    placed = sorted(((source.line(problem.path) or 0, problem.text) for problem in problems), key=lambda pair: pair[0])
    lines = [f"{text} ({source.file} line {line})" if line else text for line, text in placed[:PROBLEMS_SHOWN]]
    return "\n".join(lines if len(placed) <= PROBLEMS_SHOWN else [*lines, "and more"])


def _misfits(error: ValidationError, source: _Source) -> Iterator[_Problem]:
    schema = Policy.model_json_schema()
    errors = sorted(error.errors(include_url=False), key=lambda found: source.line(found["loc"]) or 0)
    for found in errors[: PROBLEMS_SHOWN + 1]:
        path: KeyPath = tuple(part for part in found["loc"] if part != "[key]")
        yield _Problem(path, _misfit(schema, path, found["type"], found["msg"], found["input"]))


def _misfit(schema: dict[str, Any], path: KeyPath, kind: str, message: str, value: object) -> str:
    if kind == "extra_forbidden":
        return _unknown_key(schema, path)
    if kind == "invalid_key" or not all(isinstance(part, str) for part in path):
        return f"{_dotted(path)}: a key must be text, got {shown(path[-1])}"
    if kind == "value_error" and isinstance(value, Mapping):
        return f"{_dotted(path)}: {message.removeprefix('Value error, ')}"
    if kind in ("value_error", "string_unicode"):
        text = message.removeprefix("Value error, ") if kind == "value_error" else "must be well-formed Unicode"
        return f"{_dotted(path)} {text}, got {shown(value)}"
    return f"{_dotted(path)} {_requirement(_node(schema, path), value)}, got {shown(value)}"


def _unknown_key(schema: dict[str, Any], path: KeyPath) -> str:
    """Names the nearest valid key, or the section where a key of this name does belong."""
    valid = _keys(_node(schema, path[:-1]))
    key = str(path[-1])
    elsewhere = [
        f"{name}.{key}" for name in schema["properties"] if key in _node(schema, (name,)).get("properties", {})
    ]
    guess = elsewhere[0] if elsewhere else f"validators.{key}" if key in BUILT_IN else nearest(key, valid)
    hint = f"did you mean {guess}? " if guess else ""
    return f"unknown key {_dotted(path)}: {hint}valid keys: {', '.join(valid)}"


def _validator_problems(given: object) -> Iterator[_Problem]:
    if isinstance(given, Mapping):
        for name, options in given.items():
            if isinstance(name, str):
                yield from _option_problems(name, options if isinstance(options, Mapping) else {})


def _option_problems(name: str, options: Mapping[str, Any]) -> Iterator[_Problem]:
    """What is wrong with one entry under `validators`; the class is imported only if its parameters are set."""
    path = ("validators", name)
    given = {key: value for key, value in options.items() if isinstance(key, str)}
    settings = {key: value for key, value in given.items() if key not in ValidatorOptions.model_fields}
    if name in BUILT_IN and not settings:
        return
    try:
        cls = validator_class(name)
    except PolicyError as error:
        yield _Problem(path, f"{_dotted(path)}: {error}")
        return
    known = parameters(cls)
    problems = [
        _Problem((*path, key), text) for key, value in settings.items() if (text := _unfit(name, key, value, known))
    ]
    yield from problems
    if not problems and options.get("enabled") is not False:
        try:
            _instance(cls, next((slot for slot in CHAIN if slot.name == name), Slot(name, "draft")), settings)
        except PolicyError as error:
            yield _Problem(path, str(error))


def _unfit(name: str, key: str, value: object, known: Mapping[str, Parameter]) -> str | None:
    """Why this parameter cannot be set to this value, if it cannot."""
    path: KeyPath = ("validators", name, key)
    if key not in known:
        valid = [*ValidatorOptions.model_fields, *(each for each, parameter in known.items() if parameter.schema)]
        guess = nearest(key, valid)
        hint = f"did you mean {guess}? " if guess else ""
        return f"unknown parameter {_dotted(path)}: {hint}valid keys: {', '.join(valid)}"
    schema = known[key].schema
    if schema is None:
        return f"{_dotted(path)} cannot be set in a policy: give Guard an instance, validators=[{name}({key}=...)]"
    try:
        known[key].read(value)
    except ValueError:
        return f"{_dotted(path)} {_requirement(schema, value)}, got {shown(value)}"
    return None


def _dotted(path: KeyPath) -> str:
    parts = [str(part) if len(str(part)) <= 60 and str(part).isprintable() else shown(str(part), 60) for part in path]
    return ".".join(parts)


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
    if kind in ("number", "integer"):
        return _range(
            node, "" if is_number and kind == "number" else "a number " if kind == "number" else "a whole number "
        )
    if kind == "array":
        return f"a list of {_kind(node.get('items', {}))}"
    if kind == "object":
        keys = ", ".join(_keys(node))
        return f"a mapping with the keys {keys}" if keys else "a mapping"
    limit = f" of 1 to {node['maxLength']} characters" if "maxLength" in node else ""
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


def _file_bytes(path: Path) -> bytes:
    """The content of a policy file, or a PolicyError that says why there is none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise PolicyError(f"{shown(str(path))} is not a file: a policy is one YAML file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        guess = nearest(str(path), PRESETS)
        hint = f"did you mean the preset {guess}?" if guess else f"give a YAML file or a preset ({', '.join(PRESETS)})"
        raise PolicyError(f"there is no policy file {shown(str(path))}: {hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise PolicyError(f"{shown(str(path))} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MAX_FILE_BYTES:
        raise PolicyError(f"{shown(str(path))} is larger than {MAX_FILE_BYTES // 1024} KiB: that is no policy file")
    return content


def _parsed(content: bytes, file: str) -> _Source:
    """The settings in a YAML file, with the line of every key."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"not UTF-8 text: {error.reason} ({file} line {line})") from None
    reader = _YamlReader(text, file)
    try:
        settings = reader.document()
    except yaml.YAMLError as error:
        raise PolicyError(_syntax_problem(error, text, file)) from None
    if settings is not None and not isinstance(settings, dict):
        raise PolicyError(f"a policy is a mapping of keys to values, got {shown(settings)} ({file} line 1)")
    return _Source(settings or {}, file, reader.lines)


def _syntax_problem(error: yaml.YAMLError, text: str, file: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow
        line = text.encode()[: getattr(error, "position", 0)].count(b"\n") + 1
        return f"not valid YAML: {getattr(error, 'reason', 'unreadable character')} ({file} line {line})"
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or "unreadable"
    rows = text.splitlines()[mark.line : mark.line + 1]
    is_tabbed = any("\t" in row[: len(row) - len(row.lstrip())] for row in rows)
    hint = "; indent with spaces, not tabs" if is_tabbed else ""
    return f"not valid YAML: {problem}{hint} ({file} line {mark.line + 1})"


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null"), None),
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys((".inf", "+.inf"), float("inf")),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|[0-9]{1,40}(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?")


class _YamlReader:
    """Reads one YAML document into plain data and remembers the line of every key.

    It stands on the events of PyYAML, not on its loader, which overflows the stack on deep nesting, lets a duplicate
    key win in silence and expands merge keys without bound. Keys are always text. Tags and merge keys are refused.
    """

    def __init__(self, text: str, file: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._file = file
        self._events = iter(yaml.parse(text, Loader=_LOADER))
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0

    def document(self) -> Any:
        """The data of the only document, None if there is none."""
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        data = self._value(next(self._events), ())
        next(self._events)
        if not isinstance(event := next(self._events), yaml.StreamEndEvent):
            raise self._error("a policy is one document, and here a second one begins", event)
        return data

    def _value(self, event: Any, path: KeyPath) -> Any:
        before = self._nodes
        self._count(1, event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.tag is not None:
            raise self._error(f"tags such as {shown(event.tag)} are not supported: write the plain value", event)
        if len(path) > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event.value) if event.implicit[0] else event.value
        else:
            value = self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._sequence(path)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._nodes - before)
        return value

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error("a key must be plain text", event)
            key, here = event.value, (*path, event.value)
            if key == "<<":
                raise self._error("merge keys (<<) are not supported: repeat the keys, or extend a preset", event)
            if key in mapping:
                raise self._error(f"duplicate key {_dotted(here)}, first on line {self.lines[here]}", event)
            self.lines[here] = _line(event)
            mapping[key] = self._value(next(self._events), here)
        return mapping

    def _sequence(self, path: KeyPath) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _alias(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise self._error(f"the alias *{event.anchor} has no anchor before it", event)
        value, nodes = self._anchors[event.anchor]
        self._count(nodes, event)
        return value

    def _count(self, nodes: int, event: yaml.Event) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise self._error(f"more than {MAX_NODES} values, aliases written out", event)

    def _error(self, problem: str, event: yaml.Event) -> PolicyError:
        return PolicyError(f"{problem} ({self._file} line {_line(event)})")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _scalar(text: str) -> Any:
    """The value of plain text: null, a truth value or a number where it reads as one, else the text itself."""
    if len(text) <= 5 and (word := text.lower()) in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


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


@dataclasses.dataclass(frozen=True, slots=True)
class _InForce:
    policy: Policy
    error: PolicyError | None = None


class PolicyWatcher:
    """Follows a policy file: `policy` is always the last good one, `error` what is wrong with the file now.

    `on_event(kind, detail)` hears of "reloaded", "failed" (the old policy stays in force) and "recovered", each once.
    """

    def __init__(
        self, path: str | os.PathLike[str], interval_s: float = 1.0, on_event: Callable[[str, str], None] | None = None
    ) -> None:
        """Load the file, raising PolicyError if it is bad; `poll` or `start` follows it from there."""
        if not interval_s > 0:
            raise PolicyError(f"interval_s must be above 0, got {shown(interval_s)}")
        self._path = Path(path)
        self._interval_s = interval_s
        self._on_event = on_event
        self._polling = threading.Lock()
        self._starting = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._stamp = self._file_stamp()
        content = _file_bytes(self._path)
        self._digest: bytes | None = _digest(content)
        policy = _made(_parsed(content, self._path.name))
        policy.build()
        self._in_force = _InForce(policy)

    @property
    def policy(self) -> Policy:
        """The last good policy."""
        return self._in_force.policy

    @property
    def error(self) -> PolicyError | None:
        """Why the file as it is now is not in force, or None when it is."""
        return self._in_force.error

    def poll(self) -> bool:
        """Look at the file once; True if what it says changed what is in force or the error."""
        with self._polling:
            event = self._look()
        if event is not None and self._on_event is not None:
            self._on_event(*event)
        return event is not None

    def start(self) -> PolicyWatcher:
        """Poll in a daemon thread every `interval_s` seconds."""
        with self._starting:
            if self._thread is None:
                self._stopping = (
                    threading.Event()
                )  # its own for each thread: one that is ending must not see it cleared
                follow = threading.Thread(
                    target=self._follow, args=(self._stopping,), name="stillme-policy", daemon=True
                )
                self._thread = follow
                follow.start()
        return self

    def stop(self) -> None:
        """End the thread and wait for it; the policy stays available."""
        with self._starting:
            thread, self._thread = self._thread, None
            self._stopping.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __enter__(self) -> PolicyWatcher:
        """Start following."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop following."""
        self.stop()

    def _follow(self, stopping: threading.Event) -> None:
        while not stopping.wait(self._interval_s):
            try:
                self.poll()
            except Exception:  # a listener that raises is reported like any thread's failure and does not end the watch
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))

    def _look(self) -> tuple[str, str] | None:
        stamp = self._file_stamp()
        # A file can change again within the resolution of its time stamp: a young one is read whatever the stamp says.
        if stamp is not None and stamp == self._stamp and time.time_ns() - max(stamp[:2]) > SETTLED_NS:
            return None
        try:
            content = _steady_bytes(self._path, self._digest)
        except PolicyError as error:
            self._stamp = self._digest = None
            return self._reject(error)
        if content is None:
            return None
        judged, self._digest, self._stamp = self._digest, _digest(content), stamp
        if self._digest == judged:
            return None
        try:
            return self._adopt(self._loaded(content))
        except PolicyError as error:
            return self._reject(error)

    def _loaded(self, content: bytes) -> Policy:
        """The policy in the file, built, so that nothing about it can fail once it is in force."""
        source = _parsed(content, self._path.name)
        if not source.settings and self.policy != Policy.load(None):
            raise PolicyError(f"{self._path.name} is empty: a running policy is not dropped for that")
        policy = _made(source)
        policy.build()
        return policy

    def _adopt(self, policy: Policy) -> tuple[str, str]:
        kind = "reloaded" if self.error is None else "recovered"
        self._in_force = _InForce(policy)
        return kind, f"{self._path.name}: mode {policy.mode}, policy {policy.hash[:12]}"

    def _reject(self, error: PolicyError) -> tuple[str, str] | None:
        before = self._in_force
        self._in_force = _InForce(before.policy, error)
        return None if str(before.error) == str(error) else ("failed", str(error))

    def _file_stamp(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _steady_bytes(path: Path, judged: bytes | None) -> bytes | None:
    """The content once two reads in a row agree, or None while somebody writes; known content needs one read."""
    content = _file_bytes(path)
    for _ in range(STEADY_READS):
        if _digest(content) == judged:
            return content
        time.sleep(STEADY_PAUSE_S)
        again = _file_bytes(path)
        if again == content:
            return content
        content = again
    return None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
