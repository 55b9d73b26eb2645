"""How low a group's `min_score` may go before the escape rate is no longer shown: the exact tests, in a fixed sequence.

`min_score` is walked from 1 downwards on a fixed grid. Every step is a test of "the escape rate is above `max_escape_rate`" with the
exact binomial p-value, and the walk ends at the first test that does not reject: testing in a fixed sequence needs no correction for
the number of steps.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stillme.errors import InputError, shown
from stillme.evaluation.calibration.thresholds import Gates, ScoredCase, Settings, decided
from stillme.evaluation.runs.intervals import Interval, binomial_at_most, clopper_pearson, upper_bound
from stillme.reasons import Decision

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "GRID", "CaseGroup", "ErrorCounts", "ScoreStep", "Target", "Walk", "fewest_cases", "figures", "group_of",
    "most_escapes", "steps_passed", "walk_of",
]  # fmt: skip

GRID: Final = tuple(round(1 - n / 200, 3) for n in range(201))
"""The same for everybody, so that no data chose it."""


# what is asked for, and what comes out


@dataclass(frozen=True, slots=True)
class Target:
    """What the thresholds have to keep to; by default the rule of ADR-004: hallucinations at 1 %, false refusals at 10 %."""

    max_escape_rate: float = 0.01
    confidence: float = 0.95
    max_false_refusal_rate: float = 0.1

    def __post_init__(self) -> None:
        for name in ("max_escape_rate", "confidence", "max_false_refusal_rate"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1, got {shown(getattr(self, name))}")

    @property
    def error(self) -> float:
        """The probability that may be left for the thresholds not to keep to it."""
        return 1 - self.confidence


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """What becomes of cases: of `bad` ones `escaped` pass as an answer, of `good` ones `refused` do not."""

    escaped: int
    bad: int
    refused: int
    good: int
    claims_escaped: int
    claims: int

    @property
    def escape(self) -> Interval:
        """The exact 95 % interval of the share that escapes."""
        return clopper_pearson(self.escaped, self.bad)

    @property
    def refusal(self) -> Interval:
        """The exact 95 % interval of the share that is refused or asked back."""
        return clopper_pearson(self.refused, self.good)


@dataclass(frozen=True, slots=True)
class ScoreStep:
    """A step of the walk: a score, what it makes of the cases, and whether the walk got past it."""

    min_score: float
    figures: ErrorCounts
    max_escape_rate: float
    is_certified: bool

    @property
    def p(self) -> float:
        """How probable it is that so few escape if more than the rate do."""
        return binomial_at_most(self.figures.escaped, self.figures.bad, self.max_escape_rate)


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """Cases with a threshold of their own; `min_score` is None where none can be guaranteed, and `shortfall` says why."""

    name: str
    level: float
    """Its share of the error."""
    points: tuple[ScoreStep, ...]
    min_score: float | None
    shortfall: str | None = None
    more: int | None = None
    """How many more cases with an unsupported claim would be needed if they come out like these; None where none would help."""

    @property
    def chosen(self) -> ScoreStep:
        """The point that was chosen, else the strictest."""
        return next((p for p in self.points if p.min_score == self.min_score), self.points[0])


def figures(cases: Iterable[ScoredCase], decision: Callable[[ScoredCase], Decision]) -> ErrorCounts:
    """What these decisions make of the cases."""
    came = [(case, decision(case) is Decision.ANSWER) for case in cases]
    return ErrorCounts(
        escaped=sum(case.is_bad and answered for case, answered in came),
        bad=sum(case.is_bad for case, _ in came),
        refused=sum(case.is_good and not answered for case, answered in came),
        good=sum(case.is_good for case, _ in came),
        claims_escaped=sum(case.unsupported for case, answered in came if answered),
        claims=sum(case.unsupported for case, _ in came),
    )


# testing


def fewest_cases(max_escape_rate: float, error: float) -> int:
    """How many cases it takes at least to show the rate, if none of them escapes."""
    return math.ceil(math.log(error) / math.log1p(-max_escape_rate) - 1e-9)


def most_escapes(cases: int, max_escape_rate: float, error: float) -> int:
    """How many of the cases may escape for the rate to be shown; -1 where not even none would do."""
    return bisect_right(range(cases), error, key=lambda escaped: binomial_at_most(escaped, cases, max_escape_rate)) - 1


def steps_passed(limits: NDArray[np.float64], max_escape_rate: float, error: float) -> int:
    """How many steps of the grid the walk gets past; a case with an unsupported claim passes up to its limit."""
    import numpy as np  # noqa: PLC0415

    allowed = most_escapes(len(limits), max_escape_rate, error)
    escaped = len(limits) - np.searchsorted(np.sort(limits), np.asarray(GRID), side="left")
    beyond = np.flatnonzero(escaped > allowed)
    return int(beyond[0]) if len(beyond) else len(GRID)


# the walk of a group


@dataclass(frozen=True, slots=True)
class Walk:
    """How far one group got with one setting of the gates before grounding; a case is answered up to its limit."""

    name: str
    level: float
    bad: NDArray[np.float64]
    good: NDArray[np.float64]
    claims: NDArray[np.int_]
    passed: int

    @property
    def refused(self) -> int:
        """How many good cases are refused at the last step that it got past."""
        return int((self.good < GRID[self.passed - 1]).sum())


def walk_of(name: str, cases: Sequence[ScoredCase], path: Settings, gates: Gates, rate: float, level: float) -> Walk:
    """The walk of one group: from the strictest score down, as long as every step is shown."""
    import numpy as np  # noqa: PLC0415

    limits = [(case, _limit(case, path, gates)) for case in cases if case.is_bad or case.is_good]
    bad = np.asarray([limit for case, limit in limits if case.is_bad], dtype=float)
    good = np.asarray([limit for case, limit in limits if case.is_good], dtype=float)
    claims = np.asarray([case.unsupported for case, _ in limits if case.is_bad], dtype=int)
    return Walk(name, level, bad, good, claims, steps_passed(bad, rate, level))


def _limit(case: ScoredCase, path: Settings, gates: Gates) -> float:
    """The highest `min_score` under which the case is answered; -1 where it never is."""
    return case.least if decided(case, path, gates) is Decision.ANSWER else -1.0


def group_of(walk: Walk, rate: float) -> CaseGroup:
    """A walk as a group: the score that it got down to, or why it got nowhere."""
    points = tuple(_points(walk, rate))
    if walk.passed:
        return CaseGroup(walk.name, walk.level, points, GRID[walk.passed - 1])
    return CaseGroup(walk.name, walk.level, points, None, *_shortfall(points[0].figures, rate, walk.level))


def _points(walk: Walk, rate: float) -> Iterator[ScoreStep]:
    bad, good = len(walk.bad), len(walk.good)
    for number, score in enumerate(GRID):
        escaping = walk.bad >= score
        refused, claims = int((walk.good < score).sum()), int(walk.claims[escaping].sum())
        found = ErrorCounts(int(escaping.sum()), bad, refused, good, claims, int(walk.claims.sum()))
        yield ScoreStep(score, found, rate, number < walk.passed)


def _shortfall(strictest: ErrorCounts, rate: float, level: float) -> tuple[str, int | None]:
    """Why not even the strictest score can be guaranteed, and how many more cases that takes."""
    escaped, bad = strictest.escaped, strictest.bad
    fewest = fewest_cases(rate, level)
    best = f"the least rate that they show is {upper_bound(escaped, bad, 1 - level):.2%}"
    if not escaped:
        return (
            f"{bad:,} cases with an unsupported claim are too few to show an escape rate of at most {rate:.2%}: even if none "
            f"escapes it takes {fewest:,}, so {fewest - bad:,} more; {best}"
        ), fewest - bad
    seen = f"under the strictest thresholds {escaped:,} of {bad:,} cases with an unsupported claim still pass ({escaped / bad:.2%})"
    if escaped / bad >= rate:
        return f"{seen}: no threshold keeps to {rate:.2%}, and more cases will not change that; {best}", None
    total = _cases_at(escaped / bad, bad, rate, level)
    return (
        f"{seen}: if that share stays it takes {total:,} cases to show {rate:.2%}, so {total - bad:,} more; {best}",
        total - bad,
    )


def _cases_at(share: float, known: int, rate: float, level: float) -> int:
    """About how many cases show the rate if this share of them escapes."""
    enough = known
    while binomial_at_most(math.ceil(share * enough), enough, rate) > level:
        enough = math.ceil(enough * 1.01) + 1
    return enough
