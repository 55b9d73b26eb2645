"""Every factual claim cites a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.evidence.claims import Claim
from stillme.evidence.text import within
from stillme.validators.base import Repair

__all__ = ["CitationRequired"]

CLOSING = ' \t\n.!?…:;,"”’»)*_|'


@dataclass(frozen=True, slots=True)
class CitationRequired(Observer):
    """Every factual claim cites a source we were given; a supported claim without a marker can be repaired."""

    name: ClassVar[str] = "CitationRequired"
    gates: ClassVar = {Reason.CITATION_MISSING: Gate.HARD}

    allowed_uncited: Annotated[int, Field(ge=0)] = 0

    def run(self, evidence: Evidence) -> Finding:
        """Flag factual claims without a marker, and propose the marker of a source that supports them."""
        # A comment in a code block cannot carry a marker that anybody would read as one.
        claims = [claim for claim in evidence.factual_claims if not within(evidence.draft.code, claim.start)]
        if not claims:
            return self.skipped("no factual claims outside code" if evidence.factual_claims else "no factual claims")
        uncited = [claim for claim in claims if not claim.markers]
        if len(uncited) <= self.allowed_uncited:
            return self.passed()
        repairs = [
            cite(evidence, claim, judged.passages[0])
            for claim, judged in evidence.judged
            if claim in uncited and judged.supported
        ]
        return self.flagged(
            Reason.CITATION_MISSING,
            f"{len(uncited)} of {len(claims)} claims cite no source",
            spans=[claim.span for claim in uncited],
            repairs=repairs,
        )


def cite(evidence: Evidence, claim: Claim, passage: int) -> Repair:
    """The marker of a passage, put behind the last word of the claim."""
    end = end_of_words(evidence, claim)
    return Repair(end, end, f" [{evidence.passages[passage].number}]")


def end_of_words(evidence: Evidence, claim: Claim, closing: str = CLOSING) -> int:
    """Where the words of a claim end: before the marks that close it and the markers behind them."""
    raw, markers = evidence.draft.raw, {m.end: m.start for m in claim.markers}
    end = claim.end
    while end > claim.start and (end in markers or raw[end - 1] in closing):
        end = markers.get(end, end - 1)
    return end
