"""EgoNeutralityValidator: the assistant claims no memories, body, family, feelings or desires of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.conduct.classifiers import decided_by
from stillme.conduct.self_claims import personal, self_claims
from stillme.conduct.voice import places_in, text_is_for_user
from stillme.errors import shown
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer
from stillme.validators.manners import without_manners

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["EgoNeutralityValidator"]

NAMED: Final = {
    "memory": "memories",
    "experience": "experiences",
    "family": "a family or a past",
    "sense": "senses",
    "emotion": "feelings",
    "desire": "desires",
    "consciousness": "consciousness",
    "person": "personhood",
}


@dataclass(frozen=True, slots=True)
class EgoNeutralityValidator(Observer):
    """The draft claims nothing for the assistant itself that only a person could claim."""

    name: ClassVar[str] = "EgoNeutralityValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.ANTHROPOMORPHIC: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Flag first-person claims of the assistant; quotations, denials, suppositions and courtesy are none."""
        draft = evidence.draft
        if draft.blank:
            return self.skipped("the draft is blank")
        claims = self_claims(draft, evidence.draft_sentences, evidence.query)
        suspicions = personal(draft, evidence.draft_conduct)
        if not claims and not suspicions:
            return self.passed(evidence.draft_conduct.rules_alone)
        if text_is_for_user(evidence.query):
            return self.skipped("the user asked for a text: its first person is not the assistant's")
        spans = places_in(draft, (*claims, *suspicions))
        kinds = ", ".join(dict.fromkeys(NAMED[claim.kind] for claim in claims)) or "what only a person has"
        said, decided = shown(draft.raw[slice(*spans[0])]), decided_by(bool(claims), suspicions)
        detail = f"claims {kinds} as the assistant's own ({decided}): {said}"
        return self.flagged(Reason.ANTHROPOMORPHIC, detail, spans, without_manners(evidence, claims, suspicions))
