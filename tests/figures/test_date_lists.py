"""Each date of a list takes the month and year that stand once, behind the last."""

from __future__ import annotations

import pytest

from stillme.figures.dates import Date
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("raw", "language", "dates"),
    [
        pytest.param("12-14 March 2020", "en", [Date(2020, 3, 12), Date(2020, 3, 14)], id="days of one month"),
        pytest.param("March 25-27, 2020", "en", [Date(2020, 3, 25), Date(2020, 3, 27)], id="month first"),
        pytest.param("từ ngày 12 đến 14 tháng 3", "vi", [Date(None, 3, 12), Date(None, 3, 14)], id="Vietnamese days"),
        pytest.param("from 15 to 20 June 2026", "en", [Date(2026, 6, 15), Date(2026, 6, 20)], id="from and to"),
        pytest.param("the 15th to the 20th of June", "en", [Date(None, 6, 15), Date(None, 6, 20)], id="ordinal days"),
        pytest.param("15 June to 20 July 2026", "en", [Date(2026, 6, 15), Date(2026, 7, 20)], id="one year"),
        pytest.param(
            "June 15 to July 20, 2026", "en", [Date(2026, 6, 15), Date(2026, 7, 20)], id="one year, months first"
        ),
        pytest.param("5 December to 3 May 2026", "en", [Date(None, 12, 5), Date(2026, 5, 3)], id="the year before"),
        pytest.param("June and July 2026 in", "en", [Date(2026, 7)], id="a month that begins the sentence"),
        pytest.param(
            "từ ngày 15 đến ngày 20 tháng 6 năm 2026",
            "vi",
            [Date(2026, 6, 15), Date(2026, 6, 20)],
            id="ngày on both sides",
        ),
        pytest.param("15-20/6/2026", "vi", [Date(2026, 6, 15), Date(2026, 6, 20)], id="a dash and slashes"),
        pytest.param("từ 15/6 đến 20/6/2026", "vi", [Date(2026, 6, 15), Date(2026, 6, 20)], id="slashes, one year"),
        pytest.param("từ tháng 6 đến tháng 8 năm 2026", "vi", [Date(2026, 6), Date(2026, 8)], id="months of one year"),
        pytest.param("từ 15 đến hết ngày 20 tháng 6", "vi", [Date(None, 6, 15), Date(None, 6, 20)], id="đến hết"),
        pytest.param("1939–1945", "en", [Date(1939), Date(1945)], id="years"),
        pytest.param("1939-45", "en", [Date(1939), Date(1945)], id="a short second year"),
        pytest.param("từ năm 1442 đến năm 1779", "vi", [Date(1442), Date(1779)], id="Vietnamese years"),
    ],
)
def test_ranges_of_dates(raw: str, language: str, dates: list[Date]) -> None:
    """Both ends of a range have the month and year that stand once."""
    assert [q.dates[0] for q in find_quantities(Text(raw), language)] == dates
