"""The walk tests exactly what it says, and keeps to its error over many draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stillme.evaluation.calibration.fixed_sequence import (
    GRID,
    ErrorCounts,
    fewest_cases,
    figures,
    most_escapes,
    steps_passed,
)
from stillme.reasons import Decision

DRAWS = 3000


@pytest.mark.parametrize(
    ("rate", "error", "fewest"),
    [
        pytest.param(0.01, 0.05, 299, id="1 % at 95 %"),
        pytest.param(0.05, 0.05, 59, id="5 % at 95 %"),
        pytest.param(0.1, 0.1, 22, id="10 % at 90 %"),
        pytest.param(0.02, 0.01, 228, id="2 % at 99 %"),
        pytest.param(0.5, 0.26, 2, id="two coins"),
    ],
)
def test_how_many_cases_it_takes_at_least(rate: float, error: float, fewest: int) -> None:
    """One fewer could not show the rate even without an escape."""
    assert fewest_cases(rate, error) == fewest
    assert [most_escapes(n, rate, error) for n in (fewest - 1, fewest)] == [-1, 0]


@given(n=st.integers(0, 3000), rate=st.floats(0.001, 0.6), error=st.floats(0.001, 0.4))
@settings(max_examples=60, deadline=None)
def test_allowed_escapes_are_those_of_the_exact_test(n: int, rate: float, error: float) -> None:
    """So many escapes have a binomial p-value of at most the error, one more has not."""
    allowed = most_escapes(n, rate, error)
    tails = stats.binom.cdf([allowed, allowed + 1], n, rate)

    assert allowed == -1 or tails[0] <= error * (1 + 1e-9)
    assert tails[1] > error * (1 - 1e-9)


@pytest.mark.parametrize(
    ("limits", "last"),
    [
        # 20 cases at 20 %: P(at most 1) = 0.069, P(at most 2) = 0.206, so one may escape at an error of 0.1.
        pytest.param([-1.0] * 20, 0.0, id="nothing ever passes: the walk goes to its end"),
        pytest.param([-1.0] * 18 + [0.95, 0.5], 0.505, id="the second escape ends it"),
        pytest.param([-1.0] * 18 + [0.97, 0.97], 0.975, id="two at once end it above both"),
        pytest.param([-1.0] * 18 + [math.inf, 1.0], None, id="two pass whatever the score: nothing is shown"),
        pytest.param([-1.0] * 5, None, id="too few for any test"),
        pytest.param([], None, id="no case at all"),
    ],
)
def test_the_walk_ends_at_the_first_step_that_is_not_shown(limits: list[float], last: float | None) -> None:
    """The steps are tested in their order, each at the whole error."""
    passed = steps_passed(np.asarray(limits), 0.2, 0.1)

    assert (GRID[passed - 1] if passed else None) == last


def test_the_grid_goes_from_the_strictest_to_none() -> None:
    """Strictly downwards from 1 to 0, without a value twice."""
    assert (GRID[0], GRID[-1]) == (1.0, 0.0)
    assert list(GRID) == sorted(set(GRID), reverse=True)


def test_the_guarantee_holds_over_many_draws() -> None:
    """Thresholds from cases drawn anew miss the rate at most as often as they may, and not so rarely that data is wasted."""
    rng = np.random.default_rng(6)
    rate, error = 0.05, 0.1
    # A bad case is refused outright half of the time; else it passes up to a score that is uniform: R(t) = (1 - t) / 2.
    limits = np.where(rng.random((DRAWS, 400)) < 0.5, -1.0, rng.random((DRAWS, 400)))

    chosen = np.asarray([steps_passed(row, rate, error) for row in limits])
    risk = (1 - np.asarray(GRID)[chosen - 1]) / 2
    missed = float(np.mean((chosen > 0) & (risk > rate)))

    assert missed <= error + 3 * math.sqrt(error * (1 - error) / DRAWS)
    assert missed >= error / 4
    assert float(np.mean(chosen > 0)) == 1.0


def test_figures_without_any_case() -> None:
    """Nothing counted is nothing known."""
    none = figures([], lambda _: Decision.ANSWER)

    assert none == ErrorCounts(0, 0, 0, 0, 0, 0)
    assert (none.escape, none.refusal) == ((0.0, 1.0), (0.0, 1.0))
