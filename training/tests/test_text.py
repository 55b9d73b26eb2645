"""Sentences, words and tidied text keep their offsets."""

from __future__ import annotations

import pytest

from training.text import sentences, tidy, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("He came. She left.", ["He came.", "She left."], id="two English sentences"),
        pytest.param(
            "Mr. Smith paid 3.5 dollars.", ["Mr. Smith paid 3.5 dollars."], id="titles and decimals do not end one"
        ),
        pytest.param(
            "Hà Nội là thủ đô. Ông sống ở TP. Huế.", ["Hà Nội là thủ đô.", "Ông sống ở TP. Huế."], id="Vietnamese"
        ),
        pytest.param("one\n\n two", ["one", "two"], id="a line break ends one"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n ", [], id="only white space"),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Sentences are found with exact spans."""
    assert [text[s:e] for s, e in sentences(text)] == expected


def test_sentences_leave_nothing_unread() -> None:
    """All characters but white space are in some sentence."""
    text = 'A. B said: "Go!" Then … it ended?  Yes.\n- item\nÔng ấy đi. '

    covered = {place for s, e in sentences(text) for place in range(s, e)}

    assert all(place in covered or char.isspace() for place, char in enumerate(text))


def test_words_keep_numbers_whole() -> None:
    """A decimal number is one word."""
    assert words("Giá 3,5 triệu") == ["giá", "3,5", "triệu"]


def test_tidy_removes_corpus_spaces() -> None:
    """Spaces before punctuation and inside brackets go."""
    assert tidy("Leo ( born 3 May , 2003 ) is n't here .")[0] == "Leo (born 3 May, 2003) isn't here."


def test_tidy_moves_spans() -> None:
    """A span marks the same words after tidying."""
    text = "it opened , in 1990 , here ."
    start = text.index("1990")

    tidied, [(begin, end)] = tidy(text, [(start, start + 4)])

    assert tidied == "it opened, in 1990, here."
    assert tidied[begin:end] == "1990"
