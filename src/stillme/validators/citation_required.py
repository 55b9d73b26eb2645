"""Every factual claim cites a source."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.grounding.claims import Claim
from stillme.text.tokens import within
from stillme.validators.base import Repair

__all__ = ["CitationRequired"]

CLOSING = ' \t\n.!?…:;,"”’»()*_|—–'


@dataclass(frozen=True, slots=True)
class CitationRequired(Observer):
    """Every factual claim cites a source we were given; a supported claim without a marker can be repaired."""

    name: ClassVar[str] = "CitationRequired"
    gates: ClassVar = {Reason.CITATION_MISSING: Gate.HARD}

    allowed_uncited: Annotated[int, Field(ge=0)] = 0

    def run(self, evidence: Evidence) -> Finding:
        """Flag factual claims without a marker, and propose the marker of a source that supports them."""
        # A comment in a code block, or a text in place of an image, cannot carry a marker that anybody would read as one.
        apart = (evidence.draft.code, evidence.markup.apart)
        claims = [claim for claim in evidence.factual_claims if not any(within(spans, claim.start) for spans in apart)]
        if not claims:
            return self.skipped("no factual claims outside code" if evidence.factual_claims else "no factual claims")
        uncited = [claim for claim in claims if not claim.markers]
        if len(uncited) <= self.allowed_uncited:
            return self.passed()
        return self.flagged(
            Reason.CITATION_MISSING,
            f"{len(uncited)} of {len(claims)} claims cite no source",
            spans=[claim.span for claim in uncited],
            repairs=citations_of(evidence, {claim.start for claim in uncited}),
        )


def citations_of(evidence: Evidence, starts: Collection[int]) -> list[Repair]:
    """For each claim that begins at one of these characters and that a source supports, the marker of that source."""
    supported = [(claim, judged) for claim, judged in evidence.judged if judged.supported]
    return [cite(evidence, claim, judged.passages[0]) for claim, judged in supported if claim.start in starts]


def cite(evidence: Evidence, claim: Claim, passage: int) -> Repair:
    """The marker of a passage, put behind the last word of the claim."""
    end = end_of_words(evidence, claim)
    return Repair(end, end, f" [{evidence.passages[passage].number}]")


def end_of_words(evidence: Evidence, claim: Claim, closing: str = CLOSING) -> int:
    """Where what a claim says ends: before a question tag, the marks and tags that close it and the markers behind them."""
    raw, markup = evidence.draft.raw, evidence.markup.hidden
    first = bisect_left(markup, (claim.start, 0))
    # of two that end together the longer counts
    tags = {end: start for start, end in reversed(markup[first : bisect_left(markup, (claim.end, 0))])}
    markers = tags | {m.end: m.start for m in claim.markers}
    tagged = claim.last < evidence.draft.token_at(claim.end - 1)
    end = evidence.draft.ends[claim.last - 1] if tagged else claim.end
    while end > claim.start and (end in markers or raw[end - 1] in closing):
        end = markers.get(end, end - 1)
    return end
