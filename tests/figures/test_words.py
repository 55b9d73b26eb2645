"""Figures that begin with a word are read in both languages, and any text is read in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.figures.comparing import agrees, rivals
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text
from tests.figures.support import figure


def test_articles_support_but_need_no_support() -> None:
    """The one of "a month" is read only where it is asked for, and then rivals nothing."""
    source = Text("It lasts a month.")
    claim = figure("within one month")

    assert find_quantities(source, "en") == []
    (month,) = find_quantities(source, "en", articles=True)
    assert (month.article, agrees(claim, month), rivals(figure("two months"), month)) == (True, True, False)


@pytest.mark.parametrize(
    ("raw", "language", "value"),
    [
        pytest.param("only one user", "en", 1.0, id="only one"),
        pytest.param("within one month", "en", 1.0, id="one month"),
        pytest.param("bảo hành một năm", "vi", 12.0, id="a warranty of a year"),
        pytest.param("chỉ một người", "vi", 1.0, id="only one person"),
        pytest.param("một triệu người", "vi", 1000000.0, id="a million"),
        pytest.param("one hundred people", "en", 100.0, id="a hundred"),
    ],
)
def test_one_that_is_a_number(raw: str, language: str, value: float) -> None:
    """One and một are numbers where a word beside them says so."""
    assert figure(raw, language).values == (value,)


def test_a_token_range_is_read_alone() -> None:
    """Only the figures of the range are found, at their places in the whole text."""
    text = Text("It costs $5. It weighs 3 kg. It is 7 m long.")
    first = text.token_at(text.raw.index("It weighs"))
    last = text.token_at(text.raw.index("It is"))

    (found,) = find_quantities(text, "en", first, last)

    assert text.slice(found.first, found.last) == "3 kg"


WORDS = """
    1 12 007 1.000 1,5 2024 25 31 99 ½ ² hundred million two twenty one a half and to of May March Monday first third
    century a.m. pm noon $ £ % kg km/h °C days năm ngày tháng mươi trăm linh nghìn triệu tỷ rưỡi thứ Hai hai ba mười một
    lăm giờ phút sáng won past quarter month's VNĐ quý thế kỷ thập niên phần nửa số đồng hơn về - – / : . , ( ) [ ] 's th
"""


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=14),
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from(["en", "vi", "fr"]),
)
def test_any_row_of_number_words_is_read(words: list[str], gap: str, language: str) -> None:
    """Nothing raises; figures are in order, inside the text, and agree with themselves."""
    text = Text(gap.join(words))

    found = find_quantities(text, language, articles=True)

    assert all(0 <= q.first < q.last <= len(text) and q.values for q in found)
    assert [q.first for q in found] == sorted(q.first for q in found)
    assert all(agrees(q, q) and not rivals(q, q) for q in found if abs(q.values[0]) < 1e300)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read(raw: str) -> None:
    """Nothing raises on arbitrary text, and reading twice gives the same."""
    for language in ("en", "vi"):
        assert find_quantities(Text(raw), language) == find_quantities(Text(raw), language)


ROWS = [
    "1 ",
    "1-",
    "1, ",
    "[1, ",
    "a hundred and ",
    "twenty-",
    "hai mươi ",
    "1 hour and ",
    "1 to ",
    "a1_",
    "000 ",
    "3-1 ",
    "1:",
]
ROWS += ["1 triệu ", "một triệu ", "ngày 1, ", "1 and ", "May 1, ", "half past ", "15 và 16 tháng 6, "]


@pytest.mark.parametrize("unit", ROWS)
def test_long_rows_take_linear_time(unit: str) -> None:
    """Tens of thousands of numbers in a row neither stall nor exhaust the stack."""
    text = Text(unit * (60_000 // len(unit)))

    assert isinstance(find_quantities(text, "vi"), list)
    assert isinstance(find_quantities(text, "en"), list)


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
