"""The no-source policy: a question of fact needs a passage that is close enough (ADR Gate 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.apart import told_apart
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["SourceRequired"]


@dataclass(frozen=True, slots=True)
class SourceRequired(Observer):
    """A question that needs a source has one, and it is close enough to the question."""

    name: ClassVar[str] = "SourceRequired"
    stage: ClassVar = "query"
    gates: ClassVar = {
        Reason.SOURCE_REQUIRED_NO_CONTEXT: Gate.HARD,
        Reason.SOURCE_REQUIRED_LOW_SIMILARITY: Gate.HARD,
        Reason.LOW_CONTEXT_SIMILARITY: Gate.HARD,
    }

    min_similarity_for_factual: Annotated[float, Field(ge=0, le=1)] = 0.45
    min_similarity_for_source_required: Annotated[float, Field(ge=0, le=1)] = 0.50

    def run(self, evidence: Evidence) -> Finding:
        """Flag missing context, or a best similarity below the threshold; equal passes."""
        need = evidence.need
        if not need.source_required:
            return self.skipped("the question asks for no facts and no sources")
        best = evidence.max_similarity
        if best is None:
            return self.flagged(
                Reason.SOURCE_REQUIRED_NO_CONTEXT, "the question needs a source and no passage was given"
            )
        if need.asks_sources:
            reason, least = Reason.SOURCE_REQUIRED_LOW_SIMILARITY, self.min_similarity_for_source_required
        else:
            reason, least = Reason.LOW_CONTEXT_SIMILARITY, self.min_similarity_for_factual
        if best < least:
            below, threshold = told_apart(best, least)
            return self.flagged(reason, f"best similarity ({below}) below threshold ({threshold})")
        return self.passed(f"best similarity {best:.2f}, threshold {least:.2f}")
