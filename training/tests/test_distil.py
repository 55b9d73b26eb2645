"""A shallower model keeps the layers it was told to, and following means agreeing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from training.distil import following_loss, shallower
from training.encoder import GroundingModel
from training.train import Settings, Trainer

from .test_train import MIX, items


def test_shallower_keeps_the_named_layers(model: GroundingModel) -> None:
    """The one layer left is the second of the teacher; heads and embeddings are the teacher's."""
    student = shallower(model, [1])

    assert len(student.encoder.layers) == 1
    assert torch.equal(
        student.state_dict()["encoder.layers.0.q.weight"], model.state_dict()["encoder.layers.1.q.weight"]
    )
    assert torch.equal(student.claim_head.weight, model.claim_head.weight)


def test_all_layers_are_the_same_model(model: GroundingModel) -> None:
    """Nothing is lost when nothing is dropped."""
    ids = torch.arange(4, 14).unsqueeze(0)
    given = (ids, torch.zeros_like(ids), torch.ones(1, 10))

    assert torch.allclose(shallower(model, [0, 1]).eval()(*given)[0], model(*given)[0])


def test_agreement_is_the_least_loss() -> None:
    """The loss of a student that says what the teacher says is lower than that of any other."""
    teacher = (torch.tensor([[2.0, 0.0, -1.0]]), torch.tensor([[0.5, -2.0, 9.0]]))
    in_claim = torch.tensor([[True, True, False]])

    same = following_loss(teacher, teacher, in_claim)
    other = following_loss((torch.tensor([[0.0, 2.0, -1.0]]), teacher[1]), teacher, in_claim)
    beyond = following_loss((teacher[0], torch.tensor([[0.5, -2.0, -9.0]])), teacher, in_claim)

    assert same < other
    assert same.item() == pytest.approx(beyond.item())


def test_a_student_with_a_teacher_ends_nearer_to_it(
    model: GroundingModel, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Of two equal students, the one that had the teacher says more like it."""

    def distance(teacher: GroundingModel | None, folder: Path) -> float:
        torch.manual_seed(1)
        student = shallower(model, [0])
        settings = Settings(steps=30, minutes=0.0, rate=3e-3)
        trainer = Trainer(student, items(tokenizer), MIX, settings, folder, teacher)
        trainer.run()
        trainer.teacher = model
        batch = trainer.next_batch(0.0)
        return trainer._following(batch, student.eval()(batch.ids, batch.kinds, batch.mask)).item()

    assert distance(model, tmp_path / "with") < distance(None, tmp_path / "without")
