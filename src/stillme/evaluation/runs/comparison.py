"""Two runs of the same cases, case by case: which decisions changed, in which direction, and whether that is more than chance.

Rates whose denominator the labels alone decide are tested with McNemar's exact test on the cases that are right in one run only. Others
are ratios of sums over cases, so that claims of one case stay together. Their p is the larger of two: that of swapping both runs within
cases at random, which holds for few cases, and that of cases drawn anew in pairs, which holds where the runs do not count the same cases.
Every difference has a 95 % interval from the latter. Draws have a fixed seed; p values are corrected by Holm's method for the number of
metrics tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from stillme.errors import InputError, shown
from stillme.evaluation.runs.intervals import CONFIDENCE, binomial_at_most
from stillme.evaluation.runs.metrics import LOWER_IS_BETTER, RATES, CountedRate, rate_of, shares_of
from stillme.evaluation.runs.records import CaseRecord
from stillme.evaluation.runs.run import Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Draws = NDArray[np.int64]

__all__ = [
    "DRAWS", "FIXED", "SEED", "Comparison", "FlippedCase", "RateDifference", "compare", "compare_records", "holm",
    "mcnemar",
]  # fmt: skip

SEED: Final = 20_260_201
DRAWS: Final = 10_000
EXAMPLES: Final = 20
ONE_ONLY: Final = ((1, 0), (0, 1))
FIXED: Final = frozenset({"false_refusal_rate", "refusal_recall", "clarify_recall", "decision_accuracy"})
"""Rates whose denominator does not depend on what was decided."""
Pattern = tuple[int, int, int, int]
"""What a case contributes: numerator and denominator in the first run, then in the second."""
Test = Literal["McNemar, exact", "paired draws"]
Finding = Literal["better", "worse", "no difference shown", "too little data"]
LEAST: Final = 10
"""A ratio of fewer in either run is not tested: 1 of 1 is no precision to compare with."""


@dataclass(frozen=True, slots=True)
class FlippedCase:
    """A case that was decided differently; `right` says in which of the two runs it was right, if it expects something."""

    id: str
    expected: str | None
    before: str
    after: str
    right: Literal["before", "after", "neither", "unknown"]


@dataclass(frozen=True, slots=True)
class RateDifference:
    """A rate in both runs, second less first, with its interval and how easily chance alone makes as much of it."""

    name: str
    before: CountedRate
    after: CountedRate
    value: float | None
    low: float
    high: float
    test: Test
    changed: int
    """Cases that contribute differently to the two: without any there is nothing to test."""
    p: float | None
    adjusted: float | None = None
    """p corrected for the number of metrics."""

    @property
    def verdict(self) -> Finding:
        """What may be said at the 5 % level."""
        if self.value is None or self.adjusted is None:
            return "too little data"
        if self.adjusted > 1 - CONFIDENCE or self.value == 0:
            return "no difference shown"
        return "better" if (self.value < 0) == (self.name in LOWER_IS_BETTER) else "worse"

    def to_dict(self) -> dict[str, Any]:
        ends = {"value": self.value, "low": self.low, "high": self.high, "test": self.test, "changed": self.changed}
        tested = {"p": self.p, "p_holm": self.adjusted, "verdict": self.verdict}
        return {"before": self.before.to_dict(), "after": self.after.to_dict(), **ends, **tested}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs of the same cases say of each other; cases that could not be run in one of them are counted apart."""

    before: str
    after: str
    cases: int
    left_out: int
    """Cases with an error in either run: in no figure here."""
    flips: tuple[tuple[str, str, int], ...]
    """Decision before, decision after, and how many cases, the most frequent first."""
    directions: tuple[tuple[str, int], ...]
    """How many changed cases were right before, after, neither, or expect nothing."""
    examples: tuple[FlippedCase, ...]
    """Some of each direction, those that were right before first."""
    differences: tuple[RateDifference, ...]
    seed: int = SEED
    draws: int = DRAWS

    @property
    def changed(self) -> int:
        """How many cases were decided differently."""
        return sum(count for _, _, count in self.flips)

    def to_dict(self) -> dict[str, Any]:
        return {
            "before": self.before,
            "after": self.after,
            "cases": self.cases,
            "left_out": self.left_out,
            "changed": self.changed,
            "flips": [{"before": before, "after": after, "cases": count} for before, after, count in self.flips],
            "directions": dict(self.directions),
            "examples": [asdict(example) for example in self.examples],
            "differences": {d.name: d.to_dict() for d in self.differences},
            "seed": self.seed,
            "draws": self.draws,
        }


def compare(before: Run, after: Run, names: Sequence[str] = tuple(RATES)) -> Comparison:
    """Two runs compared case by case; InputError unless they are of the same cases."""
    if before.heading.cases_sha256 != after.heading.cases_sha256:
        raise InputError(
            f"{before.path} and {after.path} are runs of different cases ({shown(before.heading.cases)} and "
            f"{shown(after.heading.cases)}): run both on the same"
        )
    return compare_records(_named(before), before, _named(after, other=before), after, names)


def compare_records(
    before: str,
    first: Iterable[CaseRecord],
    after: str,
    second: Iterable[CaseRecord],
    names: Sequence[str] = tuple(RATES),
) -> Comparison:
    """Records of the same cases in the same order, compared; they are read once, and side by side."""
    seen = _Seen(names)
    for one, other in _joined(first, second):
        seen.add(one, other)
    tested = [_difference(name, seen.patterns[name]) for name in names]
    corrected = holm([d.p for d in tested])
    return Comparison(
        before,
        after,
        seen.cases,
        seen.left_out,
        tuple((a, b, n) for (a, b), n in sorted(seen.flips.items(), key=lambda item: (-item[1], item[0]))),
        tuple((right, seen.directions[right]) for right in ("before", "after", "neither", "unknown")),
        tuple(change for right in ("before", "after", "neither", "unknown") for change in seen.examples[right]),
        tuple(replace(d, adjusted=p) for d, p in zip(tested, corrected, strict=True)),
    )


def mcnemar(only_before: int, only_after: int) -> float:
    """The exact two-sided p of so many cases that count in one run only: a fair coin would be as uneven."""
    return min(1.0, 2 * binomial_at_most(min(only_before, only_after), only_before + only_after, 0.5))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for their number, in the order given; None stays and counts for nothing."""
    order = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    most = 0.0
    for rank, (p, place) in enumerate(order):
        most = max(most, min(1.0, (len(order) - rank) * p))
        corrected[place] = most
    return corrected


def _named(run: Run, other: Run | None = None) -> str:
    name = run.heading.name
    return name if other is None or name != other.heading.name else f"{name} ({run.path.name})"


def _joined(first: Iterable[CaseRecord], second: Iterable[CaseRecord]) -> Iterator[tuple[CaseRecord, CaseRecord]]:
    for one, other in zip_longest(first, second):
        if one is None or other is None or one.id != other.id:
            ids = " and ".join("no case" if r is None else f"case {shown(r.id)}" for r in (one, other))
            raise InputError(f"the runs do not have the same cases in the same order: {ids} stand side by side")
        yield one, other


class _Seen:
    """What is kept of pairs of records: counts of what they contribute, never the records."""

    def __init__(self, names: Sequence[str]) -> None:
        self.patterns: dict[str, Counter[Pattern]] = {name: Counter() for name in names}
        self.flips: Counter[tuple[str, str]] = Counter()
        self.directions: Counter[str] = Counter()
        self.examples: dict[str, list[FlippedCase]] = {right: [] for right in ("before", "after", "neither", "unknown")}
        self.cases = self.left_out = 0

    def add(self, one: CaseRecord, other: CaseRecord) -> None:
        self.cases += 1
        if one.error is not None or other.error is not None or one.decision is None or other.decision is None:
            self.left_out += 1
            return
        shares, others = shares_of(one), shares_of(other)
        for name, counted in self.patterns.items():
            counted[(*shares[name], *others[name])] += 1
        if one.decision is not other.decision:
            right = _right(shares["decision_accuracy"], others["decision_accuracy"])
            self.flips[one.decision.value, other.decision.value] += 1
            self.directions[right] += 1
            if len(self.examples[right]) < EXAMPLES:
                expected = one.expected.value if one.expected else None
                change = FlippedCase(one.id, expected, one.decision.value, other.decision.value, right)
                self.examples[right].append(change)


def _right(before: tuple[int, int], after: tuple[int, int]) -> Literal["before", "after", "neither", "unknown"]:
    if not before[1]:
        return "unknown"
    if before[0] == after[0]:
        return "neither"
    return "before" if before[0] else "after"


def _difference(name: str, patterns: Mapping[Pattern, int]) -> RateDifference:
    sums = [sum(pattern[k] * count for pattern, count in patterns.items()) for k in range(4)]
    before, after = rate_of(name, sums[0], sums[1]), rate_of(name, sums[2], sums[3])
    changed = sum(count for (a, b, c, d), count in patterns.items() if (a, b) != (c, d))
    value = None if before.value is None or after.value is None else after.value - before.value
    test: Test = "McNemar, exact" if name in FIXED else "paired draws"
    if value is None:
        return RateDifference(name, before, after, None, -1.0, 1.0, test, changed, None)
    drawn = _drawn(patterns)
    p: float | None = None
    if name in FIXED:
        p = mcnemar(
            *(sum(n for pattern, n in patterns.items() if (pattern[0], pattern[2]) == pair) for pair in ONE_ONLY)
        )
    elif min(before.denominator, after.denominator) >= LEAST:
        p = max(_swapped(patterns, value), drawn.p) if changed else 1.0
    return RateDifference(name, before, after, value, drawn.low, drawn.high, test, changed, p)


class _Drawn(NamedTuple):
    low: float
    high: float
    p: float


def _drawn(patterns: Mapping[Pattern, int]) -> _Drawn:
    """The middle 95 % of the difference over cases drawn anew, each with both of its records, and how rarely it is past zero."""
    import numpy as np  # noqa: PLC0415  (a tenth of a second that only comparisons need to pay)

    kinds = sorted(patterns)
    counts = np.array([patterns[kind] for kind in kinds], dtype=np.int64)
    drawn = np.random.default_rng(SEED).multinomial(counts.sum(), counts / counts.sum(), size=DRAWS)
    differences = _ratios(drawn @ np.array(kinds, dtype=np.int64))
    low, high = np.quantile(differences, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    past = min(int(np.sum(differences <= 0)), int(np.sum(differences >= 0)))
    return _Drawn(float(low), float(high), min(1.0, 2 * (past + 1) / (len(differences) + 1)))


def _swapped(patterns: Mapping[Pattern, int], value: float) -> float:
    """How often swapping both runs within cases at random makes a difference as large as the one seen."""
    import numpy as np  # noqa: PLC0415  (as above)

    kinds = sorted(patterns)
    counts = np.array([patterns[kind] for kind in kinds], dtype=np.int64)
    swapped = np.random.default_rng(SEED).binomial(counts, 0.5, size=(DRAWS, len(kinds)))
    table = np.array(kinds, dtype=np.int64)
    differences = _ratios((counts - swapped) @ table + swapped @ table[:, [2, 3, 0, 1]])
    return float((np.sum(np.abs(differences) >= abs(value) - 1e-12) + 1) / (len(differences) + 1))


def _ratios(sums: Draws) -> NDArray[np.float64]:
    """The difference of the two ratios of each draw that has both."""
    whole = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    ratios: NDArray[np.float64] = whole[:, 2] / whole[:, 3] - whole[:, 0] / whole[:, 1]
    return ratios
