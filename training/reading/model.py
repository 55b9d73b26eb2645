"""The reader, in plain torch: windows and claims are read apart, then the claims are read beside the states of their window.

The lower layers read a window, and a claim, each by itself. The upper layers read only the claims: each token looks at its own claim
and at what the lower layers made of the window. So a window is read once however many claims come, and can be kept.
What matches (`stillme.models.matches`) is told in two ways: marks on the tokens of the claim, and what each head of each upper layer
adds for a pair of tokens that are the same, follow or precede the same, have like states, or of which one bears a mark.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from stillme.models.matches import CLAIM_MARKS, WINDOW_MARKS
from training.encoder import HIDDEN_FROM, Apart, Encoder, Layer, Shape

LOWER = 6
# What may hold between a token of a claim and one of its window, by place.
SAME, FOLLOWS, PRECEDES, LIKE = range(4)
MARKS = 4
PAIRS = MARKS + WINDOW_MARKS
PAD, LAST_MARK = 1, 3


@dataclass(slots=True)
class Rows:
    """`b` windows of `w` tokens, each with the `x` tokens of all its claims one after the other; padded, and folded for comparing."""

    window_states: Tensor
    window_ids: Tensor
    states: Tensor
    ids: Tensor
    owners: Tensor
    """For each token the number of its claim in its row; -1 for padding."""
    marks: Tensor
    window_marks: Tensor
    """For each claim (b c m w)."""
    is_question: Tensor
    """For each claim (b c)."""
    places: Tensor
    """Where the tokens of each claim stand in its row (b c t), the first one first; -1 for padding."""


class ReadingLayer(Layer):
    """A layer of the claims alone, which also looks at the window."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.pair = nn.Parameter(torch.zeros(shape.heads, PAIRS))

    def read(self, claims: Tensor, window: Tensor, pairs: Tensor, unseen: Tensor, apart: Apart) -> Tensor:
        """`claims` (b x d) after each looked at `window` (b w d) and at itself; `pairs` is b p x*w, `unseen` b 1 1 w."""
        b, x, d = claims.shape
        h, w = self.heads, window.shape[1]
        e = d // h
        asked, own_keys, own_values = self.q(claims) * e**-0.5, self.k(claims), self.v(claims)
        keys = self.k(window).view(b, w, h, e).permute(0, 2, 3, 1)
        values = self.v(window).view(b, w, h, e).transpose(1, 2)
        bias = (self.pair.to(pairs.dtype) @ pairs).view(b, h, x, w) + unseen
        beside = asked.view(b, x, h, e).transpose(1, 2).to(pairs.dtype) @ keys.to(pairs.dtype) + bias
        within = apart.split(asked, h).to(pairs.dtype) @ apart.split(own_keys, h).transpose(-1, -2).to(pairs.dtype)
        looks = torch.cat([beside, apart.joined(within + apart.hidden.to(pairs.dtype))], -1).softmax(-1)
        mixed = (looks[..., :w] @ values.to(looks.dtype)).transpose(1, 2).reshape(b, x, d)
        own = apart.again(looks[..., w:]) @ apart.split(own_values, h).to(looks.dtype)
        claims = self.aln(claims + self.ao(mixed + apart.joined(own).transpose(1, 2).reshape(b, x, d)))
        return self.oln(claims + self.fo(functional.gelu(self.fi(claims))))


class Reader(nn.Module):
    """Lower states of windows and claims to three logits a claim, three a question and one a claim token (high = lacks support)."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.lower = Encoder(Shape(**{**shape.as_dict(), "layers": LOWER}))  # type: ignore[arg-type]
        self.upper = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.layers - LOWER))
        self.of_kind = nn.Embedding(2, shape.hidden)
        self.claim_marks = nn.Linear(CLAIM_MARKS, shape.hidden, bias=False)
        self.pooler = nn.Linear(3 * shape.hidden, shape.hidden)
        self.claim_head = nn.Linear(shape.hidden, 3)
        self.question_head = nn.Linear(shape.hidden, 3)
        self.token_head = nn.Linear(shape.hidden, 1)
        self.like_mean = nn.Parameter(torch.tensor([0.0]), requires_grad=False)
        self.like_scale = nn.Parameter(torch.tensor([1.0]), requires_grad=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of claims (b c 3), of questions (b c 3) and of tokens (b x)."""
        kinds = rows.is_question.long().gather(1, rows.owners.clamp(min=0))
        claims = rows.states + self.claim_marks(rows.marks) + self.of_kind(kinds)
        pairs = self.pairs(rows).flatten(2).to(rows.states.dtype)
        unseen = torch.where(rows.window_ids == PAD, HIDDEN_FROM, 0.0)[:, None, None, :].to(rows.states.dtype)
        apart = Apart(rows.places, rows.owners)
        claims = self.dropout(claims).to(rows.states.dtype)
        for layer in self.upper:
            claims = layer.read(claims, rows.window_states, pairs, unseen, apart)
        return self.judged(claims.float(), rows.places)

    def finished(self, rows: Rows, read: int, texts: Tensor) -> Rows:
        """The rows after the lower layers from number `read` on, where their states are those before it.

        `texts` says for each row which row holds its claims first: what several windows share is read once.
        """
        if read == LOWER:
            return rows
        first = texts.unique()
        window, claims = rows.window_states, rows.states[first]
        unseen = torch.where(rows.window_ids == PAD, HIDDEN_FROM, 0.0)[:, None, None, :].to(window.dtype)
        apart = Apart(rows.places[first], rows.owners[first])
        for layer in self.lower.layers[read:]:
            window, claims = layer(window, unseen), layer.apart(claims, apart)
        return replace(rows, window_states=window, states=claims[torch.searchsorted(first, texts)])

    def judged(self, claims: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the heads say of the last states."""
        b, c, t = places.shape
        at = places.clamp(min=0).view(b, c * t, 1).expand(-1, -1, claims.shape[-1])
        of_claims = claims.gather(1, at).view(b, c, t, -1)
        real = (places >= 0).unsqueeze(-1)
        highest = torch.where(real, of_claims, -30.0).amax(2)
        mean = (of_claims * real).sum(2) / real.sum(2).clamp(min=1)
        pooled = self.dropout(torch.tanh(self.pooler(torch.cat([of_claims[:, :, 0], highest, mean], -1))))
        return self.claim_head(pooled), self.question_head(pooled), self.token_head(self.dropout(claims)).squeeze(-1)

    def pairs(self, rows: Rows) -> Tensor:
        """What holds between each token of the claims and each it might see of the window (b p x w)."""
        ours, theirs = rows.ids.unsqueeze(2), rows.window_ids.unsqueeze(1)
        before, after = shifted(rows.ids, 1).unsqueeze(2), shifted(rows.ids, -1).unsqueeze(2)
        same = (ours == theirs) & (ours > LAST_MARK)
        follows = (before == shifted(rows.window_ids, 1).unsqueeze(1)) & (before > LAST_MARK)
        precedes = (after == shifted(rows.window_ids, -1).unsqueeze(1)) & (after > LAST_MARK)
        like = (unit(rows.states) @ unit(rows.window_states).transpose(1, 2) - self.like_mean) * self.like_scale
        marked = rows.window_marks.gather(
            1, rows.owners.clamp(min=0)[:, :, None, None].expand(-1, -1, *rows.window_marks.shape[2:])
        )  # b x m w
        return torch.cat(
            [torch.stack([same.float(), follows.float(), precedes.float(), like], 1), marked.transpose(1, 2)], 1
        )


def shifted(ids: Tensor, by: int) -> Tensor:
    """The tokens before (1) or after (-1) each token."""
    return (
        functional.pad(ids, (1, 0), value=PAD)[..., :-1] if by > 0 else functional.pad(ids, (0, 1), value=PAD)[..., 1:]
    )


def unit(states: Tensor) -> Tensor:
    """The direction of each state."""
    return functional.normalize(states.float(), dim=-1)
