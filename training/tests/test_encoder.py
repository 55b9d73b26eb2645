"""A claim sees its window and itself, never another claim, another group or padding."""

from __future__ import annotations

import torch

from training.batches import Batch, Claim, Group, collate
from training.encoder import Embedder, Encoder, GroundingModel, Shape

WINDOW = tuple(range(10, 30))
FIRST, SECOND = Claim("", (5, 6, 7)), Claim("", (8, 9, 11, 12))


def scores(model: GroundingModel, table: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        return model(  # type: ignore[no-any-return]
            table[batch.ids], batch.positions, batch.segments, batch.groups, batch.claim_tokens, batch.claim_starts
        )


def test_scores_do_not_depend_on_company(model: GroundingModel, table: torch.Tensor) -> None:
    """A claim alone scores as it does beside other claims, groups, rows and padding."""
    alone = scores(model, table, collate([[Group(WINDOW, (SECOND,))]]))
    crowd = [[Group(WINDOW[:7], (FIRST,)), Group(WINDOW, (FIRST, SECOND))], [Group(WINDOW[3:], (SECOND,) * 9)]]
    beside = scores(model, table, collate(crowd))

    assert torch.allclose(alone[0][0], beside[0][2], atol=1e-5)
    assert torch.allclose(alone[1][0, :6], beside[1][0, 10:16], atol=1e-5)


def test_the_window_matters(model: GroundingModel, table: torch.Tensor) -> None:
    """Another window gives another score."""
    batch = collate([[Group(WINDOW, (FIRST,)), Group(WINDOW[::-1], (FIRST,))]])

    claims, _ = scores(model, table, batch)

    assert not torch.allclose(claims[0], claims[1], atol=1e-4)


def test_an_embedding_does_not_depend_on_padding() -> None:
    """Unit length, and the same alone and beside a longer text."""
    torch.manual_seed(3)
    embedder = Embedder(Encoder(Shape(hidden=24, layers=2, heads=2, feed_forward=32))).eval()
    texts = torch.randn(2, 9, 24)
    mask = torch.ones(2, 9)
    mask[0, 5:] = 0

    with torch.no_grad():
        together, alone = embedder(texts, mask), embedder(texts[:1, :5], mask[:1, :5])

    assert torch.allclose(together[0], alone[0], atol=1e-5)
    assert torch.allclose(together.norm(dim=1), torch.ones(2), atol=1e-5)
