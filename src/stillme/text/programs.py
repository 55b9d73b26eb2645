"""Lines as programs write them: settings and calls with a text, lines of a log, rows parted by commas.

The names around a text are hidden where they only say what it is, as in JSON; a name that says anything else is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from stillme.languages import compiled, word_set
from stillme.text.keyed import names_a_field, tells_a_state

__all__ = ["Line", "find_program_lines"]

Span = tuple[int, int]

QUOTES: Final = "\"'`"
# What stands before a text: words and the marks of a program; and the text, up to the end of the line.
CALL: Final = re.compile(
    r"[ \t]*+([\w.$:=>(\[\]<&|+ '\"-]{1,80}?)(?:f(?=[\"']))?([\"'`])((?:(?!\2)[^\n]){3,4000}+)\2[)\]};, \t]*+$"
)
JOINING: Final = "=(:>|"
PAIR: Final = re.compile(r"[ \t]*+([\w.-]{1,40}+)=(?:\"([^\"\n]{0,4000}+)\"|([^\s\"=]{1,80}+))(?=[ \t]|$)")
STAMP: Final = r"\[?+\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?+(?:[.,]\d{1,6}+)?+(?:Z|[+-]\d{2}:?+\d{2})?+)?+\]?+"
SOURCE: Final = re.compile(r"([\w.-]{1,40}+)(?:\[\d{1,8}+\])?+[ \t]*+[:|>–-]++[ \t]++")
WORDS: Final = re.compile(r"[^\W\d_][\w-]*+")
LEAST_CELLS: Final = 2
LEAST_PAIRS: Final = 2


class Line(NamedTuple):
    """What of a line of a program is hidden, and the texts in it."""

    hidden: tuple[Span, ...]
    apart: tuple[Span, ...] = ()


@compiled
def _log() -> re.Pattern[str]:
    """The time and the level of a line of a log, or the level alone."""
    levels = "|".join(sorted(word.replace("_", " ").upper() for word in word_set("markup", "levels")))
    level = rf"(?:[\[(<](?:{levels})[\])>]|(?:{levels})(?=[ \t]*+[:|\]–-]))"
    return re.compile(rf"[ \t]*+(?:{STAMP}[ \t|-]*+(?:{level}|(?:{levels})(?=\s))|{level})[ \t:|–-]*+")


def find_program_lines(raw: str) -> Iterator[Line]:
    """The lines of a text that a program wrote."""
    yield from _rows(raw)
    at = 0
    for line in raw.split("\n"):
        found = _read(line)
        if found is not None:
            hidden, apart = (tuple((at + a, at + b) for a, b in spans) for spans in found)
            yield Line(hidden, apart)
        at += len(line) + 1


def _read(line: str) -> Line | None:
    """The line of a log, a setting or a call, if it is one."""
    opening = line[:1]
    log = _log().match(line) if opening and not opening.islower() else None
    start = log.end() if log else 0
    logged = ((0, start),) if log else ()
    source = SOURCE.match(line, start) if log else None
    if source and names_a_field(source.group(1)):
        logged, start = ((0, source.end()),), source.end()
    pairs = _pairs(line, start)
    if pairs is not None:
        return Line((*logged, *pairs.hidden), pairs.apart)
    call = CALL.match(line, start) if any(quote in line for quote in QUOTES) else None
    if call is not None and _only_names(call.group(1)):
        return Line((*logged, (start, call.start(3)), (call.end(3), len(line))), (call.span(3),))
    return Line(logged) if logged else None


def _only_names(head: str) -> bool:
    """Whether what stands before a text names it and says nothing else."""
    words = WORDS.findall(head)
    told = word_set("markup", "program")
    joins = any(mark in head for mark in JOINING) or bool(words and words[-1].lower() in told)
    return joins and bool(words) and all(word.lower() in told or names_a_field(word) for word in words)


def _pairs(line: str, start: int) -> Line | None:
    """'level=info msg="It is free."', if the line holds nothing else."""
    if "=" not in line:
        return None
    found, at = list[re.Match[str]](), start
    while (match := PAIR.match(line, at)) is not None:
        found.append(match)
        at = match.end()
    if len(found) < LEAST_PAIRS or line[at:].strip() or not all(names_a_field(m.group(1)) for m in found):
        return None
    said = [m for m in found if m.group(2) is not None and not tells_a_state(m.group(1), m.group(2))]
    lone = [m.span(3) for m in found if m.group(3) and not tells_a_state(m.group(1), m.group(3))]
    edges = [start, *(edge for m in sorted([*(m.span(2) for m in said), *lone]) for edge in m), len(line)]
    hidden = tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)
    return Line(hidden, tuple(m.span(2) for m in said))


def _rows(raw: str) -> Iterator[Line]:
    """Rows parted by commas, semicolons or tabs below the names of their columns."""
    head, line_end, below = raw.strip("\n").partition("\n")
    mark = next((mark for mark in ",;\t" if mark in head), "")
    start = len(raw) - len(raw.lstrip("\n"))
    names = [name.strip(" \"'") for name in head.split(mark)] if mark and line_end else []
    if len(names) < LEAST_CELLS or not all(map(names_a_field, names)):
        return
    at, rows = start + len(head) + 1, list[Line]()
    for number, line in enumerate(below.split("\n"), 1):
        cells = _cells(line, mark)
        if line.strip() and len(cells) != len(names):
            return
        rows += [_row(names, line, cells, number, at)] if line.strip() else []
        at += len(line) + 1
    yield Line(((start, start + len(head)),))
    yield from rows


def _cells(line: str, mark: str) -> list[Span]:
    """The cells of a row, without the quotes around them."""
    cell = re.compile(rf"[ ]*+(?:\"((?:[^\"]|\"\"){{0,4000}}+)\"[ ]*+|([^{mark}\"\n]{{0,4000}}+))(?:{mark}|$)")
    found, at = list[Span](), 0
    while at <= len(line) and (match := cell.match(line, at)) is not None:
        found.append(match.span(1) if match.group(1) is not None else match.span(2))
        at = match.end() if line[match.end() - 1 : match.end()] == mark else len(line) + 1
    return found if at > len(line) else []


def _row(names: Sequence[str], line: str, cells: Sequence[Span], number: int, at: int) -> Line:
    """A row: its own number and what only tells a state are hidden, the rest is read."""
    said = [
        (a, b)
        for n, (name, (a, b)) in enumerate(zip(names, cells, strict=True))
        if line[a:b].strip() and not tells_a_state(name, line[a:b]) and (n or line[a:b].strip() != str(number))
    ]
    edges = [0, *(edge for span in said for edge in span), len(line)]
    hidden = tuple((at + a, at + b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)
    return Line(hidden, tuple((at + a, at + b) for a, b in said))
