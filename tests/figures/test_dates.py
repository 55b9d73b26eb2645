"""Dates state what is written and no more; clock times and weekdays are compared in both languages."""

from __future__ import annotations

import pytest

from stillme.figures.comparing import agrees, rivals
from stillme.figures.dates import Date
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


def figure(raw: str, language: str) -> Quantity:
    """The only figure of a text."""
    found = find_quantities(Text(raw), language)
    assert len(found) == 1, found
    return found[0]


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


@pytest.mark.parametrize(
    ("raw", "language", "minutes"),
    [
        pytest.param("2 p.m.", "en", (840.0,), id="p.m."),
        pytest.param("2pm", "en", (840.0,), id="pm glued"),
        pytest.param("8:15 a.m.", "en", (495.0,), id="minutes"),
        pytest.param("8.15 a.m.", "en", (495.0,), id="minutes behind a dot"),
        pytest.param("14:00", "en", (840.0,), id="twenty-four hours"),
        pytest.param("8:15", "en", (495.0, 1215.0), id="morning or evening"),
        pytest.param("noon", "en", (720.0,), id="noon"),
        pytest.param("midnight", "en", (0.0,), id="midnight"),
        pytest.param("12 a.m.", "en", (0.0,), id="midnight in figures"),
        pytest.param("3 in the afternoon", "en", (900.0,), id="afternoon in words"),
        pytest.param("eight o'clock", "en", (480.0, 1200.0), id="o'clock"),
        pytest.param("2 giờ chiều", "vi", (840.0,), id="Vietnamese afternoon"),
        pytest.param("12 giờ trưa", "vi", (720.0,), id="Vietnamese noon"),
        pytest.param("12 giờ đêm", "vi", (0.0,), id="Vietnamese midnight"),
        pytest.param("lúc 17 giờ", "vi", (1020.0,), id="a Vietnamese hour that is a time of day"),
        pytest.param("7 giờ 15 phút sáng", "vi", (435.0,), id="Vietnamese minutes"),
        pytest.param("lúc 8 giờ kém 15", "vi", (465.0, 1185.0), id="a quarter to eight"),
        pytest.param("nửa đêm", "vi", (0.0,), id="Vietnamese midnight in words"),
        pytest.param("lúc 7 giờ 30 và", "vi", (450.0, 1170.0), id="minutes without phút"),
        pytest.param("lúc 7 giờ 30 hàng ngày", "vi", (450.0, 1170.0), id="minutes before a word of time"),
        pytest.param("lúc 7 giờ 30 khai mạc", "vi", (450.0, 1170.0), id="minutes before a verb"),
        pytest.param("lúc 7 giờ rưỡi", "vi", (450.0, 1170.0), id="half past seven in Vietnamese"),
        pytest.param("7 rưỡi sáng", "vi", (450.0,), id="half past seven without giờ"),
        pytest.param("bảy rưỡi", "vi", (450.0, 1170.0), id="half past seven in words"),
        pytest.param("half past two", "en", (150.0, 870.0), id="half past"),
        pytest.param("half-past two in the afternoon", "en", (870.0,), id="half past in the afternoon"),
        pytest.param("a quarter to nine", "en", (525.0, 1245.0), id="a quarter to"),
        pytest.param("quarter past 9 p.m.", "en", (1275.0,), id="quarter past in figures"),
        pytest.param("a quarter to one o'clock", "en", (45.0, 765.0), id="over the hour"),
        pytest.param("ten minutes to nine", "en", (530.0, 1250.0), id="minutes to"),
        pytest.param("twenty past six", "en", (380.0, 1100.0), id="minutes past"),
    ],
)
def test_clock_times(raw: str, language: str, minutes: tuple[float, ...]) -> None:
    """Minutes after midnight; two readings where the part of the day is open."""
    found = figure(raw, language)

    assert (found.dimension, found.values) == ("clock", minutes)


@pytest.mark.parametrize(
    ("claim", "source", "agreed"),
    [
        pytest.param("2 p.m.", "14:00", True, id="two ways to write it"),
        pytest.param("2 p.m.", "14h", True, id="an h"),
        pytest.param("2 p.m.", "14 giờ", True, id="Vietnamese"),
        pytest.param("8 a.m.", "8 giờ", True, id="a Vietnamese hour as a time of day"),
        pytest.param("8 hours", "8 giờ", True, id="a Vietnamese hour as a duration"),
        pytest.param("8 hours", "8 a.m.", False, id="English hours are a duration"),
        pytest.param("8 a.m.", "8:15 a.m.", False, id="a quarter of an hour apart"),
        pytest.param("8:15 a.m.", "8:15", True, id="an open part of the day"),
        pytest.param("5 p.m.", "từ 8 giờ đến 17 giờ", True, id="the end of Vietnamese opening hours"),
        pytest.param("9 giờ 56 phút", "9 hours and 56 minutes", True, id="a duration in both languages"),
        pytest.param("7:30", "từ 7 giờ 30 đến 16 giờ 30", True, id="a Vietnamese range without phút"),
        pytest.param("4:30 p.m.", "từ 7 giờ 30 đến 16 giờ 30", True, id="the end of such a range"),
        pytest.param("lúc 7 rưỡi", "từ 7h30 đến 16h30", True, id="7 rưỡi and 7h30"),
        pytest.param("7 giờ 30 phút", "7 giờ rưỡi", True, id="thirty minutes and a half"),
        pytest.param("7:30", "8 giờ 30 người", False, id="thirty people are no minutes"),
        pytest.param("half past two", "2:30 p.m.", True, id="half past and figures"),
        pytest.param("a quarter to nine", "9:15", False, id="a quarter to is not a quarter past"),
    ],
)
def test_comparing_times(claim: str, source: str, agreed: bool) -> None:
    """Times of day and durations are kept apart where the language does."""
    said = figure(claim, "vi" if not claim.isascii() else "en")
    stated = find_quantities(Text(source), "vi" if not source.isascii() else "en")

    assert any(agrees(said, q) for q in stated) is agreed


@pytest.mark.parametrize(
    ("raw", "language", "dimension", "value"),
    [
        pytest.param("on Monday", "en", "weekday", 1.0, id="Monday"),
        pytest.param("on Sundays", "en", "weekday", 7.0, id="Sundays"),
        pytest.param("thứ Hai", "vi", "weekday", 1.0, id="thứ Hai with a capital"),
        pytest.param("mở cửa vào thứ hai", "vi", "weekday", 1.0, id="thứ hai behind a word of time"),
        pytest.param("đóng cửa ngày thứ 7", "vi", "weekday", 6.0, id="thứ 7"),
        pytest.param("Chủ nhật", "vi", "weekday", 7.0, id="Chủ nhật"),
        pytest.param("quả bom thứ hai", "vi", "ordinal", 2.0, id="thứ hai behind a noun"),
        pytest.param("lần thứ tư", "vi", "ordinal", 4.0, id="the fourth time"),
        pytest.param("giải nhì", "vi", "ordinal", 2.0, id="second prize"),
        pytest.param("the 21st edition", "en", "ordinal", 21.0, id="an ordinal in figures"),
        pytest.param("the twenty-first edition", "en", "ordinal", 21.0, id="an ordinal in words"),
    ],
)
def test_weekdays_and_ordinals(raw: str, language: str, dimension: str, value: float) -> None:
    """Weekdays count from Monday; thứ hai is one or the other by what stands before it."""
    found = figure(raw, language)

    assert (found.dimension, found.values) == (dimension, (value,))
