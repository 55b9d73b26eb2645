"""Bars that a run has to meet, so that an evaluation can hold up a deployment: `escape_rate` at most 5 %, for example.

Never open by mistake: a figure of which nothing was counted meets no bar, and cases that could not be run miss one unless it is said how
many may fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from stillme.errors import InputError, shown, way_out
from stillme.evaluation.runs.intervals import clopper_pearson, fewest
from stillme.evaluation.runs.metrics import ALIASES, RATES, SCORES, CountedRate, Tally

__all__ = ["COUNTS", "Bar", "BarOutcome", "check_bars", "parse_bar", "trials_needed"]

COUNTS: Final = ("errors", "unscored", "unverified", "unverified_answers")
"""What can be barred by its number of cases."""
MOST_TRIALS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure by its name, and what it must not exceed or fall below."""

    kind: Literal["max", "min"]
    name: str
    limit: float

    def __str__(self) -> str:
        return f"--{self.kind} {self.name}={self.limit:g}"

    def allows(self, value: float) -> bool:
        """Whether a value meets it; equal does."""
        return value <= self.limit if self.kind == "max" else value >= self.limit


@dataclass(frozen=True, slots=True)
class BarOutcome:
    """Whether a bar was met, by which value, and in words why not."""

    bar: Bar
    value: float | None
    met: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        named = {"bar": str(self.bar), "kind": self.bar.kind, "metric": self.bar.name, "limit": self.bar.limit}
        return {**named, "value": self.value, "met": self.met, "why": self.why}


def parse_bar(kind: Literal["max", "min"], text: str) -> Bar:
    """A bar as it is written on a command line: METRIC=VALUE, the value a share, a percentage or a number of cases."""
    name, equals, value = (part.strip() for part in text.partition("="))
    known = ALIASES.get(name, name)
    choices = (*RATES, *SCORES, *COUNTS, *ALIASES)
    if known not in choices:
        hint = way_out(name, choices, "there are")
        raise InputError(f"--{kind} {shown(text)}: {shown(name)} is no metric: {hint}")
    limit = _number(value) if equals else None
    if limit is None or not 0 <= limit <= (float("inf") if known in COUNTS else 1):
        wanted = "a number of cases" if known in COUNTS else "a number from 0 to 1, or a percentage"
        raise InputError(f"--{kind} {shown(text)}: give {name}=VALUE, {wanted}")
    return Bar(kind, known, limit)


def check_bars(bars: Sequence[Bar], figures: Tally, *, strict: bool = False) -> list[BarOutcome]:
    """How a run stands to its bars; `strict` holds the far end of the 95 % interval against them, not the value."""
    stated = list(bars)
    if stated and not any(bar.name == "errors" for bar in stated):
        stated.append(Bar("max", "errors", 0))
    return [_outcome(bar, figures, strict) for bar in stated]


def trials_needed(rate: float, bar: Bar) -> int | None:
    """How many trials at this rate bring the far end of the exact 95 % interval within a bar; None where none of ours do."""
    if not bar.allows(rate) or rate == bar.limit:
        return None
    return fewest(lambda trials: _within(rate, trials, bar), MOST_TRIALS)


def _within(rate: float, trials: int, bar: Bar) -> bool:
    counted = -int(-rate * trials // 1) if bar.kind == "max" else int(rate * trials)
    interval = clopper_pearson(min(counted, trials), trials)
    return bar.allows(interval.high if bar.kind == "max" else interval.low)


def _outcome(bar: Bar, figures: Tally, strict: bool) -> BarOutcome:
    if bar.name in COUNTS:
        number: int = getattr(figures, bar.name)
        return BarOutcome(bar, number, bar.allows(number), f"{number} of {figures.cases} cases")
    figure = figures.figure(bar.name)
    if isinstance(figure, CountedRate):
        counted = f"{figure.numerator} of {figure.denominator}"
    else:
        counted = f"{figure.unsupported} unsupported and {figure.supported} supported claims"
    if figure.value is None:
        return BarOutcome(bar, None, False, "nothing was counted: the cases lack the labels it needs")
    if not strict:
        return BarOutcome(bar, figure.value, bar.allows(figure.value), f"{figure.value:.4g} ({counted})")
    end = figure.high if bar.kind == "max" else figure.low
    met = bar.allows(end)
    words = f"{figure.value:.4g} ({counted}), 95 % interval {figure.low:.4g} to {figure.high:.4g}"
    return BarOutcome(bar, end, met, words if met else words + _more(figure.value, bar, figure))


def _more(value: float, bar: Bar, figure: object) -> str:
    """What would have to be different: more cases, where the value itself is within the bar."""
    if not bar.allows(value) or not isinstance(figure, CountedRate):
        return ""
    needed = trials_needed(value, bar)
    if needed is None:
        return "; too close to the bar for any number of cases to show it"
    return f"; at this rate about {needed} would show it, {max(0, needed - figure.denominator)} more"


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None
