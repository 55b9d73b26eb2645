"""The draft is in the user's language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.languages import is_served, language_of
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.text.language import own_words

__all__ = ["LanguageValidator"]

# So many words of its own show the language of a draft; fewer are a name, a figure, a code or a title.
FOREIGN_WORDS = 3
UNDECIDED_WORDS = 6


@dataclass(frozen=True, slots=True)
class LanguageValidator(Observer):
    """The draft is in the language the user wrote in, or asked for."""

    name: ClassVar[str] = "LanguageValidator"
    gates: ClassVar = {Reason.LANGUAGE_MISMATCH: Gate.HARD, Reason.LANGUAGE_UNDECIDED: Gate.HARD}
    early_exit: ClassVar = True

    def run(self, evidence: Evidence) -> Finding:
        """Flag a draft in another language, and one of enough words whose language cannot be told."""
        wanted, written = evidence.language, evidence.draft_language
        if wanted == "other":
            return self.skipped("the question is in a language this package does not know")
        if written == wanted and wanted != "unknown":
            return self.passed()
        if is_served(written):
            return self._other_of_two(wanted, written)
        return self._third(evidence, wanted, written)

    def _other_of_two(self, wanted: str, written: str) -> Finding:
        if wanted == "unknown":
            return self.skipped("the question is too short to tell its language")
        return self._mismatch(wanted, written)

    def _third(self, evidence: Evidence, wanted: str, written: str) -> Finding:
        """A draft in neither language, or in none that can be told: where it has words enough it does not pass."""
        words = own_words(evidence.draft)
        if written == "other" and words >= FOREIGN_WORDS:
            return self._mismatch(wanted, written)
        if written == "unknown" and words >= UNDECIDED_WORDS:
            return self.flagged(
                Reason.LANGUAGE_UNDECIDED, f"the language of the draft cannot be told from its {words} words"
            )
        return self.skipped("the draft is too short to tell its language")

    def _mismatch(self, wanted: str, written: str) -> Finding:
        asked = (
            f"the user is to be answered in {_name(wanted)}" if is_served(wanted) else "the user's language is unknown"
        )
        return self.flagged(Reason.LANGUAGE_MISMATCH, f"{asked}, the draft is in {_name(written)}")


def _name(code: str) -> str:
    return language_of(code).name if is_served(code) else "another language"
