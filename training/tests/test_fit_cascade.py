"""What is fitted on points whose making is known comes out as it went in."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from stillme.grounding.cascade import Joining
from training.fit_cascade import (
    Point,
    exact_weight,
    fitted,
    kept,
    middle,
    probability,
    settled,
    support_threshold,
    token_threshold,
)  # fmt: skip

STEEP, BIAS, BIAS_VI = 0.8, 0.6, 1.4


def drawn(number: int, exact: float = 0.0, seed: int = 5) -> list[Point]:
    """Points of four sets whose labels follow the model's margin, and the exact score where it has a weight."""
    chance = random.Random(seed)
    points = []
    for n in range(number):
        dataset, lang = (("a", "en"), ("b", "en"), ("c", "vi"), ("d", "vi"))[n % 4]
        margin, odds = chance.gauss(-1, 2), chance.gauss(-1, 1.5)
        z = STEEP * (margin + exact * odds) + (BIAS_VI if lang == "vi" else BIAS)
        is_supported = chance.random() < 1 / (1 + math.exp(-z))
        points.append(Point(dataset, lang, 1 / (1 + math.exp(-odds)), margin, is_supported, False, False, None, ()))
    return points


def test_the_middle_of_each_language_is_found() -> None:
    """The steepness and the two biases that the labels were drawn by."""
    found = middle(drawn(8000), 0.0)

    assert found == pytest.approx((STEEP, BIAS, BIAS_VI), abs=0.15)


@pytest.mark.parametrize("weight", [0.4, 0.8])
def test_the_weight_of_the_exact_score_is_found(weight: float) -> None:
    """About: of those that order equally well, the highest is taken."""
    assert weight - 0.1 <= exact_weight(drawn(6000, weight)) <= weight + 0.3


def test_an_exact_score_that_says_nothing_weighs_little() -> None:
    """It would only add noise."""
    assert exact_weight(drawn(6000)) <= 0.35


def test_probabilities_of_other_points_mean_what_they_say() -> None:
    """Fitted on some, measured on others of the same making."""
    found = fitted(drawn(3000, 0.4), drawn(3000, 0.4, seed=6))
    others = drawn(6000, 0.4, seed=7)

    for low in (0.1, 0.4, 0.7):
        inside = [p for p in others if low <= probability(p, found) < low + 0.2]
        seen = sum(p.supported for p in inside) / len(inside)
        assert low - 0.05 <= seen <= low + 0.25


def test_the_threshold_tells_both_sides_right_equally_often() -> None:
    """Where few are supported it lies lower than one half."""
    points = drawn(4000)
    steep, bias, bias_vi = middle(points, 0.0)
    made = Joining(0.0, steep, bias - 0.9, bias_vi - 0.9, 1.0, 0.0)

    assert 0.25 <= support_threshold(points, made) < 0.5


def test_claims_are_settled_from_where_they_are_nearly_always_right() -> None:
    """Whole claims above 0.8 are right nine times in ten, others half of the time."""
    chance = random.Random(3)
    points = []
    for n in range(2000):
        exact, whole = chance.random(), n % 2 == 0
        right = chance.random() < (0.9 if whole and exact > 0.8 else 0.5)
        points.append(Point("a", "en", exact, 0.0, right, False, whole, None, ()))

    above, below = settled(points)

    assert 0.6 <= above <= 0.85
    assert below == 0.0


def test_a_settled_and_a_refuted_point_need_no_model() -> None:
    """The exact score speaks for the one, nothing for the other."""
    made = Joining(0.2, 0.5, 0.0, 0.0, settled_above=0.7, settled_below=0.0)
    point = Point("a", "en", 0.9, -9.0, True, refuted=False, whole=True, lacking=None, tokens=())

    assert probability(point, made) == 0.9
    assert probability(replace(point, refuted=True, whole=False), made) == 0.0
    assert probability(replace(point, whole=False), made) < 0.1


def test_the_tokens_that_lack_support_are_found_by_their_logit() -> None:
    """The threshold that parts them."""
    tokens = (((0, 4), -2.0), ((5, 9), 1.6), ((10, 14), 0.4))
    point = Point("a", "en", 0.5, 0.0, False, False, False, ((5, 9),), tokens)

    assert 0.4 <= token_threshold([point]) < 1.6


def test_what_was_read_is_kept(tmp_path: Path) -> None:
    """The second time nothing is read again."""
    path, points = tmp_path / "p.json", drawn(3)

    first = kept(path, lambda: points)
    second = kept(path, lambda: pytest.fail("read again"))

    assert [p.margin for p in first] == [p.margin for p in second] == [p.margin for p in points]
