"""NumericUnitsBasic: the figures of the answer stand in the sources, by value."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.validators.numeric_units_basic import NumericUnitsBasic
from tests.validators.support import PASSED, SKIPPED, flagged, observe

EN = "The run accepts 1000 runners. The course is 21.1 km long, the fee is $45, and 5 percent goes to the trust. It began on 25 March 1987."
VI = "Giải chạy nhận 1.000 người. Đường chạy dài 21,1 km, phí là 450.000 đồng, trong đó 5% góp cho quỹ. Giải bắt đầu ngày 25 tháng 3 năm 1987."
MISSING = flagged("number_not_in_sources")


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("It accepts 1,000 runners [1].", EN, PASSED, id="a thousands separator"),
        pytest.param("It accepts one thousand runners [1].", EN, PASSED, id="in words"),
        pytest.param("5% goes to the trust [1].", EN, PASSED, id="a percent sign"),
        pytest.param("The course is 21,100 m long [1].", EN, PASSED, id="another unit of the same length"),
        pytest.param("It began in March 1987 [1].", EN, PASSED, id="a coarser date"),
        pytest.param("It accepts 10,000 runners [1].", EN, MISSING, id="ten times too many"),
        pytest.param("The course is 21.1 miles long [1].", EN, MISSING, id="the same number in another unit"),
        pytest.param("The fee is €45 [1].", EN, MISSING, id="another currency"),
        pytest.param("It began on 26 March 1987 [1].", EN, MISSING, id="another day"),
        pytest.param("Giải nhận 1 nghìn người [1].", VI, PASSED, id="a Vietnamese scale word"),
        pytest.param("Phí là 450 nghìn đồng [1].", VI, PASSED, id="Vietnamese money with a scale word"),
        pytest.param("Giải bắt đầu ngày 25/3/1987 [1].", VI, PASSED, id="a Vietnamese date in figures"),
        pytest.param("Giải nhận 10.000 người [1].", VI, MISSING, id="ten times too many in Vietnamese"),
        pytest.param("Phí là 45.000 đồng [1].", VI, MISSING, id="ten times too little in Vietnamese"),
        pytest.param(
            "1. It accepts 1000 runners [1].\n2. The fee is $45 [1].", EN, PASSED, id="list numbers are no figures"
        ),
        pytest.param("The run is popular [1].", EN, SKIPPED, id="no figures"),
        pytest.param("", EN, SKIPPED, id="no draft"),
    ],
)
def test_figures(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Each figure is looked for by value and unit."""
    assert observe(NumericUnitsBasic(), Evidence.of("q", draft, [source])) == expected


def test_titles_and_timestamps_count_as_said() -> None:
    """A year that only the title states stands in the source."""
    passage = RetrievedPassage(source_id="a", title="Prices 2019", text="A ticket costs $6.")

    assert observe(NumericUnitsBasic(), Evidence.of("q", "In 2019 a ticket cost $6 [1].", [passage])) == PASSED


def test_without_passages_it_is_skipped() -> None:
    """There is nothing to compare with; Gate 4 refuses such a claim."""
    assert observe(NumericUnitsBasic(), Evidence.of("q", "It costs $6.")) == SKIPPED
