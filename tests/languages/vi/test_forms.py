"""Vietnamese syllables do not inflect, and are spelt in two ways where the tone or the i may stand elsewhere."""

from __future__ import annotations

import pytest

from stillme.languages.vi.forms import bases, forms_of_rest, spellings


@pytest.mark.parametrize(
    ("one", "other"),
    [("hóa", "hoá"), ("khỏe", "khoẻ"), ("thủy", "thuỷ"), ("lý", "lí"), ("sĩ", "sỹ"), ("kỹ", "kĩ"), ("hòa", "hoà")],
)
def test_two_spellings_are_one_syllable_from_either_side(one: str, other: str) -> None:
    assert set(spellings(one)) == set(spellings(other)) == {one, other}


@pytest.mark.parametrize("word", ["nhà", "phở", "mua", "quy", "a", ""])
def test_other_syllables_have_one_spelling(word: str) -> None:
    assert spellings(word) == (word,)


def test_a_phrase_has_every_spelling_of_its_syllables() -> None:
    assert set(forms_of_rest(("lý", "hóa"))) == {("lý", "hóa"), ("lý", "hoá"), ("lí", "hóa"), ("lí", "hoá")}


def test_nothing_is_a_form_of_another_word() -> None:
    assert list(bases("những", {"những": "một"})) == []
