"""Numbers spelt in Vietnamese: their value, and the token behind them."""

from __future__ import annotations

import pytest

from stillme.figures.tables import Tables
from stillme.languages.vi.numerals import spelt

TABLES = Tables("vi", folded=False)
END = [""] * 4


@pytest.mark.parametrize(
    ("words", "value", "taken"),
    [
        pytest.param("bảy ngày", 7, 1, id="a digit"),
        pytest.param("mười hai phòng", 12, 2, id="behind ten"),
        pytest.param("hai mươi mốt ngày", 21, 3, id="one behind tens has a word of its own"),
        pytest.param("mười lăm ngày", 15, 2, id="so has five"),
        pytest.param("mười năm", 10, 1, id="ten years are not fifteen"),
        pytest.param("năm trăm linh năm phòng", 505, 4, id="a hundred and some"),
        pytest.param("hai nghìn không trăm linh tám", 2008, 6, id="groups of a thousand"),
        pytest.param("ba triệu rưỡi đồng", 3_500_000, 3, id="a half of a scale"),
        pytest.param("hai phẩy năm", 2.5, 3, id="a decimal"),
    ],
)
def test_it_is_read_as_far_as_it_goes(words: str, value: float, taken: int) -> None:
    found = spelt([*words.split(), *END], TABLES, 0)

    assert found is not None
    assert (found[0], found[3]) == (value, taken)


def test_no_number_word_is_no_number() -> None:
    assert spelt(["phòng", *END], TABLES, 0) is None
