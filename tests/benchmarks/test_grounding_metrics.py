"""The figures of merit agree with values worked out by hand, and keep what holds for them on any input."""

from __future__ import annotations

import pytest
from benchmarks.grounding_metrics import (
    Counts,
    Example,
    Said,
    Span,
    Tried,
    balanced_accuracy,
    calibration_bins,
    calibration_error,
    characters,
    count,
    figures,
    interval,
    precision_recall_f1,
    roc_auc,
)
from hypothesis import given
from hypothesis import strategies as st

from stillme import VerifyRequest

LABELLED = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=30)
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda ends: (min(ends), max(ends))), max_size=4)


@pytest.mark.parametrize(
    ("positive", "predicted", "counts"),
    [
        pytest.param([1, 1, 0, 0], [1, 0, 1, 0], Counts(1, 1, 1, 1), id="one of each"),
        pytest.param([1, 1, 1, 0], [1, 1, 1, 1], Counts(3, 1, 0, 0), id="all are called positive"),
        pytest.param([], [], Counts(), id="no examples"),
    ],
)
def test_predictions_are_counted(positive: list[int], predicted: list[int], counts: Counts) -> None:
    """Every example falls into one of four cells."""
    assert count(map(bool, positive), map(bool, predicted)) == counts


@pytest.mark.parametrize(
    ("counts", "accuracy", "others"),
    [
        pytest.param(Counts(3, 1, 1, 5), (3 / 4 + 5 / 6) / 2, (3 / 4, 3 / 4, 3 / 4), id="both classes, some errors"),
        pytest.param(Counts(2, 0, 6, 8), (2 / 8 + 1) / 2, (1.0, 1 / 4, 2 / 5), id="what is found is right"),
        pytest.param(Counts(4, 0, 0, 4), 1.0, (1.0, 1.0, 1.0), id="all right"),
        pytest.param(Counts(0, 0, 5, 5), 0.5, (0.0, 0.0, 0.0), id="nothing is called positive"),
        pytest.param(Counts(3, 0, 1, 0), 3 / 4, (1.0, 3 / 4, 6 / 7), id="one class: its recall"),
        pytest.param(Counts(0, 1, 0, 3), 3 / 4, (0.0, 0.0, 0.0), id="the other class alone"),
        pytest.param(Counts(), None, (0.0, 0.0, 0.0), id="no examples"),
    ],
)
def test_accuracy_precision_recall_and_f1(
    counts: Counts, accuracy: float | None, others: tuple[float, float, float]
) -> None:
    """As worked out by hand."""
    assert balanced_accuracy(counts) == pytest.approx(accuracy)
    assert precision_recall_f1(counts) == pytest.approx(others)


@pytest.mark.parametrize(
    ("positive", "scores", "area"),
    [
        pytest.param([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1], 3.5 / 4, id="a tie counts half"),
        pytest.param([1, 0], [0.2, 0.1], 1.0, id="in order"),
        pytest.param([1, 0, 0], [0.1, 0.2, 0.3], 0.0, id="upside down"),
        pytest.param([1, 0, 1, 0], [0.5] * 4, 0.5, id="all alike"),
        pytest.param([1, 1], [0.5, 0.6], None, id="one class"),
    ],
)
def test_area_under_the_curve(positive: list[int], scores: list[float], area: float | None) -> None:
    """The share of pairs in the right order."""
    assert roc_auc(list(map(bool, positive)), scores) == area


@given(LABELLED)
def test_the_area_depends_on_the_order_only(labelled: list[tuple[bool, int]]) -> None:
    """A map that keeps the order keeps the area; one that turns it round gives the rest to 1."""
    positive = [holds for holds, _ in labelled]
    scores = [score for _, score in labelled]
    area = roc_auc(positive, scores)

    assert roc_auc(positive, [score**3 + 2 * score - 5 for score in scores]) == area
    assert roc_auc(positive, [-score for score in scores]) == (None if area is None else pytest.approx(1 - area))


@pytest.mark.parametrize(
    ("holds", "probabilities", "error"),
    [
        pytest.param([1, 0], [1.0, 0.0], 0.0, id="certain and right"),
        pytest.param([0, 1], [1.0, 0.0], 1.0, id="certain and wrong"),
        pytest.param([1, 1, 0, 0], [0.75, 0.75, 0.75, 0.75], 0.25, id="one bin, a quarter too sure"),
        pytest.param([1, 0, 1, 1], [0.62, 0.66, 0.91, 0.95], (0.28 + 0.14) / 4, id="two bins"),
        pytest.param([1, 0], [0.3, 1 - 0.7], 0.2, id="0.3 is in one bin however it came about"),
        pytest.param([], [], None, id="no examples"),
    ],
)
def test_calibration_error(holds: list[int], probabilities: list[float], error: float | None) -> None:
    """The distance between stated and seen, weighted by how many examples a bin has."""
    found = calibration_error(calibration_bins(list(map(bool, holds)), probabilities))

    assert found == (None if error is None else pytest.approx(error))


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=8, unique_by=lambda pair: pair[0])
)
def test_what_is_calibrated_has_no_error(groups: list[tuple[int, int]]) -> None:
    """Where n tenths of the examples that state n tenths hold, the error is nought; stated too high, it is what was added."""
    holds = [k < tenths for tenths, _ in groups for k in range(10)]
    stated = [tenths / 10 for tenths, _ in groups for _ in range(10)]

    assert calibration_error(calibration_bins(holds, stated)) == pytest.approx(0)
    assert calibration_error(calibration_bins(holds, [p + 0.05 for p in stated])) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("gold", "found", "counts", "f1"),
    [
        pytest.param([(0, 4)], [(0, 4)], Counts(4, 0, 0), 1.0, id="the same characters"),
        pytest.param([(0, 4)], [(4, 8)], Counts(0, 4, 4), 0.0, id="ranges that only touch"),
        pytest.param([(0, 6)], [(4, 8)], Counts(2, 2, 4), 0.4, id="a part in common"),
        pytest.param([(0, 4), (2, 6)], [(0, 6), (1, 3)], Counts(6, 0, 0), 1.0, id="overlapping ranges count once"),
        pytest.param([], [(0, 3)], Counts(0, 3, 0), 0.0, id="nothing to mark"),
        pytest.param([(0, 3)], [], Counts(0, 0, 3), 0.0, id="nothing marked"),
    ],
)
def test_spans_are_compared_by_character(gold: list[Span], found: list[Span], counts: Counts, f1: float) -> None:
    """Ranges are sets of characters."""
    assert characters(gold, found) == counts
    assert precision_recall_f1(counts)[2] == pytest.approx(f1)


@given(SPANS, SPANS)
def test_span_f1_does_not_care_which_side_is_gold(gold: list[Span], found: list[Span]) -> None:
    """Changing sides swaps precision and recall, and keeps F1."""
    precision, recall, f1 = precision_recall_f1(characters(gold, found))

    assert precision_recall_f1(characters(found, gold)) == pytest.approx((recall, precision, f1))


def test_an_interval_is_the_same_each_time_and_wider_where_examples_hang_together() -> None:
    """A hundred examples of ten documents say less than a hundred of a hundred; one document says nothing of others."""
    right, missed = Counts(hits=1), Counts(misses=1)
    alone = [right] * 70 + [missed] * 30
    together = [Counts(hits=10)] * 7 + [Counts(misses=10)] * 3

    first, second = interval(alone), interval(together)

    assert first is not None
    assert second is not None
    assert first == interval(alone)
    assert second[0] < first[0] < 0.7 < first[1] < second[1]
    assert interval([Counts(hits=3, passes=1)]) == (1.0, 1.0)
    assert interval([]) is None


def tried(number: int, positive: bool, said: Said | None, spans: tuple[Span, ...] | None = None) -> Tried:
    """An example of a document of its own, 10 ms times its number."""
    example = Example(str(number), "en", VerifyRequest(query="?"), positive, spans, str(number))
    return Tried(example, said, None if said else "BackendError: no answer", 10.0 * number)


def test_figures_leave_out_what_raised() -> None:
    """An example that raised is counted by its error and is in no average; one without claims is supported."""
    results = [
        tried(1, True, Said(True, 0.8, ((0, 4),), claims=2, settled=1), ((0, 2),)),
        tried(2, False, Said(False, 0.2, (), claims=1, settled=1), ()),
        tried(3, False, Said(False, 0.0, factual=False), ()),
        tried(4, True, None, ((0, 9),)),
    ]

    found = figures("cascade", results, "grounding")

    assert {key: found[key] for key in found if key not in ("interval", "calibration_bins")} == {
        "rows": 3,
        "positive": 1,
        "documents": 3,
        "errors": {"BackendError": 1},
        "without_claims": 1,
        "balanced_accuracy": 1.0,
        "auc": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "span_f1": 0.6667,
        "span_precision": 0.5,
        "span_recall": 1.0,
        "calibration_error": 0.1333,
        "p50_ms": 20.0,
        "p95_ms": 30.0,
        "claims": 3,
        "settled": 0.6667,
    }


def test_figures_of_nothing_are_none() -> None:
    """Where every example raised there is no figure, rather than a nought."""
    found = figures("exact", [tried(1, True, None)], "grounding")

    assert (found["rows"], found["errors"]) == (0, {"BackendError": 1})
    assert {found[key] for key in ("balanced_accuracy", "interval", "auc", "f1", "calibration_error", "p50_ms")} == {
        None
    }
