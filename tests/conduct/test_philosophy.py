"""Questions of philosophy itself, and questions about philosophers, books and products."""

from __future__ import annotations

import pytest

from stillme.conduct.philosophy import is_philosophical, needs_no_source
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("query", "philosophical", "alone"),
    [
        pytest.param("What is the meaning of life?", True, True, id="a question of philosophy"),
        pytest.param("Ý nghĩa của cuộc sống là gì?", True, True, id="the same in Vietnamese"),
        pytest.param("What is the meaning of life insurance?", True, False, id="a product"),
        pytest.param("How high is the tower?", False, False, id="a fact"),
        pytest.param("", False, False, id="nothing"),
    ],
)
def test_which_questions_are_philosophical(query: str, philosophical: bool, alone: bool) -> None:
    """And which of them need no source."""
    assert (is_philosophical(Text(query)), needs_no_source(Text(query))) == (philosophical, alone)
