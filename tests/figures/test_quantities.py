"""Bounds and rough words around a figure belong to it."""

from __future__ import annotations

import pytest

from tests.figures.support import figure, language_of


@pytest.mark.parametrize(
    ("raw", "hedge", "limit"),
    [
        pytest.param("about 95 people", "about", False, id="about"),
        pytest.param("khoảng 95 người", "about", False, id="khoảng"),
        pytest.param("gần 95 người", "about", False, id="gần"),
        pytest.param("~95 people", "about", False, id="a tilde"),
        pytest.param("more than 95 people", "over", False, id="more than"),
        pytest.param("hơn 95 người", "over", False, id="hơn"),
        pytest.param("trên 950 người", "over", False, id="trên before a large number"),
        pytest.param("dùng trên 3 máy", "", False, id="trên that means on"),
        pytest.param("at least 95 people", "over", True, id="at least"),
        pytest.param("ít nhất 95 người", "over", True, id="ít nhất"),
        pytest.param("từ 18 tuổi trở lên", "over", True, id="trở lên"),
        pytest.param("95 or more people", "over", True, id="or more"),
        pytest.param("heavier than 25 kg", "over", False, id="a comparative"),
        pytest.param("younger than 25 years", "under", False, id="a downward comparative"),
        pytest.param("no longer than 25 days", "under", True, id="a denied comparative"),
        pytest.param("less than $5", "under", False, id="before a currency sign"),
        pytest.param("the under-18 team", "under", False, id="a hyphen"),
        pytest.param("up to 3 devices", "under", True, id="up to"),
        pytest.param("tối đa 3 thiết bị", "under", True, id="tối đa"),
        pytest.param("không quá 3 lần", "under", True, id="không quá"),
        pytest.param("không dưới 3 lần", "over", True, id="không dưới"),
        pytest.param("exactly 3 times", "", False, id="exactly"),
    ],
)
def test_hedges(raw: str, hedge: str, limit: bool) -> None:
    """Bounds and rough words are read on both sides of the figure."""
    found = figure(raw, language_of(raw))

    assert (found.hedge, found.limit) == (hedge, limit)
