"""PhilosophicalDepthValidator: a philosophical question gets reasons and more than one position, not a bare verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field

from stillme.conduct.philosophy import is_philosophical
from stillme.languages import compiled, load
from stillme.reasons import Gate, Reason
from stillme.text.lexicon import Lexicon
from stillme.text.tokens import Sentence, Text
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["PhilosophicalDepthValidator", "is_philosophical"]

ANSWERING: Final = frozenset({"fact", "opinion", "self", "talk"})
MIN_CONTENT_WORDS: Final = 4


@compiled
def _answers() -> Lexicon:
    return Lexicon(load("philosophy")["answers"])


@dataclass(frozen=True, slots=True)
class PhilosophicalDepthValidator(Observer):
    """An answer to a philosophical question says more than yes or no: it gives a reason or a second position.

    Shallow: fewer than `min_words` words, fewer than `min_sentences` sentences of substance, or neither of the two.
    """

    name: ClassVar[str] = "PhilosophicalDepthValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.SHALLOW_PHILOSOPHICAL_ANSWER: Gate.SOFT}
    whole_answer: ClassVar = True

    min_words: Annotated[int, Field(ge=0)] = 25
    min_sentences: Annotated[int, Field(ge=0)] = 2

    def run(self, evidence: Evidence) -> Finding:
        """Flag a shallow answer; other questions are not judged."""
        if evidence.draft.blank:
            return self.skipped("the draft is blank")
        if not is_philosophical(evidence.query):
            return self.skipped("not a philosophical question")
        if not any(claim.kind in ANSWERING for claim in evidence.claims):
            return self.skipped("the draft gives no answer")
        lacking = self._lacking(evidence)
        if not lacking:
            return self.passed()
        sentences = evidence.draft_sentences
        return self.flagged(
            Reason.SHALLOW_PHILOSOPHICAL_ANSWER,
            f"answers a philosophical question with {lacking}",
            spans=[(sentences[0].start, sentences[-1].end)],
        )

    def _lacking(self, evidence: Evidence) -> str | None:
        """What the answer lacks, in words."""
        draft = evidence.draft
        words = draft.count_words()
        if words < self.min_words:
            return f"only {words} word{'' if words == 1 else 's'}"
        told = sum(_has_substance(draft, sentence) for sentence in evidence.draft_sentences)
        if told < self.min_sentences:
            return f"only {told} sentence{'' if told == 1 else 's'} of substance"
        if _answers().names(draft) or _positions(draft) > 1:
            return None
        return "no reason and no second position"


def _has_substance(draft: Text, sentence: Sentence) -> bool:
    """Whether a sentence has words enough that say something."""
    return sum(word.word for word in draft.content(sentence.first, sentence.last)) >= MIN_CONTENT_WORDS


def _positions(draft: Text) -> int:
    """How many positions the draft names: compatibilists, stoicism, …"""
    endings = tuple(load("philosophy")["positions"])
    return len({w.stem for w in draft.words if w.word and len(w.lower) > 6 and w.lower.endswith(endings)})
