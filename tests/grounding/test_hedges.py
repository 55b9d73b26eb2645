"""Hedges in brackets are written by the support of a statement, and found again as no part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.grounding.hedges import LIKELY_AT, find_hedges, hedge
from stillme.text.tokens import Text


@pytest.mark.parametrize("language", ["en", "vi"])
def test_what_is_supported_well_is_likely_and_the_rest_possible(language: str) -> None:
    likely, possible = hedge(LIKELY_AT, language), hedge(LIKELY_AT - 0.01, language)

    assert likely != possible
    assert {likely[0], likely[-1], possible[0], possible[-1]} == {"(", ")"}


@given(
    st.sampled_from(["en", "vi"]),
    st.floats(0, 1),
    st.sampled_from(["The ferry leaves at nine", "Phà rời bến lúc chín giờ"]),
)
def test_every_hedge_is_found_where_it_was_put(language: str, score: float, claim: str) -> None:
    words = hedge(score, language)
    text = Text(f"{claim} {words} [1].")

    ((first, last),) = find_hedges(text)

    assert text.slice(first, last) == words


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("The ferry leaves at nine.", id="no brackets"),
        pytest.param("The ferry (a small one) leaves at nine.", id="other words in brackets"),
        pytest.param("The ferry leaves likely at nine.", id="the word without brackets"),
        pytest.param("()", id="empty brackets"),
        pytest.param("likely) (", id="brackets the wrong way round"),
        pytest.param("(" * 2000, id="brackets that never close"),
    ],
)
def test_nothing_else_is_a_hedge(said: str) -> None:
    assert find_hedges(Text(said)) == []
