"""Names in a text: runs of capitalised words, found without a dictionary, compared without accents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stillme.languages import compiled, word_set
from stillme.text.concepts import text_concepts, words_of
from stillme.text.language import is_small
from stillme.text.tokens import Sentence, Text, word_of

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
    words = [word for entry in words_of(concept) for word in entry.split()]
    return bool(words) and not any(is_small(word) or word_of(word).stop for word in words)


def capitalised_words(texts: Iterable[Text]) -> frozenset[str]:
    """Words that stand capitalised inside a sentence somewhere: at the start of one they are names too."""
    seen: set[str] = set()
    for text in texts:
        words = text.words
        for i in [i for i, word in enumerate(words) if word.capital]:
            before = words[i - 1] if i else None
            inside = before is not None and (before.word or before.text in ",()–—/&")
            if inside and not words[i].stop and not _opens_word(text, i):
                seen.add(words[i].folded)
    return frozenset(seen)


def _opens_word(text: Text, i: int) -> bool:
    """Whether the capital is that of a common word of several syllables, written small behind it."""
    behind = text.words[i + 1] if i + 1 < len(text.words) else None
    if behind is None or not behind.word or behind.capital:
        return False
    concepts = text_concepts(text)
    return bool(concepts[i]) and concepts[i] == concepts[i + 1]


def find_names(text: Text, sentences: Sequence[Sentence], known: frozenset[str]) -> list[Name]:
    """The names in the given sentences, in order; `known` are words that stand capitalised elsewhere."""
    names: list[Name] = []
    for sentence in sentences:
        i = sentence.first
        while i < sentence.last:
            if text.words[i].capital:
                last = _run(text, i, sentence.last)
                name = _name(text, i, last, sentence.first, known)
                if name is not None:
                    names.append(name)
                i = last
            else:
                i += 1
    return names


def _run(text: Text, i: int, stop: int) -> int:
    """The end of a run of capitalised words that begins at token i; hyphens and digits joined to it belong to it."""
    words, gaps = text.words, text.gaps
    i += 1
    while i < stop:
        word = words[i]
        joined = not gaps[i]
        if (word.capital and (gaps[i].isspace() or words[i - 1].text in "-–'’")) or (
            joined and word.number and words[i - 1].word
        ):
            i += 1
        elif (
            joined
            and word.text in "-–"
            and i + 1 < stop
            and not gaps[i + 1]
            and (words[i + 1].word or words[i + 1].number)
        ):
            i += 2
        else:
            break
    return i


def _goes_on(text: Text, i: int, last: int) -> bool:
    """Whether a word is the first syllable of a name that is spelt as it is heard: 'Anh-xtanh'."""
    return i + 2 < last and text.words[i + 1].text == "-" and not text.gaps[i + 1] and not text.words[i + 2].capital


def _name(text: Text, first: int, last: int, opening: int, known: frozenset[str]) -> Name | None:
    """The run as a name, without words that name nothing; None if nothing is left."""
    words = text.words
    opens = first == opening or words[first - 1].text in '"“‘«:(*_|`'
    while (
        first < last
        and (words[first].stop or words[first].folded in _never_names())
        and not _goes_on(text, first, last)
    ):
        first += 1
        opens = False
    parts = tuple(w.folded.removesuffix("'s") for w in words[first:last] if w.word or w.number)
    if not parts or (len(parts) == 1 and len(parts[0]) == 1):
        return None
    if len(parts) == 1 and _opens_word(text, last - 1):
        return None
    if opens and len(parts) == 1 and not words[first].upper and parts[0] not in known:
        return None
    return Name(first, last, parts)
