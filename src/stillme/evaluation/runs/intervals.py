"""Intervals for a proportion, and the binomial tail they rest on, without any library.

Exact ones (Clopper and Pearson) invert the binomial distribution and never cover less than they say; Wilson's are shorter and cover
what they say on average.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from statistics import NormalDist
from typing import Final, NamedTuple

from stillme.errors import InputError

__all__ = [
    "CONFIDENCE", "Interval", "beta_quantile", "binomial_at_most", "clopper_pearson", "fewest", "incomplete_beta",
    "upper_bound", "wilson",
]  # fmt: skip

CONFIDENCE: Final = 0.95
TINY: Final = 1e-300
EPSILON: Final = 1e-16
MOST_STEPS: Final = 1_000_000


class Interval(NamedTuple):
    """Both ends of an interval within [0, 1]."""

    low: float
    high: float


def clopper_pearson(successes: float, trials: float, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval: it holds the true proportion with at least this confidence; [0, 1] without trials.

    Counts may be fractions of a trial, as those that weighted reviews are worth (Korn and Graubard).
    """
    _check(successes, trials, confidence)
    half = (1 - confidence) / 2
    low = 0.0 if successes == 0 else beta_quantile(half, successes, trials - successes + 1)
    return Interval(low, _upper_end(successes, trials, half))


def upper_bound(successes: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """The proportion that the true one does not exceed, with at least this confidence; 1 without trials."""
    _check(successes, trials, confidence)
    return _upper_end(successes, trials, 1 - confidence)


def wilson(successes: float, trials: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval; counts may be fractions of a trial; [0, 1] without trials."""
    _check(successes, trials, confidence)
    if not trials:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, weight = successes / trials, z * z / trials
    middle = share + weight / 2
    reach = abs(z) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == trials else (middle + reach) / (1 + weight)
    return Interval(max(0.0, low), min(1.0, high))


def binomial_at_most(successes: int, trials: int, p: float) -> float:
    """The probability of so many successes or fewer."""
    if successes < 0:
        return 0.0
    return 1.0 if successes >= trials else incomplete_beta(1 - p, trials - successes, successes + 1, complement=p)


def fewest(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 on that holds, found by doubling and halving; None where none up to `most` does."""
    high = 1
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2 + 1
    return low + bisect_left(range(low, high), True, key=holds)


def _check(successes: float, trials: float, confidence: float) -> None:
    if not 0 <= successes <= trials:
        raise InputError(f"successes must be between 0 and the trials, got {successes} of {trials}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, such as 0.95, got {confidence}")


def _upper_end(successes: float, trials: float, tail: float) -> float:
    return 1.0 if successes == trials else 1.0 - beta_quantile(tail, trials - successes, successes + 1)


# the incomplete beta function


def incomplete_beta(x: float, a: float, b: float, *, complement: float | None = None) -> float:
    """The regularised incomplete beta function I_x(a, b); `complement` is 1 - x where it is known more exactly."""
    y = 1 - x if complement is None else complement
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    # The fraction converges fast on its own side of the mean; the other side is one less the mirror image.
    if x <= (a + 1) / (a + b + 2):
        return min(1.0, _lower_part(x, y, a, b))
    return max(0.0, 1.0 - _lower_part(y, x, b, a))


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = probability: Newton's steps where they stay within the bracket, else its middle."""
    if probability <= 0 or probability >= 1:
        return 0.0 if probability <= 0 else 1.0
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        excess = incomplete_beta(x, a, b) - probability
        low, high = (low, x) if excess > 0 else (x, high)
        slope = _weight(x, 1 - x, a, b) / (x * (1 - x)) if 0 < x < 1 else 0.0
        step = x - excess / slope if slope > 0 else -1.0
        following = step if low < step < high else (low + high) / 2
        if following == x or abs(following - x) <= EPSILON * following:
            break
        x = following
    return x


def _weight(x: float, y: float, a: float, b: float) -> float:
    """x^a y^b / B(a, b), where y = 1 - x."""
    return math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y))


def _lower_part(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b) for x below the mean, by the continued fraction in Lentz's form."""
    front = _weight(x, y, a, b) / a
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, MOST_STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) <= 2 * EPSILON:
            break
    return front * fraction


def _away(value: float) -> float:
    """Not zero, so that it can be divided by."""
    return value if abs(value) > TINY else TINY
