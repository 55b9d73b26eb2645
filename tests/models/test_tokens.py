"""Texts as tokens: complete, in order, and safe against texts that spell out marks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.models import words
from tests.soak import examples

# As the tokenizer that the base model was trained with cuts them (Hugging Face `tokenizers`, the same pieces).
KNOWN = {
    "The library opens at 9 a.m. on Monday.": (485, 18071, 985, 5798, 7, 94, 413, 10, 5, 38, 5, 93, 26120, 5),
    "Thư viện mở cửa lúc 8 giờ sáng.": (27646, 13731, 10869, 9062, 6049, 333, 5260, 6954, 5),
    "Ngân hàng Sao Biển": (28677, 1762, 25254, 40323),
    "1.240 người; £12,50 (6½%)": (513, 25038, 798, 71, 6789, 1147, 4, 1773, 8959, 30395, 13730),
    "ＡＢＣ ①② ﬁn": (21812, 366, 1603),
    "漢字 😀😀 xyzzy": (6, 19734, 3, 6, 3, 809, 52, 37744),
    "": (),
    "  \n\t ": (),
    "https://a.example/b?c=d": (2612, 573, 11, 5, 2256, 11, 16914, 62, 245, 31, 214, 1032, 68),
    "don't — “quoted”…": (1623, 25, 18, 260, 51, 26205, 68, 61, 27),
}


@pytest.mark.parametrize(("text", "ids"), KNOWN.items(), ids=range(len(KNOWN)))
def test_words_are_cut_as_the_base_model_knows_them(text: str, ids: tuple[int, ...]) -> None:
    """English, Vietnamese composed and decomposed, figures, wide letters, ligatures, fractions, unknown signs."""
    assert words().encode(text).ids == ids


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=120))
def test_every_character_stands_in_a_token(text: str) -> None:
    """All that is not white space is read; offsets are in order and in the text; one token for each offset."""
    found = words().encode(text)
    held = {i for start, end in found.offsets for i in range(start, end)}

    assert len(found.ids) == len(found.offsets)
    assert list(found.offsets) == sorted(found.offsets)
    assert all(0 <= start <= end <= len(text) for start, end in found.offsets)
    assert {i for i, c in enumerate(text) if not c.isspace()} - held == set() or not found.ids


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<pad>", "<unk>", "</s><s>"])
def test_a_text_that_spells_out_a_mark_does_not_become_one(mark: str) -> None:
    """A passage cannot end its window or begin a claim."""
    assert min(words().encode(f"a {mark} b").ids) >= 3


def test_a_text_is_the_sum_of_its_words() -> None:
    """Sentences can be cut apart and put together again as tokens."""
    one, two = "The ferry leaves at nine.", "Phà rời bến lúc chín giờ."

    assert words().encode(f"{one} {two}").ids == words().encode(one).ids + words().encode(two).ids


@pytest.mark.parametrize("text", [*KNOWN, "a" * 70 + " b", "The The ½ ﬁn"])
def test_tokens_without_their_places_are_the_same(text: str) -> None:
    """Whoever needs no offsets gets the same tokens for less, also of a word too long to be remembered."""
    assert tuple(words().ids(text)) == words().encode(text).ids
