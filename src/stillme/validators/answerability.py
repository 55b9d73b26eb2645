"""Whether the passages answer the question at all, before a model is asked to (ADR Gate 1, by meaning)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["Answerability"]


@dataclass(frozen=True, slots=True)
class Answerability(Observer):
    """Before there is a draft, the passages answer the question as the model reads them."""

    name: ClassVar[str] = "Answerability"
    stage: ClassVar = "query"
    gates: ClassVar = {Reason.CONTEXT_DOES_NOT_ANSWER: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag a question that the passages leave unanswered; a draft is judged by its claims instead."""
        if evidence.has_draft:
            return self.skipped("there is a draft: its claims are judged")
        read = evidence.question_reading
        if read is None:
            return self.skipped("nothing to read: no model, no passage, or a question that asks for no facts")
        if read.is_unanswered:
            return self.flagged(
                Reason.CONTEXT_DOES_NOT_ANSWER,
                f"model: the passages do not answer the question ({read.unanswered:.2f})",
            )
        return self.passed()
