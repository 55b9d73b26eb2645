"""QueryTerms: the context speaks of what the question asks about."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.query_terms import QueryTerms
from tests.validators.support import DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe

MISSING = flagged("context_missing_query_terms")


@pytest.mark.parametrize(
    ("query", "passages", "expected"),
    [
        pytest.param("How long do I have to return unused gear?", [RETURNS], PASSED, id="its words are there"),
        pytest.param(
            "What is the warranty period of the Zephyr-9 camera drone?", [RETURNS], MISSING, id="none of them is"
        ),
        pytest.param("Mộc An nhận đổi trả sản phẩm không?", [DOI_TRA], PASSED, id="Vietnamese words"),
        pytest.param("moc an nhan doi tra san pham khong", [DOI_TRA], PASSED, id="typed without accents"),
        pytest.param("Máy ảnh bay được bảo hành mấy năm?", [DOI_TRA], MISSING, id="other Vietnamese words"),
        pytest.param("How long do I have to return unused gear?", [], SKIPPED, id="no passages"),
        pytest.param("What is it?", [RETURNS], SKIPPED, id="no key terms"),
        pytest.param("Where's my gear?", [RETURNS], PASSED, id="a contraction is no key term"),
        pytest.param("Who’s paying for returns?", [RETURNS], PASSED, id="nor with a typographic apostrophe"),
        pytest.param("Hello!", [RETURNS], SKIPPED, id="a greeting"),
        pytest.param("Cảm ơn shop nhiều nha", [DOI_TRA], SKIPPED, id="thanks in Vietnamese"),
    ],
)
def test_terms(query: str, passages: list[str], expected: list[tuple[str, str | None]]) -> None:
    """The question's content words in the context."""
    assert observe(QueryTerms(), Evidence.of(query, passages=passages)) == expected
