"""Whether traffic still looks like the cases that thresholds were calibrated on: a calibration says nothing about other traffic.

Compared are the similarity of the best passage and the least score of a draft's claims (two-sample Kolmogorov-Smirnov test), the
shares of languages and decisions (chi-square test of homogeneity) and of every reason code (chi-square with Yates's correction). One
value a case enters each test, never one a claim: claims of one draft are not independent. The p-values are Holm's over everything
that was compared. A shift counts as drift if it is both shown (adjusted p at most `LEVEL`) and large (at least `LEAST_DISTANCE` of
the traffic lies elsewhere): much traffic shows shifts that do not matter, little traffic shows none, and below `LEAST_CASES` cases on
either side nothing is said at all.

Numbers are kept as counts between fixed edges, so that a policy file can hold them. The distance between two distributions is taken
at those edges, where it is at most the true one: the test keeps its level.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal

from stillme.audit.chain.record import Entry, from_word
from stillme.errors import PolicyError
from stillme.evaluation.runs.comparison import holm
from stillme.policy.edits import with_value
from stillme.policy.reader import parsed
from stillme.reasons import Decision, Reason

if TYPE_CHECKING:
    from stillme.audit import AuditStore, Filter

__all__ = [
    "LEAST_CASES", "LEAST_DISTANCE", "LEVEL", "Drift", "Observation", "Shift", "Summary", "TrafficSummary",
    "chi_square_tail", "drift_of", "kolmogorov_tail", "observations_in", "with_drift_recorded",
]  # fmt: skip

LEVEL: Final = 0.01
"""How often unshifted traffic may be called drifted, over everything that is compared, each time one looks."""
LEAST_DISTANCE: Final = 0.1
"""The share of traffic that has to lie elsewhere for a shift to matter."""
LEAST_CASES: Final = 100
LEAST_EXPECTED: Final = 5.0
MOST_CATEGORIES: Final = 20
STEPS: Final = tuple(round(n * 0.05, 2) for n in range(21))
EDGES: Final = {
    "similarity": STEPS,
    # Closer where the scores of supported claims pile up.
    "score": (*STEPS[1:17], 0.82, 0.84, 0.86, 0.87, 0.88, 0.9, 0.92, 0.95, 0.98, 0.99),
}
STRUCK: Final = frozenset({Reason.PASSED_WITH_WARNINGS.value})
_MISREAD: Final = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Observation:
    """What of one request is compared; `decision` is None where other thresholds were in force when it was decided."""

    similarity: float | None
    score: float | None
    language: str
    decision: str | None = None
    codes: tuple[str, ...] = ()


@dataclass(slots=True)
class Summary:
    """How similarity, scores, languages, decisions and reasons are spread over cases: counts, whatever their number."""

    cases: int = 0
    decided: int = 0
    numbers: dict[str, list[int]] = field(
        default_factory=lambda: {name: [0] * (len(edges) + 1) for name, edges in EDGES.items()}
    )
    languages: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> Summary:
        """The summary of all of them."""
        summary = cls()
        for observation in observations:
            summary.add(observation)
        return summary

    def add(self, seen: Observation) -> None:
        self.cases += 1
        for name, value in (("similarity", seen.similarity), ("score", seen.score)):
            if value is not None:
                self.numbers[name][bisect_right(EDGES[name], value)] += 1
        self.languages[seen.language] += 1
        if seen.decision is not None:
            self.decided += 1
            self.decisions[seen.decision] += 1
            self.reasons.update(set(seen.codes) - STRUCK)

    def to_reference(self) -> dict[str, Any]:
        """As `calibration.reference` of a policy holds it."""
        shares = {name: dict(sorted(getattr(self, name).items())) for name in ("languages", "decisions", "reasons")}
        return {"cases": self.cases, "decided": self.decided, **{n: list(c) for n, c in self.numbers.items()}, **shares}

    @classmethod
    def from_reference(cls, reference: Mapping[str, Any]) -> Summary:
        """The summary that a policy holds, or a PolicyError where it holds none that this version can read."""
        try:
            numbers = {name: [_count(n) for n in reference[name]] for name in EDGES}
            if any(len(counts) != len(EDGES[name]) + 1 for name, counts in numbers.items()):
                raise ValueError
            shares = [
                Counter({str(key): _count(n) for key, n in reference[name].items()})
                for name in ("languages", "decisions", "reasons")
            ]
            return cls(_count(reference["cases"]), _count(reference["decided"]), numbers, *shares)
        except _MISREAD:
            raise PolicyError(
                "calibration.reference cannot be compared with traffic: run `stillme calibrate` again to have it written"
            ) from None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class Shift:
    """One thing that was compared; `distance` is the share that lies elsewhere, `adjusted` Holm's p-value."""

    name: str
    before: int
    """How many cases of the reference it stands on."""
    now: int
    distance: float
    p: float
    adjusted: float
    detail: str

    @property
    def drifted(self) -> bool:
        """Shown, and large enough to matter."""
        return self.adjusted <= LEVEL and self.distance >= LEAST_DISTANCE


@dataclass(frozen=True, slots=True)
class Drift:
    """What a comparison came to, the strongest shift first; `reason` is one line, None where nothing drifted."""

    outcome: Literal["drifted", "no drift shown", "too few"]
    reason: str | None
    cases: int
    needed: int
    """How many more cases it takes before anything is said."""
    comparisons: tuple[Shift, ...] = ()
    left_out: tuple[str, ...] = ()
    """What could not be compared, and why."""


def drift_of(reference: Mapping[str, Any] | Summary, traffic: Summary) -> Drift:
    """Compare traffic with the reference of a calibration; with too few cases on either side it says only that."""
    before = reference if isinstance(reference, Summary) else Summary.from_reference(reference)
    needed = max(0, LEAST_CASES - traffic.cases)
    if needed or before.cases < LEAST_CASES:
        left = (f"the calibration has {before.cases:,} cases, {LEAST_CASES} are needed",) * (before.cases < LEAST_CASES)
        return Drift("too few", None, traffic.cases, needed, (), left)
    left_out: list[str] = []
    raw = [*_numbers(before, traffic, left_out), *_shares(before, traffic, left_out)]
    adjusted = holm([each.p for each in raw])
    shifts = [replace(each, adjusted=p or 0.0) for each, p in zip(raw, adjusted, strict=True)]
    ranked = tuple(sorted(shifts, key=lambda c: (not c.drifted, c.adjusted, -c.distance, c.name)))
    drifted = [c for c in ranked if c.drifted]
    if not drifted:
        return Drift("no drift shown", None, traffic.cases, 0, ranked, tuple(left_out))
    return Drift("drifted", _reason(drifted, traffic.cases), traffic.cases, 0, ranked, tuple(left_out))


def _reason(drifted: Sequence[Shift], cases: int) -> str:
    said = "; ".join(f"{c.name} {c.detail} (p {_p(c.adjusted)})" for c in drifted[:3])
    more = f"; and {len(drifted) - 3} more" if len(drifted) > 3 else ""
    return f"{cases:,} cases of traffic differ from the calibration: {said}{more}"


def _p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


# numbers


def _numbers(before: Summary, now: Summary, left_out: list[str]) -> Iterator[Shift]:
    for name in EDGES:
        first, second = before.numbers[name], now.numbers[name]
        sizes = sum(first), sum(second)
        if min(sizes) < LEAST_CASES:
            left_out.append(
                f"{name}: {sizes[0]:,} cases before and {sizes[1]:,} now have one, {LEAST_CASES} are needed"
            )
            continue
        below, distance, edge = _largest_gap(first, second, EDGES[name])
        p = kolmogorov_tail(distance, *sizes)
        detail = f"below {edge:g}: {below[0]:.1%} before, {below[1]:.1%} now"
        yield Shift(name, *sizes, distance, p, p, detail)


def _largest_gap(
    first: Sequence[int], second: Sequence[int], edges: Sequence[float]
) -> tuple[tuple[float, float], float, float]:
    """Where two distribution functions differ most among the edges: both there, how far apart they are, and the edge."""
    shares = [[below / sum(counts) for below in accumulate(counts)] for counts in (first, second)]
    both, edge = max(zip(zip(*shares, strict=True), edges, strict=False), key=lambda at: abs(at[0][0] - at[0][1]))
    return both, abs(both[0] - both[1]), edge


def kolmogorov_tail(distance: float, first: int, second: int) -> float:
    """How probable so large a distance of two samples of one distribution is, by Kolmogorov's limit with Stephens's correction."""
    root = math.sqrt(first * second / (first + second))
    x = (root + 0.12 + 0.11 / root) * distance
    if x < 0.2:  # the series converges too slowly there, and the probability is 1 to twelve digits
        return 1.0
    total = math.fsum((1.0 if k % 2 else -1.0) * math.exp(-2 * k * k * x * x) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * total))


# shares


def _shares(before: Summary, now: Summary, left_out: list[str]) -> Iterator[Shift]:
    yield from _categories("language", before.languages, now.languages)
    if min(before.decided, now.decided) < LEAST_CASES:
        left_out.append(
            f"decisions and reasons: {now.decided:,} cases were decided under these thresholds, {LEAST_CASES} are needed"
        )
        return
    yield from _categories("decision", before.decisions, now.decisions)
    for code in sorted({*before.reasons, *now.reasons}):
        yield from _one_share(code, (before.reasons[code], before.decided), (now.reasons[code], now.decided), left_out)


def _categories(name: str, first: Counter[str], second: Counter[str]) -> Iterator[Shift]:
    rows = _merged(first, second)
    if len(rows) < 2:
        return  # all alike on both sides: nothing to compare
    sizes = first.total(), second.total()
    statistic = sum(
        _term(n, sum(row) * size / sum(sizes)) for _, row in rows for n, size in zip(row, sizes, strict=True)
    )
    shares = [(key, row[0] / sizes[0], row[1] / sizes[1]) for key, row in rows]
    distance = sum(abs(one - other) for _, one, other in shares) / 2
    key, one, other = max(shares, key=lambda s: (abs(s[1] - s[2]), s[0]))
    p = chi_square_tail(statistic, len(rows) - 1)
    yield Shift(name, *sizes, distance, p, p, f"{key}: {one:.1%} before, {other:.1%} now")


def _merged(first: Counter[str], second: Counter[str]) -> list[tuple[str, tuple[int, int]]]:
    """The categories with their counts; those too rare for the test stand together as one."""
    total = first.total() + second.total()
    smaller = min(first.total(), second.total())
    keys = sorted({*first, *second}, key=lambda key: (-(first[key] + second[key]), key))
    often = [k for k in keys[:MOST_CATEGORIES] if (first[k] + second[k]) * smaller / total >= LEAST_EXPECTED]
    rows = [(key, (first[key], second[key])) for key in often]
    rest = first.total() - sum(r[1][0] for r in rows), second.total() - sum(r[1][1] for r in rows)
    if sum(rest) * smaller / total >= LEAST_EXPECTED:
        rows.append(("others", rest))
    elif sum(rest) and rows:
        name, last = rows.pop()
        rows.append((name, (last[0] + rest[0], last[1] + rest[1])))
    return rows


def _term(observed: float, expected: float) -> float:
    return (observed - expected) ** 2 / expected


def _one_share(name: str, before: tuple[int, int], now: tuple[int, int], left_out: list[str]) -> Iterator[Shift]:
    """One code with or without: a table of two by two."""
    total, having = before[1] + now[1], before[0] + now[0]
    expected = [size * part / total for size in (before[1], now[1]) for part in (having, total - having)]
    if min(expected) < LEAST_EXPECTED:
        left_out.append(f"{name}: on {having:,} of {total:,} cases, too rare or too common to compare")
        return
    off = max(0.0, abs(before[0] - expected[0]) - 0.5)
    p = chi_square_tail(sum(off * off / e for e in expected), 1)
    one, other = before[0] / before[1], now[0] / now[1]
    yield Shift(name, before[1], now[1], abs(one - other), p, p, f"on {one:.1%} before, {other:.1%} now")


def chi_square_tail(statistic: float, freedom: int) -> float:
    """How probable so large a value of chi-square is; by recursion over the degrees of freedom."""
    half = max(0.0, statistic) / 2
    tail, k = (math.exp(-half), 2) if freedom % 2 == 0 else (math.erfc(math.sqrt(half)), 1)
    while k < freedom:
        if half > 0:
            tail += math.exp(k / 2 * math.log(half) - half - math.lgamma(k / 2 + 1))
        k += 2
    return min(1.0, tail)


# traffic


@dataclass(frozen=True, slots=True)
class TrafficSummary:
    """The verdicts of a window: those made with the model of the calibration, and what could not be used."""

    summary: Summary
    other_model: int
    unreadable: int


def observations_in(
    store: AuditStore, wanted: Filter, model_id: str, comparable: Callable[[str], bool] | None = None
) -> TrafficSummary:
    """The verdicts that the filter takes, as they are compared; their texts are not needed.

    `comparable` says of the digest of a policy whether its thresholds are the calibrated ones; without it all are.
    """
    summary, others, unreadable = Summary(), 0, 0
    for record in store.records(replace(wanted, kind="verdict"), bodies=False):
        entry = record.entry
        if entry is not None and entry.model != model_id:
            others += 1
            continue
        seen = None if entry is None else _observed(entry, comparable is None or comparable(str(entry.policy)))
        if seen is None:
            unreadable += 1
        else:
            summary.add(seen)
    return TrafficSummary(summary, others, unreadable)


def _observed(entry: Entry, decided: bool) -> Observation | None:
    """What a record says that is compared; None where it cannot be read."""
    try:
        meta = json.loads(entry.meta)
        scores = [float(c[3]) for c in meta["claims"] if c[2] != "not_factual" and c[3] is not None]
        best = meta["metrics"]["max_similarity"]
        codes = tuple(from_word(word) for word in (entry.reasons or "").split())
        decision = Decision(entry.decision or "").value if decided else None
        similarity = None if best is None else float(best)
        return Observation(similarity, min(scores, default=None), str(entry.language), decision, codes)
    except _MISREAD:
        return None


# the policy file


def with_drift_recorded(content: bytes, file: str, reason: str) -> bytes:
    """The text of a policy file with `calibration.drifted` set to the reason and all else as it was.

    That is checked by reading the file again; where other keys share the section it is a PolicyError.
    """
    source = parsed(content, file)
    section = source.settings.get("calibration")
    if not isinstance(section, Mapping):
        raise PolicyError(f"{file} has no calibration section: run `stillme calibrate` first")
    changed = with_value(content, ("calibration", "drifted"), json.dumps(reason))
    wanted = {**source.settings, "calibration": {**section, "drifted": reason}}
    if parsed(changed, file).settings != wanted:
        raise PolicyError(f"drifted cannot be written into {file}: write it below calibration yourself: {reason}")
    return changed
