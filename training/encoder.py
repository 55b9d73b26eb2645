"""A BERT-shaped encoder with a claim head and a token head, in plain torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.base_weights import BaseWeights

SUPPORTED, CONTRADICTED, UNSUPPORTED = range(3)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder."""

    vocabulary: int
    hidden: int = 384
    layers: int = 12
    heads: int = 12
    feed_forward: int = 1536
    positions: int = 512
    epsilon: float = 1e-12
    dropout: float = 0.0

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


class Layer(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.q = nn.Linear(shape.hidden, shape.hidden)
        self.k = nn.Linear(shape.hidden, shape.hidden)
        self.v = nn.Linear(shape.hidden, shape.hidden)
        self.ao = nn.Linear(shape.hidden, shape.hidden)
        self.aln = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.fi = nn.Linear(shape.hidden, shape.feed_forward)
        self.fo = nn.Linear(shape.feed_forward, shape.hidden)
        self.oln = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        batch, length, hidden = states.shape

        def split(values: Tensor) -> Tensor:
            return values.view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            split(self.q(states)), split(self.k(states)), split(self.v(states)), attn_mask=bias
        )
        mixed = mixed.transpose(1, 2).reshape(batch, length, hidden)
        states = self.aln(states + self.dropout(self.ao(mixed)))
        widened = functional.gelu(self.fi(states))
        return cast(Tensor, self.oln(states + self.dropout(self.fo(widened))))


class Encoder(nn.Module):
    """Token ids to one vector a token."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.word = nn.Embedding(shape.vocabulary, shape.hidden)
        self.position = nn.Embedding(shape.positions, shape.hidden)
        self.kind = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.dropout = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0)
        states = self.word(ids) + self.position(places) + self.kind(kinds)
        states = self.dropout(self.norm(states))
        bias = (1.0 - mask.to(states.dtype))[:, None, None, :] * -10000.0
        for layer in self.layers:
            states = layer(states, bias)
        return cast(Tensor, states)


class GroundingModel(nn.Module):
    """Claim and passage window to three claim logits and one logit a token (high = unsupported)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = Encoder(shape)
        self.pooler = nn.Linear(shape.hidden, shape.hidden)
        self.dropout = nn.Dropout(0.1)
        self.claim_head = nn.Linear(shape.hidden, 3)
        self.token_head = nn.Linear(shape.hidden, 1)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.encoder(ids, kinds, mask)
        pooled = torch.tanh(self.pooler(states[:, 0]))
        claim = self.claim_head(self.dropout(pooled))
        return claim, self.token_head(self.dropout(states)).squeeze(-1)


def encoder_from_base(base: BaseWeights, rows: list[int], layers: Sequence[int] | None = None) -> Encoder:
    """An encoder with the base weights, its vocabulary cut to `rows` and its depth to `layers`."""
    kept = list(range(base.layers)) if layers is None else list(layers)
    shape = Shape(
        vocabulary=len(rows), hidden=base.hidden, layers=len(kept), heads=base.heads,
        feed_forward=base.feed_forward, positions=base.positions, epsilon=base.epsilon,
    )  # fmt: skip
    encoder = Encoder(shape)
    kinds = base.tensors["emb.type"][[0, 0]]
    values = {
        "word.weight": base.tensors["emb.word"][rows],
        "position.weight": base.tensors["emb.pos"],
        # Both segments start from the only type the base was trained with, and part in training.
        "kind.weight": kinds,
        "norm.weight": base.tensors["emb.ln.w"],
        "norm.bias": base.tensors["emb.ln.b"],
    }
    for layer, origin in enumerate(kept):
        for part in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            values[f"layers.{layer}.{part}.weight"] = base.tensors[f"l{origin}.{part}.w"]
            values[f"layers.{layer}.{part}.bias"] = base.tensors[f"l{origin}.{part}.b"]
    encoder.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in values.items()})
    return encoder


def grounding_model_from_base(
    base: BaseWeights, rows: list[int], layers: Sequence[int] | None = None
) -> GroundingModel:
    """A grounding model whose encoder holds the base weights and whose heads are new."""
    encoder = encoder_from_base(base, rows, layers)
    model = GroundingModel(encoder.shape)
    model.encoder = encoder
    for head in (model.pooler, model.claim_head, model.token_head):
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
    return model


def mean_pooled(encoder: Encoder, ids: Tensor, mask: Tensor) -> Tensor:
    """The unit-length mean of the token vectors, as the base model embeds text."""
    states = encoder(ids, torch.zeros_like(ids), mask)
    weights = mask.to(states.dtype).unsqueeze(-1)
    return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)
