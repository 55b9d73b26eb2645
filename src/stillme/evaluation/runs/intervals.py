"""Intervals for a proportion, and the binomial tails they rest on, without any library.

Exact ones (Clopper and Pearson) invert the binomial distribution and never cover less than they say; Wilson's are shorter and cover
what they say on average. The binomial probability is taken in Loader's saddle-point form, which does not cancel for large counts, and
the regularised incomplete beta function as the continued fraction of that probability.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final, Literal, NamedTuple

from stillme.errors import InputError

__all__ = [
    "CONFIDENCE",
    "Interval",
    "beta_quantile",
    "binomial_at_least",
    "binomial_at_most",
    "clopper_pearson",
    "incomplete_beta",
    "lower_bound",
    "normal_quantile",
    "upper_bound",
    "wilson",
]

CONFIDENCE: Final = 0.95
Method = Literal["exact", "wilson"]
TINY: Final = 1e-300
UNDERFLOW: Final = 1e-250
EPSILON: Final = 1e-16
MOST_STEPS: Final = 1_000_000
STIRLING_FROM: Final = 16.0
STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


class Interval(NamedTuple):
    """Both ends of an interval within [0, 1]."""

    low: float
    high: float


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """The exact interval: it holds the true proportion with at least this confidence; [0, 1] without trials."""
    _check(successes, trials, confidence)
    half = (1 - confidence) / 2
    return Interval(_exact_low(successes, trials, half), _exact_high(successes, trials, half))


def wilson(successes: float, trials: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval; counts may be fractions of a trial; [0, 1] without trials."""
    _check(successes, trials, confidence)
    return _wilson(successes, trials, NormalDist().inv_cdf((1 + confidence) / 2))


def upper_bound(successes: int, trials: int, confidence: float = CONFIDENCE, method: Method = "exact") -> float:
    """The proportion that the true one does not exceed, with this confidence; 1 without trials."""
    _check(successes, trials, confidence)
    if method == "wilson":
        return _wilson(successes, trials, NormalDist().inv_cdf(confidence)).high
    return _exact_high(successes, trials, 1 - confidence)


def lower_bound(successes: int, trials: int, confidence: float = CONFIDENCE, method: Method = "exact") -> float:
    """The proportion that the true one does not fall below, with this confidence; 0 without trials."""
    _check(successes, trials, confidence)
    if method == "wilson":
        return _wilson(successes, trials, NormalDist().inv_cdf(confidence)).low
    return _exact_low(successes, trials, 1 - confidence)


def binomial_at_most(successes: int, trials: int, p: float) -> float:
    """The probability of so many successes or fewer."""
    if successes < 0:
        return 0.0
    return 1.0 if successes >= trials else incomplete_beta(1 - p, trials - successes, successes + 1, complement=p)


def binomial_at_least(successes: int, trials: int, p: float) -> float:
    """The probability of so many successes or more."""
    if successes <= 0:
        return 1.0
    return 0.0 if successes > trials else incomplete_beta(p, successes, trials - successes + 1)


def normal_quantile(probability: float) -> float:
    """The point of the standard normal distribution below which this probability lies."""
    return NormalDist().inv_cdf(probability)


def incomplete_beta(x: float, a: float, b: float, *, complement: float | None = None) -> float:
    """The regularised incomplete beta function I_x(a, b); `complement` is 1 - x where it is known more exactly."""
    if not (a > 0 and b > 0):
        raise InputError(f"the incomplete beta function needs a and b above 0, got {a} and {b}")
    y = 1 - x if complement is None else complement
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    # The fraction converges fast on its own side of the mean; the other side is one less the mirror image.
    if x <= (a + 1) / (a + b + 2):
        return min(1.0, _lower_part(x, y, a, b))
    return max(0.0, 1.0 - _lower_part(y, x, b, a))


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = probability: Newton's steps where they stay within the bracket, else its middle."""
    if probability <= 0:
        return 0.0
    if probability >= 1:
        return 1.0
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        excess = incomplete_beta(x, a, b) - probability
        low, high = (low, x) if excess > 0 else (x, high)
        slope = _power(x, 1 - x, a, b) * a * b / ((a + b) * x * (1 - x)) if 0 < x < 1 else 0.0
        step = x - excess / slope if slope > 0 else -1.0
        following = step if low < step < high else (low + high) / 2
        if following == x or abs(following - x) <= EPSILON * following:
            break
        x = following
    return x


def _check(successes: float, trials: float, confidence: float) -> None:
    if not 0 <= successes <= trials:
        raise InputError(f"successes must be between 0 and the trials, got {successes} of {trials}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, such as 0.95, got {confidence}")


def _exact_low(successes: int, trials: int, tail: float) -> float:
    return 0.0 if successes == 0 else beta_quantile(tail, successes, trials - successes + 1)


def _exact_high(successes: int, trials: int, tail: float) -> float:
    return 1.0 if successes == trials else 1.0 - beta_quantile(tail, trials - successes, successes + 1)


def _wilson(successes: float, trials: float, z: float) -> Interval:
    if not trials:
        return Interval(0.0, 1.0)
    share, weight = successes / trials, z * z / trials
    middle = share + weight / 2
    reach = abs(z) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = 0.0 if successes == 0 else (middle - reach) / (1 + weight)
    high = 1.0 if successes == trials else (middle + reach) / (1 + weight)
    return Interval(max(0.0, low), min(1.0, high))


# the incomplete beta function


def _lower_part(x: float, y: float, a: float, b: float) -> float:
    """I_x(a, b) for x below the mean, by the continued fraction in Lentz's form."""
    if x < UNDERFLOW:  # the first term of its series, which is all of it there; what follows would underflow
        return math.exp(a * math.log(x) - math.log(a) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    front = _power(x, y, a, b) * b / (a + b)
    if front == 0.0:
        return 0.0
    c, d = 1.0, _away(1 - (a + b) * x / (a + 1))
    d = 1 / d
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


def _power(x: float, y: float, a: float, b: float) -> float:
    """x^a y^b Γ(a+b+1) / (Γ(a+1) Γ(b+1)), where y = 1 - x: the binomial probability of a in a + b, for any a and b above 0."""
    n = a + b
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b) - _deviance(a, n * x) - _deviance(b, n * y)
    return math.exp(exponent) * math.sqrt(n / (2 * math.pi * a * b))


def _stirling_error(n: float) -> float:
    """How far ln Γ(n+1) is from Stirling's formula."""
    if n < STIRLING_FROM:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    total, square = 0.0, n * n
    for coefficient in reversed(STIRLING):
        total = total / square + coefficient
    return total / n


def _deviance(x: float, mean: float) -> float:
    """x ln(x/mean) + mean - x, without the cancellation where both are close."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x if mean > 0 else math.inf
    v = (x - mean) / (x + mean)
    total, term = (x - mean) * v, 2 * x * v
    for j in range(1, 1000):
        term *= v * v
        following = total + term / (2 * j + 1)
        if following == total:
            break
        total = following
    return total
