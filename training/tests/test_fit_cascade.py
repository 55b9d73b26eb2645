"""What is fitted on points whose making is known comes out as it went in."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from stillme.grounding.cascade import Joining
from training.fit_cascade import Point, fitted, kept, probability, support_threshold, token_threshold, weights

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
        points.append(made(dataset, lang, 1 / (1 + math.exp(-odds)), margin, is_supported))
    return points


def made(dataset: str, lang: str, exact: float, margin: float, supported: bool) -> Point:
    """A point that the model has read."""
    return Point(dataset, lang, exact, margin, supported, False, False, False, False, False, None, ())


@pytest.mark.parametrize("weight", [0.0, 0.4, 0.8])
def test_what_the_labels_were_drawn_by_is_found(weight: float) -> None:
    """The weights of both scores and the two biases; what never occurs weighs nothing."""
    exact, margin, objected, lacking, across, bias, bias_vi = weights(drawn(8000, weight))

    assert (exact, margin) == pytest.approx((STEEP * weight, STEEP), abs=0.15)
    assert (bias, bias_vi) == pytest.approx((BIAS, BIAS_VI), abs=0.2)
    assert (objected, lacking, across) == (0.0, 0.0, 0.0)


def test_probabilities_of_other_points_mean_what_they_say() -> None:
    """Fitted on some, measured on others of the same making."""
    found = fitted(drawn(3000, 0.4))
    others = drawn(6000, 0.4, seed=7)

    for low in (0.1, 0.4, 0.7):
        inside = [p for p in others if low <= probability(p, found) < low + 0.2]
        seen = sum(p.supported for p in inside) / len(inside)
        assert low - 0.05 <= seen <= low + 0.25


def test_the_threshold_tells_both_sides_right_equally_often() -> None:
    """Where few are supported it lies lower than one half."""
    points = drawn(4000)
    _, margin, _, _, _, bias, bias_vi = map(float, weights(points))
    found = Joining(0.0, margin, 0.0, 0.0, 0.0, bias - 0.9, bias_vi - 0.9)

    assert 0.25 <= support_threshold(points, found) < 0.5


def test_a_settled_and_a_refuted_point_need_no_model() -> None:
    """The exact score speaks for the one, nothing for the other; an objection weighs."""
    found = Joining(0.2, 0.5, -1.0, -0.5, 0.3, 0.0, 0.0)
    point = replace(made("a", "en", 0.9, -9.0, True), settled=True)
    read = replace(point, settled=False)

    assert probability(point, found) == 0.9
    assert probability(replace(read, refuted=True), found) == 0.0
    assert probability(read, found) < 0.1
    assert probability(replace(read, objected=True), found) < probability(read, found)


def test_the_tokens_that_lack_support_are_found_by_their_logit() -> None:
    """The threshold that parts them."""
    tokens = (((0, 4), -2.0), ((5, 9), 1.6), ((10, 14), 0.4))
    point = replace(made("a", "en", 0.5, 0.0, False), lacking=((5, 9),), tokens=tokens)

    assert 0.4 <= token_threshold([point]) < 1.6


def test_what_was_read_is_kept(tmp_path: Path) -> None:
    """The second time nothing is read again."""
    path, points = tmp_path / "p.json", drawn(3)

    first = kept(path, lambda: points)
    second = kept(path, lambda: pytest.fail("read again"))

    assert [p.margin for p in first] == [p.margin for p in second] == [p.margin for p in points]
