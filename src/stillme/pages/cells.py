"""Figures of runs as cells of a table: the value, its counts and its interval."""

from __future__ import annotations

from typing import Final

from stillme.evaluation.runs.comparison import RateDifference
from stillme.evaluation.runs.curves import CurvePoint
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.metrics import CountedRate, Score, Tally
from stillme.pages.text import Code, interval_words, percent

__all__ = ["NOTHING", "difference_cells", "latency_cells", "point_cells", "rate_cells", "rate_words", "score_cells"]

NOTHING: Final = "nothing to count"


def rate_cells(rate: CountedRate) -> list[str]:
    """A rate as a value, its counts and its interval."""
    if rate.value is None:
        return ["–", "0 / 0", NOTHING]
    ends = interval_words((rate.low, rate.high), rate.denominator)
    return [percent(rate.value, rate.denominator), f"{rate.numerator:,} / {rate.denominator:,}", ends]


def rate_words(rate: CountedRate) -> str:
    """A rate in one cell."""
    value, counts, ends = rate_cells(rate)
    return f"{value} ({counts}; {ends})" if rate.denominator else "– (0 / 0)"


def score_cells(score: Score) -> list[str]:
    """A score over claims."""
    of = f"{score.unsupported:,} unsupported, {score.supported:,} supported"
    if score.value is None:
        return ["–", of, NOTHING]
    return [f"{score.value:.2f}", of, f"{score.low:.2f} to {score.high:.2f}"]


def point_cells(point: CurvePoint | None) -> list[str]:
    """A point of a curve."""
    if point is None:
        return ["–", "0 / 0", NOTHING]
    of = point.denominator
    return [percent(point.y, of), f"{point.numerator:,} / {of:,}", interval_words((point.low, point.high), of)]


def latency_cells(tally: Tally, share: float) -> list[str]:
    """The quantile, how many cases it is of, and its interval: the quantiles between which its share may truly lie."""
    cases, quantile = tally.latencies.total(), tally.latency_ms(share)
    if quantile is None:
        return ["–", "0", NOTHING]
    ends = clopper_pearson(min(cases, round(share * cases)), cases)
    low, high = tally.latency_ms(ends.low) or 0, tally.latency_ms(ends.high) or 0
    # Where the share may be all of the cases, one that is slower than any seen would be no surprise.
    words = f"{low:.1f} or more" if ends.high >= 1 else f"{low:.1f} to {high:.1f}"
    return [f"{quantile:.1f}", f"{cases:,}", words]


def difference_cells(difference: RateDifference) -> list[str]:
    """A metric before and after, and what became of it."""
    both = [Code(difference.name), rate_words(difference.before), rate_words(difference.after)]
    if difference.value is None:
        return [*both, "–", NOTHING, "–", difference.verdict]
    ends = f"{_points(difference.low)} to {_points(difference.high)}"
    return [*both, _points(difference.value), ends, _p_words(difference.adjusted), difference.verdict]


def _points(value: float) -> str:
    written = f"{value * 100:+.1f}"
    return "0.0" if written in ("+0.0", "-0.0") else written


def _p_words(p: float | None) -> str:
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
