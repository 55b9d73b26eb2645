"""The names of the answer stand in the sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["RetrievalCoverage"]


@dataclass(frozen=True, slots=True)
class RetrievalCoverage(Observer):
    """Every name in the answer's claims stands in a source, its title or its address."""

    name: ClassVar[str] = "RetrievalCoverage"
    gates: ClassVar = {Reason.ENTITY_NOT_IN_SOURCES: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag names that no source has."""
        if not evidence.passages:
            return self.skipped("no passages")
        names = evidence.claim_names
        if not names:
            return self.skipped("no names in the claims")
        readings = evidence.source_readings
        unknown = [name for name in names if not any(r.holds_name(name) for r in readings)]
        if not unknown:
            return self.passed()
        text = evidence.draft
        named = ", ".join(dict.fromkeys(text.slice(n.first, n.last) for n in unknown))
        return self.flagged(
            Reason.ENTITY_NOT_IN_SOURCES,
            f"in no source: {named}; more documents may need to be retrieved",
            [(text.starts[n.first], text.ends[n.last - 1]) for n in unknown],
        )
