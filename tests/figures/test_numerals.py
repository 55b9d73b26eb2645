"""Numbers are read in digits and in words, in the format of their language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.figures.comparing import agrees
from tests.figures.support import figure


@pytest.mark.parametrize(
    ("raw", "language", "value"),
    [
        pytest.param("1,000 runners", "en", 1000.0, id="English thousands comma"),
        pytest.param("1000 runners", "en", 1000.0, id="no separator"),
        pytest.param("1.000 vận động viên", "vi", 1000.0, id="Vietnamese thousands dot"),
        pytest.param("21.1 points", "en", 21.1, id="English decimal point"),
        pytest.param("21,1 điểm", "vi", 21.1, id="Vietnamese decimal comma"),
        pytest.param("21.1 điểm", "vi", 21.1, id="a decimal point in Vietnamese text"),
        pytest.param("1.234.567,8 lượt", "vi", 1234567.8, id="both Vietnamese separators"),
        pytest.param("1,234,567.8 views", "en", 1234567.8, id="both English separators"),
        pytest.param("1,00,000 people", "en", 100000.0, id="Indian groups"),
        pytest.param("1 234 567 people", "en", 1234567.0, id="groups with spaces"),
        pytest.param("0.625 points", "vi", 0.625, id="nothing before the dot is no thousand"),
        pytest.param("1,5 triệu người", "vi", 1500000.0, id="Vietnamese million"),
        pytest.param("1.5 million people", "en", 1500000.0, id="English million"),
        pytest.param("2 tỷ 300 triệu lượt", "vi", 2.3e9, id="two Vietnamese scale words"),
        pytest.param("3 nghìn tỷ lượt", "vi", 3e12, id="a thousand billion"),
        pytest.param("1 triệu rưỡi lượt", "vi", 1500000.0, id="one and a half million in Vietnamese"),
        pytest.param("1 triệu 2 trăm nghìn lượt", "vi", 1200000.0, id="a million and hundreds of thousands in digits"),
        pytest.param("1 triệu hai trăm nghìn lượt", "vi", 1200000.0, id="digits and words in one number"),
        pytest.param("2 tỷ 3 trăm triệu lượt", "vi", 2.3e9, id="a billion and hundreds of millions in digits"),
        pytest.param("1 trieu 2 tram nghin luot", "vi", 1200000.0, id="several scale words without accents"),
        pytest.param("3 vạn quân", "vi", 30000.0, id="ten thousand in one word"),
        pytest.param("2 chục trứng", "vi", 20.0, id="tens"),
        pytest.param("2 tá trứng", "vi", 24.0, id="dozens in Vietnamese"),
        pytest.param("450k views", "en", 450000.0, id="a k"),
        pytest.param("1½ cups", "en", 1.5, id="a fraction sign"),
        pytest.param("3 × 10^8 cells", "en", 3e8, id="a power of ten"),
        pytest.param("five eggs", "en", 5.0, id="an English word"),
        pytest.param("twenty-one eggs", "en", 21.0, id="tens and ones"),
        pytest.param("two hundred and five eggs", "en", 205.0, id="hundred and"),
        pytest.param("one hundred twenty-three eggs", "en", 123.0, id="hundred without and"),
        pytest.param("two million five hundred thousand eggs", "en", 2500000.0, id="two English scales"),
        pytest.param("one and a half million eggs", "en", 1500000.0, id="one and a half million"),
        pytest.param("a dozen eggs", "en", 12.0, id="a dozen"),
        pytest.param("half a million eggs", "en", 500000.0, id="half a million"),
        pytest.param("mười hai trạm", "vi", 12.0, id="twelve"),
        pytest.param("hai mươi mốt trạm", "vi", 21.0, id="twenty-one"),
        pytest.param("ba mươi lăm trạm", "vi", 35.0, id="thirty-five"),
        pytest.param("năm trăm linh năm trạm", "vi", 505.0, id="five hundred and five"),
        pytest.param("hai trăm rưỡi trạm", "vi", 250.0, id="two hundred and a half"),
        pytest.param("ba trăm nghìn trạm", "vi", 300000.0, id="three hundred thousand"),
        pytest.param("hai nghìn không trăm linh tám trạm", "vi", 2008.0, id="two thousand and eight"),
        pytest.param("muoi hai tram", "vi", 12.0, id="typed without accents"),
    ],
)
def test_numbers_in_both_formats_and_in_words(raw: str, language: str, value: float) -> None:
    """The value does not depend on how it is written."""
    assert figure(raw, language).values == (value,)


@pytest.mark.parametrize(
    ("raw", "language", "values"),
    [
        pytest.param("1,000 người", "vi", {1.0, 1000.0}, id="a comma before three digits in Vietnamese"),
        pytest.param("1.000 personnes", "fr", {1.0, 1000.0}, id="a dot before three digits in another language"),
        pytest.param("2 TB", "en", {2e12, 2.0 * 1024**4}, id="a terabyte by tens and by twos"),
    ],
)
def test_truly_ambiguous_writing_keeps_both_values(raw: str, language: str, values: set[float]) -> None:
    """Two values where a reader could not tell either."""
    assert set(figure(raw, language).values) == values


@given(st.integers(min_value=0, max_value=10**15))
def test_any_integer_round_trips(number: int) -> None:
    """Grouped in either style or not at all, an integer is read back."""
    grouped = f"{number:,}"
    dotted = grouped.replace(",", ".")

    assert figure(f"{grouped} eggs").values == (float(number),)
    assert figure(f"{dotted} quả trứng", "vi").values == (float(number),)
    assert figure(f"{number} eggs").values == (float(number),)


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_any_decimal_round_trips(number: object) -> None:
    """A decimal number is read back in either style, and both agree."""
    english = f"{number:,}"
    vietnamese = english.translate(str.maketrans(",.", ".,"))
    one, two = figure(f"{english} kg"), figure(f"{vietnamese} kg", "vi")

    assert one.values == two.values == (float(str(number)),)
    assert agrees(one, two)
