"""What of a draft is markup, and what a reader gets to see of it: alternative texts, titles, comments in code.

Nothing is rendered. Tags, link targets and code are found by strict patterns that no text can stall; whatever fits none of them
is prose and is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from stillme.languages import word_set
from stillme.text.keyed import find_keys, find_lines, names_a_field, tells_a_state
from stillme.text.programs import find_program_lines
from stillme.text.tokens import Text, within

__all__ = ["Markup", "read_markup"]

Span = tuple[int, int]

VALUE: Final = r"(?:\"[^\"<>]{0,2000}+\"|'[^'<>]{0,2000}+'|[^\s\"'<>=`]{1,500}+)"
TAG_NAME: Final = r"[A-Za-z][\w:.-]{0,40}+"
TAG: Final = re.compile(
    rf"<(?:/\s*+({TAG_NAME})\s*+>|({TAG_NAME})((?:\s++[A-Za-z][\w:-]{{0,40}}+\s*+=\s*+{VALUE})*+)\s*+(/?+)>)"
)
# What stands around the elements of XML: its declaration, and the marks of a text that is taken as it is.
PROLOGUE: Final = re.compile(
    r"<\?xml(?:\s++[a-z]{1,12}+\s*+=\s*+(?:\"[\w.-]{0,20}+\"|'[\w.-]{0,20}+'))*+\s*+\?>|<!\[CDATA\[|\]\]>"
)
# The tags of forums and wikis, '[b]' to '[/b]' and '{quote}' to '{quote}'.
SQUARE: Final = re.compile(r"\[(?:/([^\W\d]\w{0,40}+)|([^\W\d]\w{0,40}+)(?:=([^\[\]\n]{0,200}+))?+)\]")
WORD_GAPS: Final = re.compile(r"[\s_]+")
CURLY: Final = re.compile(r"\{([a-z]{2,20}+)(?::[^{}\n]{0,80}+)?+\}")
TEMPLATE: Final = re.compile(r"\{\{\s*+([^\W\d]\w{0,40}+)\s*+\||\}\}")
STATE: Final = re.compile(r"\s*+([\w -]{1,40}+)(?=</)")
ATTRIBUTE: Final = re.compile(rf"([A-Za-z][\w:-]{{0,40}}+)\s*+=\s*+({VALUE})")
TITLE: Final = r"(?:\s++(\"[^\"\n]{0,500}+\"|'[^'\n]{0,500}+'|\([^()\n]{0,500}+\)))?+"
LINK_END: Final = re.compile(rf"\]\(\s*+<?+([^\s()<>]{{0,2000}}+)>?+{TITLE}\s*+\)")
DEFINITION: Final = re.compile(
    rf"^ {{0,3}}+\[[^\[\]\n]{{1,80}}+\]:[ \t]++<?+(\S{{1,2000}}+){TITLE}[ \t]*+$", re.MULTILINE
)
LATEX: Final = re.compile(
    r"\$?+\\[A-Za-z]{2,20}+\*?+(?:\{|\$|(?=\s))|\$\$|\\[()\[\]]"
    r"|<![A-Za-z][^<>]{0,80}+>|(?<![\w:]):[a-z][a-z0-9_+-]{1,30}+:(?!\w)|(?<=[-*+] )\[[ xX]\](?= )"
    r"|(?<=\()[^\W\d_A-Za-z\u00c0-\u1ef9](?=\))"  # a face
)
# An arrow or the name of a reader before a line, and what underlines it.
BEFORE_A_LINE: Final = re.compile(
    r"^[ \t]*+(?:(?:=>|->|[→⇒➜➡»])(?=\s)|@\w{2,30}+[,:]?+(?=\s)|(?:={3,}+|~{3,}+)[ \t]*+$)", re.MULTILINE
)
IMAGE: Final = re.compile(r"!\[[^\[\]\n]{1,500}+\]\(")
FENCE: Final = re.compile(r"(```+|~~~+)[ \t]*+")
COMMENT: Final = re.compile(r"(?:^|(?<=\s))(?:#+|//+|--+|/\*+|\*+|<!--|%+|REM\b|\"\"\"|''')[ \t]*+")
LITERAL: Final = re.compile(r"\"([^\"\n]{4,500}+)\"|'([^'\n]{4,500}+)'")
PLAIN: Final = re.compile(r"[\w'’.,!?$€£₫%-]++")
# A sign that points to a note: behind a stop or a longer word, where it is no power ('m²', '10⁶').
NOTE: Final = re.compile(
    r"(?:(?<=[.,;:!?\"”»)])|(?<=[^\W\d_]{4}))(?:[¹²³⁰⁴-⁹]{1,3}+|<sup>\s*+\[?+\d{1,3}+\]?+\s*+</sup>|\*{1,3}+(?=\s*+\Z|\s*+\n))(?!\w)"
)
STRING: Final = re.compile(r"\"((?:[^\"\\\n]|\\.){0,4000}+)\"(\s*+:)?+")
MOST_SPACE: Final = 40
LEAST_WORDS: Final = 3
PLAIN_SHARE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Markup:
    """Character ranges of a draft, in order: what is not said, and what stands apart from the text around it."""

    hidden: tuple[Span, ...] = ()
    """Tags, link targets, code that is no prose."""
    apart: tuple[Span, ...] = ()
    """Texts that a reader sees beside or below the sentence they stand in: sentences of their own."""
    breaks: tuple[int, ...] = ()
    """Where a block of HTML begins or ends, and a sentence with it."""


@cache
def _note() -> re.Pattern[str]:
    """A note pointed to in brackets: '[note 1]', '(xem chú thích 2)'."""
    names = "|".join(sorted(word.replace("_", " ") for word in word_set("markup", "notes")))
    return re.compile(rf"[\[(](?:(?:see|xem)\s++)?+(?:{names})\.?+\s*+\d{{0,3}}+[\])]", re.IGNORECASE)


def read_markup(draft: Text) -> Markup:
    """The markup of a draft."""
    raw = draft.raw
    hidden = [match.span() for pattern in (LATEX, BEFORE_A_LINE, NOTE, _note()) for match in pattern.finditer(raw)]
    lines = find_lines(raw)
    hidden += [*find_keys(raw), *(span for _, spans in lines for span in spans)]
    apart, breaks = list[Span](), [start for start, _ in lines]
    for line in find_program_lines(raw):
        if not within(draft.code, line.hidden[0][0]):
            hidden += line.hidden
            apart += line.apart
    for found in (*_tags(raw), *_square_tags(raw), *_links(raw), *_code(draft), *_values(raw)):
        hidden += found.hidden
        apart += found.apart
        breaks += found.breaks
    return Markup(tuple(sorted(set(hidden))), tuple(sorted(set(apart))), tuple(sorted(set(breaks))))


def _values(raw: str) -> Iterator[Markup]:
    """Each text of a draft that is JSON is a sentence of its own; what names it is a label."""
    if raw.lstrip()[:1] in ("{", "["):
        try:
            json.loads(raw)
        except (ValueError, RecursionError):
            return
        for match in STRING.finditer(raw):
            if match.group(1) and not match.group(2):
                yield Markup(apart=(match.span(1),))


def _tags(raw: str) -> Iterator[Markup]:
    """Tags of known names with well-formed attributes, and of any name that opens and closes; the rest that looks like one is text."""
    if "<" not in raw:
        return
    yield from (Markup((match.span(),), breaks=match.span()) for match in PROLOGUE.finditer(raw))
    tags = list(TAG.finditer(raw))
    opened, closed = ({tag.group(group) for tag in tags} for group in (2, 1))
    for tag in tags:
        name = tag.group(1) or tag.group(2)
        if name.lower() in word_set("markup", "blocks"):
            yield Markup(breaks=_break(raw, tag))
        if name.lower() in word_set("markup", "tags"):
            yield _tag(tag, [a for a in _attributes(tag) if len(a.group(2).split()) > 1])
        elif tag.group(4) or (name in opened and name in closed):
            yield _element(raw, tag, name)


def _square_tags(raw: str) -> Iterator[Markup]:
    """Tags in square brackets that open and close, and known ones in curly brackets that stand there twice: a name that says anything
    is read."""
    if "[/" in raw:
        tags = list(SQUARE.finditer(raw))
        opened, closed = ({tag.group(group) for tag in tags} for group in (2, 1))
        for tag in tags:
            name = tag.group(1) or tag.group(2)
            if name in opened and name in closed:
                yield _square_tag(tag, name)
    if "{{" in raw:
        yield from (Markup((t.span(),)) for t in TEMPLATE.finditer(raw) if t.group() == "}}" or _lays_out(t.group(1)))
    if "{" in raw:
        marks = [mark for mark in CURLY.finditer(raw) if _lays_out(mark.group(1))]
        names = [mark.group(1) for mark in marks]
        yield from (Markup((mark.span(),)) for mark in marks if names.count(mark.group(1)) > 1)


def _square_tag(tag: re.Match[str], name: str) -> Markup:
    if not _lays_out(name):
        return Markup(apart=(tag.span(),))
    seen = [tag.span(3)] if tag.group(3) and len(WORD_GAPS.split(tag.group(3))) > 1 else []
    return Markup(_around(tag.span(), seen), tuple(seen))


def _lays_out(name: str) -> bool:
    """Whether a tag of that name says nothing of what it holds."""
    known = word_set("markup", "tags") | word_set("markup", "square_tags")
    return name.lower() in known or names_a_field(name)


def _attributes(tag: re.Match[str]) -> list[re.Match[str]]:
    """The attributes of a tag that a reader may see."""
    found = ATTRIBUTE.finditer(tag.string, tag.start(3), tag.end(3)) if tag.group(3) else iter(())
    return [a for a in found if a.group(1).lower() not in word_set("markup", "unseen_attributes")]


def _tag(tag: re.Match[str], attributes: list[re.Match[str]]) -> Markup:
    """A tag that says nothing but for some of its attributes."""
    seen = [a.span(2) for a in attributes]
    return Markup(_around(tag.span(), seen), tuple(seen))


def _element(raw: str, tag: re.Match[str], name: str) -> Markup:
    """The tag of an element of XML, which stands apart from what is beside it: one whose name says anything is read."""
    said = [a for a in _attributes(tag) if not tells_a_state(a.group(1), a.group(2).strip("\"'"))]
    if not names_a_field(name):
        return Markup(apart=(tag.span(),))
    found = _tag(tag, said)
    state = STATE.match(raw, tag.end()) if tag.group(2) else None
    told = (state.span(1),) if state and tells_a_state(name, state.group(1)) else ()
    return Markup((*found.hidden, *told), found.apart, _break(raw, tag))


def _break(raw: str, tag: re.Match[str]) -> tuple[int, ...]:
    """Where a block begins or ends a sentence: before its opening tag, unless another stands there, or behind its closing one."""
    if tag.group(1):
        return (tag.end(),)
    return () if raw[max(0, tag.start() - MOST_SPACE) : tag.start()].rstrip().endswith(">") else (tag.start(),)


def _around(span: Span, seen: list[Span]) -> tuple[Span, ...]:
    """What of a range lies outside the ranges within it."""
    edges = [span[0], *(edge for part in seen for edge in part), span[1]]
    return tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)


def _links(raw: str) -> Iterator[Markup]:
    """Link targets are not said, titles are; what stands in place of an image is a sentence of its own."""
    if "](" in raw:
        for match in LINK_END.finditer(raw):
            yield Markup((match.span(1),) if match.group(1) else (), (match.span(2),) if match.group(2) else ())
        for match in IMAGE.finditer(raw):
            yield Markup((), ((match.start() + 1, match.end() - 1),))
    if "]:" in raw:
        for match in DEFINITION.finditer(raw):
            if any(mark in match.group(1) for mark in "/#"):
                yield Markup((match.span(1),), (match.span(2),) if match.group(2) else ())


def _code(draft: Text) -> Iterator[Markup]:
    """Of a code block, comments, texts in quotes and lines of prose are read."""
    for start, end in draft.code:
        at = start
        for line in draft.raw[start:end].splitlines(keepends=True):
            fence = FENCE.match(line)
            body = fence.end() if fence else 0
            seen = [(at + body + a, at + body + b) for a, b in _prose(line[body:].rstrip("\n"))]
            yield Markup(_around((at, at + len(line)), seen), tuple(seen))
            at += len(line)


def _prose(line: str) -> list[Span]:
    comment = COMMENT.search(line)
    if comment and len(line[comment.end() :].split()) >= LEAST_WORDS:
        return [(comment.end(), len(line))]
    parts = line.split()
    plain = sum(PLAIN.fullmatch(part) is not None for part in parts)
    if len(parts) >= LEAST_WORDS and plain >= PLAIN_SHARE * len(parts):
        return [(0, len(line))]
    return [m.span(m.lastindex or 0) for m in LITERAL.finditer(line) if len(m.group().split()) >= LEAST_WORDS]
