"""The model says of a statement and a text by how much one contradicts the other."""

from __future__ import annotations

import pytest

from stillme.grounding.contradiction import contradictions

PAIRS = [
    ("The museum is open on Mondays.", "The museum is closed on Mondays."),
    ("The museum is open on Mondays.", "The museum is open on Mondays."),
    ("Bảo tàng mở cửa vào thứ Hai.", "Bảo tàng đóng cửa vào thứ Hai."),
    ("Bảo tàng mở cửa vào thứ Hai.", "Bảo tàng mở cửa vào thứ Hai."),
]


def test_an_opposite_contradicts_more_than_the_same_words_in_both_languages() -> None:
    opposite, same, nguoc_lai, nhu_nhau = contradictions(PAIRS)

    assert opposite > same
    assert nguoc_lai > nhu_nhau


def test_a_pair_is_judged_as_it_is_alone() -> None:
    alone = [contradictions([pair])[0] for pair in PAIRS]

    assert contradictions(PAIRS) == pytest.approx(alone, abs=1e-4)


def test_no_pair_and_endless_texts_are_answered() -> None:
    assert contradictions([]) == []
    assert len(contradictions([("It rains. " * 2000, "It is dry. " * 2000)])) == 1
