"""The mean of checkpoints is theirs, weight by weight, and loads as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from training.average import averaged
from training.encoder import GroundingModel, Shape
from training.train import load_model

SMALL = Shape(hidden=24, layers=1, heads=2, feed_forward=32, positions=16)


def state(seed: int, shape: Shape = SMALL) -> dict[str, object]:
    torch.manual_seed(seed)
    return {"shape": shape.as_dict(), "model": GroundingModel(shape).state_dict(), "optimiser": {"big": 1}}


def test_each_weight_is_the_weighed_mean(tmp_path: Path) -> None:
    """And the result is a checkpoint that can be started from and exported."""
    one, two = state(1), state(2)

    made = averaged([one, two], [0.25, 0.75])

    for name, value in made["model"].items():
        torch.testing.assert_close(value, 0.25 * one["model"][name] + 0.75 * two["model"][name])  # type: ignore[index]
    assert "optimiser" not in made
    torch.save(made, tmp_path / "mean.pt")
    assert load_model(tmp_path / "mean.pt").encoder.shape == SMALL


@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.6], [0.5, 0.25, 0.25]])
def test_shares_that_do_not_fit_are_refused(shares: list[float]) -> None:
    """One for each, one in all."""
    with pytest.raises(ValueError, match="one share for each of the 2 checkpoints"):
        averaged([state(1), state(2)], shares)


def test_other_shapes_are_refused() -> None:
    """Six layers and twelve have no mean."""
    other = Shape(hidden=24, layers=2, heads=2, feed_forward=32, positions=16)

    with pytest.raises(ValueError, match="different shapes"):
        averaged([state(1), state(2, other)], [0.5, 0.5])
