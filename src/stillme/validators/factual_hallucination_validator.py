"""Every factual claim stands on a passage (ADR Gate 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer, Repair, Span
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
        if not evidence.factual_claims and not evidence.references:
            return self._stating_nothing(evidence)
        findings = (
            self._claims(evidence, "contradicted", Reason.CONTRADICTED_CLAIM),
            self._claims(evidence, "unsupported", Reason.UNSUPPORTED_CLAIM),
            self._weakly_supported(evidence),
            self._references(evidence),
        )
        return list(filter(None, findings)) or self.passed(f"{len(evidence.factual_claims)} claims supported")

    def _stating_nothing(self, evidence: Evidence) -> Finding:
        """What holds of a draft without a claim: it is no answer where one is needed."""
        if not evidence.has_draft or not evidence.need.source_required or evidence.gives_no_answer:
            return self.skipped("no factual claims")
        detail = "the question needs a source, and the draft states nothing to check"
        return self.flagged(Reason.NO_VERIFIABLE_CLAIM, detail)

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
    return list(filter(None, edits)) if all(edits) else []


def _without_remark(evidence: Evidence, claim: Claim, judged: Judgement, stands: bool) -> Repair | None:
    """The edit that leaves out a claim which is a remark, where something supported stands beside it, or the talk around a claim; what a
    rule refutes is never left out."""
    is_refuted = judged.status == "contradicted" and bool(judged.objection)
    if stands and not is_refuted and evidence.is_remark(claim):
        return left_out(evidence.draft.raw, claim.start, claim.end)
    refuted = judged.unsupported if is_refuted else ()
    return _without_talk_behind(evidence, claim, refuted) or _without_talk_before(evidence, claim, refuted)


def _without_talk_behind(evidence: Evidence, claim: Claim, refuted: Sequence[Span]) -> Repair | None:
    """The edit that ends a claim where talk runs on behind it."""
    end = evidence.run_on_talk(claim)
    if end is None or any(last > end for _, last in refuted):
        return None
    return Repair(end, claim.end, ".")


def _without_talk_before(evidence: Evidence, claim: Claim, refuted: Sequence[Span]) -> Repair | None:
    """The edit that begins a claim behind the remark that leads in to it."""
    behind = evidence.behind_remark(claim)
    if behind is None or any(first < behind for first, _ in refuted):
        return None
    return without_lead(evidence.draft.raw, claim.start, behind)
