"""A retrieved passage as evidence: its text and what else its source says about itself."""

from __future__ import annotations

from typing import Final

from stillme.contract import RetrievedPassage
from stillme.grounding.statements import Reading
from stillme.languages import DEFAULT, accented_language, has, languages
from stillme.lazy import lazy
from stillme.text.language import identify
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import Text

__all__ = ["Passage"]

# So many of the words of a text with accents carry one.
LEAST_ACCENTED: Final = 0.15


class Passage:
    """One passage that can be read; `number` is the n of a marker `[n]`: its place among all passages given, from 1."""

    def __init__(self, number: int, given: RetrievedPassage) -> None:
        self.number = number
        self.source_id = given.source_id
        self.given = given

    @lazy
    def text(self) -> Text:
        """The passage itself; quotes are copied from here."""
        return Text(self.given.text)

    @lazy
    def heading(self) -> Text:
        """What the source says besides: title, address and timestamp count as said by it."""
        parts = (self.given.title, self.given.url, self.given.timestamp)
        return Text(" \n ".join(part for part in parts if part))

    @property
    def title(self) -> str:
        """How to call this source when speaking to a person."""
        return (self.given.title or "").strip() or self.source_id

    @lazy
    def language(self) -> str:
        """The language with accents where a good share of the words carries some; else the default one, or another that it tells."""
        words = [w for w in self.text.words if w.word] if self.text.accented else []
        if words and sum(w.accented for w in words) > LEAST_ACCENTED * len(words):
            return accented_language()
        plain = [each.code for each in languages() if not has(each.code, "accents")]
        return found if len(plain) > 1 and (found := identify(self.text)) in plain else DEFAULT

    @lazy
    def sentences(self) -> list[Sentence]:
        """The sentences of the passage."""
        return split(self.text)

    @lazy
    def vocabulary(self) -> frozenset[str]:
        """Its capitalised words without accents and possessives, those of its heading too: those that may be known for names."""
        words = (word for text in (self.text, self.heading) for word in text.words if word.capital)
        return frozenset(word.folded.removesuffix("'s") for word in words)

    def reading(self, known_names: frozenset[str]) -> Reading:
        """The text read for alignment."""
        return Reading(self.text, self.sentences, self.language, known_names)

    def heading_reading(self, known_names: frozenset[str]) -> Reading:
        """Title, address and timestamp read for alignment."""
        whole = Sentence(0, len(self.heading), 0, len(self.heading.raw))
        return Reading(self.heading, [whole], self.language, known_names)
