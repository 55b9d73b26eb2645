"""A hedge in brackets is found again where it was put."""

from __future__ import annotations

import pytest

from stillme.grounding.hedges import find_hedges, hedge
from stillme.text.tokens import Text


@pytest.mark.parametrize("score", [0.6, 0.59])
@pytest.mark.parametrize("language", ["en", "vi", "other"])
def test_a_hedge_is_found_again_where_it_was_put(score: float, language: str) -> None:
    """What is written is what is read, however sure and in either language."""
    text = Text(f"Tea is hot {hedge(score, language)} [1].")

    ((first, last),) = find_hedges(text)

    assert text.slice(first, last) == hedge(score, language)
