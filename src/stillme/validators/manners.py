"""Leaves out courtesies in which the assistant speaks as a person would, where an answer stands without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stillme.validators.repairs import left_out

if TYPE_CHECKING:
    from stillme.conduct.classifiers import Suspicion
    from stillme.conduct.self_claims import SelfClaim
    from stillme.evidence import Evidence
    from stillme.validators.base import Repair

__all__ = ["without_manners"]

POLITE_KINDS: Final = frozenset({"emotion"})
"""What a courtesy may claim by its words, 'I always enjoy such questions'; a past, a body or a will of one's own is no courtesy."""


def without_manners(evidence: Evidence, claims: Sequence[SelfClaim], suspicions: Sequence[Suspicion]) -> list[Repair]:
    """The edits that leave them out, if all that is held against the draft is such courtesies; else none."""
    if not all(claim.kind in POLITE_KINDS for claim in claims):
        return []
    held: list[SelfClaim | Suspicion] = [*claims, *suspicions]
    sentences = [evidence.manners(place.first) for place in held]
    courtesies = dict.fromkeys(filter(None, sentences)) if all(sentences) else ()
    return [left_out(evidence.draft.raw, claim.start, claim.end) for claim in courtesies]
