"""Times of day are read and compared in both languages."""

from __future__ import annotations

import pytest

from stillme.figures.comparing import agrees
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text
from tests.figures.support import figure


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
