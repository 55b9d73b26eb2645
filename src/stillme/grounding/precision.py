"""How often what is called supported is right, as it was measured on written claims that nothing was trained on.

The score of a claim says how it compares with other claims; it is no promise. What a reader may rely on is how many claims of the
same standing were right in documents that come in two worlds (`training/fit_precision.py`), and the confidence band says that.
"""

from __future__ import annotations

from functools import cache

from stillme.grounding.grounder import Judgement
from stillme.models.bundle import manifest

__all__ = ["measured_precision", "standing"]


def measured_precision(judged: Judgement) -> float:
    """The share of claims like this one that were right; of a judge or a grounder of the user's own, its score."""
    if not judged.supported or judged.decided_by not in ("exact", "model"):
        return judged.score
    return _table()[standing(judged)]


def standing(judged: Judgement) -> str:
    """What a supported claim stands on: its very words, all or some of them, or the model by tenths of its score."""
    if judged.decided_by == "model":
        return f"model {int(judged.score * 10) / 10}"
    if judged.verbatim:
        return "verbatim"
    if judged.in_order:
        return "in order"
    return "whole" if judged.complete else "partial"


@cache
def _table() -> dict[str, float]:
    found: dict[str, float] = manifest()["precision"]["right"]
    return found
