"""The generator was sure enough (ADR Gate 3), and the answer does not sound surer than its support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.languages import is_served
from stillme.reasons import Gate, Reason
from stillme.validators.apart import told_apart
from stillme.validators.base import Finding, Observer, Repair
from stillme.validators.citation_required import end_of_words

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Judgement
from stillme.grounding.hedges import hedge
from stillme.grounding.statements import cues

__all__ = ["ConfidenceValidator"]

STOPS = " \t\n.!?…:;,|"


@dataclass(frozen=True, slots=True)
class ConfidenceValidator(Observer):
    """The generation confidence is high enough, and weakly supported claims are worded as uncertain."""

    name: ClassVar[str] = "ConfidenceValidator"
    gates: ClassVar = {Reason.LOW_GENERATION_CONFIDENCE: Gate.HARD, Reason.UNCERTAINTY_MISSING: Gate.SOFT}

    min_generation_confidence: Annotated[float, Field(ge=0, le=1)] = 0.6
    min_support: Annotated[float, Field(ge=0, le=1)] = 0.7

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Flag a given confidence below the threshold (equal passes), and weak claims worded as certain; propose their hedge."""
        given = evidence.request.generation_confidence
        findings: list[Finding] = []
        if given is not None and given < self.min_generation_confidence:
            below, threshold = told_apart(given, self.min_generation_confidence)
            detail = f"generation confidence ({below}) below threshold ({threshold})"
            findings.append(self.flagged(Reason.LOW_GENERATION_CONFIDENCE, detail))
        weak = [
            (c, j)
            for c, j in evidence.judged
            if j.supported and j.score < self.min_support and not _hedged(evidence, c)
        ]
        if weak:
            detail = f"{len(weak)} claims are worded as certain with support below {self.min_support:.2f}"
            spans, repairs = [c.span for c, _ in weak], [_hedge(evidence, c, j) for c, j in weak]
            findings.append(self.flagged(Reason.UNCERTAINTY_MISSING, detail, spans, repairs))
        if findings:
            return findings
        if given is None:
            return (
                self.passed("Gate 3 skipped: no generation confidence was given")
                if evidence.judged
                else self.skipped("no generation confidence was given")
            )
        return self.passed(f"generation confidence {given:.2f}")


def _hedged(evidence: Evidence, claim: Claim) -> bool:
    """Whether a claim has a word of doubt, or a hedge in brackets."""
    in_brackets = any(claim.first <= first < claim.last for first, _ in evidence.hedges)
    return in_brackets or "unsure" in cues().among(evidence.draft.lowers[claim.first : claim.last])


def _hedge(evidence: Evidence, claim: Claim, judged: Judgement) -> Repair:
    """How sure the answer may be of the claim, in the user's language, behind its last word and before its markers."""
    told = evidence.language if is_served(evidence.language) else evidence.draft_language
    end = end_of_words(evidence, claim, STOPS)
    return Repair(end, end, f" {hedge(judged.score, told)}")
