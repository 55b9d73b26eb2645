"""Documents cut into chunks: along headings, then blocks, then sentences, each a verbatim piece that tells where it stands."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from stillme.chat.documents.extracts import one_line
from stillme.storage.knowledge.store import Chunk, Document
from stillme.text.sentences import CLOSERS, ENDS, split
from stillme.text.tokens import Text

__all__ = ["CHUNKING_VERSION", "MOST", "TARGET", "chunks_of", "first_heading", "outside_code"]

# Raised whenever the same document is cut otherwise: what was ingested before is then cut again.
CHUNKING_VERSION: Final = "1"
TARGET: Final = 900
"""How long a chunk is where the text allows it, in characters."""
MOST: Final = 1200
"""No chunk is longer; a table, a list or a paragraph up to this length is kept whole."""
LONGEST_HEADING: Final = 200
LONGEST_TITLE: Final = 300
LONGEST_ID: Final = 80
HASH_SHOWN: Final = 8
SEPARATOR: Final = " › "
ACCENTS_KEPT: Final = 8
# Thousands of accents or dots in a row are no sentences, and composing such accents takes time that grows with the square.
LONGEST_RUN: Final = 200

BLANKS: Final = re.compile(r"\s*+")
NO_WORD: Final = re.compile(r"[^\w\s]++")
LINE: Final = re.compile(r"[^\n]++")
HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]++(\S.*+)")
UNDERLINE: Final = re.compile(r" {0,3}(?:=={2,}+|--{2,}+)[ \t]*+")
ITEM: Final = re.compile(r"[ \t]*+(?:[-*+•‣◦▪–—]|\d{1,3}+[.)]|[A-Za-z]\))[ \t]++\S")
CODE_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")
ANCHOR: Final = re.compile(r"\{#[\w-]{1,100}+\}\s*+$")
LINK: Final = re.compile(r"!?\[([^\[\]]{1,200}+)\]\([^()\s]{0,500}+\)")
BARRED_D: Final = {0x111: "d", 0x110: "D"}
"""The one letter of an accented alphabet that is not a plain letter with an accent."""
NOT_IN_ID: Final = re.compile(r"[^A-Za-z0-9._/-]++")


class TextSpan(NamedTuple):
    """A range of characters."""

    start: int
    end: int


@dataclass(slots=True)
class TextBlock:
    """Lines that belong together: a heading, a paragraph, a list, a table or a block of code."""

    kind: str
    start: int
    end: int
    lines: int = 1
    level: int = 0
    words: str = ""
    """What a heading says."""


@dataclass(slots=True)
class Section:
    """Blocks under the same headings."""

    path: tuple[str, ...]
    blocks: list[TextBlock] = field(default_factory=list)
    has_body: bool = False


class ChunkUnit(NamedTuple):
    """What is never cut; a `leading` one is not left behind at the end of a chunk."""

    start: int
    end: int
    leading: bool


def chunks_of(document: Document) -> list[Chunk]:
    """The chunks of a document, in order: every character that is no white space is in exactly one of them."""
    found: list[Chunk] = []
    ids = _Ids(document.name)
    for section in _sections(document.text):
        title = _title(document.title, section.path)
        for start, end in _packed(_units(document.text, section.blocks)):
            text = document.text[start:end]
            found.append(
                Chunk(
                    id=ids.new(text),
                    document=document.name,
                    number=len(found),
                    text=text,
                    start=start,
                    end=end,
                    title=title,
                    url=document.url,
                    timestamp=document.timestamp,
                )
            )
    return found


def first_heading(text: str) -> str | None:
    """What the document calls itself: its first heading of the highest level, or any heading that it begins with."""
    blocks = _blocks(text)
    headings = [block for block in blocks if block.kind == "heading" and block.words]
    chosen = next((block for block in headings if block.level == 1), None)
    if chosen is None and headings and headings[0] is blocks[0]:
        chosen = headings[0]
    return chosen.words if chosen else None


def outside_code(text: str, wanted: str) -> Iterator[int]:
    """Where `wanted` stands outside of code blocks and of code within a line."""
    code = iter([block for block in _blocks(text) if block.kind == "code"])
    block = next(code, None)
    line, ticks, counted = -1, 0, 0
    at = text.find(wanted)
    while at >= 0:
        while block is not None and block.end <= at:
            block = next(code, None)
        begin = text.rfind("\n", 0, at) + 1 if line < 0 or "\n" in text[counted:at] else line
        ticks = text.count("`", begin, at) if begin != line else ticks + text.count("`", counted, at)
        line, counted = begin, at
        if (block is None or at < block.start) and ticks % 2 == 0:
            yield at
        at = text.find(wanted, at + 1)


# titles and ids


def _title(title: str | None, path: Sequence[str]) -> str | None:
    """The document's title and the headings above the chunk; the nearest one in any case."""
    words = [title] if title else []
    words += [heading for heading in path if not title or heading.casefold() != title.casefold()]
    whole = SEPARATOR.join(words)
    if len(whole) > LONGEST_TITLE:
        whole = SEPARATOR.join(dict.fromkeys((words[0], words[-1])))
    return one_line(whole, LONGEST_TITLE) or None


class _Ids:
    """Gives each chunk of a document an id of its own, the same one whenever the same document is cut again."""

    def __init__(self, name: str) -> None:
        self._name = name
        plain = unicodedata.normalize("NFD", name.translate(BARRED_D))
        letters = "".join(char for char in plain if not unicodedata.combining(char))
        self._readable = NOT_IN_ID.sub("-", letters)[-LONGEST_ID:].lstrip("./-_") or "document"
        self._given: set[str] = set()
        self._times: dict[str, int] = {}

    def new(self, text: str) -> str:
        """The document's name in plain letters, and a hash of the name, the text and which of its equals this is."""
        while True:
            number = self._times[text] = self._times.get(text, 0) + 1
            said = f"{len(self._name)}:{self._name}:{number}:{text}"
            short = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_SHOWN]
            found = f"{self._readable}#{short}"
            if found not in self._given:
                self._given.add(found)
                return found


def _heading_words(line: str) -> str:
    """A heading without the marks of its notation."""
    words = ANCHOR.sub("", LINK.sub(r"\1", line).strip().rstrip("#").rstrip())
    return one_line(words.replace("**", "").replace("__", "").replace("`", "").strip("*_ "), LONGEST_HEADING)


# blocks and sections


def _sections(text: str) -> Iterator[Section]:
    """The document by headings; a heading with nothing below it goes with the section that follows, the last with the one before."""
    path: list[tuple[int, str]] = []
    section, before = Section(()), None
    for block in _blocks(text):
        if block.kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.words))
            if section.has_body:
                if before is not None:
                    yield before
                before, section = section, Section(())
            section.path = tuple(words for _, words in path if words)
        else:
            section.has_body = True
        section.blocks.append(block)
    if before is not None and not section.has_body:
        before.blocks += section.blocks
        section = Section(())
    if before is not None:
        yield before
    if section.blocks:
        yield section


def _blocks(text: str) -> list[TextBlock]:
    """The lines of a text, put together to blocks."""
    found: list[TextBlock] = []
    fence = ""
    for line in LINE.finditer(text):
        start, end = line.span()
        if not line[0].strip():
            continue
        last = found[-1] if found else None
        if fence and last is not None:
            last.end = end
            fence = "" if _closes(line[0], fence) else fence
            continue
        mark = CODE_FENCE.match(line[0])
        fence = mark[1] if mark else ""
        block = TextBlock("code", start, end) if mark else _block(line[0], start, end)
        if last is not None and text[last.end : start] == "\n" and _goes_on(last, block, line[0]):
            last.end, last.lines = end, last.lines + 1
        else:
            found.append(block)
    return found


def _closes(line: str, fence: str) -> bool:
    """Whether a line ends the code that a fence began."""
    mark = CODE_FENCE.fullmatch(line.rstrip())
    return mark is not None and mark[1][0] == fence[0] and len(mark[1]) >= len(fence)


def _block(line: str, start: int, end: int) -> TextBlock:
    heading = HEADING.fullmatch(line) if end - start <= LONGEST_HEADING * 2 else None
    if heading:
        return TextBlock("heading", start, end, level=len(heading[1]), words=_heading_words(heading[2]))
    if line.lstrip().startswith("|"):
        return TextBlock("table", start, end)
    return TextBlock(
        "list" if ITEM.match(line) else "text", start, end, words=line if end - start <= LONGEST_HEADING else ""
    )


def _goes_on(last: TextBlock, block: TextBlock, line: str) -> bool:
    """Whether a line belongs to the block above it; a line that underlines the one above makes it a heading."""
    if last.kind in ("heading", "code") or block.kind in ("heading", "code"):
        return False
    if last.kind == "text" and last.lines == 1 and last.words and UNDERLINE.fullmatch(line):
        last.kind, last.level = "heading", 1 if "=" in line else 2
        last.words = _heading_words(last.words)
        return True
    return block.kind == last.kind or (last.kind == "list" and block.kind == "text")


# units


def _units(text: str, blocks: Sequence[TextBlock]) -> list[ChunkUnit]:
    """The blocks, and the parts of those that are too long to be kept whole with what leads to them."""
    found: list[ChunkUnit] = []
    lead: int | None = None
    for block in blocks:
        room = MOST - (0 if lead is None else block.start - lead)
        pieces = list(_pieces(text, TextSpan(block.start, block.end), CUTS[block.kind], room))
        announces = block.kind == "heading" or text[block.start : block.end].rstrip()[-1:] == ":"
        found += [ChunkUnit(*piece, False) for piece in pieces[:-1]]
        found.append(ChunkUnit(*pieces[-1], announces))
        lead = (block.start if lead is None or len(pieces) > 1 else lead) if announces else None
    return found


Cut = Callable[[str, TextSpan], list[int]]


def _pieces(text: str, span: TextSpan, cuts: Sequence[Cut], room: int = MOST) -> Iterator[TextSpan]:
    """The span if it fits, else its parts by the first cut, each of them cut further where it does not fit."""
    start, end = _trimmed(text, span)
    if end - start <= room or (end - start <= MOST and not cuts):
        yield TextSpan(start, end)
    elif not cuts:
        yield from _by_words(text, start, end)
    else:
        places = [start, *(at for at in cuts[0](text, TextSpan(start, end)) if start < at < end), end]
        for first, last in pairwise(places):
            yield from _pieces(text, TextSpan(first, last), cuts[1:])


def _trimmed(text: str, span: TextSpan) -> TextSpan:
    """The span without white space at its ends; what is handed in always holds something else too."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return TextSpan(start, start + len(piece.strip()))


def _sentence_starts(text: str, span: TextSpan) -> list[int]:
    """Where sentences begin, going by how they end: a line that only wraps before a name begins none."""
    piece = text[span.start : span.end]
    found: list[int] = []
    if any(len(run[0]) >= LONGEST_RUN for run in NO_WORD.finditer(piece)):
        return found
    for before, after in pairwise(split(Text(piece))):
        end = before.end
        if _is_ended(piece, before.start, end) or "\n\n" in piece[end : after.start]:
            rest = piece[end : after.start]
            found.append(span.start + end + len(rest) - len(rest.lstrip()))
    return found


def _is_ended(piece: str, start: int, end: int) -> bool:
    while end > start and piece[end - 1] in CLOSERS:
        end -= 1
    return piece[end - 1] in ENDS


def _item_starts(text: str, span: TextSpan) -> list[int]:
    return [line.start() for line in LINE.finditer(text, *span) if ITEM.match(line[0])]


def _line_starts(text: str, span: TextSpan) -> list[int]:
    return [line.start() for line in LINE.finditer(text, *span) if line[0].strip()]


def _by_words(text: str, start: int, end: int) -> Iterator[TextSpan]:
    """Pieces of what nothing else divides: between words, or where a piece is full but never before an accent."""
    while end - start > MOST:
        window = text[start : start + TARGET]
        blank = max(map(window.rfind, (" ", "\t", "\n", "\u00a0")))
        at = start + (blank if blank > 0 else TARGET)
        while blank <= 0 and at > start + TARGET - ACCENTS_KEPT and unicodedata.combining(text[at]):
            at -= 1
        if text[start:at].strip():
            yield _trimmed(text, TextSpan(start, at))
        blanks = BLANKS.match(text, at, end)
        start = blanks.end() if blanks else at
    if text[start:end].strip():
        yield _trimmed(text, TextSpan(start, end))


CUTS: Final[dict[str, tuple[Cut, ...]]] = {
    "heading": (_line_starts,),
    "text": (_sentence_starts, _line_starts),
    "list": (_item_starts, _sentence_starts, _line_starts),
    "table": (_line_starts,),
    "code": (_line_starts,),
}


# chunks


def _packed(units: Sequence[ChunkUnit]) -> Iterator[TextSpan]:
    """Units put together to pieces of about the same length, none longer than allowed."""
    first = 0
    aim = _aim(units, first)
    for at in range(1, len(units)):
        last = _last_kept(units, first, at, aim)
        if last is not None:
            yield TextSpan(units[first].start, units[last].end)
            first = last + 1
            aim = _aim(units, first)
    yield TextSpan(units[first].start, units[-1].end)


def _aim(units: Sequence[ChunkUnit], first: int) -> float:
    """How long the next piece is best, so that no crumb is left at the end."""
    rest = units[-1].end - units[first].start
    return rest if rest <= MOST else rest / -(-rest // TARGET)


def _last_kept(units: Sequence[ChunkUnit], first: int, at: int, aim: float) -> int | None:
    """The last unit of the piece that begins with `first` if it has to end before unit `at`, else None."""
    start, before, after = units[first].start, units[at - 1].end, units[at].end
    fits = after - start <= MOST
    if fits and (after - start - aim <= aim - (before - start) or units[at - 1].leading):
        return None
    last = at - 1
    while last > first and units[last].leading and after - units[last].start <= MOST:
        last -= 1
    return at - 1 if units[last].leading else last
