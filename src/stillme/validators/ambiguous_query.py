"""A question that cannot be answered before the user says what is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["AmbiguousQuery"]


@dataclass(frozen=True, slots=True)
class AmbiguousQuery(Observer):
    """The question says what it is about: not too broad, no open reference, no name that means several things."""

    name: ClassVar[str] = "AmbiguousQuery"
    stage: ClassVar = "query"
    gates: ClassVar = {Reason.AMBIGUOUS_QUERY: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Flag a question with several readings, unless the draft answers all of them."""
        if not evidence.need.source_required:
            return self.skipped("the question asks for no facts")
        ambiguity = evidence.ambiguity
        if ambiguity is None:
            return self.passed()
        if ambiguity.options and _answers_all(evidence):
            return self.passed("the draft answers every option")
        return self.flagged(Reason.AMBIGUOUS_QUERY, _describe(evidence))


def _answers_all(evidence: Evidence) -> bool:
    ambiguity = evidence.ambiguity
    return ambiguity is not None and all(option.named_in(evidence.draft) for option in ambiguity.options)


def _describe(evidence: Evidence) -> str:
    ambiguity = evidence.ambiguity
    if ambiguity is None or ambiguity.kind == "broad":
        return "the question is too broad"
    if ambiguity.kind == "readings":
        return "model: the passages answer the question differently for several readings"
    what = f"{ambiguity.word!r}" if ambiguity.word else "the question"
    if not ambiguity.options:
        return f"nothing says what {what} is"
    return f"{what} may mean: {', '.join(option.label for option in ambiguity.options)}"
