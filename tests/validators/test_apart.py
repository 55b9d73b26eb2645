"""Two figures in a message never read the same where one is lower than the other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.validators.apart import told_apart


@pytest.mark.parametrize(
    ("value", "threshold", "pair"),
    [
        pytest.param(0.3, 0.45, ("0.30", "0.45"), id="two decimals where they tell"),
        pytest.param(0.4499, 0.45, ("0.4499", "0.4500"), id="as many as it takes"),
        pytest.param(0.45, 0.45, ("0.45", "0.45"), id="the same figure is the same"),
        pytest.param(math.nextafter(0.45, 0), 0.45, ("0.44999999999999996", "0.45000000000000001"), id="neighbours"),
        pytest.param(1e-300, 2e-300, ("1e-300", "2e-300"), id="figures that no decimals tell apart"),
    ],
)
def test_as_many_decimals_as_it_takes(value: float, threshold: float, pair: tuple[str, str]) -> None:
    assert told_apart(value, threshold) == pair


@given(st.floats(0, 1), st.floats(0, 1))
def test_figures_that_differ_are_written_differently_and_in_their_order(one: float, other: float) -> None:
    first, second = told_apart(one, other)

    assert (first == second) == (one == other)
    assert (float(first) < float(second)) == (one < other)
