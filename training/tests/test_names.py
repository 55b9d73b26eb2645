"""Names and numbers are told by their form."""

from __future__ import annotations

import pytest

from training.synthesis.names import names, numbers, years


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("The Bank of England moved to London.", ["Bank of England", "London"], id="linking words inside"),
        pytest.param("However, it rained.", [], id="a capital that opens the sentence is no name"),
        pytest.param("Paris is big. We love Paris.", ["Paris", "Paris"], id="an opening name that recurs"),
        pytest.param("It rained in May.", [], id="months are not names"),
        pytest.param("Năm ngoái Nguyễn Văn An đến Đà Nẵng.", ["Nguyễn Văn An", "Đà Nẵng"], id="Vietnamese"),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    """Runs of capitalised words are names."""
    assert [text[s:e] for s, e in names(text)] == expected


def test_numbers_and_years() -> None:
    """Decimals are one number; only plausible four digits are a year."""
    text = "In 1999 it grew by 3,5% to 12.000 and 4500."

    assert [text[s:e] for s, e in numbers(text)] == ["1999", "3,5", "12.000", "4500"]
    assert [text[s:e] for s, e in years(text)] == ["1999"]
