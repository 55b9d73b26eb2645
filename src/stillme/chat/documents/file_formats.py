"""A file as a document: Markdown, plain text, HTML and PDF; what cannot be read whole is an error that says why."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

from stillme.chat.documents.chunking import first_heading, outside_code
from stillme.chat.documents.extracts import Extract, ReadingLimits, clean, iso_moment, one_line, web_address
from stillme.chat.documents.html_text import html_extract
from stillme.chat.documents.pdf_text import pdf_extract
from stillme.errors import InputError, shown
from stillme.storage.knowledge.store import Document

__all__ = ["READERS_VERSION", "SUFFIXES", "DocumentReading", "ReadingLimits", "read_bytes", "read_document"]

# Raised whenever the same bytes give another text, title, address or date: what was ingested before is then read again.
READERS_VERSION: Final = "1"
MARKS: Final = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
UTF_32: Final = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
LONGEST_FRONT_MATTER: Final = 8_192
FENCE: Final = "---"
ADDRESS_KEYS: Final = ("url", "canonical_url", "canonical")
DATE_KEYS: Final = ("updated", "lastmod", "last_modified", "modified", "date")


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A document, and what a person should know about how it was read."""

    document: Document
    notes: tuple[str, ...] = ()


def read_bytes(path: Path, limits: ReadingLimits = ReadingLimits()) -> bytes:  # noqa: B008  (it cannot be changed)
    """What a file holds, if it may be read and is not too large."""
    try:
        with path.open("rb") as file:
            content = file.read(limits.file_bytes + 1)
    except OSError as error:
        raise InputError(f"it cannot be opened: {error.strerror or type(error).__name__}") from None
    if len(content) > limits.file_bytes:
        raise InputError(f"it is larger than {limits.file_bytes:,} bytes: split it")
    return content


def read_document(
    name: str,
    content: bytes,
    digest: str,
    *,
    changed: datetime | None = None,
    limits: ReadingLimits = ReadingLimits(),  # noqa: B008  (it cannot be changed)
) -> DocumentReading:
    """The document that a file of this name and content is; `changed` stands where the file states no date itself."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{shown(suffix or name)} is no kind of file that can be read: {', '.join(SUFFIXES)}")
    found = SUFFIXES[suffix](content, limits)
    if len(found.text) > limits.text_chars:
        raise InputError(f"its text has {len(found.text):,} characters, more than {limits.text_chars:,}: split it")
    if not any(map(str.isalnum, found.text)):
        raise InputError("it holds no text")
    document = Document(
        name=name,
        text=found.text,
        digest=digest,
        title=found.title or _name_as_title(name),
        url=found.url,
        timestamp=found.timestamp or iso_moment(changed),
    )
    return DocumentReading(document, found.notes)


def _name_as_title(name: str) -> str:
    stem = PurePosixPath(name).stem
    return one_line(stem.replace("_", " ").replace("-", " ")) or one_line(stem)


def _decoded(content: bytes) -> str:
    """UTF-8, or what a byte order mark says; anything else would be a guess."""
    if content.startswith(UTF_32):
        raise InputError("it is UTF-32: save it as UTF-8")
    encoding = next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        what = "UTF-16, which its first bytes say it is" if encoding == "utf-16" else "UTF-8"
        raise InputError(f"it is not {what} (byte {error.start:,}): save it as UTF-8") from None
    if "\0" in text:
        raise InputError("it holds zero bytes, as UTF-16 without its mark or no text at all: save it as UTF-8")
    return text


def _plain(content: bytes, _: ReadingLimits) -> Extract:
    text = clean(_decoded(content)).strip("\n")
    return Extract(text, first_heading(text))


def _html(content: bytes, _: ReadingLimits) -> Extract:
    return html_extract(_decoded(content))


def _markdown(content: bytes, _: ReadingLimits) -> Extract:
    front, body = _front_matter(clean(_decoded(content)))
    text = _without_comments(body).strip("\n")
    facts = _front_matter_facts(front)
    return replace(facts, text=text, title=facts.title or first_heading(text))


# Markdown


def _front_matter(text: str) -> tuple[Mapping[Any, Any], str]:
    """The YAML between two lines of three hyphens at the very beginning, and what follows it."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return {}, text
    lines = rest[:LONGEST_FRONT_MATTER].split("\n")
    last = next((n for n, line in enumerate(lines) if line.rstrip() in (FENCE, "...")), None)
    if last is None:
        return {}, text
    try:
        found = yaml.safe_load("\n".join(lines[:last]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 2})" if mark else ""
        raise InputError(f"its front matter is no YAML{line}: put texts with a colon in them into quotes") from None
    if not isinstance(found, dict):
        return {}, text  # a rule above a paragraph
    behind = sum(len(line) + 1 for line in lines[: last + 1])
    return found, rest[behind:]


def _front_matter_facts(front: Mapping[Any, Any]) -> Extract:
    """What the front matter says of the document; what cannot be used is noted."""
    notes: list[str] = []

    def first(keys: tuple[str, ...], usable: Callable[[object], str | None], what: str) -> str | None:
        for key in keys:
            if front.get(key) is not None:
                found = usable(front[key])
                if found:
                    return found
                notes.append(f"{key} in the front matter is no {what}, got {shown(front[key])}")
        return None

    title = first(("title",), _title, "text")
    url = first(ADDRESS_KEYS, web_address, "web address")
    timestamp = first(DATE_KEYS, iso_moment, "ISO 8601 date")
    return Extract("", title, url, timestamp, tuple(notes))


def _title(value: object) -> str | None:
    return (one_line(str(value)) or None) if isinstance(value, str | int | float) else None


def _without_comments(text: str) -> str:
    """The text without HTML comments, which no reader of the page sees; those shown in code stay."""
    if "<!--" not in text:
        return text
    parts: list[str] = []
    at = 0
    for begin in outside_code(text, "<!--"):
        if begin < at:
            continue
        end = text.find("-->", begin + 2)
        if end < 0:
            break
        parts.append(text[at:begin])
        at = end + 3
    return "".join([*parts, text[at:]])


SUFFIXES: Final[Mapping[str, Callable[[bytes, ReadingLimits], Extract]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".text": _plain,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _html,
    ".pdf": pdf_extract,
}
