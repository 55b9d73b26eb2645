"""Figures of merit: balanced accuracy, ROC-AUC, F1 of unsupported, span F1, calibration error."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from training.text import Span

Floats = npt.NDArray[np.float64]


def balanced_accuracy(positive: Sequence[bool], predicted: Sequence[bool]) -> float:
    """The mean of the recall of both classes; of the one present when only one is."""
    truth, guess = np.asarray(positive, bool), np.asarray(predicted, bool)
    recalls = [(guess[truth == value] == value).mean() for value in (True, False) if (truth == value).any()]
    return float(np.mean(recalls))


def roc_auc(positive: Sequence[bool], scores: Sequence[float]) -> float:
    """The chance that a positive scores above a negative, ties counting half; nan with one class."""
    truth, values = np.asarray(positive, bool), np.asarray(scores, float)
    positives, negatives = truth.sum(), (~truth).sum()
    if positives == 0 or negatives == 0:
        return float("nan")
    ranks = _mean_ranks(values)
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _mean_ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], float)


def precision_recall_f1(positive: Sequence[bool], predicted: Sequence[bool]) -> tuple[float, float, float]:
    """Precision, recall and F1 of the positive class, zero where undefined."""
    truth, guess = np.asarray(positive, bool), np.asarray(predicted, bool)
    hits = float((truth & guess).sum())
    precision = hits / guess.sum() if guess.any() else 0.0
    recall = hits / truth.sum() if truth.any() else 0.0
    total = precision + recall
    return float(precision), float(recall), float(2 * precision * recall / total) if total else 0.0


def span_f1(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]]) -> float:
    """F1 over the characters of all texts together."""
    hits = marked = wanted = 0
    for gold_spans, found_spans in zip(gold, found, strict=True):
        gold_chars, found_chars = _characters(gold_spans), _characters(found_spans)
        hits += len(gold_chars & found_chars)
        marked += len(found_chars)
        wanted += len(gold_chars)
    return 2 * hits / (marked + wanted) if marked + wanted else 1.0


def _characters(spans: Sequence[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def calibration_error(positive: Sequence[bool], scores: Sequence[float], bins: int = 10) -> float:
    """The expected distance between stated and seen share of positives, over equal-width bins."""
    truth, values = np.asarray(positive, float), np.asarray(scores, float)
    places = np.minimum((values * bins).astype(int), bins - 1)
    gaps = [
        (places == place).mean() * abs(truth[places == place].mean() - values[places == place].mean())
        for place in range(bins)
        if (places == place).any()
    ]
    return float(sum(gaps))


def best_threshold(positive: Sequence[bool], scores: Sequence[float]) -> float:
    """The threshold at which balanced accuracy is highest."""
    values = sorted(set(scores))
    middles = [(a + b) / 2 for a, b in itertools.pairwise(values)] or [0.5]
    if len(middles) > 200:
        middles = [middles[int(i)] for i in np.linspace(0, len(middles) - 1, 200)]
    return max(middles, key=lambda t: balanced_accuracy(positive, [s >= t for s in scores]))
