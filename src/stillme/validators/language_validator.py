"""The draft is in the user's language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["LanguageValidator"]

NAMES = {"en": "English", "vi": "Vietnamese", "other": "another language"}


@dataclass(frozen=True, slots=True)
class LanguageValidator(Observer):
    """The draft is in the language the user wrote in, or asked for."""

    name: ClassVar[str] = "LanguageValidator"
    gates: ClassVar = {Reason.LANGUAGE_MISMATCH: Gate.HARD}
    early_exit: ClassVar = True

    def run(self, evidence: Evidence) -> Finding:
        """Flag a draft in another language; skip where either language cannot be told."""
        wanted, written = evidence.language, evidence.draft_language
        if wanted not in ("en", "vi"):
            why = (
                "is in a language this package does not know"
                if wanted == "other"
                else "is too short to tell its language"
            )
            return self.skipped(f"the question {why}")
        if written == "unknown":
            return self.skipped("the draft is too short to tell its language")
        if written != wanted:
            return self.flagged(
                Reason.LANGUAGE_MISMATCH,
                f"the user is to be answered in {NAMES[wanted]}, the draft is in {NAMES[written]}",
            )
        return self.passed()
