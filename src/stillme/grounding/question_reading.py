"""Whether the passages answer a question, as the model reads them: answered, not answered, or answered differently for several readings.

The model reads the question beside all passages at once where one window holds them, else beside the pieces that share most with it;
then what it did not find there is looked for in every other window, so that nothing is called unanswered that was not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from stillme.grounding.passage_index import Library
from stillme.grounding.passage_windows import Shelf, Window
from stillme.grounding.statements import Reading
from stillme.models import CLAIM_TOKENS, Group, grounding_model, question_thresholds, words
from stillme.text.sentences import Sentence
from stillme.text.tokens import Text

__all__ = ["QuestionReading", "read_question", "unanswered_at"]

MOST_TOKENS: Final = 4_000
DECIMALS: Final = 4


@cache
def unanswered_at() -> float:
    """From which chance on a question counts as not answered; chosen with the shipped model."""
    return float(question_thresholds()["unanswered_at"])


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The chance that the passages do not answer the question, and that they answer it differently for several readings."""

    unanswered: float
    open: float

    @property
    def is_unanswered(self) -> bool:
        """Whether it is to be refused."""
        return self.unanswered >= unanswered_at()


def read_question(query: Text, language: str, library: Library) -> QuestionReading | None:
    """What the model makes of a question; None where there is nothing to read."""
    shelf = Shelf(library, MOST_TOKENS)
    statement = Reading(query, [Sentence(0, len(query), 0, len(query.raw))], language, frozenset()).statements[0]
    first = shelf.whole or shelf.gathered(statement)
    asked = words().encode(query.raw).ids[:CLAIM_TOKENS]
    if first is None or not asked:
        return None
    _, unanswered, open_ = _chances(first, asked)
    if shelf.whole is None and unanswered >= unanswered_at():
        unanswered = min([unanswered, *_elsewhere(shelf, first, asked)])
    return QuestionReading(round(unanswered, DECIMALS), round(open_, DECIMALS))


def _elsewhere(shelf: Shelf, first: Window, asked: tuple[int, ...]) -> list[float]:
    """The same chance by every other window; 0 where not all of them may be read, for then nothing is known."""
    others = [window for of_passage in shelf.windows for window in of_passage if not first.holds(window)]
    found = []
    for window in others:
        if not shelf.affords(window, len(asked)):
            return [0.0]
        found.append(_chances(window, asked)[1])
    return found


def _chances(window: Window, asked: tuple[int, ...]) -> tuple[float, float, float]:
    """That a question is answered by a window, not answered, and answered differently for several readings."""
    return grounding_model().ask(Group(window.ids, (asked,), window.sentences))
