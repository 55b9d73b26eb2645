"""Claims that say more, or say it more surely, than the source does."""

from __future__ import annotations

from typing import Final

from stillme.grounding.objections.base import Alignment, Objection

__all__ = ["STRENGTH"]

DOUBT: Final = frozenset(("unsure", "modal"))
NARROWING: Final = frozenset(("excluding", "exception"))


def _whole(alignment: Alignment, kind: str, instead: str = "") -> list[Objection]:
    """An objection to the claim as a whole."""
    return [Objection(kind, alignment.claim.first, alignment.claim.last, instead)]


def all_for_some(alignment: Alignment) -> list[Objection]:
    """The claim says all where the source says some."""
    claim, best = alignment.claim.cues, alignment.best.cues
    return _whole(alignment, "quantifier") if "universal" in claim - best and "partial" in best - claim else []


def sure_for_unsure(alignment: Alignment) -> list[Objection]:
    """The claim says outright what the source says with a doubt."""
    claim, best = alignment.claim.cues, alignment.best.cues
    doubtful = "unsure" in best or ("modal" in best and "sure" in claim - best)
    return _whole(alignment, "certainty") if doubtful and claim.isdisjoint(DOUBT) else []


def all_for_most(alignment: Alignment) -> list[Objection]:
    """The claim says all where the source names an exception."""
    claim, best = alignment.claim.cues, alignment.best.cues
    if "universal" not in claim - best or alignment.claim.negations:
        return []
    narrowed = "only" in best - claim or not best.isdisjoint(NARROWING)
    return _whole(alignment, "quantifier") if narrowed else []


def other_period(alignment: Alignment) -> list[Objection]:
    """The claim speaks of a month where the source speaks of a year."""
    mine, theirs = alignment.claim.periods, alignment.best.periods
    differ = mine and theirs and mine.isdisjoint(theirs)
    return _whole(alignment, "figure", ", ".join(sorted(theirs))) if differ else []


def only_for_also(alignment: Alignment) -> list[Objection]:
    """The claim says only where the source does not."""
    claim, best = alignment.claim.cues, alignment.best.cues
    return _whole(alignment, "exclusivity") if "only" in claim - best and "exception" not in best else []


STRENGTH: Final = (all_for_some, sure_for_unsure, all_for_most, other_period, only_for_also)
