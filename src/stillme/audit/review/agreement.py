"""How far reviewers agree on the same verdicts: counts, percent agreement, Cohen's kappa and Krippendorff's alpha.

Labels are nominal: two of them are equal or they are not, and `unclear` is a label like the others. A reviewer's later label
on a verdict supersedes the earlier one for the figures; both stay recorded and the superseded ones are listed. A figure that
these labels do not define is None and says why. All figures are exact fractions until they are written as a number, so
that neither the order of the reviews nor the machine changes them.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, Literal, get_args

from stillme.errors import InputError, nearest, shown

__all__ = [
    "LABELS",
    "Agreement",
    "Disagreement",
    "Figure",
    "Label",
    "PairAgreement",
    "Review",
    "agreement",
    "kappa_interval",
]

Label = Literal["correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear"]
LABELS: Final[tuple[str, ...]] = get_args(Label)

Z_95: Final = 1.959963984540054
NO_DOUBLES: Final = "no verdict has labels of two reviewers"
ONE_DOUBLE: Final = "only one verdict has labels of two reviewers"
ONE_SHARED: Final = "both labelled only one verdict"
ONE_LABEL: Final = "only one label was given, so that chance agreement is already complete"


@dataclass(frozen=True, slots=True)
class Review:
    """One label of one reviewer on one verdict; `seq` is its place in the chain and tells which of two is later."""

    seq: int
    trace: str
    reviewer: str
    label: str
    unsupported: frozenset[int] | None = None
    """Which claims of the draft the reviewer calls unsupported, counted from 1; None where claims were not looked at."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, or None and the reason why there is none."""

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers, on how many verdicts both gave a label, on how many the same one, and Cohen's kappa."""

    first: str
    second: str
    shared: int
    agreed: int
    kappa: Figure


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A verdict on which reviewers differ, and who says what."""

    trace: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the labels say together; `counts` is by label, `percent` the mean share of agreeing pairs per doubled verdict."""

    verdicts: int
    labels: int
    doubled: int
    counts: tuple[tuple[str, int], ...]
    reviewers: tuple[tuple[str, int], ...]
    percent: Figure
    alpha: Figure
    pairs: tuple[PairAgreement, ...]
    disagreements: tuple[Disagreement, ...]
    superseded: tuple[Review, ...]


def agreement(reviews: Iterable[Review]) -> Agreement:
    """The agreement of all reviewers who labelled; pairs without a common verdict are left out."""
    current, superseded = _current(reviews)
    labels = [label for by_reviewer in current.values() for label in by_reviewer.values()]
    reviewers = Counter(reviewer for by_reviewer in current.values() for reviewer in by_reviewer)
    doubled = [by_reviewer for by_reviewer in current.values() if len(by_reviewer) > 1]
    given = Counter(labels)
    return Agreement(
        verdicts=len(current),
        labels=len(labels),
        doubled=len(doubled),
        counts=tuple((label, given[label]) for label in LABELS),
        reviewers=tuple(sorted(reviewers.items())),
        percent=_percent(doubled),
        alpha=_alpha(doubled),
        pairs=tuple(_pairs(doubled)),
        disagreements=tuple(
            Disagreement(trace, tuple(sorted(by_reviewer.items())))
            for trace, by_reviewer in sorted(current.items())
            if len(set(by_reviewer.values())) > 1
        ),
        superseded=superseded,
    )


Labels = Mapping[str, str]
"""The labels of one verdict, by reviewer."""


def _current(reviews: Iterable[Review]) -> tuple[dict[str, dict[str, str]], tuple[Review, ...]]:
    """The label in force by verdict and reviewer, and the reviews that a later one supersedes."""
    latest: dict[tuple[str, str], Review] = {}
    superseded: list[Review] = []
    places: set[int] = set()
    for review in sorted(reviews, key=lambda r: r.seq):
        key = review.trace, _checked(review)
        if review.seq in places:
            raise InputError(f"two reviews have seq {review.seq}: give each its own place in the chain")
        places.add(review.seq)
        if key in latest:
            superseded.append(latest[key])
        latest[key] = review
    current: dict[str, dict[str, str]] = defaultdict(dict)
    for (trace, reviewer), review in latest.items():
        current[trace][reviewer] = review.label
    return dict(current), tuple(superseded)


def _checked(review: Review) -> str:
    """The reviewer's name, one for all ways to write it, if the review can be counted."""
    if review.label not in LABELS:
        guess = nearest(review.label, LABELS)
        hint = f"did you mean {guess}?" if guess else f"labels are {', '.join(LABELS)}"
        raise InputError(f"review {review.seq}: {shown(review.label)} is no label: {hint}")
    name = unicodedata.normalize("NFC", review.reviewer).strip()
    if not name:
        raise InputError(f"review {review.seq} has no reviewer: say who labelled")
    return name


def _percent(doubled: Sequence[Labels]) -> Figure:
    if not doubled:
        return Figure(None, NO_DOUBLES)
    shares = sum((_agreeing_share(labels) for labels in doubled), Fraction(0))
    return Figure(float(shares / len(doubled)))


def _agreeing_share(labels: Labels) -> Fraction:
    """The share of pairs of reviewers that gave a verdict the same label."""
    ordered = len(labels) * (len(labels) - 1)
    return Fraction(sum(n * (n - 1) for n in Counter(labels.values()).values()), ordered)


def _alpha(doubled: Sequence[Labels]) -> Figure:
    """Krippendorff's alpha for nominal labels, any number of reviewers and missing labels."""
    if len(doubled) < 2:
        return Figure(None, ONE_DOUBLE if doubled else NO_DOUBLES)
    totals = Counter(label for labels in doubled for label in labels.values())
    n = totals.total()
    expected = n * n - sum(count * count for count in totals.values())
    if not expected:
        return Figure(None, ONE_LABEL)
    observed = sum((len(labels) * (1 - _agreeing_share(labels)) for labels in doubled), Fraction(0))
    return Figure(float(1 - (n - 1) * observed / expected))


def _pairs(doubled: Sequence[Labels]) -> Iterable[PairAgreement]:
    tables: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for labels in doubled:
        for first, second in combinations(sorted(labels), 2):
            tables[first, second][labels[first], labels[second]] += 1
    for (first, second), table in sorted(tables.items()):
        agreed = sum(count for (one, other), count in table.items() if one == other)
        yield PairAgreement(first, second, table.total(), agreed, _kappa(table, agreed))


def _kappa(table: Counter[tuple[str, str]], agreed: int) -> Figure:
    """Cohen's kappa of a table of two reviewers' labels."""
    shared = table.total()
    if shared < 2:
        return Figure(None, ONE_SHARED)
    rows: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    for (one, other), count in table.items():
        rows[one] += count
        columns[other] += count
    by_chance = Fraction(sum(count * columns[label] for label, count in rows.items()), shared * shared)
    if by_chance == 1:
        return Figure(None, ONE_LABEL)
    return Figure(float((Fraction(agreed, shared) - by_chance) / (1 - by_chance)))


def kappa_interval(reviews: Iterable[Review], first: str, second: str) -> tuple[float, float] | None:
    """Ends between which Cohen's kappa of two reviewers lies with 95 % confidence; None where it is not defined.

    Wilson's interval of the share of equal labels, with agreement by chance taken as it was found.
    """
    current, _ = _current(reviews)
    pairs = [(labels[first], labels[second]) for labels in current.values() if first in labels and second in labels]
    shared = len(pairs)
    if shared < 2:
        return None
    rows, columns = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * columns[label] for label, count in rows.items()) / shared**2
    if by_chance == 1:
        return None
    ends = _wilson(sum(one == other for one, other in pairs), shared)
    low, high = ((share - by_chance) / (1 - by_chance) for share in ends)
    return max(-1.0, low), min(1.0, high)


def _wilson(hits: int, total: int) -> tuple[float, float]:
    share, square = hits / total, Z_95**2 / total
    middle, half = share + square / 2, Z_95 * math.sqrt(share * (1 - share) / total + square / total / 4)
    return (middle - half) / (1 + square), (middle + half) / (1 + square)
