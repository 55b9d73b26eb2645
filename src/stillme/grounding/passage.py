"""A retrieved passage as evidence: its text and what else its source says about itself."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Set as AbstractSet
from itertools import compress, count
from typing import Final, TypeVar

from stillme.contract import RetrievedPassage
from stillme.grounding.passage_cache import SizedCache
from stillme.grounding.statements import Reading
from stillme.languages import DEFAULT, accented_language, has, languages
from stillme.lazy import lazy
from stillme.text.concepts import text_concepts
from stillme.text.language import identify
from stillme.text.names import capitalised_words
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import ACCENTED, CAPITAL, STEM, WORD, Text

__all__ = ["BETWEEN", "Passage", "PassageContent", "contents"]

T = TypeVar("T")

# So many of the words of a text with accents carry one.
LEAST_ACCENTED: Final = 0.15
# A passage is read anew for other names; so many of its readings are kept.
MOST_READINGS: Final = 4
BETWEEN: Final = -2
"""The number of no sentence: of what stands between them."""
MOST_BYTES: Final = 64 * 1024 * 1024


Said = tuple[str, str | None, str | None, str | None]
"""A text with its title, address and timestamp."""
Places = dict[T, set[int]]


class PassageContent:
    """The words of a passage and all that is read of them, whichever request brings it; nothing in it changes once it is read."""

    def __init__(self, said: Said) -> None:
        self._text, *self._beside = said
        self._readings: dict[frozenset[str], tuple[Reading, Reading]] = {}

    @lazy
    def text(self) -> Text:
        """The passage itself; quotes are copied from here."""
        return Text(self._text)

    @lazy
    def heading(self) -> Text:
        """What the source says besides: title, address and timestamp count as said by it."""
        return Text(" \n ".join(part for part in self._beside if part))

    @lazy
    def language(self) -> str:
        """The language with accents where a good share of the words carries some; else the default one, or another that it tells."""
        words = self.text.words if self.text.accented else []
        if words and sum(map(ACCENTED, words)) > LEAST_ACCENTED * sum(map(WORD, words)):
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
        words = (word for text in (self.text, self.heading) for word in compress(text.words, map(CAPITAL, text.words)))
        return frozenset(word.folded.removesuffix("'s") for word in words)

    @lazy
    def lowers(self) -> list[str]:
        """Its words in lower case, without marks and figures."""
        return list(compress(self.text.lowers, map(WORD, self.text.words)))

    @lazy
    def _stems(self) -> list[str]:
        return list(map(STEM, self.text.words))

    @lazy
    def _firsts(self) -> list[int]:
        return [sentence.first for sentence in self.sentences]

    def _sentence_of(self, token: int) -> int:
        """The number of the sentence that a token stands in, or BETWEEN."""
        number = bisect_right(self._firsts, token) - 1
        return number if number >= 0 and token < self.sentences[number].last else BETWEEN

    def saying(self, stems: AbstractSet[str]) -> Places[str]:
        """The sentences that each of these stems stands in."""
        found = defaultdict[str, set[int]](set)
        for i in compress(count(), map(stems.__contains__, self._stems)):
            found[self._stems[i]].add(self._sentence_of(i))
        return found

    def saying_with_accents(self, folded: AbstractSet[str]) -> Places[str]:
        """The sentences in which words stand that carry accents, and that look like one of these without them."""
        found = defaultdict[str, set[int]](set)
        for i, word in enumerate(self.text.words):
            if word.accented and word.folded in folded:
                found[word.folded].add(self._sentence_of(i))
        return found

    def expressing(self, concepts: AbstractSet[int]) -> Places[int]:
        """The sentences that express each of these concepts."""
        found, meant = defaultdict[int, set[int]](set), text_concepts(self.text)
        for i in compress(count(), meant):
            for concept in concepts & set(meant[i]):
                found[concept].add(self._sentence_of(i))
        return found

    @lazy
    def capitalised(self) -> frozenset[str]:
        """The words that stand capitalised inside its sentences."""
        return capitalised_words([self.text])

    def read(self, known_names: frozenset[str]) -> tuple[Reading, Reading]:
        """Text and heading read for alignment; names that do not stand in it make no difference."""
        own = known_names & self.vocabulary
        found = self._readings.get(own)
        if found is None:
            if len(self._readings) >= MOST_READINGS:
                self._readings = {}
            whole = Sentence(0, len(self.heading), 0, len(self.heading.raw))
            found = self._readings[own] = (
                Reading(self.text, self.sentences, self.language, own),
                Reading(self.heading, [whole], self.language, own),
            )
        return found


def _characters(said: Said) -> int:
    return sum(len(text) for text in said if text)


contents: Final = SizedCache(PassageContent, _characters, MOST_BYTES)
"""What was read of the passages that came before."""


class Passage:
    """One passage that can be read; `number` is the n of a marker `[n]`: its place among all passages given, from 1."""

    __slots__ = ("content", "given", "number", "source_id")

    def __init__(self, number: int, given: RetrievedPassage) -> None:
        self.number = number
        self.source_id = given.source_id
        self.given = given
        self.content = contents[given.text, given.title, given.url, given.timestamp]

    @property
    def text(self) -> Text:
        """The passage itself; quotes are copied from here."""
        return self.content.text

    @property
    def heading(self) -> Text:
        """What the source says besides: title, address and timestamp count as said by it."""
        return self.content.heading

    @property
    def title(self) -> str:
        """How to call this source when speaking to a person."""
        return (self.given.title or "").strip() or self.source_id

    @property
    def language(self) -> str:
        """The language it is written in."""
        return self.content.language

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences of the passage."""
        return self.content.sentences
