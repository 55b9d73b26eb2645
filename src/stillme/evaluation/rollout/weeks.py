"""The figures of some weeks of recorded verdicts, from the verdicts themselves and from reviews of the weekly sample.

Escapes are counted by claims where reviews label claims; a review that labels the verdict alone speaks of one. Reviews count where
`stillme audit sample` draws the verdict: each then speaks for its share of its stratum and week, and the interval is the exact one for as
many reviews as those weights are worth. Verdicts that were picked by hand, strata without a review and labels that cannot be used are
counted apart; a figure that too little speaks for is unknown.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from stillme.audit.chain.record import Entry, instant
from stillme.audit.query import Filter
from stillme.audit.review.sampling import Candidate, Sample, draw, week_bounds
from stillme.audit.store import AuditStore
from stillme.errors import BackendError
from stillme.evaluation.rollout.estimates import Estimate, Part, interval
from stillme.evaluation.rollout.review_labels import Opinion
from stillme.evaluation.runs.metrics import CountedRate, rate_of, shares_of
from stillme.evaluation.runs.records import CaseRecord
from stillme.reasons import Decision, Reason

__all__ = ["FIGURES", "Sampling", "WeeksWindow"]

# Escapes are found among the answers, false refusals among the rest.
OF_REFUSALS: Final = "refusal_precision"
FROM_ANSWERS: Final = frozenset({"hallucination_escape_rate"})
REVIEWED: Final = ("hallucination_escape_rate", "refusal_precision", "false_refusal_rate")
FIGURES: Final = ("hallucination_escape_rate", "refusal_precision", "source_coverage", "false_refusal_rate")
# A figure on fewer reviews is luck; strata that no review speaks for may be at most so much of the traffic.
LEAST_COUNTED: Final = 10
MOST_UNREPRESENTED: Final = 0.05
CITATION_CODES: Final = frozenset({Reason.CITATION_MISSING, Reason.CITATION_NOT_RELEVANT, Reason.FABRICATED_CITATION})
RAN: Final = ("passed", "flagged")


@dataclass(frozen=True, slots=True)
class WeeksWindow:
    """Some weeks together: what was recorded, what was reviewed of the weekly sample, and the figures."""

    weeks: tuple[str, ...]
    verdicts: int
    not_answered: Estimate
    reviewed: int
    unusable: int
    by_hand: int
    policies: int
    figures: tuple[Estimate, ...]

    def figure(self, name: str) -> Estimate:
        return next(figure for figure in self.figures if figure.name == name)


@dataclass(slots=True)
class _WeightedShare:
    """A weighted share in the making."""

    hits: float = 0.0
    of: float = 0.0
    squares: float = 0.0
    most: int = 1
    reviews: int = 0
    counted: int = 0

    def add(self, weight: float, hit: int) -> None:
        self.reviews += 1
        self.hits += weight * hit
        self.of += weight
        self.squares += weight**2
        self.counted += hit
        self.most = max(self.most, hit)

    @property
    def part(self) -> Part:
        # Several claims of a draft go together: a draft counts as a part of the most that any has, which no interval is too narrow for.
        worth = self.of**2 / self.squares if self.squares else 0.0
        whole = self.of * self.most
        return Part(self.hits / whole if whole else 0.0, whole, worth)


@dataclass(slots=True)
class _Counts:
    """What is counted over some weeks."""

    verdicts: int = 0
    not_answered: int = 0
    covered: int = 0
    factual: int = 0
    uncheckable: int = 0
    reviewed: int = 0
    unusable: int = 0
    by_hand: int = 0
    policies: set[str] = field(default_factory=set)
    sums: dict[tuple[str, bool], _WeightedShare] = field(default_factory=lambda: defaultdict(_WeightedShare))
    """By figure, and whether it is what counts or the rest of what it is of."""
    unrepresented: Counter[str] = field(default_factory=Counter)
    relevant: Counter[str] = field(default_factory=Counter)

    def count(self, entry: Entry, meta: dict[str, Any]) -> None:
        """Count a verdict, reviewed or not."""
        self.verdicts += 1
        self.policies.add(str(entry.policy))
        self.not_answered += entry.decision != Decision.ANSWER
        covered = _covered(entry, meta)
        if covered is not None:
            self.factual += 1
            self.covered += covered is True
            self.uncheckable += covered == "unknown"


def _covered(entry: Entry, meta: dict[str, Any]) -> bool | Literal["unknown"] | None:
    """Whether a factual answer names a source for every claim that supports it; None for what is none.

    A repair that adds the citation counts where it is delivered, which monitor does not.
    """
    metrics, findings = meta["metrics"], meta["findings"]
    if entry.decision != Decision.ANSWER or not metrics["claims_total"]:
        return None
    outcomes = {f[0]: f[1] for f in findings}
    if outcomes.get("CitationRequired") not in RAN or outcomes.get("CitationRelevance") not in (*RAN, "skipped"):
        return "unknown"
    lacking = [f for f in findings if f[4] in CITATION_CODES and (not f[5] or entry.mode == "monitor")]
    return bool(entry.verified) and metrics["claims_supported"] == metrics["claims_total"] and not lacking


@dataclass(slots=True)
class Sampling:
    """The weekly samples of a store, and what people say of the verdicts in them."""

    store: AuditStore
    opinions: dict[str, Opinion]
    answers: int
    others: int
    seed: str | None

    def window(self, weeks: Sequence[str]) -> WeeksWindow | None:
        """The figures of some weeks together; None without weeks. One week at a time is held in memory."""
        if not weeks:
            return None
        counts = _Counts()
        for week in weeks:
            self._add(week, counts)
        return _window(weeks, counts)

    def _add(self, week: str, counts: _Counts) -> None:
        start, end = map(instant, week_bounds(week))
        candidates, cases = [], dict[str, CaseRecord | None]()
        for record in self.store.records(Filter(kind="verdict", since=start, until=end), bodies=False):
            entry = record.entry
            if entry is None:
                continue
            meta = _meta(record.seq, entry)
            counts.count(entry, meta)
            strata = (str(entry.decision), str(entry.language), str(entry.band))
            candidates.append(Candidate(entry.id, entry.at, *strata, flagged=entry.reasons is not None))
            if entry.id in self.opinions:
                cases[entry.id] = _case(entry, meta, self.opinions[entry.id])
        drawn = draw(candidates, seed=self.seed or week, answers=self.answers, others=self.others)
        _weigh(drawn, cases, counts)


def _meta(seq: int, entry: Entry) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads(entry.meta)
        return {name: meta[name] for name in ("metrics", "findings", "claims")}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BackendError(f"record {seq} cannot be read: run `stillme audit verify`") from None


def _case(entry: Entry, meta: dict[str, Any], opinion: Opinion) -> CaseRecord | None:
    """A reviewed verdict as the metrics read it; None where its labels tell nothing.

    An answer that should not have been given let one unsupported draft pass; a refusal that is right and names claims without
    support has held one back.
    """
    decision = Decision(str(entry.decision))
    truth = opinion.truth(decision)
    if truth is None:
        return None
    escaped = truth == "not answer"
    held = (
        decision is not Decision.ANSWER
        and truth == decision.value
        and any(c[2] in ("unsupported", "contradicted") for c in meta["claims"])
    )
    return CaseRecord(
        id=entry.id,
        decision=decision,
        expected=Decision.REFUSE if truth == "not answer" else Decision(truth),
        unlabelled_unsupported=_unsupported(opinion, int(escaped or held)),
    )


def _unsupported(opinion: Opinion, by_verdict: int) -> int:
    """How many unsupported claims a reviewed draft holds: those labelled, and at least one where the verdict on it says so."""
    return by_verdict if opinion.unsupported is None else max(opinion.unsupported, by_verdict)


def _weigh(drawn: Sample, cases: Mapping[str, CaseRecord | None], counts: _Counts) -> None:
    """Let each usable review of the sample speak for its share of its stratum."""
    usable: dict[str, list[CaseRecord]] = defaultdict(list)
    in_sample = [row for row in drawn.rows if row.candidate.trace in cases]
    for row in in_sample:
        case = cases[row.candidate.trace]
        if case is not None:
            usable[row.stratum].append(case)
    counted = sum(map(len, usable.values()))
    counts.reviewed += counted
    counts.unusable += len(in_sample) - counted
    counts.by_hand += len(cases) - len(in_sample)
    for stratum in drawn.strata:
        speaking = usable[stratum.name]
        for name in REVIEWED:
            if name != OF_REFUSALS or stratum.name == Decision.REFUSE:
                counts.relevant[name] += stratum.size
                counts.unrepresented[name] += 0 if speaking else stratum.size
        for case in speaking:
            shares = shares_of(case)
            for name in REVIEWED:
                if name == OF_REFUSALS:
                    counting = case.decision is Decision.REFUSE
                else:
                    counting = (case.decision is Decision.ANSWER) is (name in FROM_ANSWERS)
                counts.sums[name, counting].add(stratum.size / len(speaking), shares[name][not counting])


def _window(weeks: Sequence[str], counts: _Counts) -> WeeksWindow:
    return WeeksWindow(
        weeks=tuple(weeks),
        verdicts=counts.verdicts,
        not_answered=_counted(rate_of("not_answered", counts.not_answered, counts.verdicts)),
        reviewed=counts.reviewed,
        unusable=counts.unusable,
        by_hand=counts.by_hand,
        policies=len(counts.policies),
        figures=tuple(_coverage(counts) if name == "source_coverage" else _estimate(name, counts) for name in FIGURES),
    )


def _estimate(name: str, counts: _Counts) -> Estimate:
    hits = counts.sums[name, True]
    sums = (hits,) if name == OF_REFUSALS else (hits, counts.sums[name, False])
    of = hits.of if name == OF_REFUSALS else sum(each.hits for each in sums)
    counted = hits.reviews if name == OF_REFUSALS else sum(each.counted for each in sums)
    if not of:
        why = "no refusal was recorded" if not counts.relevant[name] else "no usable review of the weekly sample"
        return Estimate(name, None, 0.0, 1.0, 0, 0, 0, why)
    parts = tuple(each.part for each in sums)
    return Estimate(
        name, hits.hits / of, *interval(parts), hits.hits, of, counted, _doubt(name, counted, counts), parts
    )


def _doubt(name: str, counted: int, counts: _Counts) -> str | None:
    """Why an estimate is not to be relied on."""
    if counted < LEAST_COUNTED:
        return f"it rests on {counted} of the at least {LEAST_COUNTED} reviews"
    missed, relevant = counts.unrepresented[name], counts.relevant[name]
    if missed > MOST_UNREPRESENTED * relevant:
        return f"no review speaks for {missed:,} of {relevant:,} verdicts"
    return None


def _coverage(counts: _Counts) -> Estimate:
    """Of all verdicts, as they see it themselves; those without citation checks count as not covered."""
    why = None
    if not counts.factual:
        why = "no factual answer was recorded"
    elif counts.factual < LEAST_COUNTED:
        why = f"it rests on {counts.factual} of the at least {LEAST_COUNTED} factual answers"
    elif counts.uncheckable > MOST_UNREPRESENTED * counts.factual:
        why = f"citations were not checked in {counts.uncheckable:,} of {counts.factual:,} factual answers"
    return _counted(rate_of("source_coverage", counts.covered, counts.factual), why)


def _counted(rate: CountedRate, unknown: str | None = None) -> Estimate:
    """A rate of everything there is: nothing about it is estimated."""
    counts = (rate.numerator, rate.denominator, rate.denominator)
    return Estimate(rate.name, rate.value, rate.low, rate.high, *counts, unknown)
