"""Concepts: words and phrases of English and Vietnamese that mean the same, found on the tokens of a text.

`rules/concepts.tsv` holds one concept a line, `rules/opposites.tsv` the words that exclude each other. A concept's id is its line number.
An English word is found in any of its inflected forms, but by its own spelling: 'planes' is never 'plan', nor 'care' a 'car'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from stillme.evidence.rules import load, word_rules
from stillme.evidence.text import Text, Word, fold, stem

__all__ = ["concepts_of", "opposite_stems"]

Ids = tuple[int, ...]
# second word -> what may follow it and what the whole then means, the longest first
Followers = Mapping[str, tuple[tuple[tuple[str, ...], Ids], ...]]

NO_IDS: Final[Ids] = ()
NO_FOLLOWERS: Final[Followers] = {}
MOST_SPELLINGS: Final = 1 << 16
READ_AHEAD: Final = 32

PARTICLES: Final = frozenset("away back down in off on out over together up".split())
SIBILANTS: Final = ("s", "x", "z", "ch", "sh", "o")
DOUBLED_OR_NOT: Final = re.compile("[^aeiouy]*+(?:qu)?[aeiouy][^aeiouwxy]")
# An ASCII word that could be a Vietnamese syllable: 'song' is parallel, 'ban' a board, 'hang' a cave.
SYLLABLE: Final = re.compile(
    "(?:ngh|ch|gh|gi|kh|ng|nh|ph|qu|th|tr|[bcdghklmnpqrstvx])?"
    "(?:(?:ie|ye|oa|oe|ue|uo|uye|uy|[aeiouy])(?:ch|ng|nh|[cmnpt])?"
    "|ai|ao|au|ay|eo|eu|ia|ieu|iu|oai|oay|oi|ua|uay|ui|uoi|uou|uu|uya|yeu)"
)

TONES: Final = ("àáảãạ", "èéẻẽẹ", "ìíỉĩị", "òóỏõọ", "ùúủũụ", "ỳýỷỹỵ")
A, E, I, O, U, Y = TONES
# hóa and hoá, khỏe and khoẻ, thủy and thuỷ are one: the tone may stand on either vowel
MOVED_TONES: Final = {
    first_marked + last: first + last_marked
    for first, last, first_tones, last_tones in (("o", "a", O, A), ("o", "e", O, E), ("u", "y", U, Y))
    for first_marked, last_marked in zip(first_tones, last_tones, strict=True)
}
# lý and lí, sĩ and sỹ are one
SWAPPED_I: Final = {
    initial + one: initial + other
    for initial, vowels in product("hklmst", zip("i" + I, "y" + Y, strict=True))
    for one, other in (vowels, vowels[::-1])
}


def concepts_of(text: Text, first: int = 0, last: int | None = None) -> list[Ids]:
    """For each token of the range, the concepts of the word or of the longest phrase that covers it."""
    words = text.words[first:last]
    table = _table(not text.raw.isascii() and text.accented, _language(words[:READ_AHEAD]))
    found = list(map(table.__getitem__, words))
    starts = [i for i, entry in enumerate(found) if entry.__class__ is _Start]
    if starts:
        _cover(words, found, starts)
    return cast("list[Ids]", found)


@cache
def opposite_stems() -> Mapping[str, frozenset[str]]:
    """The stem (Vietnamese: lower case) of each word that has opposites, with theirs; words of a phrase are joined by a space."""
    found: dict[str, set[str]] = {}
    for _, (language, *sides) in _rows("opposites"):
        left, right = (
            [key for phrase in side.split("|") for key in _opposite_keys(phrase, language)] for side in sides
        )
        for one, other in (*product(left, right), *product(right, left)):
            found.setdefault(one, set()).add(other)
    return MappingProxyType({key: frozenset(opposites) for key, opposites in found.items()})


class _Start(NamedTuple):
    """A word that may begin a phrase: what it means alone, and what may follow it."""

    ids: Ids
    by_stem: Followers
    by_lower: Followers


class _Lexicon(NamedTuple):
    """The single words (with and without a capital) and the phrases of one language, by their first word."""

    words: Mapping[str, Ids]
    names: Mapping[str, Ids]
    phrases: Mapping[str, Followers]


class _Table(dict[Word, "Ids | _Start"]):
    """What each spelling means in a text of one kind, worked out when the spelling is first met."""

    def __init__(self, accented: bool, language: str) -> None:
        super().__init__()
        self.accented = accented
        self.vietnamese = language == "vi"
        self.english = _english()
        # English text typed without accents has no Vietnamese in it: 'in an' is not 'in ấn', nor 'may in' a printer.
        self.foreign = _Lexicon({}, {}, {}) if language == "en" and not accented else _vietnamese(accented)
        # Among English words, a bare syllable is an English word even if the text has an accent somewhere: 'tin', 'can'.
        self.bare = accented and language != "en"

    def __missing__(self, word: Word) -> Ids | _Start:
        if len(self) >= MOST_SPELLINGS:
            self.clear()
        entry = self[word] = self._entry(word)
        return entry

    def _entry(self, word: Word) -> Ids | _Start:
        ids = NO_IDS
        by_stem = by_lower = NO_FOLLOWERS
        lower = word.lower
        if not (self.vietnamese and SYLLABLE.fullmatch(lower)):
            ids = _english_ids(word, self.english)
            by_stem = self.english.phrases.get(word.stem, NO_FOLLOWERS)
        if self.accented and (word.accented or self.bare):
            ids += self.foreign.words.get(lower, NO_IDS)
            if word.capital:
                ids += self.foreign.names.get(word.text.capitalize(), NO_IDS)
        by_lower = self.foreign.phrases.get(lower, NO_FOLLOWERS)
        ids = tuple(sorted(set(ids)))
        return _Start(ids, by_stem, by_lower) if by_stem or by_lower else ids


def _cover(words: list[Word], found: list[Ids | _Start], starts: list[int]) -> None:
    """Give the tokens of each phrase what the phrase means, from the left, and other tokens what they mean alone."""
    end = len(words) - 1
    free = 0
    for i in starts:
        if i < free:
            continue
        ids, by_stem, by_lower = cast(_Start, found[i])
        found[i] = ids
        if i < end:
            following = words[i + 1]
            candidates = by_lower.get(following.lower)
            if by_stem and following.stem in by_stem:
                candidates = _longest_first((*(candidates or ()), *by_stem[following.stem]))
            if candidates:
                free = _take(words, found, i, candidates)


def _take(
    words: list[Word], found: list[Ids | _Start], at: int, candidates: Iterable[tuple[tuple[str, ...], Ids]]
) -> int:
    """Mark the first candidate that stands at `at`, and tell where it ends."""
    for rest, ids in candidates:
        end = at + 2 + len(rest)
        if end <= len(words) and all(k in (w.lower, w.stem) for k, w in zip(rest, words[at + 2 : end], strict=True)):
            found[at:end] = [ids] * (end - at)
            return end
    return 0


@cache
def _table(accented: bool, language: str) -> _Table:
    return _Table(accented, language)


def _language(words: list[Word]) -> str:
    """Whose little words the text uses more of: en, vi, or neither."""
    english, vietnamese = _little_words()
    lowers = {word.lower for word in words}
    difference = len(english & lowers) - len(vietnamese & lowers)
    return "en" if difference > 0 else "vi" if difference < 0 else ""


@cache
def _little_words() -> tuple[frozenset[str], frozenset[str]]:
    """Stop words that only English has, and those that only Vietnamese has, with and without accents."""
    english = frozenset(str(load("words")["stop"]["en"]).split())
    vietnamese = (word_rules().stop - english) | word_rules().stop_folded
    return english - vietnamese, vietnamese - english


def _english_ids(word: Word, english: _Lexicon) -> Ids:
    """The concepts of an English word: those of its spelling, or else of the words it may be a form of."""
    lower = word.lower
    ids = english.words.get(lower, NO_IDS)
    if word.capital:
        ids += english.names.get(word.text if word.upper else word.text.capitalize(), NO_IDS)
        ids += english.names.get(lower.removesuffix("'s").capitalize(), NO_IDS)
    if ids or not lower.isascii():
        return ids
    return tuple(i for base in _bases(lower) for i in english.words.get(base, NO_IDS))


def _bases(lower: str) -> Iterator[str]:
    """The words that an English word may be an inflected form of."""
    form = lower.removesuffix("'s")
    if form != lower:
        yield form
    if form in word_rules().irregular:
        yield word_rules().irregular[form]
    if form.endswith(("ies", "ied")):
        yield form[:-3] + "y"
    if form.endswith("s") and not form.endswith(("ss", "us", "is")):
        yield form[:-1]
    if form.endswith("es") and form[:-2].endswith(SIBILANTS):
        yield form[:-2]
    if form.endswith("ed"):
        yield from _before_suffix(form[:-2])
    elif form.endswith("ing"):
        yield from _before_suffix(form[:-3])


def _before_suffix(cut: str) -> Iterator[str]:
    """What -ed or -ing was added to: 'plann' is plan, 'plan' is plane."""
    yield cut + "e"
    if len(cut) > 3 and cut[-1] == cut[-2]:
        yield cut[:-1]
    if not DOUBLED_OR_NOT.fullmatch(cut):
        yield cut


@cache
def _english() -> _Lexicon:
    words: dict[str, list[int]] = {}
    names: dict[str, list[int]] = {}
    phrases: dict[tuple[str, ...], list[int]] = {}
    stem_of = cache(stem)
    for number, (english, _) in _rows("concepts"):
        for entry in filter(None, english.split("|")):
            if entry.isalpha():
                (words if entry[0].islower() else names).setdefault(entry, []).append(number)
                continue
            for tokens in _spellings(entry):
                if len(tokens) == 1:
                    words.setdefault(tokens[0], []).append(number)
                    continue
                keys = tuple(map(stem_of, tokens))
                phrases.setdefault(keys, []).append(number)
                if len(keys) == 2 and keys[1] in PARTICLES:
                    for between in ("it", "them"):
                        phrases.setdefault((keys[0], between, keys[1]), []).append(number)
    return _Lexicon(_ids(words), _ids(names), _by_first_word(phrases))


@cache
def _vietnamese(accented: bool) -> _Lexicon:
    """The Vietnamese side; without accents only phrases are left, for a bare syllable may be any of a dozen words."""
    words: dict[str, list[int]] = {}
    names: dict[str, list[int]] = {}
    phrases: dict[tuple[str, ...], list[int]] = {}
    stop = word_rules().stop_folded
    for number, (_, vietnamese) in _rows("concepts"):
        for entry in filter(None, vietnamese.split("|")):
            if entry.isalpha():
                for spelling in _tone_spellings((entry,)) if accented else ():
                    (words if entry[0].islower() else names).setdefault(spelling[0], []).append(number)
                continue
            for tokens in _spellings(entry):
                for spelling in _tone_spellings(tokens):
                    keys = spelling if accented else tuple(map(fold, spelling))
                    # 'tu do' is freedom (tự do) far less often than 'since then' (từ đó)
                    if accented or not stop.issuperset(keys):
                        phrases.setdefault(keys, []).append(number)
    return _Lexicon(_ids(words), _ids(names), _by_first_word(phrases))


def _rows(name: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table that are not comments, with their numbers."""
    text = files("stillme.evidence.rules").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def _spellings(entry: str) -> Iterator[tuple[str, ...]]:
    """The tokens of an entry as the tokeniser would cut them, with its hyphens and with spaces instead."""
    if entry.replace(" ", "").isalpha():
        yield tuple(entry.lower().split())
        return
    yield tuple(word.lower for word in Text(entry).words)
    if "-" in entry:
        yield tuple(word.lower for word in Text(entry.replace("-", " ")).words)


def _tone_spellings(syllables: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A Vietnamese phrase in the spellings in use: where the tone stands, i or y."""
    moved = tuple([s[:-2] + MOVED_TONES.get(s[-2:], s[-2:]) for s in syllables])
    if len(syllables) == 1:
        return {syllables, moved}
    return {
        syllables,
        moved,
        tuple([SWAPPED_I.get(s, s) for s in syllables]),
        tuple([SWAPPED_I.get(s, s) for s in moved]),
    }


def _opposite_keys(phrase: str, language: str) -> list[str]:
    tokens = next(_spellings(phrase))
    if language == "en":
        return [" ".join(map(stem, tokens))]
    return sorted({" ".join(spelling) for spelling in _tone_spellings(tokens)})


def _ids(numbers: Mapping[str, Iterable[int]]) -> dict[str, Ids]:
    return {key: tuple(found) for key, found in numbers.items()}


def _by_first_word(phrases: Mapping[tuple[str, ...], list[int]]) -> dict[str, Followers]:
    grouped: dict[str, dict[str, tuple[tuple[tuple[str, ...], Ids], ...]]] = {}
    for (first, second, *rest), numbers in phrases.items():
        followers = grouped.setdefault(first, {})
        meaning = ((tuple(rest), tuple(dict.fromkeys(numbers))),)
        followers[second] = _longest_first(followers[second] + meaning) if second in followers else meaning
    return cast("dict[str, Followers]", grouped)


def _longest_first(candidates: tuple[tuple[tuple[str, ...], Ids], ...]) -> tuple[tuple[tuple[str, ...], Ids], ...]:
    return tuple(sorted(candidates, key=lambda candidate: -len(candidate[0])))
