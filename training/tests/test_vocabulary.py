"""The vocabulary covers both languages and keeps offsets into the text as given."""

from __future__ import annotations

from tokenizers import Tokenizer

from training.vocabulary import UNK, vietnamese_syllables


def test_syllables_hold_ordinary_words() -> None:
    """Words with every kind of rhyme and tone are formed."""
    formed = set(vietnamese_syllables())

    assert {"nghiêng", "thủ", "đô", "người", "quốc", "khuỷu", "việt", "của", "gì", "ươm"} <= formed


def test_offsets_point_into_the_text_as_given(tokenizer: Tokenizer) -> None:
    """Runs of white space do not shift the offsets."""
    text = "ab   cd"

    encoding = tokenizer.encode(text)

    shown = [text[s:e] for (s, e), piece in zip(encoding.offsets, encoding.tokens, strict=True) if piece != "▁"]
    assert shown == ["a", "b", "c", "d"]


def test_unknown_characters_are_one_unknown_piece(tokenizer: Tokenizer) -> None:
    """A foreign script is not lost silently."""
    assert UNK in tokenizer.encode("ab 漢").ids
