"""Each marker points at a source, and at one that speaks for the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Judgement
from stillme.text.tokens import STEM
from stillme.validators.base import Repair

__all__ = ["CitationRelevance"]


@dataclass(frozen=True, slots=True)
class CitationRelevance(Observer):
    """Each citation marker points at a source we were given, and that source speaks for the claim."""

    name: ClassVar[str] = "CitationRelevance"
    gates: ClassVar = {Reason.CITATION_NOT_RELEVANT: Gate.SOFT, Reason.FABRICATED_CITATION: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Flag markers that point nowhere, and markers on a source that does not carry the claim although another may."""
        if not evidence.markers:
            return self.skipped("no citation markers")
        findings = list(filter(None, (self._fabricated(evidence), self._irrelevant(evidence))))
        return findings or self.passed()

    def _fabricated(self, evidence: Evidence) -> Finding | None:
        nowhere = [m for m in evidence.markers if m.unknown]
        if not nowhere:
            return None
        named = ", ".join(f"[{name}]" for m in nowhere for name in m.unknown)
        count = len(evidence.request.retrieved_context)
        return self.flagged(
            Reason.FABRICATED_CITATION, f"{named} points at no source; {count} given", [m.span for m in nowhere]
        )

    def _irrelevant(self, evidence: Evidence) -> Finding | None:
        wrong = [(claim, judged) for claim, judged in evidence.judged if _misplaced(evidence, claim, judged)]
        if not wrong:
            return None
        repairs = [_recite(evidence, claim, judged) for claim, judged in wrong if judged.supported]
        titles = dict.fromkeys(evidence.passages[i].title for claim, _ in wrong for i in claim.cited) or [
            "a blank passage"
        ]
        return self.flagged(
            Reason.CITATION_NOT_RELEVANT,
            f"{', '.join(titles)}: cited for what it does not say",
            [c.span for c, _ in wrong],
            repairs,
        )


def _misplaced(evidence: Evidence, claim: Claim, judged: Judgement) -> bool:
    """Another source carries the claim; or none does and the cited ones share no word with it. Chunks of one source are one."""
    if not claim.markers or any(m.unknown for m in claim.markers):
        return False
    if judged.supported:
        return _sources(evidence, claim.cited).isdisjoint(_sources(evidence, judged.passages))
    return judged.status != "contradicted" and not _shares_words(evidence, claim)


def _sources(evidence: Evidence, passages: Sequence[int]) -> set[str]:
    """The sources of some passages."""
    return {evidence.passages[i].source_id for i in passages}


def _shares_words(evidence: Evidence, claim: Claim) -> bool:
    """Whether a cited passage has a word of the claim that says something."""
    stems = {word.stem for word in evidence.draft.content(claim.first, claim.last) if not word.number}
    return any(not stems.isdisjoint(map(STEM, evidence.passages[i].text.words)) for i in claim.cited)


def _recite(evidence: Evidence, claim: Claim, judged: Judgement) -> Repair:
    """Replace the claim's markers, from the first to the last, by that of a source that supports it."""
    marker = f"[{evidence.passages[judged.passages[0]].number}]"
    return Repair(claim.markers[0].start, claim.markers[-1].end, marker)
