"""Tokens keep their place in the original text, whatever the text is made of."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.text.tokens import Text, fold, stem


@given(st.text(max_size=300))
def test_tokens_and_gaps_rebuild_the_text(raw: str) -> None:
    """Gaps and tokens laid end to end are the text again, so no character is ever lost."""
    text = Text(raw)

    rebuilt = (
        "".join(gap + raw[a:b] for gap, a, b in zip(text.gaps, text.starts, text.ends, strict=False)) + text.gaps[-1]
    )

    assert rebuilt == raw


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        pytest.param("", [], id="nothing gives no tokens"),
        pytest.param("don't stop", ["don't", "stop"], id="an apostrophe inside a word belongs to it"),
        pytest.param("It’s 1,000.5 kg", ["It's", "1,000.5", "kg"], id="a number keeps its separators"),
        pytest.param("21km", ["21", "km"], id="a unit written onto its number is a token of its own"),
        pytest.param("Hà Nội, Việt Nam", ["Hà", "Nội", ",", "Việt", "Nam"], id="Vietnamese syllables are words"),
        pytest.param("a_b", ["a", "_", "b"], id="an underscore separates words"),
        pytest.param("bo\u200bmb", ["bomb"], id="a zero-width space does not hide a word"),
        pytest.param("東京 is big", ["東京", "is", "big"], id="other scripts are words too"),
    ],
)  # fmt: skip
def test_tokens(raw: str, tokens: list[str]) -> None:
    """Words, numbers and marks are cut where a reader would cut them."""
    assert [w.text for w in Text(raw).words] == tokens


def test_decomposed_accents_are_the_same_words() -> None:
    """Text in NFD gives the words of the same text in NFC, at its own offsets."""
    composed = "Trường học ở Đà Nẵng"
    decomposed = unicodedata.normalize("NFD", composed)

    text = Text(decomposed)

    assert [w.text for w in text.words] == [w.text for w in Text(composed).words]
    assert decomposed[text.starts[1] : text.ends[1]] == unicodedata.normalize("NFD", "học")


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Đặng", "dang"), ("Café", "cafe"), ("ÉCOLE", "ecole"), ("plain", "plain"), ("nghìn", "nghin")],
)
def test_fold(text: str, folded: str) -> None:
    """Folding drops case and accents, đ included."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    "forms",
    [
        ("deliver", "delivers", "delivered", "delivering", "delivery"),
        ("plan", "plans", "planned", "planning"),
        ("box", "boxes"),
        ("study", "studies", "studied"),
        ("build", "built", "building"),
        ("inspect", "inspection", "inspections"),
        ("pay", "paid", "payment"),
        ("house", "houses"),
    ],
    ids=lambda forms: forms[0],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    """The inflected forms of an English word have one stem."""
    assert len({stem(form) for form in forms}) == 1


def test_vietnamese_syllables_have_no_stem_but_themselves() -> None:
    """A Vietnamese syllable is never cut."""
    assert [stem(w) for w in ("những", "hàng", "được")] == ["những", "hàng", "được"]


@pytest.mark.parametrize(
    ("raw", "inside"),
    [
        pytest.param('She said "I am glad" today', ["I", "am", "glad"], id="straight quotes"),
        pytest.param("Bà kể: “Tôi nhớ mãi” rồi cười", ["Tôi", "nhớ", "mãi"], id="curly quotes"),
        pytest.param('A lone " mark quotes nothing', [], id="a mark that is never closed"),
        pytest.param('One "open\n\nparagraph" later', [], id="a paragraph ends an open quotation"),
    ],
)
def test_quoted(raw: str, inside: list[str]) -> None:
    """Only what stands between two marks is quoted."""
    text = Text(raw)

    assert [w.text for w, quoted in zip(text.words, text.quoted, strict=True) if quoted] == inside


def test_urls_end_before_the_full_stop() -> None:
    """An address does not swallow the punctuation behind it."""
    text = Text("See https://a.example/b?c=1. Or www.d.example, please.")

    assert [text.raw[a:b] for a, b in text.urls] == ["https://a.example/b?c=1", "www.d.example"]


@given(st.text(max_size=200), st.integers(0, 200))
def test_token_at_finds_the_token_that_ends_behind_an_offset(raw: str, offset: int) -> None:
    """The binary search agrees with a plain look at every token."""
    text = Text(raw)

    expected = next((i for i, end in enumerate(text.ends) if end > offset), len(text))

    assert text.token_at(offset) == expected


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        pytest.param("Ⓣⓗⓔ ⓕⓔⓔ", ["The", "fee"], id="circled"),
        pytest.param("𝐓𝐡𝐞 𝑓𝑒𝑒", ["The", "fee"], id="bold and italic"),
        pytest.param("Ｔｈｅ ｆｅｅ", ["The", "fee"], id="full width"),
        pytest.param("🅃🄷🄴 🅵🅴🅴", ["THE", "FEE"], id="squared, light and dark"),
        pytest.param("&#84;he f&#x65;e", ["The", "fee"], id="by number"),
        pytest.param("The ﬁne", ["The", "fine"], id="joined"),
        pytest.param(
            "⑨⓪ &foo; 20℃ m²", ["90", "&", "foo", ";", "20", "℃", "m", "²"], id="figures, what is no character, signs"
        ),
    ],
)
def test_letters_in_another_dress_are_read_as_plain_ones(written: str, plain: list[str]) -> None:
    """And each token still knows its place in the text as it was written."""
    text = Text(written)

    assert text.tokens == plain
    assert [written[a:b] for a, b in zip(text.starts, text.ends, strict=True)] == written.replace(
        "&foo;", "& foo ;"
    ).replace("℃", " ℃").replace("²", " ²").split()
