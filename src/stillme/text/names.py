"""Names in a text: runs of capitalised words, found without a dictionary, compared without accents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Final

from stillme.languages import compiled, word_set
from stillme.text.concepts import text_concepts, words_of
from stillme.text.language import is_small
from stillme.text.tokens import CAPITAL, Sentence, Text, word_of

# What stands before a word inside a sentence, between the parts of a name, and before a sentence in a sentence.
INSIDE: Final = frozenset((*",()–—/&", ""))
HYPHENS: Final = frozenset((*"-–", ""))
JOINTS: Final = frozenset((*"-–'’", ""))
OPENERS: Final = frozenset((*'"“‘«:(*_|`', ""))

__all__ = ["Name", "capitalised_words", "find_names", "names_something"]


@dataclass(frozen=True, slots=True)
class Name:
    """Tokens `first` to `last` (exclusive) name something; `parts` are its words without accents."""

    first: int
    last: int
    parts: tuple[str, ...]

    @property
    def joined(self) -> str:
        """The name as one word, however its syllables are spaced."""
        return "".join(self.parts)

    def within(self, words: set[str] | frozenset[str]) -> bool:
        """Whether every part of the name is among the given words."""
        return all(part in words for part in self.parts)


@compiled
def _never_names() -> frozenset[str]:
    """Capitalised words that name nothing by themselves: months, weekdays, titles of address, Roman numerals."""
    return word_set("names", "never")


@compiled
def names_something(concept: int) -> bool:
    """Whether a concept is a name: texts write none of its words in small letters."""
    words = " ".join(words_of(concept)).split()
    return words != [] and not any(is_small(word) or word_of(word).stop for word in words)


def capitalised_words(texts: Iterable[Text]) -> frozenset[str]:
    """Words that stand capitalised inside a sentence somewhere: at the start of one they are names too."""
    capitals = ((text, i) for text in texts for i in compress(count(), map(CAPITAL, text.words)))
    return frozenset(text.words[i].folded for text, i in capitals if _is_inside(text, i))


def _is_inside(text: Text, i: int) -> bool:
    """Whether a capitalised word that may be a name stands inside a sentence."""
    before = text.words[i - 1]
    if i == 0 or text.words[i].stop or not (before.word or before.text in INSIDE):
        return False
    return not _opens_word(text, i)


def _opens_word(text: Text, i: int) -> bool:
    """Whether the capital is that of a common word of several syllables, written small behind it."""
    behind = text.words[i + 1 : i + 2]
    if not behind or not behind[0].word or behind[0].capital:
        return False
    here, next_one = text_concepts(text)[i : i + 2]
    return here != () and here == next_one


def find_names(text: Text, sentences: Sequence[Sentence], known: frozenset[str]) -> list[Name]:
    """The names in the given sentences, in order; `known` are words that stand capitalised elsewhere."""
    names: list[Name] = []
    for sentence in sentences:
        end = sentence.first
        own = slice(sentence.first, sentence.last)
        for i in compress(range(sentence.first, sentence.last), map(CAPITAL, text.words[own])):
            if i >= end:
                end = _run(text, i, sentence.last)
                names += _names(text, i, end, sentence.first, known)
    return names


def _run(text: Text, i: int, stop: int) -> int:
    """The end of a run of capitalised words that begins at token i; hyphens and digits joined to it belong to it."""
    step = 1
    while step:
        i += step
        step = _step(text, i, stop) if i < stop else 0
    return min(i, stop)


def _step(text: Text, i: int, stop: int) -> int:
    """How many tokens a run goes on by: a word, or a hyphen and what is joined to it."""
    words, glued = text.words, not text.gaps[i]
    word, before = words[i], words[i - 1]
    if word.capital and (text.gaps[i].isspace() or before.text in JOINTS):
        return 1
    if glued and word.number and before.word:
        return 1
    is_joint = glued and word.text in HYPHENS and i + 1 < stop and not text.gaps[i + 1]
    return 2 * (is_joint and (words[i + 1].word or words[i + 1].number))


def _is_syllable(text: Text, i: int, last: int) -> bool:
    """Whether a word is the first syllable of a name that is spelt as it is heard, with hyphens."""
    return i + 2 < last and text.words[i + 1].text == "-" and not text.gaps[i + 1] and not text.words[i + 2].capital


def _names(text: Text, first: int, last: int, opening: int, known: frozenset[str]) -> list[Name]:
    """The run as a name, without words that name nothing; none if nothing is left."""
    words = text.words
    start = next((i for i in range(first, last) if not _names_nothing(text, i, last)), last)
    parts = tuple(w.folded.removesuffix("'s") for w in words[start:last] if w.word or w.number)
    if len(parts) > 1:
        return [Name(start, last, parts)]
    if not parts or len(parts[0]) == 1 or _opens_word(text, last - 1):
        return []
    opens = start == first and (first == opening or words[first - 1].text in OPENERS)
    return [] if opens and not words[start].upper and parts[0] not in known else [Name(start, last, parts)]


def _names_nothing(text: Text, i: int, last: int) -> bool:
    """Whether a word of a run is no part of a name."""
    word = text.words[i]
    return (word.stop or word.folded in _never_names()) and not _is_syllable(text, i, last)
