"""Texts in Markdown: nothing in them is markup, no link is made and nobody is notified."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from markupsafe import Markup

from stillme.pages.text import Code, on_one_line, plain

__all__ = ["FILTERS", "escaped"]

SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>|~&#!$@^]")
LINE_START: Final = re.compile(r"([-+=])|(\d+)([.)])")
FENCES: Final = re.compile(r"`+")


def escaped(text: str) -> Markup:
    """A text on one line, with the blank at either end that it had; `Code` between backticks."""
    if isinstance(text, Code):
        return Markup(_between_backticks(text))  # noqa: S704
    lead, end = " " * text.startswith(" "), " " * (text.endswith(" ") and len(text) > 1)
    written = SPECIAL.sub(r"\\\g<0>", on_one_line(text))
    written = written.replace("://", ":&#47;/").replace("www.", "www&#46;")
    return Markup(f"{lead}{written}{end}")  # noqa: S704


def _between_backticks(text: str) -> str:
    shown = on_one_line(text)
    fence = "`" * (1 + _longest_fence(shown))
    pad = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else "` `"


def _longest_fence(text: str) -> int:
    return max(map(len, FENCES.findall(text)), default=0)


def _cell(text: str) -> Markup:
    """A text that does not end its cell of a table."""
    return Markup(escaped(text).replace("|", "\\|")) if isinstance(text, Code) else escaped(text)  # noqa: S704


def _paragraph(written: Markup) -> Markup:
    """A line that begins no list and underlines no heading."""
    return Markup(LINE_START.sub(_begun, written, count=1) if LINE_START.match(written) else written)  # noqa: S704


def _begun(start: re.Match[str]) -> str:
    return f"\\{start[1]}" if start[1] else f"{start[2]}\\{start[3]}"


def _fenced(text: str) -> Markup:
    """A file between fences longer than any in it."""
    fence = "`" * max(3, 1 + _longest_fence(text))
    lines = "\n".join(plain(line) for line in text.splitlines())
    return Markup(f"{fence}yaml\n{lines}\n{fence}")  # noqa: S704


def _quotation(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """Lines of a quotation, the places that matter in bold; none begins a list or a heading."""
    lines, start = [], 0
    for line in text.splitlines(keepends=True) or [""]:
        end = start + len(line)
        own = [(max(a, start) - start, min(b, end) - start) for a, b in sorted(spans) if a < end and b > start]
        lines.append(f"> {_paragraph(Markup(_with_bold(line, own).strip()))}".rstrip())  # noqa: S704
        start = end
    return Markup("  \n".join(lines))  # noqa: S704


def _with_bold(line: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts.append(_spaced(line[done:start]))
        bold = escaped(line[max(start, done) : end].strip())
        parts.append(f"**{bold}**" if bold else "")
        done = max(done, end)
    return "".join([*parts, _spaced(line[done:])])


def _spaced(text: str) -> str:
    """A part of a line, with the blank at either end that it had."""
    return f"{' ' * text[:1].isspace()}{escaped(text.strip())}{' ' * text[-1:].isspace()}" if text else ""


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "cell": _cell,
    "fenced": _fenced,
    "paragraph": _paragraph,
    "quotation": _quotation,
}
