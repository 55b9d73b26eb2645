"""How well a reader reads: claims in two worlds, and questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.examples import CONTRADICTED, LABELS, SUPPORTED
from training.reading.batches import Pair, collated
from training.reading.material import QUESTIONS
from training.reading.model import Reader
from training.reading.states import HALF, States

AT_ONCE = 4
CLEAR_ASKED_BACK = 0.05
SUPPORTED_LABEL, CONTRADICTED_LABEL = LABELS.index(SUPPORTED), LABELS.index(CONTRADICTED)


def margins(logits: Tensor) -> Tensor:
    """The log odds of support."""
    return logits[..., 0] - torch.logsumexp(logits[..., 1:], -1)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim in two worlds: its margins and its labels."""

    lang: str
    margins: tuple[float, float]
    labels: tuple[int, int]

    @property
    def truths(self) -> list[bool]:
        return [label == SUPPORTED_LABEL for label in self.labels]

    @property
    def is_flipped(self) -> bool:
        return len(set(self.truths)) > 1

    @property
    def lead(self) -> float:
        """By how much support is likelier in the right world."""
        return (self.margins[0] - self.margins[1]) * (1 if self.truths[0] else -1)

    def is_right(self, at: float) -> bool:
        return [margin >= at for margin in self.margins] == self.truths


@torch.no_grad()
def measured(reader: Reader, documents: Sequence[Pair], states: States) -> dict[str, Any]:
    """The figures of a reader alone, over all and by language; the threshold is the best for these very claims."""
    reader.eval()
    claims: list[_Claim] = []
    questions: list[tuple[int, list[float]]] = []
    both = [(one, other) for one, other in documents if other is not None]
    for start in range(0, len(both), AT_ONCE):
        some = both[start : start + AT_ONCE]
        batch = collated([read for pair in some for read in pair], states)
        with torch.autocast("cpu", HALF):
            of_claims, of_questions, _ = reader(reader.finished(batch.rows, states.read, batch.texts))
        margin, chances = margins(of_claims.float()), functional.softmax(of_questions.float(), -1)
        for n, (one, _) in enumerate(some):
            for k, asked in enumerate(one.asked):
                labels = (int(batch.labels[2 * n, k]), int(batch.labels[2 * n + 1, k]))
                if asked.is_question:
                    questions.append((labels[0], chances[2 * n, k].tolist()))
                else:
                    claims.append(_Claim(one.lang, (float(margin[2 * n, k]), float(margin[2 * n + 1, k])), labels))
    reader.train()
    found: dict[str, Any] = {"all": _figures(claims)}
    for lang in sorted({claim.lang for claim in claims}):
        found[lang] = _figures([claim for claim in claims if claim.lang == lang])
    asked = {label for label, _ in questions}
    return found | {name: _seen(questions, n) for n, name in enumerate(QUESTIONS) if n and {0, n} <= asked}


def _figures(claims: Sequence[_Claim]) -> dict[str, float]:
    """Order, right in both worlds and balanced accuracy, in per cent."""
    flipped = [claim for claim in claims if claim.is_flipped]
    scores = np.array([margin for claim in claims for margin in claim.margins])
    truths = np.array([truth for claim in claims for truth in claim.truths])

    def balanced(at: float) -> float:
        return float(np.mean(scores[truths] >= at) + np.mean(scores[~truths] < at)) / 2

    at = max(map(float, np.quantile(scores, np.linspace(0.1, 0.9, 33))), key=balanced)
    shares = {
        "order": [claim.lead > 0 for claim in flipped],
        "contradicted": [claim.lead > 0 for claim in flipped if CONTRADICTED_LABEL in claim.labels],
        "both": [claim.is_right(at) for claim in flipped],
    }
    rounded = {name: round(100 * float(np.mean(share)), 1) for name, share in shares.items()}
    return {**rounded, "balanced": round(100 * balanced(at), 1), "at": round(at, 2), "claims": len(flipped)}


def _seen(questions: Sequence[tuple[int, list[float]]], kind: int) -> float:
    """How many questions of a kind are seen when at most one in twenty answerable ones is taken for it, in per cent."""
    clear = sorted((chances[kind] for label, chances in questions if label == 0), reverse=True)
    at = clear[int(CLEAR_ASKED_BACK * len(clear))]
    return round(100 * float(np.mean([chances[kind] > at for label, chances in questions if label == kind])), 1)
