"""What stands beside digits says what they are: money, a marker, a part of a name."""

from __future__ import annotations

import pytest

from stillme.figures.words import find_quantities
from stillme.text.tokens import Text
from tests.figures.support import figure, figures, language_of


@pytest.mark.parametrize(
    ("raw", "currency", "value"),
    [
        pytest.param("$12", "USD", 12.0, id="a sign before"),
        pytest.param("US$12", "USD", 12.0, id="letters and a sign"),
        pytest.param("12 USD", "USD", 12.0, id="a code behind"),
        pytest.param("USD 12", "USD", 12.0, id="a code before"),
        pytest.param("12 dollars", "USD", 12.0, id="in words"),
        pytest.param("12 đô la Mỹ", "USD", 12.0, id="dollars in Vietnamese"),
        pytest.param("A$12", "AUD", 12.0, id="another dollar"),
        pytest.param("£4.50", "GBP", 4.5, id="pounds"),
        pytest.param("$1.2 million", "USD", 1200000.0, id="a scale word"),
        pytest.param("£3bn", "GBP", 3e9, id="a suffix"),
        pytest.param("$5m", "USD", 5e6, id="an m that is no metre"),
        pytest.param("50 cents", "USD", 0.5, id="cents"),
        pytest.param("450.000 đồng", "VND", 450000.0, id="đồng"),
        pytest.param("450.000đ", "VND", 450000.0, id="đ glued to the number"),
        pytest.param("450 nghìn đồng", "VND", 450000.0, id="a thousand đồng"),
        pytest.param("450.000 VND", "VND", 450000.0, id="VND, whose dot is no decimal point in English text either"),
        pytest.param("một triệu đồng", "VND", 1000000.0, id="a million in words"),
        pytest.param("450.000 VNĐ", "VND", 450000.0, id="VNĐ behind"),
        pytest.param("450.000vnđ", "VND", 450000.0, id="vnđ glued to the number"),
        pytest.param("450.000 VNÐ", "VND", 450000.0, id="VNÐ with the other letter that looks the same"),
        pytest.param("VNĐ 450.000", "VND", 450000.0, id="VNĐ before"),
        pytest.param("đ450.000", "VND", 450000.0, id="đ before"),
        pytest.param("450.000 (VNĐ)", "VND", 450000.0, id="VNĐ in brackets"),
        pytest.param("450 nghìn VNĐ", "VND", 450000.0, id="VNĐ behind a scale word"),
    ],
)
def test_money(raw: str, currency: str, value: float) -> None:
    """Money by currency, wherever the currency stands."""
    found = figure(raw, language_of(raw))

    assert (found.dimension, found.values) == (f"money:{currency}", (value,))


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("giá 100đ 5 cái", "vi", ["100đ", "5"], id="đ belongs to the number before it"),
        pytest.param("từ 100.000 đến 200.000 VNĐ", "vi", ["100.000", "200.000 VNĐ"], id="a range"),
        pytest.param("450.000 (VNĐ)", "vi", ["450.000 (VNĐ)"], id="brackets"),
    ],
)
def test_the_currency_is_part_of_the_figure(raw: str, language: str, expected: list[str]) -> None:
    """Nothing of đ and VNĐ is left over to be taken for a name."""
    assert [words for words, *_ in figures(raw, language)] == expected


@pytest.mark.parametrize(
    ("raw", "language"),
    [
        pytest.param("", "en", id="empty"),
        pytest.param("   \n", "vi", id="blank"),
        pytest.param("No number here.", "en", id="no number"),
        pytest.param("It grew [1]. It fell [1, 2][3-4] 【1】 [^2] (1).", "en", id="citation markers"),
        pytest.param("1. Beat\n2. Add\n3) Fold\n**4.** Bake", "en", id="list numbers"),
        pytest.param("See https://example.org/2024/05/12.", "en", id="a web address"),
        pytest.param("Run\n```\nx = 5\n```\n", "en", id="a code block"),
        pytest.param("as passage 2 and source 3 say", "en", id="a citation in words"),
        pytest.param("One of them left, and no one saw it.", "en", id="one as a pronoun"),
        pytest.param("Một người nông dân có một con trâu.", "vi", id="một as an article"),
        pytest.param("Giá tính theo một tháng hoặc một số tháng.", "vi", id="một and một số"),
        pytest.param("năm học mới, năm nay, mỗi năm, năm ngoái", "vi", id="năm as a year"),
        pytest.param("ba mẹ tôi ở Ba Đình, nấu chín, đầu tư", "vi", id="words that look like numbers"),
        pytest.param("It was first built there. First, look at it.", "en", id="first as an adverb"),
        pytest.param("hundreds of people, several thousand, a few hundred", "en", id="vague numbers"),
        pytest.param("hàng trăm người, vài nghìn người", "vi", id="vague Vietnamese numbers"),
        pytest.param("She may march on.", "en", id="verbs that look like months"),
        pytest.param("The Sun sat low.", "en", id="words that look like weekdays"),
        pytest.param("All of the pupils and the other half.", "en", id="all, and the other half"),
        pytest.param("Toàn bộ học sinh, tất cả giáo viên.", "vi", id="toàn bộ and tất cả"),
    ],
)
def test_what_is_no_figure(raw: str, language: str) -> None:
    """Markers, numbering, addresses, code, articles and look-alikes give nothing."""
    assert figures(raw, language) == []


def test_numbers_attach_to_what_they_belong_to() -> None:
    """A label and a count in one sentence do not mix."""
    found = find_quantities(Text("Tủ số 8 đựng 75 ống nghiệm và 2 giá gỗ [1]."), "vi")

    assert [(q.dimension, q.values, q.noun) for q in found] == [
        ("label", (8.0,), "cabinet"),
        ("count", (75.0,), "ống"),
        ("count", (2.0,), "giá"),
    ]
