"""Figures are filed so that none that agrees with a figure is missed."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.figures.comparing import agrees
from stillme.figures.filing import filed_under, looked_up_under
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text
from tests.figures.support import figure, language_of
from tests.figures.test_comparing import AGREE, DISAGREE

MORE = [
    "the 3rd",
    "day 3",
    "on 3 May",
    "ngày 3",
    "Monday",
    "thứ ba",
    "3",
    "they won 3–1",
    "3 giờ",
    "3 hours",
    "3 miles",
]
WRITTEN = dict.fromkeys((*MORE, *(text for claim, source, _ in (*AGREE, *DISAGREE) for text in (claim, source))))


def is_found(claim: Quantity, source: Quantity) -> bool:
    """Whether a figure is among those that are laid against another one."""
    keys = looked_up_under(claim)
    return keys is None or not keys.isdisjoint(filed_under(source))


def test_whatever_agrees_is_found() -> None:
    """Of all figures of the tables of comparisons, each is found by each that it states."""
    figures = [q for text in WRITTEN for q in find_quantities(Text(text), language_of(text))]
    pairs = [(claim, source) for claim, source in product(figures, repeat=2) if agrees(claim, source)]

    assert len(pairs) > 2 * len(AGREE)
    assert [pair for pair in pairs if not is_found(*pair)] == []


@given(st.floats(min_value=-1e9, max_value=1e9), st.floats(min_value=-1e-6, max_value=1e-6))
def test_numbers_that_are_equal_but_for_rounding_are_found(value: float, off: float) -> None:
    """However the digits of two equal values fall, they have a key in common."""
    source = figure("12 kg")._replace(values=(value,))
    claim = source._replace(values=(value * (1 + off),))

    assert is_found(claim, source) or not agrees(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        pytest.param("30 days", "14 days", id="other values"),
        pytest.param("30 days", "£31", id="another dimension"),
        pytest.param("12 cuốn sách", "120 cuốn sách", id="other values, in Vietnamese"),
    ],
)
def test_what_cannot_agree_is_not_looked_at(claim: str, source: str) -> None:
    """An exact figure is laid against figures of its own value only."""
    assert not is_found(figure(claim, language_of(claim)), figure(source, language_of(source)))
