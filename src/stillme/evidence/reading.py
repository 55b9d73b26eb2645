"""A text read for alignment: its sentences with the words, names, figures and cues that a claim is compared by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Final

from stillme.evidence.concepts import concepts_of
from stillme.evidence.names import Name, find_names
from stillme.evidence.numbers import Quantity, find_quantities
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text

__all__ = ["Cues", "Reading", "Statement", "cues"]

NEGATION_REACH: Final = 5
CLAUSE_MARKS: Final = frozenset(",;:.!?()")


class Cues:
    """The words of rules/polarity.yaml: single words as sets, two-word phrases as pairs."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}
        self._pairs: dict[str, frozenset[tuple[str, ...]]] = {}
        for name, lists in load("polarity").items():
            entries = " ".join(lists.values()).split()
            self._words[name] = frozenset(e for e in entries if "_" not in e)
            self._pairs[name] = frozenset(tuple(e.split("_")) for e in entries if "_" in e)

    def words(self, name: str) -> frozenset[str]:
        """The single words of a list."""
        return self._words[name]

    def stands_in(self, name: str, lowers: Sequence[str]) -> bool:
        """Whether any word or phrase of the list stands among the tokens."""
        if not self._words[name].isdisjoint(lowers):
            return True
        pairs = self._pairs[name]
        return bool(pairs) and any(tuple(lowers[i : i + len(p)]) == p for p in pairs for i in range(len(lowers) - len(p) + 1))


@cache
def cues() -> Cues:
    """The compiled cue words."""
    return Cues()


class Statement:
    """A token range read as one statement; everything is computed when first asked for."""

    def __init__(self, reading: Reading, sentence: Sentence, skipped: frozenset[int] = frozenset()) -> None:
        self.reading = reading
        self.sentence = sentence
        self.first, self.last = sentence.first, sentence.last
        self.skipped = skipped

    @cached_property
    def lowers(self) -> list[str]:
        """Its tokens in lower case."""
        return self.reading.text.lowers[self.first : self.last]

    @cached_property
    def content(self) -> list[int]:
        """Indices of the tokens that carry content, figures included."""
        words, skipped = self.reading.text.words, self.skipped
        found = [i for i in range(self.first, self.last) if words[i].content]
        return [i for i in found if i not in skipped] if skipped else found

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        words = self.reading.text.words
        return frozenset(words[i].stem for i in self.content)

    @cached_property
    def folded(self) -> frozenset[str]:
        """All its words without accents."""
        return frozenset(w.folded.removesuffix("'s") for w in self.reading.text.words[self.first : self.last] if w.word or w.number)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Each two words in a row written as one: where 'Hanoi' is looked for in 'Hà Nội'."""
        return joined_pairs(self.reading.text.folded[self.first : self.last])

    @cached_property
    def concepts(self) -> frozenset[int]:
        """The concepts its words stand for."""
        return frozenset(c for ids in self.reading.concepts[self.first : self.last] for c in ids)

    @cached_property
    def names(self) -> list[Name]:
        """The names in it."""
        return find_names(self.reading.text, [self.sentence], self.reading.known_names)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The figures in it."""
        found = (q for q in self.reading.quantities if self.first <= q.first < self.last)
        return [q for q in found if q.first not in self.skipped]

    @cached_property
    def negations(self) -> list[tuple[int, int | None, frozenset[int]]]:
        """Each negation: its token, the first content token behind it, and the tokens it reaches."""
        words, negative, boundary = self.reading.text.words, cues().words("negation"), cues().words("boundary")
        found: list[tuple[int, int | None, frozenset[int]]] = []
        for i in range(self.first, self.last):
            if words[i].lower not in negative:
                continue
            reach: list[int] = []
            for j in range(i + 1, min(i + 1 + NEGATION_REACH, self.last)):
                if words[j].text in CLAUSE_MARKS or (words[j].lower in boundary and reach):
                    break
                reach.append(j)
            head = next((j for j in reach if words[j].content), None)
            found.append((i, head, frozenset(reach)))
        return found

    def has(self, cue: str) -> bool:
        """Whether a cue of the given list stands in it."""
        return cues().stands_in(cue, self.lowers)

    def holds_name(self, name: Name) -> bool:
        """Whether the name stands in it, in any spelling of accents and spaces."""
        return name.within(self.folded) or spelt_otherwise(name, self.folded, lambda: self.pairs)

    @property
    def refers_back(self) -> bool:
        """Whether it opens by speaking of what was named before it."""
        opening = self.lowers[:3]
        return not cues().words("anaphora").isdisjoint(opening)


class Reading:
    """A text read once: its statements and what they share."""

    def __init__(self, text: Text, sentences: Sequence[Sentence], language: str, known_names: frozenset[str]) -> None:
        self.text = text
        self.language = language
        self.known_names = known_names
        self.statements = [Statement(self, sentence) for sentence in sentences]

    @cached_property
    def concepts(self) -> list[tuple[int, ...]]:
        """For each token the concepts it stands for."""
        return concepts_of(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The figures of the whole text."""
        return find_quantities(self.text, self.language)

    @cached_property
    def folded(self) -> frozenset[str]:
        """All words of the text without accents."""
        return frozenset(w.folded.removesuffix("'s") for w in self.text.words)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Each two words in a row written as one."""
        return joined_pairs(self.text.folded)

    def holds_name(self, name: Name) -> bool:
        """Whether the name stands anywhere in the text."""
        return name.within(self.folded) or spelt_otherwise(name, self.folded, lambda: self.pairs)


def joined_pairs(folded: Sequence[str]) -> frozenset[str]:
    """Each two words in a row written as one."""
    return frozenset(a + b for a, b in zip(folded, folded[1:], strict=False))


def spelt_otherwise(name: Name, words: frozenset[str], pairs: Callable[[], frozenset[str]]) -> bool:
    """Whether the name stands there with its spaces placed otherwise: 'Hanoi' for 'Hà Nội', or the reverse."""
    if len(name.parts) > 1:
        return name.joined in words
    return len(name.joined) >= 5 and name.joined in pairs()
