"""The figures of the answer stand in the sources, by value, and say which one they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer
from stillme.validators.citation_required import citations_of

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.figures.quantity import Quantity
from stillme.grounding.claims import Claim

__all__ = ["NumericUnitsBasic"]

MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class NumericUnitsBasic(Observer):
    """Every number, date, percentage and amount of the answer stands in a source, by value and unit, and is cited.

    A figure without a citation is a warning where the draft cites elsewhere (`warn_uncited: used`), or also wherever the question needs
    a source (`required`, which a policy without `CitationRequired` makes `used`); `never` leaves it out.
    """

    name: ClassVar[str] = "NumericUnitsBasic"
    gates: ClassVar = {Reason.NUMBER_NOT_IN_SOURCES: Gate.SOFT, Reason.UNCITED_NUMBER: Gate.SOFT}

    warn_uncited: Literal["required", "used", "never"] = "required"

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Flag figures that no passage, title or timestamp states, and figures in claims without a marker."""
        if not evidence.passages:
            return self.skipped("no passages")
        if not evidence.claim_quantities:
            return self.skipped("no figures in the claims")
        findings = list(filter(None, (self._unknown(evidence), self._uncited(evidence))))
        return findings or self.passed()

    def _unknown(self, evidence: Evidence) -> Finding | None:
        unknown = [q for q in evidence.claim_quantities if not evidence.states(q)]
        if not unknown:
            return None
        return self.flagged(
            Reason.NUMBER_NOT_IN_SOURCES, f"in no source: {_named(evidence, unknown)}", _spans(evidence, unknown)
        )

    def _uncited(self, evidence: Evidence) -> Finding | None:
        """Figures in claims without a marker, and for the claims that a source supports the marker of that source."""
        if not self._wants_citations(evidence):
            return None
        uncited = {claim.start: figures for claim in evidence.factual_claims if (figures := _figures(evidence, claim))}
        if not uncited:
            return None
        figures = [q for found in uncited.values() for q in found]
        detail = f"without a citation: {_named(evidence, figures)}"
        return self.flagged(
            Reason.UNCITED_NUMBER, detail, _spans(evidence, figures), citations_of(evidence, uncited.keys())
        )

    def _wants_citations(self, evidence: Evidence) -> bool:
        """Whether a figure is expected to have a marker."""
        if self.warn_uncited == "never":
            return False
        return bool(evidence.markers) or (self.warn_uncited == "required" and evidence.need.source_required)


def _figures(evidence: Evidence, claim: Claim) -> list[Quantity]:
    """The figures of a claim that cites nothing."""
    return [] if claim.markers else evidence.draft_reading.statements[claim.index].quantities


def _named(evidence: Evidence, figures: Sequence[Quantity]) -> str:
    return ", ".join(evidence.draft.slice(q.first, q.last) for q in figures[:MOST_NAMED])


def _spans(evidence: Evidence, figures: Sequence[Quantity]) -> list[tuple[int, int]]:
    return [evidence.draft.span(q.first, q.last) for q in figures]
