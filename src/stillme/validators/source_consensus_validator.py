"""The sources agree among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.questions.conflicts import PassageConflict

__all__ = ["SourceConsensusValidator"]


@dataclass(frozen=True, slots=True)
class SourceConsensusValidator(Observer):
    """No two sources disagree on what the question or the answer is about."""

    name: ClassVar[str] = "SourceConsensusValidator"
    gates: ClassVar = {Reason.CONTEXT_CONFLICT: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag disagreements between sources, naming who says what."""
        if len({p.source_id for p in evidence.passages}) < 2:
            return self.skipped("fewer than two sources")
        conflicts = evidence.relevant_conflicts
        if not conflicts:
            return self.passed()
        return self.flagged(Reason.CONTEXT_CONFLICT, "; ".join(_describe(evidence, c) for c in conflicts[:4]))


def _describe(evidence: Evidence, conflict: PassageConflict) -> str:
    titles = [evidence.passages[i].title for i in conflict.passages]
    if all(conflict.values):
        return f"{titles[0]} says {conflict.values[0]!r}, {titles[1]} says {conflict.values[1]!r}"
    return f"{titles[0]} and {titles[1]} disagree on {conflict.about!r}"
