"""The figures agree with values worked out by hand."""

from __future__ import annotations

import math

import pytest

from training.metrics import (
    balanced_accuracy,
    best_threshold,
    calibration_error,
    precision_recall_f1,
    roc_auc,
    span_f1,
)


def test_balanced_accuracy_is_the_mean_of_recalls() -> None:
    """Three of four positives and one of two negatives right."""
    truth = [True] * 4 + [False] * 2
    guess = [True, True, True, False, False, True]

    assert balanced_accuracy(truth, guess) == pytest.approx((0.75 + 0.5) / 2)


def test_balanced_accuracy_with_one_class_is_its_recall() -> None:
    """Sets of one class are still scored."""
    assert balanced_accuracy([True, True], [True, False]) == 0.5


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        pytest.param([0.9, 0.8, 0.2, 0.1], 1.0, id="all in order"),
        pytest.param([0.1, 0.2, 0.8, 0.9], 0.0, id="all reversed"),
        pytest.param([0.5, 0.5, 0.5, 0.5], 0.5, id="ties count half"),
        pytest.param([0.9, 0.3, 0.5, 0.1], 0.75, id="one pair wrong"),
    ],
)
def test_roc_auc(scores: list[float], expected: float) -> None:
    """AUC is the share of pairs in order."""
    assert roc_auc([True, True, False, False], scores) == pytest.approx(expected)


def test_roc_auc_of_one_class_is_not_a_number() -> None:
    """No figure is made up."""
    assert math.isnan(roc_auc([True, True], [0.1, 0.2]))


def test_precision_recall_f1() -> None:
    """Two found, one of them right, of two to find."""
    assert precision_recall_f1([True, True, False], [True, False, True]) == (0.5, 0.5, 0.5)
    assert precision_recall_f1([False], [False]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("gold", "found", "expected"),
    [
        pytest.param([[(0, 4)]], [[(2, 6)]], 0.5, id="half of each"),
        pytest.param([[]], [[]], 1.0, id="nothing to find, nothing found"),
        pytest.param([[(0, 4)]], [[]], 0.0, id="missed"),
        pytest.param([[(0, 4)], [(0, 2)]], [[(0, 4)], [(4, 6)]], 2 * 4 / 12, id="over all texts together"),
    ],
)
def test_span_f1(gold: list[list[tuple[int, int]]], found: list[list[tuple[int, int]]], expected: float) -> None:
    """Characters are counted over all texts."""
    assert span_f1(gold, found) == pytest.approx(expected)


def test_calibration_error() -> None:
    """Stated 0.75 with half right is off by a quarter; a perfect forecast by nothing."""
    assert calibration_error([True, False], [0.75, 0.75]) == pytest.approx(0.25)
    assert calibration_error([True, False], [1.0, 0.0]) == 0.0


def test_best_threshold_parts_the_classes() -> None:
    """The threshold lies between the classes."""
    assert 0.2 < best_threshold([True, True, False], [0.9, 0.8, 0.2]) < 0.8
