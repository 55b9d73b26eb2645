"""The generator was sure enough (ADR Gate 3), and the answer does not sound surer than its support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.apart import told_apart
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.evidence.reading import cues

__all__ = ["ConfidenceValidator"]


@dataclass(frozen=True, slots=True)
class ConfidenceValidator(Observer):
    """The generation confidence is high enough, and weakly supported claims are worded as uncertain."""

    name: ClassVar[str] = "ConfidenceValidator"
    gates: ClassVar = {Reason.LOW_GENERATION_CONFIDENCE: Gate.HARD, Reason.UNCERTAINTY_MISSING: Gate.SOFT}

    min_generation_confidence: Annotated[float, Field(ge=0, le=1)] = 0.6
    min_support: Annotated[float, Field(ge=0, le=1)] = 0.7

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Flag a given confidence below the threshold (equal passes), and weak claims worded as certain."""
        given = evidence.request.generation_confidence
        findings: list[Finding] = []
        if given is not None and given < self.min_generation_confidence:
            below, threshold = told_apart(given, self.min_generation_confidence)
            detail = f"generation confidence ({below}) below threshold ({threshold})"
            findings.append(self.flagged(Reason.LOW_GENERATION_CONFIDENCE, detail))
        weak = [
            c
            for c, j in evidence.judged
            if j.supported and j.score < self.min_support and not _hedged(evidence, c.first, c.last)
        ]
        if weak:
            detail = f"{len(weak)} claims are worded as certain with support below {self.min_support:.2f}"
            findings.append(self.flagged(Reason.UNCERTAINTY_MISSING, detail, [claim.span for claim in weak]))
        if findings:
            return findings
        if given is None:
            return (
                self.passed("Gate 3 skipped: no generation confidence was given")
                if evidence.judged
                else self.skipped("no generation confidence was given")
            )
        return self.passed(f"generation confidence {given:.2f}")


def _hedged(evidence: Evidence, first: int, last: int) -> bool:
    return "unsure" in cues().among(evidence.draft.lowers[first:last])
