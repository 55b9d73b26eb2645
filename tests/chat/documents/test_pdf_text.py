"""PDF as text, page by page."""

from __future__ import annotations

import contextlib
import logging
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption

from stillme.chat.documents.file_formats import DocumentReading, ReadingLimits, read_document
from stillme.errors import InputError
from tests.chat.pdfs import made_pdf, unicode_pdf

CHANGED = datetime(2026, 2, 1, 9, 30, 0, 500, tzinfo=UTC)
SENTENCE = "Unused gear can be returned within 30 days."


def read(name: str, content: str | bytes, limits: ReadingLimits | None = None) -> DocumentReading:
    """What a file of this name and content is read as."""
    encoded = content.encode() if isinstance(content, str) else content
    return read_document(name, encoded, "digest", changed=CHANGED, limits=limits or ReadingLimits())


def text_of(name: str, content: str | bytes) -> str:
    """The text of its document."""
    return read(name, content).document.text


@pytest.fixture(autouse=True)
def _quiet_parser(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="pypdf")


def test_a_pdf_is_read_page_by_page() -> None:
    """A sentence that goes on over the page break is not parted, another one is; a page without text is noted."""
    found = read("a.pdf", made_pdf("Gear can be returned\nwithin", "thirty days.", "", "Other rules apply."))

    assert found.document.text == "Gear can be returned\nwithin\nthirty days.\n\nOther rules apply."
    assert found.notes == ("page 3 holds no text, as in a scan",)


def test_a_pdf_in_vietnamese_is_read_with_its_accents() -> None:
    """Composed, whichever way the file spells them, and with letters in place of ligatures."""
    assert text_of("a.pdf", unicode_pdf("Nghi\u0309 phép: of\ufb01ce Hà Nội.")) == "Nghỉ phép: office Hà Nội."


def test_a_pdf_that_anybody_can_open_is_read() -> None:
    """One that is only locked against changes has no password to be asked for."""
    locked = made_pdf(SENTENCE, encrypt=StandardEncryption("", ownerPassword="owner", canModify=0))

    assert text_of("a.pdf", locked) == SENTENCE


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=20))
def test_a_damaged_pdf_is_text_or_an_input_error(changes: list[tuple[float, int]]) -> None:
    """Whatever the parser raises, nothing else leaves the reader."""
    content = bytearray(made_pdf(SENTENCE))
    for where, byte in changes:
        content[int(where * len(content))] = byte

    with contextlib.suppress(InputError):
        assert text_of("a.pdf", bytes(content))
