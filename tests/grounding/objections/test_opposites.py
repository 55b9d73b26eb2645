"""An opposite objects where it stands in the place of the claim's word, and only there."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.opposites import opposite_phrases, opposite_words
from tests.grounding.objections.support import laid, raised

WORDS = [
    pytest.param("The pool is open on Sunday.", "The pool is closed on Sunday.", ["open"], id="the opposite"),
    pytest.param("The pool is open on Sunday.", "The pool is open all Sunday.", [], id="the word itself"),
    pytest.param("The pool is open on Sunday.", "The pool is not closed on Sunday.", [], id="a negated opposite"),
    pytest.param("Hồ bơi mở vào chủ nhật.", "Hồ bơi đóng vào chủ nhật.", ["mở"], id="vi, the opposite"),
    pytest.param("Hồ bơi mở vào chủ nhật.", "Hồ bơi vẫn mở vào chủ nhật.", [], id="vi, the word itself"),
]


@pytest.mark.parametrize(("claim", "source", "words"), WORDS)
def test_opposite_words(claim: str, source: str, words: list[str]) -> None:
    """One word against another."""
    assert raised(opposite_words, laid(claim, source)) == [("opposite", word) for word in words]


@pytest.mark.parametrize(
    ("claim", "source", "phrases"),
    [
        pytest.param("Mỗi đội có tối đa người chơi.", "Mỗi đội có tối thiểu người chơi.", ["tối đa"], id="opposite"),
        pytest.param("Mỗi đội có tối đa người chơi.", "Mỗi đội chỉ có tối đa người chơi.", [], id="the phrase itself"),
    ],
)
def test_opposite_phrases(claim: str, source: str, phrases: list[str]) -> None:
    """Two words against two others."""
    assert raised(opposite_phrases, laid(claim, source)) == [("opposite", phrase) for phrase in phrases]
