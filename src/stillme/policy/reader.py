"""A policy file as plain settings, with the line of every key.

It is read whole or not at all: what is no file, no text, no YAML or too much of it is a PolicyError that says where.
"""

from __future__ import annotations

import dataclasses
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from stillme.errors import PolicyError, nearest, shown

__all__ = ["KeyPath", "PolicySource", "dotted", "file_bytes", "parsed", "policy_here"]

Preset = Literal["lite", "book", "strict"]
KeyPath = tuple[str | int, ...]

PRESETS: tuple[str, ...] = get_args(Preset)
POLICY_FILE = "policy.yaml"
PRESET_FILES = Path(__file__).with_name("presets")
# A policy with everything written out has 4 KB, 250 values and 3 levels; these only keep out what is no policy.
MAX_FILE_BYTES = 256 * 1024
MAX_NODES = 5_000
MAX_DEPTH = 12


@dataclasses.dataclass(frozen=True, slots=True)
class PolicySource:
    """Settings as they were given; for a file also its name and the line of every key."""

    settings: Mapping[str, Any]
    file: str | None = None
    lines: Mapping[KeyPath, int] = dataclasses.field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """The line of that key, or of the nearest one above it that stands in the file."""
        ends = range(len(path), 0, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), None)


def policy_here() -> str | None:
    """The policy file of the working folder, if there is one: it is used where no other policy is named."""
    return POLICY_FILE if Path(POLICY_FILE).is_file() else None


def dotted(path: KeyPath) -> str:
    """A key as messages name it, such as `thresholds.min_similarity_for_factual`."""
    parts = [str(part) if len(str(part)) <= 60 and str(part).isprintable() else shown(str(part), 60) for part in path]
    return ".".join(parts)


def file_bytes(path: Path) -> bytes:
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


def parsed(content: bytes, file: str) -> PolicySource:
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
    return PolicySource(settings or {}, file, reader.lines)


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
                raise self._error(f"duplicate key {dotted(here)}, first on line {self.lines[here]}", event)
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
