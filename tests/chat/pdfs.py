"""PDF files for the tests: made by reportlab, and by hand where a font or a fault is needed that it does not offer."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from typing import Any

from reportlab.pdfgen.canvas import Canvas

__all__ = ["handmade_pdf", "made_pdf", "unicode_pdf"]


def made_pdf(*pages: str, title: str | None = None, **options: Any) -> bytes:
    """A PDF with these pages; one without text has a drawing instead, as a scan has."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1, **options)
    if title is not None:
        canvas.setTitle(title)
    for page in pages:
        text = canvas.beginText(72, 760)
        for line in page.split("\n"):
            text.textLine(line)
        canvas.drawText(text)
        canvas.rect(10, 10, 50, 50)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def handmade_pdf(content: bytes, *, font: Sequence[bytes] = (), pages: int = 1) -> bytes:
    """A PDF whose pages all show this content, in Helvetica or in the font that the given objects (6 and on) describe."""
    packed = zlib.compress(content, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" 4 0 R" * pages, pages),
        font[0] if font else b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(packed), packed),
        *font[1:],
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
        len(out),
    )


def unicode_pdf(text: str) -> bytes:
    """A PDF with one line of any characters, which a table in the file names, as word processors write it."""
    shown = text.encode("utf-16-be").hex().encode()
    cmap = (
        b"/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange "
        b"1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end"
    )
    font = [
        b"<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 500>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(cmap), cmap),
    ]
    return handmade_pdf(b"BT /F1 12 Tf 72 700 Td <%s> Tj ET" % shown, font=font)
