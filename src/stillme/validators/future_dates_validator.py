"""No date in the future that no source states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.figures.quantity import Quantity

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["FutureDatesValidator"]

MOST_NAMED: Final = 6


@dataclass(frozen=True, slots=True)
class FutureDatesValidator(Observer):
    """A date after the request's `as_of` stands in a source; a date without a year is not judged."""

    name: ClassVar[str] = "FutureDatesValidator"
    gates: ClassVar = {Reason.UNSUPPORTED_FUTURE_DATE: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Flag future dates that no source states."""
        dates = [q for q in evidence.claim_quantities if q.dimension == "date" and q.year is not None]
        if not dates:
            return self.skipped("no dated claims")
        future = [q for q in dates if _after(q, evidence.as_of)]
        unknown = [q for q in future if not evidence.states(q)]
        if not unknown:
            return self.passed("every future date stands in a source" if future else "no future dates")
        text = evidence.draft
        named = ", ".join(text.slice(q.first, q.last) for q in unknown[:MOST_NAMED])
        return self.flagged(
            Reason.UNSUPPORTED_FUTURE_DATE,
            f"after {evidence.as_of.date().isoformat()} and in no source: {named}",
            [text.span(q.first, q.last) for q in unknown],
        )


def _after(q: Quantity, as_of: datetime) -> bool:
    """Whether the whole of a date lies after a point in time: a year, a month or a day that has not begun yet."""
    if q.year is None:
        return False
    now = (as_of.year, as_of.month, as_of.day)
    if q.month is None:
        return q.year > now[0]
    if q.day is None:
        return (q.year, q.month) > now[:2]
    return (q.year, q.month, q.day) > now
