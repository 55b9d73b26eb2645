"""Shares that weighted reviews speak for: each with its interval, what it rests on, and how many more reviews it would need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stillme.evaluation.runs.intervals import CONFIDENCE, Interval, clopper_pearson, fewest

__all__ = ["Estimate", "Part", "figure_words", "interval", "needed"]

MOST_TIMES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Part:
    """A share of so many verdicts, and how many equally weighted reviews it is worth (Kish)."""

    share: float
    total: float
    worth: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate with its 95 % interval and what it rests on; `unknown` says why it is not to be relied on.

    What is estimated from reviews has estimated numbers of verdicts as numerator and denominator; `counted` are the reviews themselves.
    """

    name: str
    value: float | None
    low: float
    high: float
    numerator: float
    denominator: float
    counted: int
    unknown: str | None = None
    parts: tuple[Part, ...] = ()


def interval(parts: Sequence[Part], times: float = 1.0) -> Interval:
    """The interval of a share, or of what hits are of hits and rest together; with so many times as many reviews, were they alike.

    Of each part Clopper and Pearson's for as many reviews as the weighted ones are worth (Korn and Graubard); of two parts, each at the
    confidence that both together need. A part in which nothing was found may still hold as many as its reviews cannot rule out.
    """
    if len(parts) == 1:
        return _exact(parts[0], times, CONFIDENCE)
    hits, rest = parts
    both = (1 + CONFIDENCE) / 2
    few, many = (hits.total * end for end in _exact(hits, times, both))
    least, most = (rest.total * end for end in _exact(rest, times, both))
    return Interval(few / (few + most) if few else 0.0, many / (many + least) if many + least else 1.0)


def _exact(part: Part, times: float, confidence: float) -> Interval:
    trials = part.worth * times
    return clopper_pearson(part.share * trials, trials, confidence)


def needed(figure: Estimate, most: float) -> int | None:
    """How many times as many reviews would bring the upper end down to `most`, were they like these; None where none would."""
    if not figure.parts:
        return None
    return fewest(lambda times: interval(figure.parts, times).high <= most, MOST_TIMES)


def figure_words(figure: Estimate) -> str:
    """A figure with all that belongs to it, or why there is none."""
    if figure.value is None:
        return f"unknown: {figure.unknown}"
    of = {"source_coverage": "factual answers", "not_answered": "verdicts"}.get(figure.name, "reviews")
    doubt = f"; unknown: {figure.unknown}" if figure.unknown else ""
    parts = f"{figure.numerator:,.4g} of {figure.denominator:,.4g}" if figure.counted != figure.denominator else ""
    parts = f"{parts} estimated from " if parts else f"{figure.numerator:,.0f} of "
    return f"{figure.value:.1%} [{figure.low:.1%}, {figure.high:.1%}], {parts}{figure.counted:,} {of}{doubt}"
