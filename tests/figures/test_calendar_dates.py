"""Dates state what is written and no more."""

from __future__ import annotations

import pytest

from stillme.figures.dates import Date
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text
from tests.figures.support import figure

TITAN = Date(1655, 3, 25)


@pytest.mark.parametrize(
    ("raw", "language", "dates"),
    [
        pytest.param("on 25 March 1655 by", "en", (TITAN,), id="day month year"),
        pytest.param("on March 25, 1655, by", "en", (TITAN,), id="month day year"),
        pytest.param("the 25th of March 1655", "en", (TITAN,), id="an ordinal day"),
        pytest.param("on 25 Mar. 1655", "en", (TITAN,), id="a short month"),
        pytest.param("1655-03-25", "en", (TITAN,), id="ISO"),
        pytest.param("25/3/1655", "en", (TITAN,), id="slashes that can be read one way only"),
        pytest.param("25.3.1655", "en", (TITAN,), id="dots"),
        pytest.param("ngày 25 tháng 3 năm 1655", "vi", (TITAN,), id="Vietnamese in words"),
        pytest.param("25 tháng 3, 1655", "vi", (TITAN,), id="Vietnamese without ngày"),
        pytest.param("ngày 25/3/1655", "vi", (TITAN,), id="Vietnamese slashes"),
        pytest.param("ngày 25-3-1655", "vi", (TITAN,), id="Vietnamese hyphens"),
        pytest.param("ngay 25 thang 3 nam 1655", "vi", (TITAN,), id="without accents"),
        pytest.param("3/4/2020", "vi", (Date(2020, 4, 3),), id="day first in Vietnamese"),
        pytest.param("3/4/2020", "en", (Date(2020, 4, 3), Date(2020, 3, 4)), id="either first in English"),
        pytest.param("ngày hai tháng chín năm 1945", "vi", (Date(1945, 9, 2),), id="day and month in words"),
        pytest.param("mùng 2 tháng 9", "vi", (Date(None, 9, 2),), id="no year"),
        pytest.param("dịp 2/9", "vi", (Date(None, 9, 2),), id="a holiday"),
        pytest.param("in October 2025", "en", (Date(2025, 10),), id="a month"),
        pytest.param("open until September", "en", (Date(None, 9),), id="a month without a year"),
        pytest.param("tháng 9 năm 2025", "vi", (Date(2025, 9),), id="a Vietnamese month"),
        pytest.param("tháng 9/2025", "vi", (Date(2025, 9),), id="a Vietnamese month with a slash"),
        pytest.param("9/2025", "vi", (Date(2025, 9),), id="a month in figures"),
        pytest.param("in Q3 2024", "en", (Date(2024, 7, None, 1, 3),), id="a quarter"),
        pytest.param("the third quarter of 2024", "en", (Date(2024, 7, None, 1, 3),), id="a quarter in words"),
        pytest.param("quý III/2024", "vi", (Date(2024, 7, None, 1, 3),), id="a Vietnamese quarter"),
        pytest.param("in 1877 by", "en", (Date(1877),), id="a year"),
        pytest.param("(1877)", "en", (Date(1877),), id="a year in brackets"),
        pytest.param("năm 1877", "vi", (Date(1877),), id="a Vietnamese year"),
        pytest.param("năm 938", "vi", (Date(938),), id="an early year"),
        pytest.param("năm 221 TCN", "vi", (Date(-221),), id="before the common era in Vietnamese"),
        pytest.param("in 500 B.C.", "en", (Date(-500),), id="before the common era"),
        pytest.param("the 5th century BCE", "en", (Date(-500, None, None, 100),), id="a century before the common era"),
        pytest.param("the nineteenth century", "en", (Date(1801, None, None, 100),), id="a century in words"),
        pytest.param("thế kỷ 5", "vi", (Date(401, None, None, 100),), id="a Vietnamese century"),
        pytest.param("thế kỷ thứ V", "vi", (Date(401, None, None, 100),), id="a Roman century"),
        pytest.param("the 1990s", "en", (Date(1990, None, None, 10),), id="a decade"),
        pytest.param("thập niên 1990", "vi", (Date(1990, None, None, 10),), id="a Vietnamese decade"),
        pytest.param("những năm 90", "vi", (Date(1990, None, None, 10),), id="a short decade"),
        pytest.param("2019/20", "en", (Date(2019, None, None, 2),), id="a season"),
    ],
)
def test_dates(raw: str, language: str, dates: tuple[Date, ...]) -> None:
    """Year, month and day as far as they are written."""
    found = figure(raw, language)

    assert (found.dimension, found.dates) == ("date", dates)
    assert (found.year, found.month, found.day) == dates[0][:3]


@pytest.mark.parametrize(
    ("raw", "language", "days"),
    [
        pytest.param("15, 16 and 17 June", "en", [15, 16, 17], id="days before the month"),
        pytest.param("15 and 16 June", "en", [15, 16], id="two days"),
        pytest.param("June 15, 16 and 17", "en", [15, 16, 17], id="days behind the month"),
        pytest.param("ngày 15, 16 và 17 tháng 6", "vi", [15, 16, 17], id="Vietnamese days"),
        pytest.param("ngày 15 và ngày 16 tháng 6", "vi", [15, 16], id="ngày before each"),
        pytest.param("ngày 15 và 16/6", "vi", [15, 16], id="a slash"),
        pytest.param("ngay 15, 16 va 17 thang 6", "vi", [15, 16, 17], id="without accents"),
    ],
)
def test_lists_of_days(raw: str, language: str, days: list[int]) -> None:
    """Each day of a list has the month that stands once."""
    assert [q.dates for q in find_quantities(Text(raw), language)] == [(Date(None, 6, day),) for day in days]


@pytest.mark.parametrize(
    ("raw", "language", "dimensions"),
    [
        pytest.param("12 tháng", "vi", ["span"], id="twelve months are no December"),
        pytest.param("3 tháng 10 ngày", "vi", ["span", "time"], id="three months and ten days are no 3 October"),
        pytest.param("mỗi năm 500 người", "vi", ["count"], id="five hundred a year is no year"),
        pytest.param("uống ngày 3 lần", "vi", ["count"], id="three times a day is no day"),
        pytest.param("từ năm 12 tuổi", "vi", ["span"], id="an age is no year"),
        pytest.param("1000 runners", "en", ["count"], id="what is counted is no year"),
        pytest.param("2,008 people", "en", ["count"], id="a separator is no year"),
        pytest.param("3/4 of it", "en", ["percent"], id="a fraction"),
        pytest.param("24/7", "en", ["label"], id="always"),
        pytest.param("June 15 and 20 people", "en", ["date", "count"], id="what is counted is no second day"),
        pytest.param("on June 15, 12 people", "en", ["date", "count"], id="what is counted behind a comma"),
        pytest.param("5 minutes to 2 hours", "en", ["time", "time"], id="a range of two units is no clock time"),
        pytest.param("for $5, 6 June", "en", ["money:USD", "date"], id="money before a day"),
    ],
)
def test_what_is_no_date(raw: str, language: str, dimensions: list[str]) -> None:
    """Durations, ages, rates and fractions stay what they are."""
    assert [q.dimension for q in find_quantities(Text(raw), language)] == dimensions
