"""Records and secrets that the tests of this folder share."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

from stillme.redaction import BLANK, KINDS, Redactor

EVERYTHING = Redactor.of(dict.fromkeys(KINDS, True))


UUID = "1f2a0912-1111-4222-8333-091234567812"


def taken(entries: dict[str, str | bool], text: str) -> list[str]:
    """What is blanked in a text, in order."""
    redacted, _ = Redactor.of(entries).text(text)
    spans = re.finditer(rf"{BLANK}(?:[{BLANK}\s]*{BLANK})?", redacted)
    return [text[m.start() : m.end()] for m in spans]


REQUEST = {
    "query": "Who is tran.hung@mailhost.vn, card 4111 1111 1111 1111, account GB82 WEST 1234 5698 7654 32?",
    "draft_answer": "Tran.Hung@Mailhost.vn has +84 912 345 679 [1]. His CCCD is 001099012346. He used 192.168.1.77.",
    "retrieved_context": [
        {"source_id": "a", "text": "The phone of Hung is 0912 345 678. CMND 012345678.", "similarity": 0.8},
        {"source_id": "b", "text": "The phone of Hung is 0987 654 321. Mail tran.hung@mailhost.vn.", "similarity": 0.8},
    ],
}


SCRAPS = st.sampled_from([
    "0912 345 678", "+84912345678", "a.b@c.vn", "4111 1111 1111 1111", "GB82WEST12345698765432", "10.0.0.1", "fe80::1", "CMND ",
    "012345678", "001099012345", " ", "\n", ",", "…", "Đặng ", unicodedata.normalize("NFD", "Đặng "), "e\u0301", "x", "7", "-", BLANK,
])  # fmt: skip


MESSY = st.lists(SCRAPS | st.text(max_size=4), max_size=14).map("".join)
