"""Texts as the words that a full-text search finds them by."""

from __future__ import annotations

import pytest

from stillme.text.search_words import folded_words, marks_of, ranked, ranked_alone


@pytest.mark.parametrize("text", ["Nhà trọ", "nha tro", "NHÀ  TRỌ!"])
def test_accents_and_capitals_make_no_difference(text: str) -> None:
    """Each word, and every two that stand side by side."""
    assert folded_words(text) == ["nha", "tro", "nha_tro"]


def test_words_of_several_parts_are_looked_for_as_pairs() -> None:
    """A word alone is looked for as it is."""
    assert marks_of(["nhà trọ", "tickets"]) == ["nha_tro", "ticket"]


def test_texts_with_rarer_words_come_first() -> None:
    """Those that hold none of the words are left out, ties are broken by id."""
    texts = [("b", ["train", "bus"]), ("a", ["train", "bus"]), ("c", ["ferry", "bus"]), ("d", ["walk"])]

    assert [key for key, _ in ranked(texts, {"ferry": 2.0, "train": 1.0}, 2.0)] == ["c", "a", "b"]
    assert [key for key, _ in ranked_alone(texts, ["ferry", "train"], 2)] == ["c", "a"]
