"""A window never falls off the end of its range."""

from __future__ import annotations

import pytest

from stillme.figures.tables import tables_of
from stillme.figures.window import TokenWindow, small_number
from stillme.text.tokens import Text


def window(raw: str) -> TokenWindow:
    """All tokens of a text."""
    text = Text(raw)
    return TokenWindow(text, text.lowers, 0, len(text.lowers), tables_of("en", folded=False), articles=False)


def test_blanks_stand_around_the_tokens() -> None:
    """A look to either side finds nothing, and the first token starts a sentence."""
    one = window("7 seas.\nNext")
    first = -one.base

    assert (one.tokens[first], one.tokens[first - 1], one.tokens[one.stop]) == ("7", "", "")
    assert [one.starts_sentence(first + k) for k in range(4)] == [True, False, False, True]


def test_signs_that_join_digits() -> None:
    """Only without gaps on both sides."""
    assert [window(raw).joins_digits(4, "-") for raw in ("3-5", "3 -5", "3- 5", "3-a")] == [True, False, False, False]


@pytest.mark.parametrize(("raw", "end"), [("AB-12/c next", 8), ("12 next", 4), ("a- b", 4)])
def test_what_is_glued_to_a_token(raw: str, end: int) -> None:
    """Letters, digits and joints go on until a gap."""
    assert window(raw).glued_end(4) == end


def test_small_numbers() -> None:
    """One or two digits; -1 for anything else."""
    assert [small_number(text) for text in ("7", "07", "31", "310", "", "x")] == [7, 7, 31, -1, -1, -1]
