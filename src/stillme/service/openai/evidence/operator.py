"""Formats that an operator defines, in a file: begin and end markers, or a template. No pattern: what is given is looked for as it is.

- name: wiki
  begin: "=== KNOWLEDGE ==="
  end: "=== END OF KNOWLEDGE ==="
- name: desk
  template: "Ticket: {question}\\nNotes:\\n{context}"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from stillme.errors import InputError, nearest, shown
from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.template import Template, template_of

__all__ = ["Markers", "OperatorFormats", "operator_formats"]

KEYS: Final = ("name", "begin", "end", "template")
LEAST: Final = 3
"""Characters of a marker: a shorter one stands anywhere."""
MOST_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Markers:
    """Context between two markers."""

    name: str
    begin: str
    end: str

    def find(self, text: str) -> list[Block]:
        """The stretches between the markers; one that is not closed is text."""
        found: list[Block] = []
        at = 0
        while True:
            first = text.find(self.begin, at)
            last = text.find(self.end, first + len(self.begin)) if first >= 0 else -1
            if last < 0:
                return found
            at = last + len(self.end)
            inside = text[first + len(self.begin) : last].strip()
            if inside:
                found.append(Block(first, at, ({"text": inside},), self.name))


@dataclass(frozen=True, slots=True)
class OperatorFormats:
    """What an operator has defined."""

    markers: tuple[Markers, ...] = ()
    templates: tuple[Template, ...] = ()


def operator_formats(path: str, taken: Sequence[str] = ()) -> OperatorFormats:
    """The formats of a file, or an InputError that names the entry; `taken` are names of formats that come with us."""
    try:
        raw = Path(path).read_bytes()
        listed = yaml.safe_load(raw.decode()) if len(raw) <= MOST_BYTES else None
    except OSError as error:
        raise InputError(f"the file of evidence formats {shown(path)} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" (line {line + 1})" if line is not None else ""
        raise InputError(f"the file of evidence formats {shown(path)} is not YAML{where}") from None
    if not isinstance(listed, list) or not listed:
        raise InputError(f"the file of evidence formats {shown(path)} must be a list of formats, each with a name")
    markers: list[Markers] = []
    templates: list[Template] = []
    names = set(taken)
    for n, entry in enumerate(listed):
        where = f"{shown(path)}, format {n + 1}"
        name = _checked(entry, where, names)
        names.add(name)
        if "template" in entry:
            templates.append(_template(name, entry["template"], where))
        else:
            markers.append(Markers(name, _marker(entry, "begin", where), _marker(entry, "end", where)))
    return OperatorFormats(tuple(markers), tuple(templates))


def _checked(entry: Any, where: str, names: set[str]) -> str:
    """The name of an entry whose keys are right."""
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} must be an object with {', '.join(KEYS)}, got {shown(entry)}")
    for key in entry:
        if key not in KEYS:
            guess = nearest(str(key), KEYS)
            hint = f"did you mean {guess!r}?" if guess else f"valid keys: {', '.join(KEYS)}"
            raise InputError(f"{where} has the unknown key {shown(key)}: {hint}")
    name = entry.get("name")
    if (
        not isinstance(name, str)
        or not name.replace("-", "").replace("_", "").isalnum()
        or not name.isascii()
        or len(name) > 40
    ):
        raise InputError(f"{where}: name must be a word of letters, digits, - and _, got {shown(name)}")
    if name in names:
        raise InputError(f"{where}: the name {shown(name)} is taken: choose another")
    if ("template" in entry) == ("begin" in entry or "end" in entry):
        raise InputError(f"{where} must have either begin and end, or a template")
    return name


def _marker(entry: Mapping[str, Any], key: str, where: str) -> str:
    found = entry.get(key)
    if not isinstance(found, str) or len(found.strip()) < LEAST:
        raise InputError(f"{where}: {key} must be a marker of {LEAST} characters at least, got {shown(found)}")
    return found


def _template(name: str, text: Any, where: str) -> Template:
    if not isinstance(text, str):
        raise InputError(f"{where}: template must be text with {{context}} in it, got {shown(text)}")
    try:
        return template_of(name, text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
