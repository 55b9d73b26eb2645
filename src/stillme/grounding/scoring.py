"""From an alignment to the probability that the passage supports the claim."""

from __future__ import annotations

import math
from typing import Final

from stillme.grounding.alignment import Alignment
from stillme.languages import compiled, is_served, load

__all__ = ["FEATURES", "features", "probability"]

FEATURES: Final = (
    "bias", "covered", "context", "core", "missing", "longest_missing", "missing_names", "missing_figures", "incompatible",
    "certainty", "exclusivity", "statements", "across_languages",
)  # fmt: skip


VERBATIM: Final = tuple(float(name in ("bias", "covered", "core")) for name in FEATURES)


def features(found: Alignment) -> tuple[float, ...]:
    """What the probability is computed from; the order is that of FEATURES."""
    if found.verbatim:
        return VERBATIM
    content = found.claim.content
    total = max(1, len(content))
    missing = set(found.missing)
    kinds = [o.kind for o in found.objections]
    longest = run = 0
    for i in content:
        run = run + 1 if i in missing else 0
        longest = max(longest, run)
    named, figured = found.claim.named, found.claim.figured
    core = [i for i in content if i not in named and i not in figured]
    languages = {found.claim.reading.language, found.source.language}
    across = len(languages) > 1 and all(map(is_served, languages))
    return (
        1.0,
        len(found.covered.intersection(content)) / total,
        len(found.context.intersection(content)) / total,
        sum(i not in missing for i in core) / len(core) if core else 1.0,
        len(missing) / total,
        min(longest, 6) / 6,
        float(min(2, kinds.count("name missing"))),
        float(min(2, kinds.count("figure missing") + kinds.count("figure elsewhere"))),
        float(bool(found.incompatible)),
        float("certainty" in kinds),
        float("exclusivity" in kinds),
        float(len(found.statements) - 1),
        float(across),
    )


@compiled
def _weights() -> tuple[tuple[float, ...], float]:
    fitted = load("scoring")
    return tuple(float(fitted["weights"][name]) for name in FEATURES), float(fitted["ceiling"])


def probability(found: Alignment) -> float:
    """The probability that the passage supports the claim, to four decimals so that it is the same on every machine."""
    weights, ceiling = _weights()
    z = sum(w * x for w, x in zip(weights, features(found), strict=True))
    return round(min(ceiling, 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))), 4)
