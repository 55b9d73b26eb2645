"""The answer shares words with its sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.languages import is_served
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
    from stillme.grounding.claims import Claim

__all__ = ["EvidenceOverlap"]

Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceOverlap(Observer):
    """Enough of the answer's word n-grams stand in the passages; paraphrase is legitimate, so this only warns."""

    name: ClassVar[str] = "EvidenceOverlap"
    gates: ClassVar = {Reason.LOW_EVIDENCE_OVERLAP: Gate.SOFT}

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.08
    ngram: Annotated[int, Field(ge=1, le=10)] = 3

    def run(self, evidence: Evidence) -> Finding:
        """Flag an overlap below the threshold; equal passes."""
        if not evidence.passages:
            return self.skipped("no passages")
        claims = evidence.factual_claims
        if not claims:
            return self.skipped("no factual claims")
        written = evidence.draft_language
        if is_served(written) and all(p.language != written for p in evidence.passages):
            return self.skipped("draft and passages are in different languages")
        share = self.share(evidence)
        if share < self.threshold:
            return self.flagged(
                Reason.LOW_EVIDENCE_OVERLAP,
                f"{share:.2f} of the answer's word sequences stand in the passages, {self.threshold:.2f} wanted",
            )
        return self.passed(f"overlap {share:.2f}")

    def share(self, evidence: Evidence) -> float:
        """The share of the claims' word sequences that stand in a passage; all of them where there are none."""
        claims = [_visible_words(evidence, claim) for claim in evidence.factual_claims]
        size = max(1, min(self.ngram, sum(map(len, claims)) // 4))  # a few words have too few sequences to tell by
        said = set[Gram]().union(*(_grams(claim, size) for claim in claims))
        if not said:
            return 1.0
        found = set[Gram]().union(*(said.intersection(_grams(p.content.lowers, size)) for p in evidence.passages))
        return len(found) / len(said)


def _visible_words(evidence: Evidence, claim: Claim) -> list[str]:
    """The words of a claim without its markup and markers."""
    words, hidden = evidence.draft.words, evidence.hidden
    return [words[i].lower for i in range(claim.first, claim.last) if words[i].word and i not in hidden]


def _grams(words: Sequence[str], size: int) -> Iterator[Gram]:
    """Every so many words in a row."""
    return zip(*(words[k:] for k in range(size)), strict=False)
