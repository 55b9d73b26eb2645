"""A date agrees with the finer one, and differs where a part that both state does."""

from __future__ import annotations

import pytest

from stillme.figures.comparing import agrees, rivals
from tests.figures.support import figure


@pytest.mark.parametrize(
    ("claim", "source", "agreed", "rival"),
    [
        pytest.param("25 March 1655", "ngày 25 tháng 3 năm 1655", True, False, id="the same day"),
        pytest.param("March 1655", "25 March 1655", True, False, id="a coarser claim"),
        pytest.param("in 1655", "25 March 1655", True, False, id="a much coarser claim"),
        pytest.param("25 March", "25 March 1655", True, False, id="a claim without the year"),
        pytest.param("25 March 1655", "in 1655", False, False, id="a finer claim is not stated and not denied"),
        pytest.param("25 March 1755", "25 March 1655", False, True, id="another year"),
        pytest.param("26 March 1655", "25 March 1655", False, True, id="another day"),
        pytest.param("in the 1990s", "in 1994", True, False, id="a year of the decade"),
        pytest.param("in the 1990s", "in 2004", False, True, id="a year of another decade"),
        pytest.param("thế kỷ 5", "in 480", False, False, id="a year that is not written as one"),
        pytest.param("the 20th century", "năm 1932", True, False, id="a year of the century"),
        pytest.param("Q3 2024", "tháng 8 năm 2024", True, False, id="a month of the quarter"),
        pytest.param("Q3 2024", "October 2024", False, True, id="a month of the next quarter"),
        pytest.param("4/3/2020", "3 April 2020", True, False, id="slashes that may be read month first"),
        pytest.param("in 1877", "1,877 people", False, False, id="a year is no count with a separator"),
        pytest.param("the 25th", "ngày 25", True, False, id="a day of the month"),
    ],
)
def test_comparing_dates(claim: str, source: str, agreed: bool, rival: bool) -> None:
    """A claim agrees if the source states all that it states; a rival states something else."""
    said, stated = (figure(raw, "vi" if not raw.isascii() else "en") for raw in (claim, source))

    assert (agrees(said, stated), rivals(said, stated)) == (agreed, rival)
