"""Units of every dimension are read in both languages."""

from __future__ import annotations

import pytest

from tests.figures.support import figures


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("five working days", "en", [("five working days", "time", (432000.0,))], id="a word between"),
        pytest.param("a 23-cm tin", "en", [("23-cm", "length", (0.23,))], id="a hyphen before the unit"),
        pytest.param("a 6-year-old boy", "en", [("6-year", "span", (72.0,))], id="an age with hyphens"),
        pytest.param("trẻ em dưới 6 tuổi", "vi", [("6 tuổi", "span", (72.0,))], id="an age in Vietnamese"),
        pytest.param("pupils aged 12", "en", [("12", "span", (144.0,))], id="an age without its unit"),
        pytest.param("5%", "en", [("5%", "percent", (5.0,))], id="a percent sign"),
        pytest.param("5 phần trăm", "vi", [("5 phần trăm", "percent", (5.0,))], id="percent in Vietnamese"),
        pytest.param("two thirds of them", "en", [("two thirds", "percent", (200 / 3,))], id="a spelt fraction"),
        pytest.param("một nửa số dân", "vi", [("một nửa", "percent", (50.0,))], id="half in Vietnamese"),
        pytest.param("-5 °C", "en", [("-5 °C", "temperature", (-5.0,))], id="a negative temperature"),
        pytest.param("âm 5 độ C", "vi", [("âm 5 độ C", "temperature", (-5.0,))], id="a negative temperature in words"),
        pytest.param("90 km/giờ", "vi", [("90 km/giờ", "speed", (25.0,))], id="a speed"),
        pytest.param("300 m2", "vi", [("300 m2", "area", (300.0,))], id="square metres with a plain 2"),
        pytest.param("300 mét vuông", "vi", [("300 mét vuông", "area", (300.0,))], id="square metres in words"),
        pytest.param("2 năm rưỡi", "vi", [("2 năm rưỡi", "span", (30.0,))], id="two and a half years"),
        pytest.param("half an hour", "en", [("half an hour", "time", (1800.0,))], id="half an hour"),
        pytest.param(
            "2 hours and 5 minutes", "en", [("2 hours and 5 minutes", "time", (7500.0,))], id="two units of time"
        ),
        pytest.param("5 feet 3 inches", "en", [("5 feet 3 inches", "length", (1.6002,))], id="two units of one length"),
        pytest.param("one month's notice", "en", [("one month's", "span", (1.0,))], id="a month's notice"),
        pytest.param("one week’s leave", "en", [("one week’s", "time", (604800.0,))], id="a curly apostrophe"),
        pytest.param("three months' notice", "en", [("three months", "span", (3.0,))], id="months' notice"),
        pytest.param("two weeks’ leave", "en", [("two weeks", "time", (1209600.0,))], id="weeks' leave"),
        pytest.param("one mile's walk", "en", [("one mile's", "length", (1609.344,))], id="a mile's walk"),
        pytest.param("khoảng một nửa", "vi", [("một nửa", "percent", (50.0,))], id="half without what it is of"),
        pytest.param("it fell by half.", "en", [("half", "percent", (50.0,))], id="by half"),
        pytest.param("more than half are", "en", [("half", "percent", (50.0,))], id="more than half"),
        pytest.param("8 ký tự", "vi", [("8", "count", (8.0,))], id="characters are no kilograms"),
        pytest.param("3 đồng nghiệp", "vi", [("3", "count", (3.0,))], id="colleagues are no money"),
        pytest.param("mật độ 3", "vi", [("3", "count", (3.0,))], id="a bare number"),
    ],
)
def test_units(raw: str, language: str, expected: list[tuple[str, str, tuple[float, ...]]]) -> None:
    """A figure takes its unit with it, in the base unit of its dimension."""
    found = figures(raw, language)

    assert [(words, name) for words, name, _ in found] == [(words, name) for words, name, _ in expected]
    assert [values for *_, values in found] == [pytest.approx(values) for *_, values in expected]
