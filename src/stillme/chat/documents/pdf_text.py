"""A PDF as text, page by page; what cannot be read is an error that says why, never an empty text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from stillme.chat.documents.extracts import Extract, ReadingLimits, clean, iso_moment, one_line
from stillme.errors import BackendError, InputError

if TYPE_CHECKING:
    from pypdf import DocumentInformation, PageObject, PdfReader

__all__ = ["pdf_extract"]

LIGATURES: Final = {
    ord(sign): letters
    for sign, letters in {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}.items()
}
# What programs write where nobody gave a title.
NO_TITLE: Final = re.compile(
    r"\(?(?:untitled|anonymous|unspecified|unknown|document ?\d{0,3})\)?|microsoft word -.*+", re.I
)
SENTENCE_END: Final = frozenset(".!?…:;。！？")
PAGES_NAMED: Final = 10


class _TooMuch(Exception):  # noqa: N818  (it leaves this module as an InputError)
    """A limit was reached while a page was being read."""


class _Budget:
    """Counts what reading costs, so that a small file cannot ask for hours."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._bytes = self._operations = 0

    def weigh(self, page: PageObject) -> None:
        """Count what the page holds once it is decompressed, before any of it is interpreted."""
        for stream in _streams(page):
            self._bytes += len(stream.get_data())
            if self._bytes > self._limits.pdf_content_bytes:
                raise _TooMuch(f"its pages hold more than {self._limits.pdf_content_bytes:,} bytes, decompressed")

    def step(self, *_: object) -> None:
        self._operations += 1
        self.check()

    def check(self) -> None:
        """pypdf passes over what goes wrong inside a form, so this is asked again when a page is done."""
        if self._operations > self._limits.pdf_operations:
            raise _TooMuch(f"its pages take more than {self._limits.pdf_operations:,} drawing steps")


def pdf_extract(content: bytes, limits: ReadingLimits) -> Extract:
    """The text of a PDF with the title and the date that it states."""
    try:
        import pypdf  # noqa: PLC0415  (an extra)
    except ImportError:
        raise BackendError("reading PDF needs the package pypdf: pip install 'stillme[chat]'") from None
    try:
        reader = pypdf.PdfReader(BytesIO(content))
        _decrypt(reader)
        return _extract(reader, limits)
    except InputError:
        raise
    except _TooMuch as error:
        raise InputError(f"{error}: split the file") from None
    except Exception as error:  # a broken PDF makes the parser raise anything at all; nothing is swallowed here
        if isinstance(error, getattr(pypdf.errors, "LimitReachedError", ())):
            raise InputError(
                "it holds more in one piece than the PDF parser takes: save it again, or split it"
            ) from error
        raise InputError(
            f"it cannot be read as PDF ({type(error).__name__}): save it again from a PDF viewer"
        ) from error


def _decrypt(reader: PdfReader) -> None:
    from pypdf.errors import DependencyError  # noqa: PLC0415

    if not reader.is_encrypted:
        return
    try:
        opened = bool(reader.decrypt(""))  # many are only locked against printing: anybody may read them
    except DependencyError:
        raise InputError("it is encrypted with AES, which needs the package cryptography: install it") from None
    if not opened:
        raise InputError("it is encrypted with a password: save a copy without one")


def _extract(reader: PdfReader, limits: ReadingLimits) -> Extract:
    count = len(reader.pages)
    if count > limits.pdf_pages:
        raise _TooMuch(f"it has {count:,} pages, more than {limits.pdf_pages:,}")
    budget = _Budget(limits)
    pages = [_page_text(page, budget) for page in reader.pages]
    empty = [number for number, text in enumerate(pages, 1) if not text]
    if len(empty) == count:
        raise InputError("no page holds any text, as in a scan: run text recognition (OCR) over it first")
    told = reader.metadata
    title = one_line(str(told.title or "")) if told else ""
    return Extract(
        _joined([text for text in pages if text]),
        None if NO_TITLE.fullmatch(title) else title or None,
        timestamp=_date(told),
        notes=_notes(empty),
    )


def _page_text(page: PageObject, budget: _Budget) -> str:
    budget.weigh(page)
    text = page.extract_text(visitor_operand_before=budget.step)
    budget.check()
    return clean(text.translate(LIGATURES)).strip()


def _streams(page: PageObject) -> list[Any]:
    held = page.get("/Contents")
    found = held.get_object() if held is not None else None
    parts = found if isinstance(found, list) else [found]
    streams = [part.get_object() for part in parts if part is not None]
    return [stream for stream in streams if hasattr(stream, "get_data")]


def _joined(pages: Sequence[str]) -> str:
    """The pages one after the other; a sentence that goes on over the page break is not parted by an empty line."""
    parts = [pages[0]]
    for before, page in itertools.pairwise(pages):
        goes_on = before[-1] not in SENTENCE_END and page[0].islower()
        parts += ["\n" if goes_on else "\n\n", page]
    return "".join(parts)


def _date(told: DocumentInformation | None) -> str | None:
    """When it was changed, else made; a date that is none is no reason to refuse the text."""
    for name in ("modification_date", "creation_date") if told else ():
        try:
            found = iso_moment(getattr(told, name))
        except (ValueError, TypeError, AttributeError):
            continue
        if found:
            return found
    return None


def _notes(empty: Sequence[int]) -> tuple[str, ...]:
    if not empty:
        return ()
    named = ", ".join(map(str, empty[:PAGES_NAMED])) + (", …" if len(empty) > PAGES_NAMED else "")
    what = f"page {named} holds" if len(empty) == 1 else f"{len(empty)} pages hold"
    return (f"{what} no text, as in a scan" + ("" if len(empty) == 1 else f": {named}"),)
