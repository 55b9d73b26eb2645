"""A document as a list of blocks, written as Markdown and as one HTML page with the same figures in both.

A string is text, whoever wrote it, and is escaped where it is put; only this module and `plots` write markup. Numbers are written here
too: no more digits than the count behind them carries, an interval rounded outwards, and never 0 % or 100 % where it is not.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.evaluation.runs.intervals import Interval
from stillme.pages.packet import Html, Mark, joined, marked, tag

__all__ = [
    "Block",
    "Bullets",
    "ByHand",
    "Code",
    "Example",
    "Figure",
    "Heading",
    "Listing",
    "Paragraph",
    "Table",
    "Tiles",
    "clipped",
    "counted",
    "html_page",
    "interval_words",
    "markdown_page",
    "on_one_line",
    "percent",
    "plain",
]

SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>|~&#!$@^]")
LINE_START: Final = re.compile(r"([-+=])|(\d+)([.)])")
FENCES: Final = re.compile(r"`+")
UNFILLED: Final = "Not filled in."


class Code(str):
    """A name, a hash or a command: shown as it is, in a type of its own."""

    __slots__ = ()


Inline = str | Sequence[str]
"""One text, or several with `Code` among them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A section begins."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or some; a warning stands out."""

    text: Inline
    look: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: Sequence[Inline]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads, the first columns words and the others figures, and below them what they were computed from."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    source: Inline = ""
    words: int = 1
    """So many columns are words, set flush left."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot, and the numbers in it as a table, which is what Markdown shows where it cannot show the plot."""

    name: str
    title: str
    svg: str
    note: Inline
    table: Table


@dataclass(frozen=True, slots=True)
class Tiles:
    """The figures that nobody may miss: a label, the value, and what it rests on."""

    tiles: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Example:
    """One case as it came out: facts, then texts with the places that matter."""

    title: Code
    facts: Sequence[tuple[str, str]]
    texts: Sequence[tuple[str, str, Sequence[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class Listing:
    """A file, folded where a page can fold."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ByHand:
    """What nobody can compute: who asks for it, and the answer if somebody wrote it."""

    prompt: str
    text: str | None


Block = Heading | Paragraph | Bullets | Table | Figure | Tiles | Example | Listing | ByHand


# numbers and texts


def percent(value: float, count: int) -> str:
    """A share as a percentage with the digits that so many observations carry; "<" and ">" where rounding would hide the rest."""
    digits = _digits(count)
    least = 10.0**-digits
    if 0 < value * 100 < least / 2:
        return f"<{least:.{digits}f} %"
    if 100 - least / 2 < value * 100 < 100:
        return f">{100 - least:.{digits}f} %"
    return f"{value * 100:.{digits}f} %"


def interval_words(ends: Interval | tuple[float, float], count: int) -> str:
    """Both ends of an interval in percent, rounded outwards, so that it never looks narrower than it is."""
    digits = _digits(count)
    scale = 100 * 10**digits
    # What is a whole number but for the last bits of a float stays that number.
    low, high = math.floor(ends[0] * scale + 1e-9), math.ceil(ends[1] * scale - 1e-9)
    return f"{low / 10**digits:.{digits}f} to {high / 10**digits:.{digits}f} %"


def _digits(count: int) -> int:
    return 0 if count < 100 else 1 if count < 10_000 else 2


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def clipped(text: str, most: int) -> str:
    """A text of at most so many characters, with how many were left out where it was longer."""
    return text if len(text) <= most else f"{text[:most]}… ({counted(len(text) - most, 'more character')})"


def plain(text: str) -> str:
    """A text without anything invisible: control and bidirectional characters are written out as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def on_one_line(text: str) -> str:
    """A text without line breaks and without anything invisible."""
    return plain(" ".join(text.split()))


def _parts(text: Inline) -> Sequence[str]:
    return [text] if isinstance(text, str) else text


# Markdown


def markdown_page(title: str, blocks: Iterable[Block], pictures: Mapping[str, str] | None = None) -> str:
    """The document as Markdown; `pictures` says where the plot of a name was written to, and without it the tables stand alone."""
    parts = [f"# {_escaped(title)}"]
    parts += [_markdown(block, pictures or {}) for block in blocks]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block, pictures: Mapping[str, str]) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_escaped(text)}"
        case Paragraph(text, look):
            written = _begun(_inline(text))
            return f"> **{written}**" if look == "warning" else f"_{written}_" if look else written
        case Bullets(items):
            return "\n".join(f"- {_inline(item)}" for item in items)
        case Tiles(tiles):
            return "\n".join(f"- **{_escaped(a)}: {_escaped(b)}** ({_escaped(c)})" for a, b, c in tiles)
        case Table():
            return _markdown_table(block)
        case _:
            return _markdown_rest(block, pictures)


def _markdown_rest(block: Block, pictures: Mapping[str, str]) -> str:
    match block:
        case Figure(name, title, _, note, table):
            picture = [f"![{_escaped(title)}]({pictures[name]})"] if name in pictures else []
            return "\n\n".join([f"**{_escaped(title)}**", *picture, _inline(note), _markdown_table(table)])
        case Example(title, facts, texts):
            known = "; ".join(f"{_escaped(key)}: {_inline(value)}" for key, value in facts)
            said = [f"> {_escaped(label)}:\n>\n{_quoted(text, spans)}" for label, text, spans in texts]
            return "\n\n".join([f"**{_code(title)}** {known}", *said])
        case Listing(title, text):
            fence = "`" * max(3, 1 + max((len(f) for f in FENCES.findall(text)), default=0))
            return f"{_escaped(title)}\n\n{fence}yaml\n{_lines(text)}\n{fence}"
        case ByHand(prompt, text):
            return f"**{_escaped(prompt)}** {_escaped(text) if text else f'_{UNFILLED}_'}"
        case _:
            raise TypeError(f"no block: {block!r}")


def _markdown_table(table: Table) -> str:
    marks = ["---" if n < table.words else "---:" for n in range(len(table.heads))]
    rows = [[_escaped(head) for head in table.heads], marks, *([_cell(cell) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    title = [f"{_escaped(table.title)}", ""] if table.title else []
    source = ["", f"_{_inline(table.source)}_"] if table.source else []
    return "\n".join([*title, *lines, *source])


def _cell(cell: str) -> str:
    return _code(cell).replace("|", "\\|") if isinstance(cell, Code) else _escaped(cell)


def _inline(text: Inline) -> str:
    return "".join(_code(part) if isinstance(part, Code) else _escaped(part) for part in _parts(text))


def _escaped(text: str) -> str:
    """A text on one line in which nothing is markup, no link is made and nobody is notified."""
    lead, end = " " * text.startswith(" "), " " * (text.endswith(" ") and len(text) > 1)
    written = SPECIAL.sub(r"\\\g<0>", on_one_line(text))
    written = written.replace("://", ":&#47;/").replace("www.", "www&#46;")
    return f"{lead}{written}{end}"


def _quoted(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Lines of a quotation, the places that matter in bold; none begins a list or a heading."""
    lines, start = [], 0
    for line in text.splitlines(keepends=True) or [""]:
        own = [
            (max(a - start, 0), min(b - start, len(line)))
            for a, b in sorted(spans)
            if a < start + len(line) and b > start
        ]
        written = _with_bold(line, own).strip()
        lines.append(f"> {_begun(written)}".rstrip())
        start += len(line)
    return "  \n".join(lines)


def _with_bold(line: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts.append(_spaced(line[done:start]))
        bold = _escaped(line[max(start, done) : end].strip())
        parts.append(f"**{bold}**" if bold else "")
        done = max(done, end)
    return "".join([*parts, _spaced(line[done:])])


def _spaced(text: str) -> str:
    """A part of a line, with the blank at either end that it had."""
    return f"{' ' * text[:1].isspace()}{_escaped(text.strip())}{' ' * text[-1:].isspace()}" if text else ""


def _begun(line: str) -> str:
    """A line that begins no list and underlines no heading."""
    return LINE_START.sub(_kept, line, count=1) if LINE_START.match(line) else line


def _kept(found: re.Match[str]) -> str:
    return f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}"


def _code(text: str) -> str:
    shown = on_one_line(text)
    fence = "`" * (1 + max((len(f) for f in FENCES.findall(shown)), default=0))
    pad = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else "` `"


def _lines(text: str) -> str:
    return "\n".join(plain(line) for line in text.splitlines())


# HTML


def html_page(title: str, kicker: str, blocks: Sequence[Block], style: str) -> str:
    """The document as one page that loads nothing, runs nothing and links only to itself."""
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    anchors = {id(block): f"s{number}" for number, block in enumerate(sections, 1)}
    links = [tag("li", tag("a", block.text, href=f"#{anchors[id(block)]}")) for block in sections]
    contents = tag("nav", tag("ol", *links), aria_label="Contents") if len(links) > 1 else None
    head = tag("header", tag("p", kicker, class_="kicker"), tag("h1", title))
    first = next((n for n, block in enumerate(blocks) if isinstance(block, Heading)), len(blocks))
    lead = [_html(block, anchors) for block in blocks[:first]]
    rest = [_html(block, anchors) for block in blocks[first:]]
    body = tag("body", tag("main", head, *lead, contents, *rest))
    return f'<!DOCTYPE html>\n<html lang="en">\n{_head(title, Html(style))}\n{body}\n</html>\n'


def _head(title: str, style: Html) -> Html:
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    guard = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return Html(
        '<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{guard}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(on_one_line(title))}</title>\n<style>{style}</style>\n</head>"
    )


def _html(block: Block, anchors: Mapping[int, str]) -> Html:
    match block:
        case Heading(level, text):
            return tag(f"h{level}", text, id=anchors.get(id(block), ""))
        case Paragraph(text, look):
            return tag("p", _spans(text), class_=look)
        case Bullets(items):
            return tag("ul", *(tag("li", _spans(item)) for item in items))
        case Tiles(tiles):
            return tag("div", *(_tile(*tile) for tile in tiles), class_="tiles")
        case Table():
            return _html_table(block)
        case _:
            return _html_rest(block)


def _html_rest(block: Block) -> Html:
    match block:
        case Figure(_, title, svg, note, table):
            numbers = tag("details", tag("summary", "The numbers in this figure"), _html_table(table))
            caption = tag("figcaption", tag("strong", title), tag("span", _spans(note)))
            return tag("figure", tag("div", Html(svg), class_="plot-box"), caption, numbers)
        case Example(title, facts, texts):
            known = [tag("div", tag("dt", key), tag("dd", _spans([value]))) for key, value in facts]
            said = [joined([tag("p", label, class_="role"), _said(text, spans)]) for label, text, spans in texts]
            return tag("article", tag("h4", _spans([title])), tag("dl", *known), *said, class_="card")
        case Listing(title, text):
            return tag("details", tag("summary", title), tag("div", text, class_="said listing"))
        case ByHand(prompt, text):
            answer = tag("span", text, dir="auto") if text else tag("span", UNFILLED, class_="none")
            return tag("p", tag("strong", prompt), " ", answer, class_="by-hand")
        case _:
            raise TypeError(f"no block: {block!r}")


def _tile(label: str, word: str, about: str) -> Html:
    lines = [tag("p", label, class_="label"), tag("p", word, class_="word"), tag("p", about, class_="about")]
    return tag("div", *lines, class_="tile")


def _html_table(table: Table) -> Html:
    looks = ["" if n < table.words else "number" for n in range(len(table.heads))]
    head = tag("tr", *(tag("th", h, scope="col", class_=look) for h, look in zip(table.heads, looks, strict=True)))
    rows = [
        tag("tr", *(tag("td", _td(cell, look), class_=look) for cell, look in zip(row, looks, strict=True)))
        for row in table.rows
    ]
    caption = tag("caption", table.title) if table.title else None
    source = tag("p", _spans(table.source), class_="source") if table.source else None
    grid = tag("table", caption, tag("thead", head), tag("tbody", *rows))
    return joined([tag("div", grid, class_="scroll"), source])


def _td(cell: str, look: str) -> Html:
    """A cell; a figure breaks only before its interval."""
    if not look or isinstance(cell, Code):
        return _spans([cell])
    return _spans(["; ".join(part.replace(" ", "\u00a0") for part in cell.split("; "))])


def _spans(text: Inline) -> Html:
    return joined(tag("code", tag("bdi", part)) if isinstance(part, Code) else part for part in _parts(text))


def _said(text: str, spans: Sequence[tuple[int, int]]) -> Html:
    marks = [Mark(start, end, "miss") for start, end in spans if 0 <= start < end <= len(text)]
    return tag("div", marked(text, marks, "mark"), class_="said", dir="auto")
