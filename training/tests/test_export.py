"""The exported model says what the checkpoint says, whatever else is in the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from training.encoder import GroundingModel
from training.evaluate import onnx_forward
from training.export import export, quantise
from training.scoring import torch_forward


def test_quantise_is_exact_to_half_a_step_of_each_channel() -> None:
    """A channel of small weights keeps its own fine scale."""
    weights = np.array([[100.0, -50.0], [0.01, 0.005]], np.float32)

    values, scales = quantise(weights, 0)

    assert np.all(np.abs(values * scales - weights) <= scales / 2 + 1e-9)
    assert scales[1, 0] < 1e-3


@pytest.fixture
def exported(model: GroundingModel, tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    export(model, path)
    return path


def arrays(rows: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chance = np.random.default_rng(1)
    ids = chance.integers(4, 60, (rows, length))
    return ids, np.zeros_like(ids), np.ones((rows, length), np.float32)


@pytest.mark.filterwarnings("ignore")
def test_export_agrees_with_the_checkpoint(model: GroundingModel, exported: Path) -> None:
    """Logits differ by no more than int8 weights explain."""
    given = arrays(3, 17)

    theirs = torch_forward(model)(*given)
    ours = onnx_forward(exported, 1)(*given)

    assert np.allclose(theirs[0], ours[0], atol=0.05)
    assert np.allclose(theirs[1], ours[1], atol=0.1)


@pytest.mark.filterwarnings("ignore")
def test_scores_do_not_depend_on_the_batch(exported: Path) -> None:
    """A row alone scores as it does beside others and behind padding."""
    forward = onnx_forward(exported, 1)
    ids, kinds, mask = arrays(6, 30)
    ids[0, 12:], mask[0, 12:] = 1, 0

    alone = forward(ids[:1, :12], kinds[:1, :12], mask[:1, :12])
    beside = forward(ids, kinds, mask)

    assert np.allclose(alone[0][0], beside[0][0], atol=1e-5)
    assert np.allclose(alone[1][0], beside[1][0, :12], atol=1e-5)
