"""HTML as the text that a visitor of the page reads: headings, paragraphs, lists and tables in the notation of Markdown.

A scan in one pass, without a tree: the tree that HTML asks for takes a parser time that grows with the square of the nesting (a megabyte
of `<div>` is minutes), and a document to be ingested is not trusted. What elements are open is followed closely enough to know
what is hidden and where a paragraph ends.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from stillme.chat.documents.extracts import Extract, clean, iso_moment, one_line, web_address
from stillme.errors import InputError

__all__ = ["html_extract"]

MARKUP: Final = re.compile(r"<(?=[A-Za-z/!?])")
TAG_NAME: Final = re.compile(r"/?+([A-Za-z][^\s/>]*+)")
ATTRIBUTE: Final = re.compile(r"[\s/]*+(?:([^\s/>][^\s/>=]*+)(\s*+=\s*+)?+)?+")
BARE_VALUE: Final = re.compile(r"[^\s>]*+")
LONG_REFERENCE: Final = re.compile(r"&#0*+[1-9][0-9]{7,}+;?+")

VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
})  # fmt: skip
# What stands in them is no markup, up to their end tag.
RAW: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
UNREAD: Final = frozenset({
    "audio", "button", "canvas", "datalist", "iframe", "map", "nav", "noembed", "noframes", "noscript", "object",
    "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
})  # fmt: skip
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li", "main", "menu",
    "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}) | frozenset(HEADINGS)  # fmt: skip
# A start tag closes these where they are the innermost open ones.
CELLS: Final = frozenset({"p", "td", "th"})
CLOSES: Final[Mapping[str, frozenset[str]]] = {
    "li": frozenset({"p", "li"}),
    "dt": frozenset({"p", "dt", "dd"}),
    "dd": frozenset({"p", "dt", "dd"}),
    "td": CELLS,
    "th": CELLS,
    "tr": CELLS | {"tr"},
    "tbody": CELLS | {"tr", "tbody", "thead", "tfoot"},
    "thead": CELLS | {"tr", "tbody", "thead", "tfoot"},
    "tfoot": CELLS | {"tr", "tbody", "thead", "tfoot"},
}
# An end tag does not reach out of these; one of a part of a table reaches out of all but another table.
BARRIERS: Final = frozenset({"button", "caption", "object", "table", "td", "template", "th"})
TABLE_PARTS: Final = frozenset({"caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"})
HIDING: Final = ("display:none", "visibility:hidden", "opacity:0;", "font-size:0;")
UNREAD_ROLES: Final = frozenset({"navigation", "search"})
CHANGED: Final = ("article:modified_time", "dcterms.modified", "last-modified", "article:published_time", "date")
BREAK: Final = "\x0b"


class Tag(NamedTuple):
    """A start or end tag."""

    name: str
    is_end: bool
    attributes: Mapping[str, str]


class Open(NamedTuple):
    """An element that has not ended: whether what stands in it is read, and whether it is the page's main part."""

    name: str
    unread: bool
    main: bool


@dataclass(slots=True)
class PageBlock:
    """A piece of the page's text: what kind of thing it is decides what separates it from the next."""

    kind: str
    text: str
    main: bool


def html_extract(page: str) -> Extract:
    """The text of an HTML page with its title, address and date; InputError where a tag or comment has no end."""
    reading = _Reading()
    for part in _parts(page):
        reading.take(part)
    return reading.extract()


def _parts(page: str) -> Iterator[str | Tag]:
    """Texts and tags, in order; comments, declarations and what scripts and styles say are left out."""
    at = 0
    while (found := MARKUP.search(page, at)) is not None:
        if found.start() > at:
            yield _unescaped(page[at : found.start()])
        at = found.end()
        if page[at] in "!?" or (page[at] == "/" and not TAG_NAME.match(page, at)):
            at = _behind_comment(page, at)
            continue
        tag, at = _tag(page, at)
        yield tag
        if not tag.is_end and tag.name in RAW:
            end = RAW[tag.name].search(page, at)
            if end is None:
                raise _endless(page, at, f"<{tag.name}>")
            yield _unescaped(page[at : end.start()])
            at = end.start()
    if at < len(page):
        yield _unescaped(page[at:])


def _behind_comment(page: str, at: int) -> int:
    closing, begin = ("-->", at + 1) if page.startswith("!--", at) else (">", at)
    end = page.find(closing, begin)
    if end < 0:
        raise _endless(page, at, "a comment")
    return end + len(closing)


def _tag(page: str, at: int) -> tuple[Tag, int]:
    """The tag whose name begins at `at`, and where the text behind it begins."""
    named = TAG_NAME.match(page, at)
    assert named is not None  # noqa: S101  (the caller looked)
    attributes: dict[str, str] = {}
    begin, at, is_end = at, named.end(), page[at] == "/"
    while True:
        found = ATTRIBUTE.match(page, at)
        assert found is not None  # noqa: S101  (it matches nothing too)
        at = found.end()
        if at >= len(page):
            raise _endless(page, begin, "a tag")
        if found[1] is None:
            return Tag(named[1].lower(), is_end, attributes), at + 1
        value, at = _value(page, at) if found[2] else ("", at)
        attributes.setdefault(found[1].lower(), value)


def _value(page: str, at: int) -> tuple[str, int]:
    quote = page[at]
    if quote not in "\"'":
        bare = BARE_VALUE.match(page, at)
        return (_unescaped(bare[0]), bare.end()) if bare else ("", at)
    end = page.find(quote, at + 1)
    if end < 0:
        raise _endless(page, at, "a value in quotes")
    return _unescaped(page[at + 1 : end]), end + 1


def _endless(page: str, at: int, what: str) -> InputError:
    line = page.count("\n", 0, at) + 1
    return InputError(f"{what} that begins in line {line} has no end: complete the file, or save the page again")


def _unescaped(text: str) -> str:
    """Character references resolved; one of too many digits names no character."""
    return html.unescape(LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text


@dataclass(slots=True)
class _Reading:
    """What was read so far: the open elements, the text since the last block ended, and the blocks."""

    opened: list[Open] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    barriers: list[int] = field(default_factory=list)
    lists: list[int | None] = field(default_factory=list)
    """For each open list the number of its last item, or None where it has bullets."""
    text: list[str] = field(default_factory=list)
    mark: str = ""
    """What goes before the text of the block that is being read."""
    frames: list[list[PageBlock]] = field(default_factory=lambda: [[]])
    """The blocks of the page and, within, of each open table cell."""
    rows: list[list[list[PageBlock]]] = field(default_factory=list)
    """For each open table the cells of the row that is being read."""
    titles: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def take(self, part: str | Tag) -> None:
        if isinstance(part, str):
            self._take_text(part)
        elif part.is_end:
            self._end(part.name)
        else:
            self._start(part)

    def extract(self) -> Extract:
        """What the page says."""
        endless = next((element.name for element in self.opened if element.unread), None)
        self._close_to(0)
        self._flush()
        blocks = self.frames[0]
        if any(block.main for block in blocks):
            blocks = [block for block in blocks if block.main]
        title = next((found for name in ("h1", "title") if (found := one_line(self.titles.get(name, "")))), None)
        dates = (iso_moment(self.said[name]) for name in CHANGED if name in self.said)
        return Extract(
            _joined(blocks),
            title,
            web_address(self.said.get("canonical")),
            next((date for date in dates if date), None),
            (f"<{endless}> has no end tag: what follows it was taken for a part of it and left out",)
            if endless
            else (),
        )

    @property
    def _unread(self) -> bool:
        return bool(self.opened) and self.opened[-1].unread

    @property
    def _main(self) -> bool:
        return bool(self.opened) and self.opened[-1].main

    def _take_text(self, text: str) -> None:
        if self.opened and self.opened[-1].name == "title" and not self.places["svg"]:
            self.titles.setdefault("title", text)
        if not self._unread:
            self.text.append(text.replace("\r\n", "\n").replace(BREAK, " "))

    # what is open

    def _start(self, tag: Tag) -> None:
        self._note(tag)
        closes = CLOSES.get(tag.name, frozenset({"p"}) if tag.name in BLOCKS else frozenset())
        while self.opened and self.opened[-1].name in closes:
            self._close_to(len(self.opened) - 1)
        if tag.name in BLOCKS:
            self._flush()
        elif tag.name == "br" and not self._unread:
            self.text.append("\n" if self.places["pre"] else BREAK)
        if tag.name in VOID:
            return
        self.places[tag.name].append(len(self.opened))
        if tag.name in BARRIERS:
            self.barriers.append(len(self.opened))
        main = self._main or tag.name == "main" or tag.attributes.get("role", "").strip().lower() == "main"
        self.opened.append(Open(tag.name, self._unread or _is_unread(tag), main))
        if not self._unread:
            self._enter(tag)

    def _end(self, name: str) -> None:
        places = self.places[name]
        if name == "p" and not places:
            self._flush()
        barriers = self.places["table"] if name in TABLE_PARTS else self.barriers
        if places and (not barriers or places[-1] >= barriers[-1]):
            self._close_to(places[-1])

    def _close_to(self, depth: int) -> None:
        """End every element that is open deeper than `depth`."""
        while len(self.opened) > depth:
            name, unread, _ = self.opened[-1]
            if not unread:
                self._leave(name)
            self.opened.pop()
            self.places[name].pop()
            if name in BARRIERS:
                self.barriers.pop()

    # what it means

    def _enter(self, tag: Tag) -> None:
        if tag.name in HEADINGS:
            self.mark = "#" * HEADINGS[tag.name] + " "
        elif tag.name in ("ul", "menu", "dl"):
            self.lists.append(None)
        elif tag.name == "ol":
            self.lists.append(0)
        elif tag.name == "li":
            self.mark = self._item_mark()
        elif tag.name == "dd":
            self.mark = "- "
        elif tag.name == "table":
            self.rows.append([])
        elif tag.name in ("td", "th"):
            self.frames.append([])

    def _leave(self, name: str) -> None:
        if name == "h1":
            self.titles.setdefault("h1", "".join(self.text).replace(BREAK, " "))
        if name in BLOCKS:
            self._flush("code" if name == "pre" else "")
        if name in ("ul", "menu", "dl", "ol"):
            self.lists.pop()
        elif name in ("td", "th"):
            self._keep_cell(self.frames.pop())
        elif name in ("li", "dd"):
            self.mark = ""  # of an item in which nothing stood
        elif name == "tr":
            self._end_row()
        elif name == "table":
            self._end_row()
            self.rows.pop()

    def _item_mark(self) -> str:
        indent = "  " * min(max(len(self.lists) - 1, 0), 8)
        if not self.lists or self.lists[-1] is None:
            return f"{indent}- "
        self.lists[-1] += 1
        return f"{indent}{self.lists[-1]}. "

    def _keep_cell(self, cell: list[PageBlock]) -> None:
        if self.rows:
            self.rows[-1].append(cell)
        else:
            self.frames[-1] += cell

    def _end_row(self) -> None:
        """A row of short cells becomes a line; one that lays out whole sections gives them one after the other."""
        if not self.rows or not self.rows[-1]:
            return
        cells, self.rows[-1] = self.rows[-1], []
        texts = [_short_text(cell) for cell in cells]
        if None in texts:
            self.frames[-1] += chain.from_iterable(cells)
        elif any(cells):
            self.frames[-1].append(PageBlock("row", f"| {' | '.join(map(str, texts))} |", self._main))

    def _flush(self, kind: str = "") -> None:
        """End the block that is being read."""
        text, self.text = "".join(self.text), []
        if kind == "code" or self.places["pre"]:
            block = PageBlock("code", _fenced(text), self._main)
        else:
            block = self._block("\n".join(filter(None, map(_in_one_line, text.split(BREAK)))))
        if block.text:
            self.frames[-1].append(block)
        if block.text or self.mark.startswith("#"):
            self.mark = ""

    def _block(self, lines: str) -> PageBlock:
        """Lines as a block of the kind that its mark tells; only the first line bears it, and a heading is one line."""
        if self.mark.startswith("#"):
            kind, lines = "heading", lines.replace("\n", " ")
        else:
            kind = "item" if self.mark or self.lists else "text"
        return PageBlock(kind, f"{self.mark}{lines}" if lines else "", self._main)

    def _note(self, tag: Tag) -> None:
        """What the head of the page tells of it."""
        attributes = tag.attributes
        if tag.name == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.said.setdefault("canonical", attributes.get("href", ""))
        elif tag.name == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("http-equiv") or ""
            self.said.setdefault(name.lower(), attributes.get("content", ""))


def _is_unread(tag: Tag) -> bool:
    """Whether nobody reads on the page what stands in the element, or it only leads elsewhere."""
    if tag.name in UNREAD or (tag.name == "dialog" and "open" not in tag.attributes):
        return True
    return bool(tag.attributes) and _is_hidden(tag.attributes)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether attributes keep an element from view."""
    style = "".join(attributes.get("style", "").lower().split()) + ";"
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").strip().lower() == "true"
        or attributes.get("role", "").strip().lower() in UNREAD_ROLES
        or any(words in style for words in HIDING)
    )


def _short_text(cell: Sequence[PageBlock]) -> str | None:
    """What a cell of a table says in one line; None where there is more in it than that."""
    if not cell:
        return ""
    first, *others = cell
    return None if others or first.kind != "text" else _in_one_line(first.text)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _fenced(text: str) -> str:
    """Preformatted text between fences that are longer than any in it."""
    body = text.replace(BREAK, "\n").strip("\n").rstrip()
    if not body.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}+", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{body}\n{fence}"


def _joined(blocks: list[PageBlock]) -> str:
    """The blocks with an empty line between them, but for the items of a list and the rows of a table."""
    parts: list[str] = []
    before = ""
    for block in blocks:
        if parts:
            parts.append("\n" if block.kind == before and before in ("item", "row") else "\n\n")
        parts.append(block.text)
        before = block.kind
    return clean("".join(parts))
