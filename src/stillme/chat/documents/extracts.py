"""What a file says before it is a document: its text in characters that can be seen, and what it tells of itself."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final
from urllib.parse import urlsplit

__all__ = ["Extract", "ReadingLimits", "clean", "iso_moment", "one_line", "web_address"]

LONGEST_TITLE: Final = 200
LONGEST_ADDRESS: Final = 2000
# Composing accents takes time that grows with the square of a run of them, so it is done in pieces of this size.
COMPOSED_AT_ONCE: Final = 512
LINE_ENDS: Final = "\r\x0b\x0c\x85\u2028\u2029"
# Zero-width characters, direction marks, soft hyphens and tags: a person does not see them, a model would read them.
# The joiners U+200C and U+200D stay: some scripts are spelt with them.
UNSEEN: Final = (0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
TAGS: Final = range(0xE0000, 0xE0080)
CHANGES: Final[dict[int, str | None]] = {
    **{code: " " for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"},
    **{ord(char): "\n" for char in LINE_ENDS},
    **dict.fromkeys((*UNSEEN, *TAGS), None),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much of one file is read; a file beyond any of them is refused, never cut short."""

    file_bytes: int = 32 << 20
    text_chars: int = 5_000_000
    pdf_pages: int = 2_000
    pdf_content_bytes: int = 64 << 20
    """Of what the pages hold, decompressed."""
    pdf_operations: int = 4_000_000
    """Drawing steps, those of forms that pages share counted each time they are drawn."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a file and what the file tells of itself; `notes` is what a person should know about the reading."""

    text: str
    title: str | None = None
    url: str | None = None
    timestamp: str | None = None
    notes: tuple[str, ...] = ()


def clean(text: str) -> str:
    """The text with one kind of line end, composed accents, and nothing in it that a person would not see."""
    return _composed(text.replace("\r\n", "\n").translate(CHANGES))


def _composed(text: str) -> str:
    if text.isascii():
        return text
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = _piece_end(text, start)
        parts.append(unicodedata.normalize("NFC", text[start:end]))
        start = end
    return "".join(parts)


def _piece_end(text: str, start: int) -> int:
    """Where a piece may end: before a blank, else before a character that is no accent, else where it is full."""
    full = start + COMPOSED_AT_ONCE
    if full >= len(text):
        return len(text)
    blank = max(text.rfind(" ", start + 1, full), text.rfind("\n", start + 1, full))
    if blank > 0:
        return blank
    return next((at for at in range(full, start + 1, -1) if not unicodedata.combining(text[at])), full)


def one_line(text: str, most: int = LONGEST_TITLE) -> str:
    """A title as it is shown: cleaned, on one line, and never long."""
    line = " ".join(clean(text[: most * 8]).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def web_address(value: object) -> str | None:
    """The value if it is a web address that may be shown and followed; one with a password in it is not."""
    if not isinstance(value, str) or len(value) > LONGEST_ADDRESS:
        return None
    address = value.strip()
    if not address.isprintable() or " " in address:
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    is_open = parts.scheme.lower() in ("http", "https") and bool(parts.netloc) and "@" not in parts.netloc
    return address if is_open else None


def iso_moment(value: object) -> str | None:
    """A date as ISO 8601, a time in UTC; None for what is neither."""
    try:
        found = _moment(value.strip()) if isinstance(value, str) else value
        if isinstance(found, datetime):
            utc = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
            return utc.replace(microsecond=0, tzinfo=None).isoformat() + "Z"
        return found.isoformat() if isinstance(found, date) else None
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)
