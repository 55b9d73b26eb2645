"""Numbers spelt in English: their value, and the token behind them."""

from __future__ import annotations

import pytest

from stillme.figures.tables import Tables
from stillme.languages.en.numerals import spelt

TABLES = Tables("en", folded=False)
END = [""] * 4


@pytest.mark.parametrize(
    ("words", "value", "taken"),
    [
        pytest.param("seven days", 7, 1, id="a digit"),
        pytest.param("twenty - one days", 21, 3, id="tens and ones"),
        pytest.param("two hundred and five rooms", 205, 4, id="a hundred and some"),
        pytest.param("three thousand four hundred", 3400, 4, id="groups of a thousand"),
        pytest.param("two million rooms", 2_000_000, 2, id="a scale"),
        pytest.param("one and a half million", 1_500_000, 5, id="a half of a scale"),
        pytest.param("five six", 5, 1, id="two digits in a row are two numbers"),
        pytest.param("twenty and the rest", 20, 1, id="an and that joins no number"),
    ],
)
def test_it_is_read_as_far_as_it_goes(words: str, value: float, taken: int) -> None:
    found = spelt([*words.split(), *END], TABLES, 0)

    assert found is not None
    assert (found[0], found[3]) == (value, taken)


def test_a_scale_alone_needs_the_article_before_it() -> None:
    tokens = ["hundred", "rooms", *END]

    assert spelt(tokens, TABLES, 0) is None
    assert spelt(tokens, TABLES, 0, 1.0) == (100.0, 0, 1.0, 1)


def test_no_number_word_is_no_number() -> None:
    assert spelt(["rooms", *END], TABLES, 0) is None
