"""Claims that say more, or say it more surely, than the source does."""

from __future__ import annotations

from typing import Final

from stillme.grounding.objections.base import Alignment, Objection

__all__ = ["STRENGTH"]

DOUBT: Final = frozenset(("unsure", "modal"))
NARROWING: Final = frozenset(("excluding", "exception"))


def _whole(found: Alignment, kind: str, instead: str = "") -> list[Objection]:
    """An objection to the claim as a whole."""
    return [Objection(kind, found.claim.first, found.claim.last, instead)]


def all_for_some(found: Alignment) -> list[Objection]:
    """The claim says all where the source says some."""
    claim, best = found.claim.cues, found.best.cues
    return _whole(found, "quantifier") if "universal" in claim - best and "partial" in best - claim else []


def sure_for_unsure(found: Alignment) -> list[Objection]:
    """The claim says outright what the source says with a doubt."""
    claim, best = found.claim.cues, found.best.cues
    doubtful = "unsure" in best or ("modal" in best and "sure" in claim - best)
    return _whole(found, "certainty") if doubtful and claim.isdisjoint(DOUBT) else []


def all_for_most(found: Alignment) -> list[Objection]:
    """The claim says all where the source names an exception."""
    claim, best = found.claim.cues, found.best.cues
    if "universal" not in claim - best or found.claim.negations:
        return []
    narrowed = "only" in best - claim or not best.isdisjoint(NARROWING)
    return _whole(found, "quantifier") if narrowed else []


def other_period(found: Alignment) -> list[Objection]:
    """The claim speaks of a month where the source speaks of a year."""
    mine, theirs = found.claim.periods, found.best.periods
    differ = mine and theirs and mine.isdisjoint(theirs)
    return _whole(found, "figure", ", ".join(sorted(theirs))) if differ else []


def only_for_also(found: Alignment) -> list[Objection]:
    """The claim says only where the source does not."""
    claim, best = found.claim.cues, found.best.cues
    return _whole(found, "exclusivity") if "only" in claim - best and "exception" not in best else []


STRENGTH: Final = (all_for_some, sure_for_unsure, all_for_most, other_period, only_for_also)
