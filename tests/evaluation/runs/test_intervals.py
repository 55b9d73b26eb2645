"""Intervals for proportions against SciPy, against tables, and by what they promise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from stillme.errors import InputError
from stillme.evaluation.runs.intervals import (
    Interval,
    beta_quantile,
    binomial_at_most,
    clopper_pearson,
    incomplete_beta,
    upper_bound,
    wilson,
)

COUNTS = [(0, 1), (1, 1), (0, 10), (1, 10), (5, 10), (10, 10), (3, 299), (150, 1000), (0, 5000), (49_321, 100_000)]
CONFIDENCES = [0.5, 0.9, 0.95, 0.99, 0.9999]


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_intervals_are_those_of_scipy(successes: int, trials: int, confidence: float) -> None:
    """Exact and Wilson intervals agree to nine digits."""
    known = stats.binomtest(successes, trials)

    for ours, method in ((clopper_pearson, "exact"), (wilson, "wilson")):
        theirs = known.proportion_ci(confidence, method)
        assert ours(successes, trials, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_bounds_are_those_of_scipy(successes: int, trials: int, confidence: float) -> None:
    """One-sided bounds put all of the risk on one side."""
    above = stats.binomtest(successes, trials, alternative="less").proportion_ci(confidence, "exact").high

    assert upper_bound(successes, trials, confidence) == pytest.approx(above, abs=1e-9)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(clopper_pearson(0, 10), (0.0, 0.30849710781876083), id="none of ten: 1 - 0.025 ** 0.1"),
        pytest.param(clopper_pearson(10, 10), (0.6915028921812392, 1.0), id="all of ten: 0.025 ** 0.1"),
        pytest.param(clopper_pearson(0, 0), (0.0, 1.0), id="exact, without trials"),
        pytest.param(wilson(0, 0), (0.0, 1.0), id="Wilson, without trials"),
        pytest.param(wilson(2.5, 10), (0.0809, 0.5578), id="Wilson, two and a half of ten"),
    ],
)
def test_intervals_by_hand(found: Interval, expected: tuple[float, float]) -> None:
    """Cases with a closed form, and those that SciPy does not take."""
    assert found == pytest.approx(expected, abs=1e-4)


def test_the_rule_of_three() -> None:
    """Nothing in n trials: the true rate is below about 3/n with 95 % confidence."""
    assert upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 20_000), st.data(), st.floats(0.0, 1.0))
def test_the_tail_is_that_of_scipy(trials: int, data: st.DataObject, p: float) -> None:
    """The tail agrees with SciPy, where it is small in relation to its size as well."""
    successes = data.draw(st.integers(0, trials))

    assert binomial_at_most(successes, trials, p) == pytest.approx(
        stats.binom.cdf(successes, trials, p), rel=1e-8, abs=1e-12
    )


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.93, 1.0])
def test_tails_are_sums_of_probabilities(p: float) -> None:
    """Small counts, summed by hand."""
    n = 12
    masses = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]

    for k in range(-1, n + 2):
        assert binomial_at_most(k, n, p) == pytest.approx(sum(masses[: k + 1]) if k >= 0 else 0.0, abs=1e-13)


@settings(max_examples=300, deadline=None)
@given(st.floats(0.01, 5000), st.floats(0.01, 5000), st.floats(0.0, 1.0, allow_subnormal=False))
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    """Also for parameters that are no counts."""
    assert incomplete_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 5000), st.integers(1, 5000), st.floats(1e-9, 1 - 1e-9))
def test_quantiles_undo_the_function(a: int, b: int, probability: float) -> None:
    """The function of its quantile is the probability again."""
    assert incomplete_beta(beta_quantile(probability, a, b), a, b) == pytest.approx(probability, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(
    ("probability", "expected"), [pytest.param(0.0, 0.0, id="at nothing"), pytest.param(1.0, 1.0, id="at everything")]
)
def test_quantiles_at_the_ends(probability: float, expected: float) -> None:
    """The ends of the distribution are the ends of [0, 1]."""
    assert beta_quantile(probability, 3, 4) == expected


def test_a_million_trials_are_no_trouble() -> None:
    """Large counts lose no digits."""
    low, high = clopper_pearson(12_345, 1_000_000)
    known = stats.beta.ppf([0.025, 0.975], [12_345, 12_346], [987_656, 987_655])

    assert (low, high) == pytest.approx(tuple(known), rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 400), st.data())
def test_intervals_hold_what_was_seen(trials: int, data: st.DataObject) -> None:
    """The observed share lies within, within [0, 1], and more confidence never shortens an interval."""
    successes = data.draw(st.integers(0, trials))
    for interval in (clopper_pearson, wilson):
        less, more = interval(successes, trials, 0.9), interval(successes, trials, 0.99)
        assert 0 <= more.low <= less.low <= (successes / trials if trials else 0.5) <= less.high <= more.high <= 1


@pytest.mark.parametrize("p", [0.01, 0.05, 0.3])
def test_exact_intervals_cover_at_least_what_they_say(p: float) -> None:
    """Over every outcome of 60 trials, weighed by its probability."""
    covered = sum(
        stats.binom.pmf(k, 60, p) for k in range(61) if clopper_pearson(k, 60).low <= p <= clopper_pearson(k, 60).high
    )

    assert covered >= 0.95


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        pytest.param(lambda: clopper_pearson(3, 2), "between 0 and the trials, got 3 of 2", id="more than all"),
        pytest.param(lambda: wilson(-1, 2), "between 0 and the trials, got -1 of 2", id="less than none"),
        pytest.param(lambda: upper_bound(1, 2, 1.0), "confidence must be between 0 and 1", id="certainty"),
        pytest.param(lambda: upper_bound(1, 2, 0.0), "confidence must be between 0 and 1", id="no confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, problem: str) -> None:
    """The message says which value."""
    with pytest.raises(InputError, match=problem):
        call()  # type: ignore[operator]
