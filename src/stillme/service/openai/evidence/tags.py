"""Tagged sources: our own tags, and the documents that Anthropic's prompts are written with.

    <source id="faq-1" title="Refunds" url="https://…">…</source>    inside <context>…</context> or alone
    <context>…</context>                                             without sources inside: one passage
    <documents><document index="1"><source>faq.md</source><document_content>…</document_content></document></documents>

A tag is read exactly or not at all, and one that is not closed is text. Time is linear in the text.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.service.openai.evidence.block import Block

__all__ = ["tagged"]

ATTRIBUTES: Final = {"id": "source_id", "title": "title", "url": "url", "timestamp": "timestamp"}
OURS: Final = ("context", "source")
DOCUMENTS: Final = ("documents", "document")
CONTENTS: Final = ("document_content", "document_contents", "content", "text")
HEADS: Final = ("source", "title", "url", *CONTENTS)
MOST_ATTRIBUTES: Final = 4_096
"""Characters of one opening tag; a longer one is text."""


@dataclass(frozen=True, slots=True)
class _Tagged:
    """A tagged stretch of a text: characters `start` to `end` with the tags, `inner` without."""

    tag: str
    start: int
    end: int
    inner: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def tagged(text: str) -> list[Block]:
    """The outermost tagged blocks of a text, in order."""
    return [
        Block(each.start, each.end, tuple(_passages(each)), "documents" if each.tag in DOCUMENTS else "tags")
        for each in _outermost(text, (*OURS, *DOCUMENTS))
    ]


def _passages(block: _Tagged) -> Iterator[dict[str, Any]]:
    """The sources inside a block, or the block itself where there are none."""
    wanted = {"context": ("source", "document"), "documents": ("document",)}.get(block.tag, ())
    inside = list(_outermost(block.inner, wanted)) if wanted else []
    for each in inside or [block]:
        yield _document(each) if each.tag in DOCUMENTS else _source(each)


def _source(block: _Tagged) -> dict[str, Any]:
    named = {key: block.attributes[name] for name, key in ATTRIBUTES.items() if block.attributes.get(name)}
    return {**named, "text": block.inner.strip()}


def _document(block: _Tagged) -> dict[str, Any]:
    """A document: its content, or all of it where no tag marks the content, under the name that it gives."""
    heads = {head.tag: head.inner.strip() for head in _outermost(block.inner, HEADS)}
    content = next((heads[tag] for tag in CONTENTS if heads.get(tag)), block.inner.strip())
    number = block.attributes.get("index")
    told = {
        "source_id": heads.get("source") or block.attributes.get("id") or (f"document-{number}" if number else None),
        "title": heads.get("title") or block.attributes.get("title"),
        "url": heads.get("url") or block.attributes.get("url"),
    }
    return {**{key: value for key, value in told.items() if value}, "text": content}


def _outermost(text: str, tags: Sequence[str]) -> Iterator[_Tagged]:
    """The outermost closed blocks with these tags, in order; each end is looked for once."""
    lowered = text.lower() if len(text.lower()) == len(text) else text  # a few letters grow in lower case
    closing = {tag: _Finder(lowered, f"</{tag}>") for tag in tags}
    opening = {tag: _Finder(lowered, f"<{tag}") for tag in tags}
    at = 0
    while True:
        found = [(place, tag) for tag in tags if (place := opening[tag].behind(at)) is not None]
        if not found:
            return
        place = min(found)[0]
        block = next((b for p, tag in found if p == place and (b := _closed(text, place, tag, closing[tag]))), None)
        at = block.end if block else place + 1
        if block:
            yield block


def _closed(text: str, place: int, tag: str, closing: _Finder) -> _Tagged | None:
    """The block whose opening tag stands at a place, if it is one and is closed."""
    opened = _opened(text, place, tag)
    close = closing.behind(opened[0]) if opened else None
    if opened is None or close is None:
        return None
    return _Tagged(tag, place, close + len(tag) + 3, text[opened[0] : close], opened[1])


class _Finder:
    """Where a text occurs next; the place found last is kept until it has been passed."""

    def __init__(self, text: str, wanted: str) -> None:
        self._text, self._wanted = text, wanted
        self._next = text.find(wanted)

    def behind(self, at: int) -> int | None:
        """The first occurrence from `at` on, which never goes back."""
        if 0 <= self._next < at:
            self._next = self._text.find(self._wanted, at)
        return self._next if self._next >= 0 else None


def _opened(text: str, at: int, tag: str) -> tuple[int, dict[str, str]] | None:
    """Where the opening tag at `at` ends, and its attributes; None if it is none."""
    i = at + 1 + len(tag)
    last = min(len(text), at + MOST_ATTRIBUTES)
    attributes: dict[str, str] = {}
    while i < last:
        spaced = i
        while i < last and text[i].isspace():
            i += 1
        if i < last and text[i] == ">":
            return i + 1, attributes
        if i == spaced:
            return None
        attribute = _attribute(text, i, last)
        if attribute is None:
            return None
        name, value, i = attribute
        attributes.setdefault(name, html.unescape(value))
    return None


def _attribute(text: str, i: int, last: int) -> tuple[str, str, int] | None:
    """`name="value"` or `name='value'` at a place: both, and the place behind it."""
    equals = text.find("=", i, last)
    if equals < 0 or equals + 1 >= last or text[equals + 1] not in "\"'":
        return None
    name = text[i:equals].lower()
    end = text.find(text[equals + 1], equals + 2, last)
    if end < 0 or not name.isalpha():
        return None
    return name, text[equals + 2 : end], end + 1
