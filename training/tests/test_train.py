"""Losses are what they say, and a run that is cut ends like one that is not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from training.batches import TextEncoder, bundled, stream
from training.encoder import GroundingModel
from training.examples import NOT_SUPPORTED, SUPPORTED, Example
from training.train import Settings, Trainer, claim_loss, load_model, rate_at, token_loss


def examples() -> list[Example]:
    return [
        Example(f"{n}", "d", "en", f"Ann has {n} cats.", (f"Ann has {n + n % 2} cats.",),
                NOT_SUPPORTED if n % 2 else SUPPORTED, ((8, 9),) if n % 2 else (), f"{n}")
        for n in range(8)
    ]  # fmt: skip


def trainer(
    model: GroundingModel, table: torch.Tensor, tokenizer: Tokenizer, folder: Path, workers: int = 1
) -> Trainer:
    torch.manual_seed(5)
    encoder = TextEncoder(tokenizer)
    batches = stream(bundled(examples(), encoder, {}), {"d": 8}, encoder, 3, 128, 2)
    return Trainer(model, table, batches, Settings(steps=6, rate=1e-3, workers=workers), folder)


def test_not_supported_counts_both_ways_of_lacking_support() -> None:
    """The loss is minus the log of the two probabilities together."""
    logits = torch.tensor([[2.0, 1.0, 0.0]])
    chances = logits.softmax(-1)[0]
    one = torch.ones(1)

    assert claim_loss(logits, torch.tensor([3]), one, 1.0).item() == pytest.approx(-math.log(chances[1] + chances[2]))
    assert claim_loss(logits, torch.tensor([1]), one, 1.0).item() == pytest.approx(-math.log(chances[1]))


def test_token_loss_passes_over_unknown_tokens() -> None:
    """Tokens without a label change nothing."""
    logits = torch.tensor([[0.3, -0.2, 9.0]])

    with_unknown = token_loss(logits, torch.tensor([[1, 0, -1]]), 2)

    assert with_unknown == token_loss(logits[:, :2], torch.tensor([[1, 0]]), 2)
    assert token_loss(logits, torch.full((1, 3), -1), 0).item() == 0.0


def test_the_rate_rises_and_falls_to_the_last_rate() -> None:
    """The peak stands at the end of the rise."""
    settings = Settings(steps=100, rate=1.0, warm_up=0.1, last_rate=0.2)

    assert rate_at(0.05, settings) == pytest.approx(0.5)
    assert rate_at(0.1, settings) == pytest.approx(1.0)
    assert rate_at(1.0, settings) == pytest.approx(0.2)


def test_a_stage_needs_an_end() -> None:
    """Neither steps nor minutes is a mistake."""
    with pytest.raises(ValueError, match="steps or of minutes"):
        Settings()


def test_a_run_that_is_cut_ends_like_one_that_is_not(
    model: GroundingModel, table: torch.Tensor, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Weights after stop and resume equal those of a run in one piece."""
    state = {name: value.clone() for name, value in model.state_dict().items()}
    trainer(model, table, tokenizer, tmp_path / "whole").run()
    expected = {name: value.clone() for name, value in model.state_dict().items()}

    model.load_state_dict(state)
    first = trainer(model, table, tokenizer, tmp_path / "cut")
    first.model.train()
    for _ in range(3):
        first.step()
    first.save()
    second = trainer(model, table, tokenizer, tmp_path / "cut")
    second.resume()
    second.run()

    assert second.progress.step == 6
    final = load_model(tmp_path / "cut" / "last.pt").state_dict()
    assert all(torch.allclose(final[name], value, atol=1e-6) for name, value in expected.items())


def test_parts_side_by_side_give_the_gradients_of_the_whole(
    model: GroundingModel, table: torch.Tensor, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Two workers make the same step as one."""
    model.dropout.p = 0.0
    state = {name: value.clone() for name, value in model.state_dict().items()}
    results = []
    for workers in (1, 2):
        model.load_state_dict(state)
        run = trainer(model, table, tokenizer, tmp_path, workers)
        results.append((run.step(), [value.grad.clone() for value in model.parameters() if value.grad is not None]))

    assert results[0][0] == pytest.approx(results[1][0], abs=1e-5)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(results[0][1], results[1][1], strict=True))
