"""Each half of a range takes what only the other says; a score is none."""

from __future__ import annotations

import pytest

from tests.figures.support import figures


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("three to five working days", "en", [("time", 259200.0), ("time", 432000.0)], id="words"),
        pytest.param("3-5 ngày", "vi", [("time", 259200.0), ("time", 432000.0)], id="a hyphen"),
        pytest.param("từ 3 đến 5 ngày", "vi", [("time", 259200.0), ("time", 432000.0)], id="from and to in Vietnamese"),
        pytest.param("between 10 and 20 percent", "en", [("percent", 10.0), ("percent", 20.0)], id="between"),
        pytest.param("$10-20", "en", [("money:USD", 10.0), ("money:USD", 20.0)], id="the currency of the first"),
        pytest.param("5 to 10 million people", "en", [("count", 5e6), ("count", 1e7)], id="a scale word"),
        pytest.param("5 - 7 triệu đồng", "vi", [("money:VND", 5e6), ("money:VND", 7e6)], id="scale and currency"),
        pytest.param("hai hoặc ba tuần", "vi", [("time", 1209600.0), ("time", 1814400.0)], id="or"),
        pytest.param("8h-17h", "vi", [("time", 28800.0), ("time", 61200.0)], id="units on both sides"),
        pytest.param("pages 10-20", "en", [("label", 10.0), ("label", 20.0)], id="pages"),
    ],
)
def test_ranges(raw: str, language: str, expected: list[tuple[str, float]]) -> None:
    """A range is two figures, and each has the unit that stands once."""
    assert [(dimension, values[0]) for _, dimension, values in figures(raw, language)] == expected


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("City beat the Rovers 3–1 at home", "en", [(3.0, 1.0)], id="behind a name"),
        pytest.param("City 3–1 Rovers", "en", [(3.0, 1.0)], id="between two names"),
        pytest.param("City 1-3 Rovers", "en", [(1.0, 3.0)], id="between two names, the loser first"),
        pytest.param("they won 3-1 yesterday", "en", [(3.0, 1.0)], id="behind a verb"),
        pytest.param("a 3–1 home win", "en", [(3.0, 1.0)], id="before what it is"),
        pytest.param("they beat the home team 3-1", "en", [(3.0, 1.0)], id="behind a noun that takes numbers"),
        pytest.param("they lost to the Rovers 1–3", "en", [(1.0, 3.0)], id="the smaller number first"),
        pytest.param("they won 3 to 1", "en", [(3.0, 1.0)], id="to"),
        pytest.param("she won 6-4, 7-6", "en", [(6.0, 4.0), (7.0, 6.0)], id="sets"),
        pytest.param("lost to United 2:1", "en", [(2.0, 1.0)], id="a colon"),
        pytest.param("a mix of 3:2:1", "en", [(3.0, 2.0, 1.0)], id="a ratio of three"),
        pytest.param("Hà Nội thắng Viettel 3–1", "vi", [(3.0, 1.0)], id="Vietnamese, behind a name"),
        pytest.param("thua 1-3 ngay trên sân nhà", "vi", [(1.0, 3.0)], id="Vietnamese, the smaller number first"),
        pytest.param("với tỷ số 2-0", "vi", [(2.0, 0.0)], id="tỷ số"),
        pytest.param("the Boeing 777-300", "en", [], id="an aeroplane"),
        pytest.param("they won 3–5 medals", "en", [], id="a range of what is counted"),
        pytest.param("pages 12-15", "en", [], id="pages"),
        pytest.param("it fell from 5 to 3", "en", [], id="from and to"),
        pytest.param("at 4:30", "en", [], id="a clock time"),
        pytest.param("thắng 3-5 trận", "vi", [], id="a range of matches"),
    ],
)
def test_scores(raw: str, language: str, expected: list[tuple[float, ...]]) -> None:
    """A score is one figure with two sides, and no label of the name before it."""
    assert [values for _, dimension, values in figures(raw, language) if dimension == "score"] == expected
