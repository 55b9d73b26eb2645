"""Figures of merit of a detector: the positive class is what is to be found (unsupported, conflicting).

They are defined as in `training.metrics`, and are None where they are not defined: an area under the curve of one
class, an error of no example.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from benchmarks.core import percentile
from stillme import VerifyRequest

__all__ = [
    "LABELS",
    "PROBABILISTIC",
    "Bin",
    "Counts",
    "Example",
    "Said",
    "Span",
    "Tried",
    "balanced_accuracy",
    "calibration_bins",
    "calibration_error",
    "characters",
    "count",
    "figures",
    "interval",
    "precision_recall_f1",
    "roc_auc",
]

LABELS: Final = {"grounding": ("supported", "unsupported"), "conflict": ("consistent", "conflicting")}
"""For each kind of set what is common and what is to be found."""
PROBABILISTIC: Final = ("exact", "model", "cascade")
"""Systems whose scores are probabilities and that mark spans."""

Record = dict[str, Any]
Span = tuple[int, int]
Bin = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Counts:
    """How often it was found and there, found and not there, missed, and rightly left alone."""

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0
    passes: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.hits + other.hits,
            self.false_alarms + other.false_alarms,
            self.misses + other.misses,
            self.passes + other.passes,
        )


def count(positive: Iterable[bool], predicted: Iterable[bool]) -> Counts:
    """How predictions meet what holds."""
    cells = [(bool(holds), bool(said)) for holds, said in zip(positive, predicted, strict=True)]
    return Counts(*(cells.count(cell) for cell in ((True, True), (False, True), (True, False), (False, False))))


def balanced_accuracy(counts: Counts) -> float | None:
    """The mean of the recall of both classes; of the one present when only one is."""
    recalls = [
        right / (right + wrong)
        for right, wrong in ((counts.hits, counts.misses), (counts.passes, counts.false_alarms))
        if right + wrong
    ]
    return sum(recalls) / len(recalls) if recalls else None


def precision_recall_f1(counts: Counts) -> tuple[float, float, float]:
    """Precision, recall and F1 of the positive class, zero where undefined."""
    found, there = counts.hits + counts.false_alarms, counts.hits + counts.misses
    precision = counts.hits / found if found else 0.0
    recall = counts.hits / there if there else 0.0
    return precision, recall, 2 * counts.hits / (found + there) if found + there else 0.0


def roc_auc(positive: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, ties counting half; None with one class."""
    positives = sum(map(bool, positive))
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    below, wins = 0, 0.0
    by_score: dict[float, list[int]] = {}
    for holds, score in zip(positive, scores, strict=True):
        by_score.setdefault(score, [0, 0])[bool(holds)] += 1
    for score in sorted(by_score):
        other, own = by_score[score]
        wins += own * (below + other / 2)
        below += other
    return wins / (positives * negatives)


def calibration_bins(holds: Sequence[bool], probabilities: Sequence[float], bins: int = 10) -> list[Bin]:
    """For each bin of equal width how many examples it has, how many of them hold, and the sum of what was stated."""
    found: list[Bin] = [(0, 0, 0.0)] * bins
    for value, probability in zip(holds, probabilities, strict=True):
        # Rounded, because 0.3 that came about as 1 - 0.7 belongs where 0.3 does.
        place = min(int(round(probability * bins, 9)), bins - 1)
        examples, seen, stated = found[place]
        found[place] = (examples + 1, seen + bool(value), stated + probability)
    return found


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The expected distance between the stated and the seen share; None without examples."""
    total = sum(examples for examples, _, _ in bins)
    return sum(abs(seen - stated) for _, seen, stated in bins) / total if total else None


def characters(gold: Iterable[Span], found: Iterable[Span]) -> Counts:
    """How marked characters meet those that should be marked; characters that neither marks are not counted."""
    wanted = {place for start, end in gold for place in range(start, end)}
    marked = {place for start, end in found for place in range(start, end)}
    return Counts(len(wanted & marked), len(marked - wanted), len(wanted - marked))


def interval(
    by_document: Sequence[Counts], *, share: float = 0.95, draws: int = 2000, seed: int = 7
) -> tuple[float, float] | None:
    """Where balanced accuracy lies in so many of the samples that are drawn from the documents with replacement.

    Whole documents are drawn, because the examples of one document are not independent of each other.
    """
    import numpy  # noqa: PLC0415  (installed with ONNX Runtime)

    if not by_document:
        return None
    cells = numpy.array([(c.hits, c.misses, c.passes, c.false_alarms) for c in by_document], float)
    size = len(cells)
    drawn = numpy.random.default_rng(seed).multinomial(size, [1 / size] * size, size=draws) @ cells
    values = [
        value
        for hits, misses, passes, false_alarms in drawn.astype(int).tolist()
        if (value := balanced_accuracy(Counts(hits, false_alarms, misses, passes))) is not None
    ]
    low, high = numpy.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


# examples and what was said of them


@dataclass(frozen=True, slots=True)
class Example:
    """A row of a set; `positive` is what is to be found: unsupported, conflicting."""

    id: str
    lang: str
    request: VerifyRequest
    positive: bool
    spans: tuple[Span, ...] | None
    document: str
    """The same for examples of the same context."""


class Said(NamedTuple):
    """What a system says of an example; `score` is how likely it is positive."""

    positive: bool
    score: float
    spans: tuple[Span, ...] = ()
    claims: int = 0
    settled: int = 0
    """Claims that were decided without the encoder."""
    factual: bool = True
    """Whether a sentence of the answer counts as a factual claim."""


class Tried(NamedTuple):
    """An example with what was said of it, or why nothing was, and the time it took."""

    example: Example
    said: Said | None
    problem: str | None
    ms: float


def figures(name: str, tried: Sequence[Tried], kind: str) -> Record:
    """The figures of a system on examples of one language; what raised is counted and left out of all of them."""
    done = [(t.example, t.said) for t in tried if t.said is not None]
    positive, predicted = [e.positive for e, _ in done], [s.positive for _, s in done]
    counts = count(positive, predicted)
    precision, recall, f1 = precision_recall_f1(counts)
    by_document: dict[str, Counts] = {}
    for example, said in done:
        own = count([example.positive], [said.positive])
        by_document[example.document] = by_document.get(example.document, Counts()) + own
    claims, reads = sum(s.claims for _, s in done), name != "majority"
    return {
        "rows": len(done),
        "positive": sum(positive),
        "documents": len(by_document),
        "errors": dict(Counter(t.problem.split(":")[0] for t in tried if t.problem is not None)),
        "without_claims": sum(not s.factual for _, s in done) if kind == "grounding" and reads else None,
        "balanced_accuracy": _rounded(balanced_accuracy(counts)),
        "interval": _rounded(interval(list(by_document.values()))),
        "auc": _rounded(roc_auc(positive, [s.score for _, s in done])),
        "precision": _rounded(precision) if done else None,
        "recall": _rounded(recall) if done else None,
        "f1": _rounded(f1) if done else None,
        **span_figures(done, reads=name in PROBABILISTIC),
        **calibration(done, stated=name in PROBABILISTIC),
        **spent([t.ms for t in tried if t.said is not None] if reads else []),
        "claims": claims if name in PROBABILISTIC else None,
        "settled": _rounded(sum(s.settled for _, s in done) / claims) if claims and name in PROBABILISTIC else None,
    }


def span_figures(done: Sequence[tuple[Example, Said]], *, reads: bool) -> Record:
    """F1, precision and recall over the characters of all answers together, where spans are labelled."""
    labelled = [characters(e.spans, s.spans) for e, s in done if e.spans is not None]
    if not labelled or not reads:
        return {"span_f1": None, "span_precision": None, "span_recall": None}
    counts = sum(labelled, Counts())
    precision, recall, f1 = precision_recall_f1(counts)
    if counts == Counts():
        f1 = 1.0  # nothing to mark and nothing marked
    return {"span_f1": _rounded(f1), "span_precision": _rounded(precision), "span_recall": _rounded(recall)}


def calibration(done: Sequence[tuple[Example, Said]], *, stated: bool) -> Record:
    """How far the stated probability of support is from what is seen, for systems that state one."""
    if not stated:
        return {"calibration_error": None, "calibration_bins": None}
    bins = calibration_bins([not e.positive for e, _ in done], [1 - s.score for _, s in done])
    shown_bins = [[examples, seen, round(total, 4)] for examples, seen, total in bins]
    return {"calibration_error": _rounded(calibration_error(bins)), "calibration_bins": shown_bins}


def spent(ms: Sequence[float]) -> Record:
    """Milliseconds an example, one at a time."""
    if not ms:
        return {"p50_ms": None, "p95_ms": None}
    return {"p50_ms": round(statistics.median(ms), 3), "p95_ms": round(percentile(ms, 0.95), 3)}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_rounded(part) for part in value]
    return None if value is None else round(value, 4)
