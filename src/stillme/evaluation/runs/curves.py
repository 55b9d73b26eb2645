"""What the plots and the error analysis of a case study show, counted over records that come one at a time.

What is kept does not grow with the number of records: scores fall into steps, and examples are few.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.metrics import SCORE_STEPS
from stillme.evaluation.runs.records import CaseRecord
from stillme.reasons import Decision

__all__ = [
    "ERRORS", "NONE", "CurvePoint", "Errors", "Kind", "Labels", "Mistake", "Reasons", "RiskCoverage", "Sweep",
    "reliability_bins",
]  # fmt: skip

GRID: Final = tuple(n / 100 for n in range(101))
BINS: Final = 10
MOST_POINTS: Final = 100
MOST_VALUES: Final = 1_000
MOST_KEPT: Final = 3
NONE: Final = "(none)"
OTHERS: Final = "(others)"
Kind = Literal["escape", "false_refusal"]
ERRORS: Final[tuple[Kind, ...]] = ("escape", "false_refusal")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A share at a place, with its exact 95 % interval and the counts it comes from."""

    x: float
    y: float
    low: float
    high: float
    numerator: int
    denominator: int


def _point(x: float, numerator: int, denominator: int) -> CurvePoint:
    return CurvePoint(x, numerator / denominator, *clopper_pearson(numerator, denominator), numerator, denominator)


def _is_scored(record: CaseRecord) -> bool:
    return record.error is None and record.decision is not None


# curves


class RiskCoverage:
    """Of the drafts with labelled claims, the share that holds an unsupported one among those with the best scores."""

    def __init__(self) -> None:
        self._steps: Counter[tuple[bool, int]] = Counter()
        self._answered = [0, 0]
        self.without_score = 0
        """Labelled drafts in which nothing was scored: not in the curve."""

    def add(self, record: CaseRecord) -> None:
        is_bad = record.unsupported > 0
        if not _is_scored(record) or not (is_bad or any(c.supported for c in record.claims)):
            return
        if record.probability is None:
            self.without_score += 1
            return
        self._steps[is_bad, round(record.probability * SCORE_STEPS)] += 1
        if record.decision is Decision.ANSWER:
            self._answered[0] += is_bad
            self._answered[1] += 1

    @property
    def count(self) -> int:
        """How many drafts the curve is of."""
        return self._steps.total()

    def points(self) -> list[CurvePoint]:
        """Risk at each coverage, some hundred points at most; the last is that of all drafts."""
        points: list[CurvePoint] = []
        bad = seen = 0
        for step in sorted({step for _, step in self._steps}, reverse=True):
            bad += self._steps[True, step]
            seen += self._steps[True, step] + self._steps[False, step]
            if not points or seen == self.count or seen / self.count >= points[-1].x + 1 / MOST_POINTS:
                points.append(_point(seen / self.count, bad, seen))
        return points

    def at(self) -> CurvePoint | None:
        """Where the run itself stands: the share that it answered, and the risk in that."""
        bad, answered = self._answered
        return _point(answered / self.count, bad, answered) if answered else None


def reliability_bins(scored: Mapping[tuple[bool, int], int]) -> list[CurvePoint]:
    """For each tenth of the scores: their mean, and the share of claims in it that are labelled supported."""
    sums = [[0, 0, 0] for _ in range(BINS)]
    for (supported, step), count in sorted(scored.items()):
        bin_sums = sums[min(step * BINS // SCORE_STEPS, BINS - 1)]
        bin_sums[0] += step * count
        bin_sums[1] += count * supported
        bin_sums[2] += count
    return [_point(steps / all_ / SCORE_STEPS, supported, all_) for steps, supported, all_ in sums if all_]


class Sweep:
    """What raising `min_score` would do to a run: answers with a supported claim below it become refusals, nothing else changes."""

    def __init__(self) -> None:
        self._escaped: Counter[int] = Counter()
        self._passed: Counter[int] = Counter()
        self.unsupported = 0
        self.answerable = 0

    def add(self, record: CaseRecord) -> None:
        if not _is_scored(record):
            return
        unsupported, answerable = record.unsupported, record.expected is Decision.ANSWER
        self.unsupported += unsupported
        self.answerable += answerable
        if record.decision is not Decision.ANSWER:
            return
        scores = (c.score for c in record.claims if c.status == "supported" and c.score is not None)
        reach = bisect_right(GRID, min(scores, default=math.inf))
        self._escaped[reach] += unsupported
        self._passed[reach] += answerable

    def escapes(self, least: float = 0.0) -> list[CurvePoint]:
        """The escape rate at each min_score from `least` on."""
        return [_point(x, left, self.unsupported) for x, left in _left(self._escaped, least) if self.unsupported]

    def false_refusals(self, least: float = 0.0) -> list[CurvePoint]:
        """The false refusal rate at each min_score from `least` on."""
        whole = self.answerable
        return [_point(x, whole - left, whole) for x, left in _left(self._passed, least) if whole]


def _left(passing: Counter[int], least: float) -> Iterator[tuple[float, int]]:
    """At each place of the grid, how much still passes there."""
    for place, x in enumerate(GRID):
        if x >= least:
            yield x, sum(count for reach, count in passing.items() if reach > place)


# reasons and errors


class Reasons:
    """How many cases named each code, by whether they were decided as expected."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self.cases = 0

    def add(self, record: CaseRecord) -> None:
        if not _is_scored(record):
            return
        self.cases += 1
        place = 2 if record.expected is None else int(record.expected is not record.decision)
        for code in dict.fromkeys(record.reasons):
            known = self._counts.setdefault(_bounded(code, self._counts), [0, 0, 0])
            known[place] += 1

    def ranked(self) -> list[tuple[str, int, int, int]]:
        """Each code with how many cases that named it were as expected, were not, and expect nothing; the most frequent first."""
        rows = [(code, counts[0], counts[1], counts[2]) for code, counts in self._counts.items()]
        return sorted(rows, key=lambda row: (-sum(row[1:]), row[0]))


class Labels:
    """What is known about the cases, and why some could not be run."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()

    def add(self, record: CaseRecord) -> None:
        if record.error is not None or record.decision is None:
            self.problems[_bounded((record.error or "no decision")[:200], self.problems)] += 1
            return
        counts = {
            "expect a decision": int(record.expected is not None),
            "expect reason codes": int(bool(record.expected_reasons)),
            "have labelled claims": int(any(c.supported is not None for c in record.claims) or record.unsupported > 0),
            "claims labelled supported": sum(c.supported is True for c in record.claims),
            "claims labelled unsupported": record.unsupported,
            "claims without a label": sum(c.supported is None for c in record.claims),
        }
        self.counts.update(counts)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A case that came out wrong: enough of it to find it, and where its draft is not supported."""

    id: str
    category: str | None
    language: str | None
    expected: str | None
    decision: str
    reasons: tuple[str, ...]
    score: float | None
    spans: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Errors:
    """The two errors that matter: unsupported claims that pass, and answers that are held back."""

    cases: Counter[Kind] = field(default_factory=Counter)
    codes: dict[Kind, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in ERRORS})
    """Of an escape the codes that were expected and not named; of a false refusal those that were named."""
    _kept: dict[tuple[Kind, str], list[tuple[float, int, Mistake]]] = field(default_factory=dict)
    _counts: dict[Kind, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in ERRORS})
    _order: int = 0

    def add(self, record: CaseRecord) -> None:
        if not _is_scored(record):
            return
        if record.decision is Decision.ANSWER and record.unsupported:
            self._take("escape", record, [c for c in record.expected_reasons if c not in record.reasons])
        if record.expected is Decision.ANSWER and record.decision is not Decision.ANSWER:
            self._take("false_refusal", record, record.reasons)

    def _take(self, kind: Kind, record: CaseRecord, codes: Sequence[str]) -> None:
        self._order += 1
        self.cases[kind] += 1
        for code in dict.fromkeys(codes or [NONE]):
            self.codes[kind][_bounded(code, self.codes[kind])] += 1
        category = _bounded(record.category or NONE, self._counts[kind])
        self._counts[kind][category] += 1
        kept = self._kept.setdefault((kind, category), [])
        # Of each category those with the best scores are kept: the surest mistakes, the first of equals.
        rank = -1.0 if record.probability is None else record.probability
        heapq.heappush(kept, (rank, -self._order, _mistake(record)))
        if len(kept) > MOST_KEPT:
            heapq.heappop(kept)

    def examples(self, kind: Kind, most: int) -> list[Mistake]:
        """Some mistakes: one of each category in turn, the category with the most first, the surest mistake first."""
        ranked = sorted(
            (key for key in self._kept if key[0] == kind), key=lambda key: (-self._counts[kind][key[1]], key[1])
        )
        queues = [[m for _, _, m in sorted(self._kept[key], key=lambda k: (-k[0], -k[1]))] for key in ranked]
        turns = [queue[n] for n in range(MOST_KEPT) for queue in queues if n < len(queue)]
        return turns[:most]


def _mistake(record: CaseRecord) -> Mistake:
    return Mistake(
        record.id,
        record.category,
        record.language,
        record.expected.value if record.expected else None,
        record.decision.value if record.decision else "",
        record.reasons,
        record.probability,
        tuple((c.start, c.end) for c in record.claims if c.supported is False),
    )


def _bounded(value: str, known: Collection[str]) -> str:
    """The value, or one name for all that come after the first thousand."""
    return value if value in known or len(known) < MOST_VALUES else OTHERS
