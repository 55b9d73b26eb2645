"""The context speaks of what the question asks about (ADR Gate 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.grounding.similarity import missing_terms, query_terms

__all__ = ["QueryTerms"]


@dataclass(frozen=True, slots=True)
class QueryTerms(Observer):
    """The key terms of the question stand in the context, in any form or language we know them in."""

    name: ClassVar[str] = "QueryTerms"
    stage: ClassVar = "query"
    gates: ClassVar = {Reason.CONTEXT_MISSING_QUERY_TERMS: Gate.SOFT}

    min_share: Annotated[float, Field(ge=0, le=1)] = 0.34

    def run(self, evidence: Evidence) -> Finding:
        """Flag a context that has too few of the question's terms."""
        if not evidence.passages:
            return self.skipped("no passages")
        if not evidence.need.source_required:
            return self.skipped("the question asks for no facts and no sources")
        terms = query_terms(evidence.query, evidence.query_language)
        if not terms:
            return self.skipped("the question has no key terms")
        missing = missing_terms(evidence.query, terms, evidence.library, enough=self.min_share)
        if 1 - len(missing) / len(terms) < self.min_share:
            return self.flagged(Reason.CONTEXT_MISSING_QUERY_TERMS, f"not in the context: {', '.join(missing[:8])}")
        return self.passed()
