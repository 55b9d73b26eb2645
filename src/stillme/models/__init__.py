"""The models that ship with the package: loaded on first use, checked against their hashes, shared by threads."""

from __future__ import annotations

from stillme.models.grounding import (
    CLAIM_TOKENS,
    WINDOW_TOKENS,
    GroundingModel,
    Group,
    Scored,
    grounding_model,
    model_id,
    question_thresholds,
    thresholds,
)
from stillme.models.words import Encoded, words

__all__ = [
    "CLAIM_TOKENS", "WINDOW_TOKENS", "Encoded", "GroundingModel", "Group", "Scored", "grounding_model", "model_id",
    "question_thresholds", "thresholds", "words",
]  # fmt: skip
