"""What matches between a claim and a window, by tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.models.matches import CLAIM_MARKS, WINDOW_MARKS, matches_of

# Tokens of a small world: everything below 4 is a mark, no word.
START, END = 0, 2
THE, FERRY, LEAVES, AT, NINE, SHOP, OPENS, TEN = range(10, 18)
WINDOW = [START, THE, FERRY, LEAVES, AT, NINE, THE, SHOP, OPENS, AT, TEN, END]
SENTENCES = [-1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1]


def test_tokens_pairs_and_triples_of_the_claim_are_marked() -> None:
    """What stands in the window, alone and with its neighbours; a word of the wrong sentence matches alone."""
    found = matches_of([START, THE, FERRY, LEAVES, AT, TEN, END], WINDOW, SENTENCES).claim

    assert found.tolist() == [
        [0, 0, 1, 0, 0, 0],  # the beginning is no word, and begins the window as it begins the claim
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 0],
        [1, 1, 1, 0, 1, 1],
        [1, 1, 1, 1, 0, 1],
        [0, 1, 0, 0, 0, 0],
    ]


def test_the_best_sentence_is_the_one_that_shares_what_is_rare() -> None:
    """`the` and `at` stand in both sentences and tell nothing; the shop stands in one."""
    found = matches_of([START, THE, SHOP, LEAVES, OPENS, AT, END], WINDOW, SENTENCES).window

    best = [bool(row[3]) for row in found]
    next_best = [bool(row[4]) for row in found]
    assert best == [sentence == 1 for sentence in SENTENCES]
    assert next_best == [sentence == 0 for sentence in SENTENCES]


def test_where_nothing_is_shared_nothing_is_marked() -> None:
    """No sentence is the best one."""
    found = matches_of([START, 90, 91, END], WINDOW[1:-1], SENTENCES[1:-1])

    assert not found.claim.any()
    assert not found.window.any()


@pytest.mark.parametrize("claim", [pytest.param([], id="no token"), pytest.param([THE], id="one token")])
def test_short_claims_have_marks_of_the_same_form(claim: list[int]) -> None:
    """Whatever there is, each token has its marks."""
    found = matches_of(claim, WINDOW, SENTENCES)

    assert found.claim.shape == (len(claim), CLAIM_MARKS)
    assert found.window.shape == (len(WINDOW), WINDOW_MARKS)


@given(tokens=st.lists(st.integers(0, 12), min_size=1, max_size=30))
def test_a_text_matches_itself(tokens: list[int]) -> None:
    """Every word, with its neighbours."""
    found = matches_of(tokens, tokens, [0] * len(tokens)).claim

    assert [bool(row[0]) for row in found] == [token > 3 for token in tokens]
    assert all(row[1] for row in found[1:])
