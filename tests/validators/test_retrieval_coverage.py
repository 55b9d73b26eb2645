"""RetrievalCoverage: the names of the answer stand in the sources."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.retrieval_coverage import RetrievalCoverage
from tests.validators.support import PASSED, SKIPPED, flagged, observe

TITAN = "Titan is the largest moon of Saturn. It was discovered by the Dutch astronomer Christiaan Huygens."
VAN_MIEU = "Văn Miếu ở Hà Nội được xây dựng năm 1070 dưới triều vua Lý Thánh Tông."
MISSING = flagged("entity_not_in_sources")


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("It was found by Christiaan Huygens [1].", TITAN, PASSED, id="a name that is there"),
        pytest.param("It was found by Huygens [1].", TITAN, PASSED, id="a part of a name that is there"),
        pytest.param("It was found by Isaac Newton [1].", TITAN, MISSING, id="a name that is not"),
        pytest.param("It was found by a German [1].", TITAN, MISSING, id="a nationality that is not"),
        pytest.param(
            "Built in Hanoi under Lý Thánh Tông [1].", VAN_MIEU, PASSED, id="another spelling of the same name"
        ),
        pytest.param(
            "Văn Miếu được xây dưới triều vua Lê Lợi [1].", VAN_MIEU, MISSING, id="a Vietnamese name that is not there"
        ),
        pytest.param("Moons are round [1].", TITAN, SKIPPED, id="a capital at the start is no name"),
        pytest.param("", TITAN, SKIPPED, id="no draft"),
    ],
)
def test_names(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Names are looked for in all passages, without regard to accents."""
    assert observe(RetrievalCoverage(), Evidence.of("q", draft, [source])) == expected


def test_without_passages_it_is_skipped() -> None:
    """There is nothing to look in."""
    assert observe(RetrievalCoverage(), Evidence.of("q", "It was found by Isaac Newton.")) == SKIPPED
