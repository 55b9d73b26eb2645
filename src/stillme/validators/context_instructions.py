"""No passage tries to instruct the model or the verifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.conduct.instructions import find_instruction
from stillme.errors import shown
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer, Stage

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["ContextInstructions"]

NAMED_SOURCES: Final = 5


@dataclass(frozen=True, slots=True)
class ContextInstructions(Observer):
    """No passage speaks to the model that reads it; one that does is reported and changes nothing else."""

    name: ClassVar[str] = "ContextInstructions"
    stage: ClassVar[Stage] = "query"
    gates: ClassVar = {Reason.CONTEXT_CONTAINS_INSTRUCTIONS: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag passages that try to steer, by their source ids."""
        if not evidence.passages:
            return self.skipped("no passages")
        steering = [p for p in evidence.passages if find_instruction(p.text) or find_instruction(p.heading)]
        if not steering:
            return self.passed()
        sources = list(dict.fromkeys(shown(p.source_id) for p in steering))
        named = ", ".join(sources[:NAMED_SOURCES])
        more = f" and {len(sources) - NAMED_SOURCES} more" if len(sources) > NAMED_SOURCES else ""
        detail = f"{len(steering)} of {len(evidence.passages)} passages try to instruct the model: {named}{more}"
        return self.flagged(Reason.CONTEXT_CONTAINS_INSTRUCTIONS, detail)
