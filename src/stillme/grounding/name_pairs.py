"""Names across English and Vietnamese: one name in two spellings, and which names are spelt the same in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from stillme.grounding.statements import Reading
from stillme.languages import compiled, has, word_set
from stillme.lazy import lazy
from stillme.text.concepts import text_concepts
from stillme.text.language import is_small, syllables
from stillme.text.names import Name, names_something
from stillme.text.tokens import Text, Word, fold

__all__ = ["Abroad"]

Phrase = tuple[str, ...]
LEAST_SOUNDS: Final = 2
LEAST_ROOT: Final = 5
LONGEST_ENDING: Final = 4
# More candidates than this are not compared: nobody writes so many names alike.
MOST_ALIKE: Final = 64
# How Vietnamese hears the consonants of other languages; vowels and final letters come and go.
SOUNDS: Final = (("ngh", "n"), ("nh", "n"), ("ng", "n"), ("ph", "f"), ("th", "t"), ("kh", "k"), ("gh", "g"), ("gi", "j"),
    ("tr", "t"), ("ch", "s"), ("sh", "s"), ("ck", "k"), ("qu", "k"))  # fmt: skip
ALIKE: Final = str.maketrans("bvwfcqkxszdtyjgp", "bvvfkkkssstt jkb")
VOWELS: Final = re.compile(r"[aeiouyhrl\W_]++")
TRANSLITERATED: Final = re.compile(r"(?<!\w)[^\W\d_]{1,6}(?:-[^\W\d_]{1,6})++(?!\w)")


@compiled
def _pairs() -> dict[Phrase, frozenset[Phrase]]:
    """Each spelling of the table, as its words, with the spellings of the other language."""
    found: dict[Phrase, set[Phrase]] = {}
    text = files("stillme.languages").joinpath("name_pairs.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and line[0] != "#":
            english, vietnamese = ([tuple(Text(s).lowers) for s in side.split("|")] for side in line.split("\t"))
            for one, other in ((english, vietnamese), (vietnamese, english)):
                for spelling in one:
                    found.setdefault(spelling, set()).update(other)
    return {spelling: frozenset(others) for spelling, others in found.items()}


@compiled
def _surnames() -> frozenset[str]:
    return word_set("names", "surnames")


class Abroad:
    """The sources in the other language than the draft, indexed once, so that each name is looked up and not searched for."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.texts = [reading.text for reading in readings]
        self.words = frozenset[str]().union(*(reading.folded for reading in readings))
        self.concepts = frozenset(i for reading in readings for ids in reading.concepts for i in ids)
        self._phrases: dict[Phrase, bool] = {}

    def may_have(self, name: Name, text: Text, language: str) -> bool:
        """Whether a name of `text` stands there: as it is, or each of its parts, as it is or as the other language has it.

        What is made of ordinary words may have been translated in many ways: it is no sign of absence.
        """
        if not self.texts:
            return False
        person = _person(name, text)
        missing = (piece for piece in _pieces(name, text) if not self._accounts_for(text, *piece))
        return not any(first >= person or _is_same_in_both(text, first, last, language) for first, last in missing)

    def _accounts_for(self, text: Text, first: int, last: int) -> bool:
        words = text.words[first:last]
        if all(w.folded.removesuffix("'s") in self.words for w in words if w.word or w.number):
            return True
        if any(self._has_phrase(spelling) for spelling in _pairs().get(_row(text, first, last), ())):
            return True
        if len(words) == 1 and self._has_root(words[0].folded.removesuffix("'s")):
            return True
        ids = {i for each in text_concepts(text)[first:last] for i in each}
        return not ids.isdisjoint(self.concepts) or self._sounds_like_one(text.slice(first, last))

    def _has_phrase(self, phrase: Phrase) -> bool:
        """Whether the words stand in a row somewhere; without accents where a text has none."""
        if phrase not in self._phrases:
            self._phrases[phrase] = any(_holds_row(text, phrase) for text in self.texts)
        return self._phrases[phrase]

    def _has_root(self, word: str) -> bool:
        """Whether one of the two is the other with an ending: Devon and Devonian, Pleistocen and Pleistocene."""
        if len(word) < LEAST_ROOT:
            return False
        others = (o for o in self._by_root.get(word[:LEAST_ROOT], ()) if abs(len(o) - len(word)) <= LONGEST_ENDING)
        return any(o.startswith(word) or word.startswith(o) for o in others)

    @lazy
    def _by_root(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in sorted(self.words):
            if len(word) >= LEAST_ROOT and len(found.setdefault(word[:LEAST_ROOT], [])) < MOST_ALIKE:
                found[word[:LEAST_ROOT]].append(word)
        return found

    def _sounds_like_one(self, written: str) -> bool:
        """Whether one of the two is the other as a language in syllables spells what it hears."""
        if TRANSLITERATED.fullmatch(written):
            return any(_sounds_alike(written, other) for other in self._plain.get(_sounds(written)[:1], ()))
        if not written.isascii() or not written.isalpha():
            return False
        return any(_sounds_alike(other, written) for other in self._heard.get(_sounds(written)[:1], ()))

    @lazy
    def _plain(self) -> dict[str, list[str]]:
        """The capitalised words without accents, by their first sound."""
        return _by_sound(w.text for text in self.texts for w in text.words if w.capital and not w.accented)

    @lazy
    def _heard(self) -> dict[str, list[str]]:
        """The words in syllables with hyphens, by their first sound."""
        return _by_sound(match.group() for text in self.texts for match in TRANSLITERATED.finditer(text.raw))


def _by_sound(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(words):
        group = found.setdefault(_sounds(word)[:1], [])
        if len(group) < MOST_ALIKE:
            group.append(word)
    return found


def _holds_row(text: Text, phrase: Phrase) -> bool:
    row, wanted = (text.lowers, phrase) if text.accented else (text.folded, tuple(map(fold, phrase)))
    size = len(wanted)
    return any(row[i] == wanted[0] and tuple(row[i : i + size]) == wanted for i in range(len(row) - size + 1))


def _pieces(name: Name, text: Text) -> Iterator[tuple[int, int]]:
    """The name cut into the longest pieces that the table or the concepts know, and single words."""
    concepts, at = text_concepts(text), name.first
    while at < name.last:
        end = next((e for e in range(name.last, at + 1, -1) if _row(text, at, e) in _pairs()), at + 1)
        while end + 1 < name.last and text.tokens[end] == "-" and not text.gaps[end]:
            end += 2  # spelt as it is heard, in syllables
        while end < name.last and end == at + 1 and concepts[at] and concepts[end] == concepts[at]:
            end += 1
        if any(text.words[i].word or text.words[i].number for i in range(at, end)):
            yield at, end
        at = end


def _row(text: Text, first: int, last: int) -> Phrase:
    """The words of a piece as the table has them: small, and without the 's of a possessive."""
    return tuple(lower.removesuffix("'s") for lower in text.lowers[first:last])


def _sounds_alike(heard: str, written: str) -> bool:
    """The same consonants in the same order, but for those at the end of a syllable, which may be lost."""
    one, other = _sounds(heard), _sounds(written)
    if len(one) < LEAST_SOUNDS or one[:1] != other[:1] or len(one) > len(other) + 1 or 2 * len(one) < len(other):
        return False
    rest = iter(other)
    return all(sound in rest for sound in one)


@lru_cache(maxsize=1 << 14)
def _sounds(written: str) -> str:
    plain = fold(written)
    for letters, sound in SOUNDS:
        plain = plain.replace(letters, sound)
    sounds = VOWELS.sub("", plain).translate(ALIKE).replace(" ", "")
    return "".join(c for i, c in enumerate(sounds) if i == 0 or c != sounds[i - 1])


def _is_same_in_both(text: Text, first: int, last: int, language: str) -> bool:
    """Whether a text in the other language would write a piece alike, or in a way that is known: where it does not, it is missing."""
    ids = {i for each in text_concepts(text)[first:last] for i in each}
    if _row(text, first, last) in _pairs() or any(map(names_something, ids)):
        return True
    words = [word for word in text.words[first:last] if word.word]
    if has(language, "syllables"):
        heard = TRANSLITERATED.fullmatch(text.slice(first, last)) is not None
        return not heard and any(_is_foreign(word) for word in words)
    return any(not is_small(word.lower.removesuffix("'s")) for word in words)


def _is_foreign(word: Word) -> bool:
    """Whether a word of a text in syllables is none."""
    return fold(word.lower) not in syllables() and len(word.text) > 1


def _person(name: Name, text: Text) -> int:
    """Where in a name a Vietnamese person begins, who is written alike but for the accents; behind it if there is none."""
    surnames = (i for i in range(name.first, name.last - 1) if text.lowers[i] in _surnames())
    return next(surnames, name.last)
