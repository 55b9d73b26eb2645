"""The names of the answer stand in the sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.languages import DEFAULT, accented_language, is_served
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.grounding.name_pairs import Abroad
from stillme.text.names import Name

__all__ = ["RetrievalCoverage"]


@dataclass(frozen=True, slots=True)
class RetrievalCoverage(Observer):
    """Every name in the answer's claims stands in a source, its title or its address, in either language.

    Where a source is in the other language, a name that may be translated and whose counterpart cannot be told is not flagged.
    """

    name: ClassVar[str] = "RetrievalCoverage"
    gates: ClassVar = {Reason.ENTITY_NOT_IN_SOURCES: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag names that no source has."""
        if not evidence.passages:
            return self.skipped("no passages")
        names = evidence.claim_names
        if not names:
            return self.skipped("no names in the claims")
        unknown = _missing(evidence, names)
        if not unknown:
            return self.passed()
        text = evidence.draft
        named = ", ".join(dict.fromkeys(text.slice(n.first, n.last) for n in unknown))
        return self.flagged(
            Reason.ENTITY_NOT_IN_SOURCES,
            f"in no source: {named}; more documents may need to be retrieved",
            [text.span(name.first, name.last) for name in unknown],
        )


def _missing(evidence: Evidence, names: Sequence[Name]) -> list[Name]:
    """The names that no source has; each is looked for once."""
    draft, written, readings = evidence.draft, _language(evidence), evidence.source_readings
    abroad = Abroad([reading for reading in readings if reading.language != written])
    found: dict[str, bool] = {}
    for name in names:
        key = draft.slice(name.first, name.last)
        if key not in found:
            found[key] = any(r.holds_name(name) for r in readings) or abroad.may_have(name, draft, written)
    return [name for name in names if not found[draft.slice(name.first, name.last)]]


def _language(evidence: Evidence) -> str:
    """The draft's language; where it cannot be told, the user's, else what its accents show."""
    told = next((each for each in (evidence.draft_language, evidence.language) if is_served(each)), None)
    return told or (accented_language() if evidence.draft.accented else DEFAULT)
