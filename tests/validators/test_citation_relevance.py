"""CitationRelevance: each marker points at a source, and at the right one."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.base import Repair
from stillme.validators.citation_relevance import CitationRelevance
from tests.validators.support import DELIVERY, DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param("Standard delivery costs £4.50 [2].", PASSED, id="the right source"),
        pytest.param("Standard delivery costs £4.50 [1].", flagged("citation_not_relevant"), id="the wrong source"),
        pytest.param("Standard delivery costs £4.50 [1][2].", PASSED, id="the right source among others"),
        pytest.param(
            "Standard delivery costs £4.50 [7].", flagged("fabricated_citation"), id="a marker that points nowhere"
        ),
        pytest.param("Standard delivery costs £4.50 [0].", flagged("fabricated_citation"), id="zero points nowhere"),
        pytest.param(
            "Standard delivery costs £4.50 [faq-99].", flagged("fabricated_citation"), id="an id that no source has"
        ),
        pytest.param("Sản phẩm đặt làm riêng không được đổi trả [3].", PASSED, id="Vietnamese, the right source"),
        pytest.param(
            "Sản phẩm đặt làm riêng không được đổi trả [2].",
            flagged("citation_not_relevant"),
            id="Vietnamese, the wrong source",
        ),
        pytest.param("Standard delivery costs £4.50.", SKIPPED, id="no markers"),
        pytest.param("", SKIPPED, id="no draft"),
    ],
)
def test_markers(draft: str, expected: list[tuple[str, str | None]]) -> None:
    """Three sources, one marker."""
    assert observe(CitationRelevance(), Evidence.of("q", draft, [RETURNS, DELIVERY, DOI_TRA])) == expected


def test_the_wrong_marker_can_be_replaced() -> None:
    """The repair names the source that carries the claim."""
    made = CitationRelevance().run(Evidence.of("q", "Standard delivery costs £4.50 [1].", [RETURNS, DELIVERY]))

    assert [f.repairs for f in made] == [(Repair(30, 33, "[2]"),)]


def test_a_fabricated_marker_cannot() -> None:
    """There is nothing to replace it by."""
    made = CitationRelevance().run(Evidence.of("q", "Gift cards never expire [8].", [RETURNS]))

    assert [(f.reason, f.repairs, f.spans) for f in made] == [("fabricated_citation", (), ((24, 27),))]
