"""The exported model says what the checkpoint says, whatever else is in the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from training.batches import Claim, Group, collate
from training.encoder import GroundingModel
from training.evaluate import onnx_forward
from training.export import GROUNDING, TABLE, export_grounding
from training.quantise import quantise
from training.scoring import torch_forward

pytestmark = pytest.mark.filterwarnings("ignore")


def test_quantise_is_exact_to_half_a_step_of_each_channel() -> None:
    """A channel of small weights keeps its own fine scale."""
    weights = np.array([[100.0, -50.0], [0.01, 0.005]], np.float32)

    values, scales = quantise(weights, 0)

    assert np.all(np.abs(values * scales - weights) <= scales / 2 + 1e-9)
    assert scales[1, 0] < 1e-3


@pytest.fixture
def folder(model: GroundingModel, table: torch.Tensor, tmp_path: Path) -> Path:
    export_grounding(model, tmp_path / GROUNDING)
    values, scales = quantise(table.numpy(), 0)
    np.savez(tmp_path / TABLE, values=values, scales=scales[:, 0])
    return tmp_path


def group(seed: int, window: int, *claims: int) -> Group:
    chance = np.random.default_rng(seed)
    made = tuple(Claim("", tuple(chance.integers(4, 60, n).tolist())) for n in claims)
    return Group(tuple(chance.integers(4, 60, window).tolist()), made)


def test_export_agrees_with_the_checkpoint(model: GroundingModel, table: torch.Tensor, folder: Path) -> None:
    """Logits differ by no more than int8 weights explain."""
    batch = collate([[group(1, 12, 5, 7), group(2, 8, 3)], [group(3, 20, 4)]])

    theirs = torch_forward(model, table)(batch)
    ours = onnx_forward(folder, 1)(batch)

    assert np.allclose(theirs[0], ours[0], atol=0.05)
    assert np.allclose(theirs[1], ours[1], atol=0.1)


def test_scores_do_not_depend_on_packing(folder: Path) -> None:
    """A claim alone scores as it does beside other claims, groups, rows and padding."""
    forward = onnx_forward(folder, 1)
    own = group(1, 12, 5, 7)

    alone = forward(collate([[Group(own.window, own.claims[1:])]]))
    beside = forward(collate([[group(2, 30, 9), own], [group(4, 60, 11, 3)]]))

    assert np.allclose(alone[0][0], beside[0][2], atol=1e-5)
    assert np.allclose(alone[1][0, :9], beside[1][0, 18:27], atol=1e-5)
