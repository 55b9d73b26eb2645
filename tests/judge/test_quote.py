"""A quote stands in its passage, and its offsets give the passage's own characters."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.judge.quote import Quotable
from tests.soak import examples

NFD = unicodedata.normalize("NFD", "Hàng giảm giá không được đổi trả.")


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        pytest.param("It opens at 9.", "opens at 9", "opens at 9", id="as it stands"),
        pytest.param("It opens\n  at\t9.", "opens at 9", "opens\n  at\t9", id="other white space in the passage"),
        pytest.param("It opens at 9.", "  opens \n at 9 ", "opens at 9", id="other white space in the quote"),
        pytest.param("giá 5\u00a0000 đồng", "5 000 đồng", "5\u00a0000 đồng", id="a blank that does not break"),
        pytest.param("re\u00adfund\u200bable", "refundable", "re\u00adfund\u200bable", id="invisible characters"),
        pytest.param(NFD, "giảm giá không", unicodedata.normalize("NFD", "giảm giá không"), id="accents written apart in the passage"),
        pytest.param("Hàng giảm giá.", unicodedata.normalize("NFD", "giảm giá"), "giảm giá", id="accents written apart in the quote"),
        pytest.param("It is unable to fly. It is able to swim.", "able to", "able to", id="a whole word behind a part of one"),
        pytest.param("It is unable to fly.", "able to fly", None, id="a part of a word at the start"),
        pytest.param("Returns are refundable.", "Returns are refund", None, id="a part of a word at the end"),
        pytest.param(NFD, "Hàng giam", None, id="a letter without its accent"),
        pytest.param("It opens at 9.", "It closes at 9.", None, id="other words"),
        pytest.param("It opens at 9.", "it opens", None, id="another case"),
        pytest.param("It opens... at 9.", "...", None, id="nothing that can be read"),
        pytest.param("It opens at 9.", "", None, id="nothing"),
        pytest.param("", "It", None, id="in nothing"),
        pytest.param("a" * 50, "a", None, id="a letter of one long word"),
    ],
)  # fmt: skip
def test_a_quote_is_found_where_it_stands(text: str, quote: str, found: str | None) -> None:
    """Literally, as whole words; white space, invisible signs and the encoding of accents may differ."""
    place = Quotable(text).find(quote)

    assert (text[place[0] : place[1]] if place else None) == found


def same(text: str) -> str:
    """A text without what may differ."""
    kept = "".join(" " if c.isspace() else c for c in text if c not in "\xad\u200b\u200c\u200d\u2060\ufeff")
    return unicodedata.normalize("NFC", " ".join(kept.split()))


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_what_is_found_reads_like_the_quote(data: st.DataObject) -> None:
    """Whatever the texts are, the place that is found lies in the passage and says what the quote says."""
    letters = st.text(st.sampled_from("ab 9ế\n\u00a0é\u0301\u200b.,_"), max_size=30)
    text = data.draw(letters)
    start = data.draw(st.integers(0, len(text)))
    quote = data.draw(st.one_of(letters, st.just(text[start : start + 8])))

    place = Quotable(text).find(quote)

    if place is not None:
        start, end = place
        assert 0 <= start < end <= len(text)
        assert same(text[start:end]) == same(quote)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        pytest.param("a" * 500_000, "a" * 50_000, id="one letter"),
        pytest.param("ab " * 150_000, "ab " * 15_000 + "a", id="a match that ends in every word"),
        pytest.param("e\u0301" * 250_000, "é" * 1000 + "x", id="accents written apart"),
        pytest.param(" \n" * 250_000, "a  b", id="white space"),
    ],
)
def test_a_long_text_takes_no_long_time(text: str, quote: str) -> None:
    """Half a megabyte that was made to be slow."""
    started = time.process_time()

    assert Quotable(text).find(quote) is None
    assert time.process_time() - started < 5
