"""The figures of the answer stand in the sources, by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["NumericUnitsBasic"]


@dataclass(frozen=True, slots=True)
class NumericUnitsBasic(Observer):
    """Every number, date, percentage and amount of the answer stands in a source, compared by value and unit."""

    name: ClassVar[str] = "NumericUnitsBasic"
    gates: ClassVar = {Reason.NUMBER_NOT_IN_SOURCES: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag figures that no passage, title or timestamp states."""
        if not evidence.passages:
            return self.skipped("no passages")
        figures = evidence.claim_quantities
        if not figures:
            return self.skipped("no figures in the claims")
        unknown = [q for q in figures if not evidence.states(q)]
        if not unknown:
            return self.passed()
        text = evidence.draft
        return self.flagged(
            Reason.NUMBER_NOT_IN_SOURCES,
            f"in no source: {', '.join(text.slice(q.first, q.last) for q in unknown[:8])}",
            [(text.starts[q.first], text.ends[q.last - 1]) for q in unknown],
        )
