"""Make a shallower model that follows a deeper one.

    python -m training.distil --teacher FILE --layers 0 2 4 6 8 10 --out FILE

writes a model with only those layers, to start a run from: `training.train --start FILE --teacher FILE`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training.encoder import GroundingModel


def shallower(model: GroundingModel, layers: Sequence[int]) -> GroundingModel:
    """A model with only the named layers of `model`, in that order, and all else as it is."""
    shape = replace(model.encoder.shape, layers=len(layers))
    place_of = {origin: place for place, origin in enumerate(layers)}
    state = {}
    for name, value in model.state_dict().items():
        if not name.startswith("encoder.layers."):
            state[name] = value
            continue
        origin, rest = name.removeprefix("encoder.layers.").split(".", 1)
        if int(origin) in place_of:
            state[f"encoder.layers.{place_of[int(origin)]}.{rest}"] = value
    student = GroundingModel(shape)
    student.load_state_dict(state)
    return student


def following_loss(student: tuple[Tensor, Tensor], teacher: tuple[Tensor, Tensor], in_claim: Tensor) -> Tensor:
    """How far the student's probabilities are from the teacher's, over claims and over claim tokens."""
    of_claims = functional.kl_div(
        functional.log_softmax(student[0], dim=-1),
        functional.log_softmax(teacher[0], dim=-1),
        log_target=True,
        reduction="batchmean",
    )
    of_tokens = functional.binary_cross_entropy_with_logits(student[1][in_claim], torch.sigmoid(teacher[1][in_claim]))
    return of_claims + 0.5 * of_tokens


def main() -> None:
    """Write the shallower model as a checkpoint to start from."""
    from training.train import load_model

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--layers", type=int, nargs="+", required=True, help="layers of the teacher to keep")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    student = shallower(load_model(options.teacher), options.layers)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"shape": student.encoder.shape.as_dict(), "model": student.state_dict()}, options.out)


if __name__ == "__main__":
    main()
