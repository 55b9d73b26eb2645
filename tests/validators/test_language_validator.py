"""LanguageValidator: the draft is in the user's language."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.language_validator import LanguageValidator
from tests.validators.support import PASSED, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("query", "draft", "expected"),
    [
        pytest.param("How long is the bridge?", "The bridge is 200 metres long.", PASSED, id="English and English"),
        pytest.param("Cầu dài bao nhiêu?", "Cây cầu dài 200 mét.", PASSED, id="Vietnamese and Vietnamese"),
        pytest.param("cau nay dai bao nhieu met", "Cây cầu dài 200 mét.", PASSED, id="unaccented Vietnamese and Vietnamese"),
        pytest.param("Cầu dài bao nhiêu?", "The bridge is 200 metres long.", flagged("language_mismatch"), id="Vietnamese answered in English"),
        pytest.param("How long is the bridge?", "Cây cầu này dài 200 mét.", flagged("language_mismatch"), id="English answered in Vietnamese"),
        pytest.param("How long is the bridge?", "Le pont est long de deux cents mètres et il est très vieux.", flagged("language_mismatch"), id="English answered in French"),
        pytest.param("How long is the bridge? Please answer in Vietnamese.", "Cây cầu này dài 200 mét.", PASSED, id="a request for the other language is honoured"),
        pytest.param("How long is the bridge?", "200 m [1].", SKIPPED, id="a figure has no language"),
        pytest.param("Quelle est la longueur du pont de pierre ?", "The bridge is long.", SKIPPED, id="a question in a third language is not judged"),
    ],
)  # fmt: skip
def test_language(query: str, draft: str, expected: list[tuple[str, str | None]]) -> None:
    """What the user wrote in, or asked for, against what the draft is in."""
    assert observe(LanguageValidator(), Evidence.of(query, draft)) == expected
