"""Ranges of a figure for which a text states a rule."""

from __future__ import annotations

import pytest

from stillme.figures.brackets import Bracket, find_brackets
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


def brackets(text: str, language: str) -> list[Bracket]:
    """The ranges of a text."""
    read = Text(text)
    return find_brackets(find_quantities(read, language), read.lowers, language)


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        pytest.param("Trains 30 to 59 minutes late", "en", ["30 to 59 minutes"], id="a range"),
        pytest.param("Bags between 23 and 32 kg", "en", ["between 23 and 32 kg"], id="between two figures"),
        pytest.param("children under 5, 15 days or more", "en", ["under 5", "15 days or more"], id="bounds"),
        pytest.param("trẻ từ 6 đến dưới 10 tuổi", "vi", ["từ 6 đến dưới 10 tuổi"], id="a Vietnamese range"),
        pytest.param("thai từ tuần 36 trở lên, người từ 60 tuổi", "vi", ["từ tuần 36 trở lên", "từ 60 tuổi"], id="Vietnamese bounds"),
        pytest.param("voọc tăng từ 11 con lên 18 con", "vi", [], id="what rises from a figure is no range"),
        pytest.param("open from 8:00 to 18:00, at most $10", "en", [], id="neither a time of day nor money is a case"),
        pytest.param("12 to 5 metres", "en", [], id="a range that falls"),
    ],
)  # fmt: skip
def test_ranges(text: str, language: str, found: list[str]) -> None:
    """Each with the words that say from where to where it goes."""
    read = Text(text)

    assert [read.slice(each.first, each.last) for each in brackets(text, language)] == found


@pytest.mark.parametrize(
    ("text", "case", "language", "held"),
    [
        pytest.param("30 to 59 minutes", "45 minutes", "en", True, id="within"),
        pytest.param("30 to 59 minutes", "1 hour", "en", False, id="beyond, in another unit"),
        pytest.param("over 40 kg", "40 kg", "en", False, id="a strict bound"),
        pytest.param("40 kg or more", "40 kg", "en", True, id="a bound that belongs to it"),
        pytest.param("dưới 10 tuổi", "9 tuổi", "vi", True, id="an age"),
        pytest.param("từ 6 đến dưới 10 tuổi", "10 tuổi", "vi", False, id="an end that does not belong to it"),
        pytest.param("dưới 7 ngày", "8 giờ", "vi", False, id="hours are no number of days"),
        pytest.param("over 40 kg", "45 km", "en", False, id="a figure of something else"),
        pytest.param("from week 36 on", "week 37", "en", True, id="numbered weeks"),
    ],
)  # fmt: skip
def test_cases(text: str, case: str, language: str, held: bool) -> None:
    """A case lies in a range by its value, whatever its unit."""
    (bracket,) = brackets(text, language)
    (figure,) = find_quantities(Text(case), language)

    assert bracket.holds(figure) is held
