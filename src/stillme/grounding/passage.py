"""A retrieved passage as evidence: its text and what else its source says about itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, compress
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
from stillme.text.tokens import CAPITAL, STEM, Text

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


def _places(rows: Iterable[tuple[int, Iterable[T]]]) -> Places[T]:
    found: defaultdict[T, set[int]] = defaultdict(set)
    for number, keys in rows:
        for key in set(keys):
            found[key].add(number)
    return dict(found)


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
        words = (word for text in (self.text, self.heading) for word in compress(text.words, map(CAPITAL, text.words)))
        return frozenset(word.folded.removesuffix("'s") for word in words)

    @lazy
    def lowers(self) -> list[str]:
        """Its words in lower case, without marks and figures."""
        return [word.lower for word in self.text.words if word.word]

    @lazy
    def _ranges(self) -> list[tuple[int, slice]]:
        """The tokens of each sentence by its number, and what stands between sentences as BETWEEN."""
        found, at = list[tuple[int, slice]](), 0
        for number, s in enumerate(self.sentences):
            found += ((BETWEEN, slice(at, s.first)), (number, slice(s.first, s.last)))
            at = s.last
        return [*found, (BETWEEN, slice(at, len(self.text)))]

    @lazy
    def by_stem(self) -> Places[str]:
        """For each stem the sentences it stands in."""
        stems = list(map(STEM, self.text.words))
        return _places((number, stems[tokens]) for number, tokens in self._ranges)

    @lazy
    def by_folded(self) -> Places[str]:
        """For each word with accents, as it looks without them, the sentences it stands in."""
        words = self.text.words
        return _places((number, [w.folded for w in words[tokens] if w.accented]) for number, tokens in self._ranges)

    @lazy
    def by_concept(self) -> Places[int]:
        """For each concept the sentences that express it."""
        concepts = text_concepts(self.text)
        return _places((number, chain.from_iterable(concepts[tokens])) for number, tokens in self._ranges)

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
