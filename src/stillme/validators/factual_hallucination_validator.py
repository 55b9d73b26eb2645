"""Every factual claim stands on a passage (ADR Gate 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer, Repair
from stillme.validators.repairs import left_out, without_lead

if TYPE_CHECKING:
    from stillme.evidence import Evidence
    from stillme.grounding.claims import Claim
    from stillme.grounding.grounder import Judgement

__all__ = ["FactualHallucinationValidator"]

Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class FactualHallucinationValidator(Observer):
    """Every factual claim is supported by a passage, none is contradicted, and no reference is invented.

    A remark beside the matter that no passage supports is left out, as a sentence or before what is said, where something supported is
    left. A draft that states nothing is no answer to a question that needs a source, unless it refuses or asks back.

    `min_score` asks more of support than the model's own threshold, as a calibration finds it; for a language or a domain it may be
    another, and the domain's comes first.
    """

    name: ClassVar[str] = "FactualHallucinationValidator"
    gates: ClassVar = {
        Reason.CONTRADICTED_CLAIM: Gate.HARD,
        Reason.UNSUPPORTED_CLAIM: Gate.HARD,
        Reason.NO_VERIFIABLE_CLAIM: Gate.HARD,
        Reason.FABRICATED_REFERENCE: Gate.HARD,
    }
    judges_claims: ClassVar = True

    min_score: Share = 0.0
    min_score_by_language: dict[Literal["en", "vi"], Share] = field(default_factory=dict)
    min_score_by_domain: dict[str, Share] = field(default_factory=dict)

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Flag contradicted claims, unsupported claims and references that no source has, each by its own code."""
        references = evidence.references
        if not evidence.factual_claims and not references:
            if evidence.has_draft and evidence.need.source_required and not evidence.gives_no_answer:
                return self.flagged(
                    Reason.NO_VERIFIABLE_CLAIM, "the question needs a source, and the draft states nothing to check"
                )
            return self.skipped("no factual claims")
        findings = [
            self._claims(evidence, "contradicted", Reason.CONTRADICTED_CLAIM),
            self._claims(evidence, "unsupported", Reason.UNSUPPORTED_CLAIM),
            self._weakly_supported(evidence),
            self._references(evidence),
        ]
        flagged = [f for f in findings if f is not None]
        return flagged or self.passed(f"{len(evidence.factual_claims)} claims supported")

    def _claims(self, evidence: Evidence, status: str, reason: Reason) -> Finding | None:
        found = [(c, j) for c, j in evidence.judged if j.status == status]
        if not found:
            return None
        why = "; ".join(dict.fromkeys(j.detail for _, j in found[:4] if j.detail))
        spans = [span for _, j in found for span in j.unsupported]
        detail = f"{len(found)} of {len(evidence.judged)} claims {status}: {why}"
        return self.flagged(reason, detail, spans, _without_remarks(evidence, found))

    def _weakly_supported(self, evidence: Evidence) -> Finding | None:
        least = self.least_score(evidence.language, evidence.request.metadata.domain)
        found = [c for c, j in evidence.judged if j.supported and j.score < least]
        if not found:
            return None
        detail = f"{len(found)} of {len(evidence.judged)} claims supported with a score below {least:.2f}"
        return self.flagged(Reason.UNSUPPORTED_CLAIM, detail, [claim.span for claim in found])

    def least_score(self, language: str, domain: str | None) -> float:
        """The score that support has to have for a request in that language and domain."""
        if domain is not None and domain in self.min_score_by_domain:
            return self.min_score_by_domain[domain]
        return {str(name): least for name, least in self.min_score_by_language.items()}.get(language, self.min_score)

    def _references(self, evidence: Evidence) -> Finding | None:
        invented = [r for r in evidence.references if not r.known]
        if not invented:
            return None
        named = ", ".join(dict.fromkeys(r.text for r in invented[:6]))
        return self.flagged(Reason.FABRICATED_REFERENCE, f"in no source: {named}", [(r.start, r.end) for r in invented])


def _without_remarks(evidence: Evidence, lacking: Sequence[tuple[Claim, Judgement]]) -> list[Repair]:
    """Edits that leave out what lacks support, where all of it is remarks beside the matter or led in to by one; else none."""
    stands = any(judged.supported for _, judged in evidence.judged)
    edits = [_without_remark(evidence, claim, judged, stands) for claim, judged in lacking]
    return [edit for edit in edits if edit] if all(edits) else []


def _without_remark(evidence: Evidence, claim: Claim, judged: Judgement, stands: bool) -> Repair | None:
    """The edit that leaves out a claim which is a remark, where something supported stands beside it, or the talk around a claim; what a
    rule refutes is never left out."""
    draft = evidence.draft.raw
    refuted = judged.status == "contradicted" and judged.objection
    if stands and not refuted and evidence.is_remark(claim):
        return left_out(draft, claim.start, claim.end)
    end = evidence.run_on_talk(claim)
    if end is not None and not (refuted and any(b > end for _, b in judged.unsupported)):
        return Repair(end, claim.end, ".")
    behind = evidence.behind_remark(claim)
    if behind is None or (refuted and any(a < behind for a, _ in judged.unsupported)):
        return None
    return without_lead(draft, claim.start, behind)
