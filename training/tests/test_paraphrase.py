"""Paraphrases change words and keep what is claimed."""

from __future__ import annotations

import random

import pytest

from training.synthesis.names import names, numbers
from training.synthesis.paraphrase import led_in, other_words, paraphrased, shortened, without_aside

EN = "In 1901 the large city (then a port) began to grow, and many people came to Hull because of trade."
VI = "Năm 1901 thành phố (khi đó là cảng) bắt đầu phát triển, và nhiều người dân đến Huế bởi vì buôn bán."


@pytest.mark.parametrize(("lang", "claim"), [("en", EN), ("vi", VI)])
@pytest.mark.parametrize("seed", range(6))
def test_paraphrases_bring_no_new_names_or_numbers(lang: str, claim: str, seed: int) -> None:
    """Whatever is changed, all names and numbers were in the claim."""
    text = paraphrased(claim, lang, random.Random(seed))

    assert {text[s:e] for s, e in names(text)} <= {claim[s:e] for s, e in names(claim)}
    assert {text[s:e] for s, e in numbers(text)} <= {claim[s:e] for s, e in numbers(claim)}


@pytest.mark.parametrize(("lang", "claim"), [("en", EN), ("vi", VI)])
def test_other_words_changes_some(lang: str, claim: str) -> None:
    """At least one word is replaced."""
    assert other_words(claim, lang, random.Random(0)) not in (None, claim)


@pytest.mark.parametrize(("lang", "claim"), [("en", EN), ("vi", VI)])
def test_without_aside_only_leaves_out(lang: str, claim: str) -> None:
    """The result is the claim without its parenthesis."""
    text = without_aside(claim, lang, random.Random(0))

    assert text is not None
    assert "(" not in text
    assert set(text.split()) <= set(claim.split()) | {"grow,", "city"}


@pytest.mark.parametrize(("lang", "claim"), [("en", EN), ("vi", VI)])
def test_shortened_keeps_the_beginning(lang: str, claim: str) -> None:
    """What is kept is how the claim begins."""
    text = shortened(claim, lang, random.Random(0))

    assert text is not None
    assert claim.startswith(text.rstrip("."))


@pytest.mark.parametrize(("lang", "claim"), [("en", "The ship sank."), ("vi", "Các tàu đã chìm.")])
def test_led_in_moves_the_spans(lang: str, claim: str) -> None:
    """The same words are marked behind the opening phrase."""
    word = claim.rsplit(maxsplit=1)[-1]
    start = claim.index(word)

    text, [(begin, end)] = led_in(claim, [(start, len(claim))], lang, random.Random(0))

    assert text[begin:end] == word
    assert text.endswith(claim[1:])
