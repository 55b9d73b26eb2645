"""A BERT-shaped encoder that reads a passage window once for several claims, in plain torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.base_weights import Array, BaseWeights
from training.quantise import quantise

SUPPORTED, CONTRADICTED, UNSUPPORTED = range(3)
HIDDEN_FROM = -30000.0


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder."""

    hidden: int = 384
    layers: int = 6
    heads: int = 12
    feed_forward: int = 1536
    positions: int = 512
    epsilon: float = 1e-12

    def as_dict(self) -> dict[str, int | float]:
        return asdict(self)


class Apart:
    """The claims of each row one by one: from b x ... to b*c t ... and back."""

    def __init__(self, places: Tensor, owners: Tensor) -> None:
        b, c, t = places.shape
        x = owners.shape[1]
        rows = torch.arange(b, device=places.device).unsqueeze(1)
        self.size = (b, c, t, x)
        # Of each place of each claim the token, counted over all rows; of each token its place.
        self.tokens = (places.clamp(min=0).view(b, c * t) + rows * x).view(-1)
        first = places[..., 0].clamp(min=0).gather(1, owners.clamp(min=0))
        within = torch.arange(x, device=places.device).unsqueeze(0) - first
        self.of_tokens = (owners.clamp(min=0) * t + within.clamp(min=0, max=t - 1) + rows * (c * t)).view(-1)
        self.hidden = torch.where(places < 0, HIDDEN_FROM, 0.0).view(b * c, 1, 1, t)

    def split(self, values: Tensor, heads: int) -> Tensor:
        """Vectors of tokens (b x d) by claim and head (b*c h t e)."""
        b, c, t, x = self.size
        d = values.shape[-1]
        return values.reshape(b * x, d)[self.tokens].view(b * c, t, heads, d // heads).transpose(1, 2)

    def joined(self, values: Tensor) -> Tensor:
        """What each token of each claim has (b*c h t n), by row (b h x n)."""
        b, c, t, x = self.size
        h, n = values.shape[1], values.shape[-1]
        return values.transpose(1, 2).reshape(b * c * t, h * n)[self.of_tokens].view(b, x, h, n).transpose(1, 2)

    def again(self, values: Tensor) -> Tensor:
        """The way back from `joined`: b h x n to b*c h t n."""
        b, c, t, x = self.size
        h, n = values.shape[1], values.shape[-1]
        return values.transpose(1, 2).reshape(b * x, h * n)[self.tokens].view(b * c, t, h, n).transpose(1, 2)


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

    def forward(self, states: Tensor, bias: Tensor, asking: Tensor | None = None) -> Tensor:
        """New vectors for `asking`, which looks at `states`; for all of `states` when not given."""
        asking = states if asking is None else asking
        mixed = functional.scaled_dot_product_attention(
            self._split(self.q(asking)), self._split(self.k(states)), self._split(self.v(states)), attn_mask=bias
        )
        mixed = mixed.transpose(1, 2).reshape(asking.shape)
        asking = self.aln(asking + self.ao(mixed))
        return cast(Tensor, self.oln(asking + self.fo(functional.gelu(self.fi(asking)))))

    def apart(self, states: Tensor, claims: Apart) -> Tensor:
        """New vectors for tokens (b x d) that look only at those of their own claim."""
        q, k, v = (claims.split(part(states), self.heads) for part in (self.q, self.k, self.v))
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=claims.hidden.to(q.dtype))
        mixed = claims.joined(mixed).transpose(1, 2).reshape(states.shape)
        states = self.aln(states + self.ao(mixed))
        return cast(Tensor, self.oln(states + self.fo(functional.gelu(self.fi(states)))))

    def _split(self, values: Tensor) -> Tensor:
        batch, length, hidden = values.shape
        return values.view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)


class Encoder(nn.Module):
    """Word embeddings to one vector a token."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.position = nn.Embedding(shape.positions, shape.hidden)
        self.kind = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))

    def forward(
        self, embeddings: Tensor, positions: Tensor, kinds: Tensor, bias: Tensor, wanted: Tensor | None = None
    ) -> Tensor:
        """The vectors of the tokens at `wanted` (places in each row), of all when not given."""
        states = self.norm(embeddings + self.position(positions) + self.kind(kinds))
        for layer in self.layers[:-1]:
            states = layer(states, bias)
        if wanted is None:
            return cast(Tensor, self.layers[-1](states, bias))
        # The last layer of a passage token would be read by nobody.
        asking = states.gather(1, wanted.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        seen = bias.gather(2, wanted[:, None, :, None].expand(-1, 1, -1, bias.shape[-1]))
        return cast(Tensor, self.layers[-1](states, seen, asking))


def block_bias(groups: Tensor, segments: Tensor) -> Tensor:
    """Zero where a token may look, very low elsewhere: its group's window and its own claim."""
    same_group = groups.unsqueeze(2) == groups.unsqueeze(1)
    visible = (segments.unsqueeze(1) == 0) | (segments.unsqueeze(2) == segments.unsqueeze(1))
    return torch.where(same_group & visible, 0.0, HIDDEN_FROM).unsqueeze(1)


class GroundingModel(nn.Module):
    """Windows with claims to three logits a claim and one logit a claim token (high = unsupported)."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = Encoder(shape)
        self.pooler = nn.Linear(shape.hidden, shape.hidden)
        self.dropout = nn.Dropout(dropout)
        self.claim_head = nn.Linear(shape.hidden, 3)
        self.token_head = nn.Linear(shape.hidden, 1)

    def forward(
        self, embeddings: Tensor, positions: Tensor, segments: Tensor, groups: Tensor,
        claim_tokens: Tensor, claim_starts: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        bias = block_bias(groups, segments)
        kinds = (segments > 0).to(torch.long)
        states = self.encoder(embeddings, positions, kinds, bias, claim_tokens)
        first = states.reshape(-1, states.shape[-1])[claim_starts]
        claims = self.claim_head(self.dropout(torch.tanh(self.pooler(first))))
        return claims, self.token_head(self.dropout(states)).squeeze(-1)


def word_table(base: BaseWeights, rows: list[int]) -> Array:
    """The word embeddings of the kept vocabulary, as their int8 form gives them back."""
    values, scales = quantise(base.tensors["emb.word"][rows], 0)
    return np.asarray(values.astype(np.float32) * scales, dtype=np.float32)


def encoder_from_base(base: BaseWeights, layers: Sequence[int] | None = None) -> Encoder:
    """An encoder with the base weights, its depth cut to `layers`."""
    kept = list(range(base.layers)) if layers is None else list(layers)
    shape = Shape(
        hidden=base.hidden, layers=len(kept), heads=base.heads,
        feed_forward=base.feed_forward, positions=base.positions, epsilon=base.epsilon,
    )  # fmt: skip
    encoder = Encoder(shape)
    values = {
        "position.weight": base.tensors["emb.pos"],
        # Both kinds start from the only type the base was trained with, and part in training.
        "kind.weight": base.tensors["emb.type"][[0, 0]],
        "norm.weight": base.tensors["emb.ln.w"],
        "norm.bias": base.tensors["emb.ln.b"],
    }
    for layer, origin in enumerate(kept):
        for part in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            values[f"layers.{layer}.{part}.weight"] = base.tensors[f"l{origin}.{part}.w"]
            values[f"layers.{layer}.{part}.bias"] = base.tensors[f"l{origin}.{part}.b"]
    encoder.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in values.items()})
    return encoder


def grounding_model_from_base(base: BaseWeights, layers: Sequence[int] | None = None) -> GroundingModel:
    """A grounding model whose encoder holds the base weights and whose heads are new."""
    encoder = encoder_from_base(base, layers)
    model = GroundingModel(encoder.shape)
    model.encoder = encoder
    for head in (model.pooler, model.claim_head, model.token_head):
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
    return model


class Embedder(nn.Module):
    """The base model as it embeds text: the unit-length mean of the token vectors."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        places = torch.cumsum(torch.ones_like(mask, dtype=torch.long), dim=1) - 1
        bias = (1.0 - mask)[:, None, None, :] * HIDDEN_FROM
        bias = bias.expand(-1, 1, mask.shape[1], -1)
        states = self.encoder(embeddings, places, torch.zeros_like(places), bias)
        weights = mask.unsqueeze(-1)
        return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1)
