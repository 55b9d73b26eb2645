"""Concepts: words and phrases of English and Vietnamese that mean the same, found on the tokens of a text.

`rules/concepts.tsv` holds one concept a line (its id is the line number), `rules/opposites.tsv` words that
exclude each other.
An English word is found in all its inflected forms, but by its spelling: 'planes' is no 'plan' and 'care' no 'car'.
Loading only reads the lines; what a spelling means, and which phrases it may begin, is worked out when it is first met.
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

NO_IDS: Final[Ids] = ()
MOST_SPELLINGS: Final = 1 << 16
READ_AHEAD: Final = 32

PARTICLES: Final = frozenset({"away", "back", "down", "in", "off", "on", "out", "over", "together", "up"})
SIBILANTS: Final = ("s", "x", "z", "ch", "sh", "o")
FIRST_TOKEN: Final = re.compile(r"\d++|[^\W\d_]++(?:'[^\W\d_]++)*+")
# Verbs that double their last letter before -ed and -ing: 'planed' is no form of 'plan'.
DOUBLING: Final = re.compile("(?:[^aeiouy]*+|qu)[aeiouy][^aeiouwxy]")
# An ASCII word that could be a Vietnamese syllable: 'song' is parallel there, 'ban' a board, 'hang' a cave.
SYLLABLE: Final = re.compile(
    "(?:ngh|ch|gh|gi|kh|ng|nh|ph|qu|th|tr|[bcdghklmnpqrstvx])?"
    "(?:(?:ie|ye|oa|oe|ue|uo|uye|uy|[aeiouy])(?:ch|ng|nh|[cmnpt])?"
    "|ai|ao|au|ay|eo|eu|ia|ieu|iu|oai|oay|oi|ua|uay|ui|uoi|uou|uu|uya|yeu)"
)

# hóa and hoá, khỏe and khoẻ, thủy and thuỷ are one: the tone may stand on either vowel
OTHER_TONE_PLACE: Final = {
    one: other
    for tones in zip("òóỏõọ", "àáảãạ", "èéẻẽẹ", "ùúủũụ", "ỳýỷỹỵ", strict=True)
    for pair in ((tones[0] + "a", "o" + tones[1]), (tones[0] + "e", "o" + tones[2]), (tones[3] + "y", "u" + tones[4]))
    for one, other in (pair, pair[::-1])
}
# lý and lí, sĩ and sỹ are one
OTHER_I: Final = {
    initial + one: initial + other
    for initial, pair in product("hklmst", zip("iìíỉĩị", "yỳýỷỹỵ", strict=True))
    for one, other in (pair, pair[::-1])
}


class _Start(NamedTuple):
    """What a phrase may begin with: its concepts as it stands and, by the next word, those of the longer phrase."""

    ids: Ids
    longer: dict[str, Ids | _Start]


def concepts_of(text: Text, first: int = 0, last: int | None = None) -> list[Ids]:
    """For each token of the range, the concepts of the word or of the longest phrase that covers it."""
    lowers = text.lowers[first:last]
    table = _table(not text.raw.isascii() and text.accented, _language(lowers[:READ_AHEAD]))
    found = list(map(table.__getitem__, text.words[first:last]))
    lowers.append("")  # no phrase goes on with it, so that none is looked for beyond the end
    for i, entry in enumerate(found):
        if entry.__class__ is _Start:  # tokens that a phrase has covered are not looked at again
            ids, longer = entry
            node = longer.get(lowers[i + 1])
            if node is None:
                found[i] = ids
            elif node.__class__ is tuple:
                found[i] = found[i + 1] = node
            else:
                found[i] = ids
                _cover(found, lowers, i, node)
    return cast("list[Ids]", found)


def _cover(found: list[Ids | _Start], lowers: list[str], at: int, node: Ids | _Start | None) -> None:
    """Give all tokens of the longest phrase at `at`, whose first two words led to `node`, what it means."""
    ids, end, i = NO_IDS, at, at + 2
    while isinstance(node, _Start):
        here, longer = node
        if here:
            ids, end = here, i
        node = longer.get(lowers[i])
        i += 1
    if node:
        ids, end = node, i
    found[at:end] = [ids] * (end - at)


@cache
def opposite_stems() -> Mapping[str, frozenset[str]]:
    """The stem (Vietnamese: the lower case) of each word with opposites, and theirs; a phrase is joined by spaces."""
    found: dict[str, set[str]] = {}
    for _, (language, *sides) in _rows("opposites"):
        left, right = ([key for phrase in side.split("|") for key in _joined(phrase, language)] for side in sides)
        for one, other in (*product(left, right), *product(right, left)):
            found.setdefault(one, set()).add(other)
    return MappingProxyType({key: frozenset(opposites) for key, opposites in found.items()})


class _Table(dict[Word, "Ids | _Start"]):
    """What each spelling means in a text of one kind: accented or not, English, Vietnamese or too short to tell."""

    def __init__(self, accented: bool, language: str) -> None:
        super().__init__()
        self.accented = accented
        self.language = language

    def __missing__(self, word: Word) -> Ids | _Start:
        if len(self) >= MOST_SPELLINGS:
            self.clear()
        longer: dict[str, Ids | _Start] = {}
        for rest, meaning in self._phrases(word):
            _insert(longer, rest, meaning)
        ids = tuple(sorted({*self._english_ids(word), *self._vietnamese_ids(word)}))
        entry = self[word] = _Start(ids, longer) if longer else ids
        return entry

    def _is_english(self, word: Word) -> bool:
        """Whether the spelling may be an English word here."""
        return word.word and not (self.language == "vi" and SYLLABLE.fullmatch(word.lower))

    def _english_ids(self, word: Word) -> Iterable[int]:
        """The concepts of the spelling; only if it has none, those of the words it may be a form of."""
        if not self._is_english(word):
            return ()
        known = _english().ids
        own = [i for key in _keys(word.lower, word) for i in known.get(key, ())]
        return own or [i for base in _bases(word.lower) for key in _keys(base, word) for i in known.get(key, ())]

    def _vietnamese_ids(self, word: Word) -> Iterable[int]:
        """None without accents, where a syllable may be any of a dozen words; none for 'tin' in English text."""
        if not self.accented or not (word.accented or self.language != "en"):
            return ()
        known = _vietnamese().ids
        return [i for lower in _spelt(word.lower) for key in _keys(lower, word) for i in known.get(key, ())]

    def _phrases(self, word: Word) -> Iterator[tuple[tuple[str, ...], Ids]]:
        """The phrases that the spelling may begin: what follows it, and what the whole means."""
        if self._is_english(word):
            for rest, ids in _phrases(_english(), (word.lower, *_bases(word.lower))):
                yield from ((form, ids) for form in _forms(rest))
        if self.accented:
            for rest, ids in _phrases(_vietnamese(), _spelt(word.lower)):
                yield from ((spelling, ids) for spelling in product(*map(_spelt, rest)))
        elif self.language != "en":  # in English text 'in an' is not 'in ấn', nor 'may in' a printer
            stop = word_rules().stop_folded
            for rest, ids in _phrases(_vietnamese(), _folded_heads().get(word.lower, ())):
                folded = tuple(map(fold, rest))
                # 'tu do' is freedom (tự do) far less often than 'since then' (từ đó)
                if word.lower not in stop or not stop.issuperset(folded):
                    yield folded, ids


def _insert(longer: dict[str, Ids | _Start], rest: tuple[str, ...], ids: Ids) -> None:
    held = longer.get(rest[0], NO_IDS)
    node = held if isinstance(held, _Start) else _Start(held, {})
    if len(rest) > 1:
        _insert(node.longer, rest[1:], ids)
    else:
        node = _Start(tuple(sorted({*node.ids, *ids})), node.longer)
    longer[rest[0]] = node if node.longer else node.ids


@cache
def _table(accented: bool, language: str) -> _Table:
    return _Table(accented, language)


def _language(lowers: list[str]) -> str:
    """Whose little words the text uses more of: en, vi, or neither."""
    english, vietnamese = _little_words()
    difference = len(english.intersection(lowers)) - len(vietnamese.intersection(lowers))
    return "en" if difference > 0 else "vi" if difference < 0 else ""


@cache
def _little_words() -> tuple[frozenset[str], frozenset[str]]:
    """Stop words that only English has, and those that only Vietnamese has, with and without accents."""
    english = frozenset(str(load("words")["stop"]["en"]).split())
    vietnamese = (word_rules().stop - english) | word_rules().stop_folded
    return english - vietnamese, vietnamese - english


def _keys(lower: str, word: Word) -> tuple[str, ...]:
    """How an entry may be written: in lower case and, where the text has a capital, as a name that needs one."""
    return (lower, lower.capitalize(), lower.upper())[: 1 + word.capital + word.upper]


def _bases(lower: str) -> Iterator[str]:
    """The words that an English word may be an inflected form of."""
    form = lower.removesuffix("'s")
    if form != lower:
        yield form
    if form in word_rules().irregular:
        yield word_rules().irregular[form]
    if form.endswith(("ies", "ied")):
        yield form[:-3] + "y"
    if len(form) > 3 and form.endswith("s") and not form.endswith(("ss", "us", "is")):
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
    if not DOUBLING.fullmatch(cut):
        yield cut


class _Side(NamedTuple):
    """One language of the thesaurus: the concepts of each entry, and the phrases by their first word."""

    ids: dict[str, Ids]
    phrases: dict[str, list[str]]


@cache
def _english() -> _Side:
    return _side(0)


@cache
def _vietnamese() -> _Side:
    return _side(1)


def _side(column: int) -> _Side:
    ids: dict[str, Ids] = {}
    phrases: dict[str, list[str]] = {}
    for number, columns in _rows("concepts"):
        for entry in columns[column].split("|"):
            if entry in ids:
                ids[entry] += (number,)
                continue
            ids[entry] = (number,)
            if not entry.isalpha() and (start := FIRST_TOKEN.match(entry)):
                phrases.setdefault(start.group(), []).append(entry)
    return _Side(ids, phrases)


@cache
def _rows(name: str) -> list[tuple[int, list[str]]]:
    """The lines of a table that are not comments, with their numbers."""
    lines = files("stillme.evidence.rules").joinpath(f"{name}.tsv").read_text(encoding="utf-8").split("\n")
    return [(n, line.split("\t")) for n, line in enumerate(lines, start=1) if line and line[0] != "#"]


@cache
def _folded_heads() -> dict[str, list[str]]:
    """The first words of Vietnamese phrases, by what they look like without accents."""
    heads: dict[str, list[str]] = {}
    for head in _vietnamese().phrases:
        heads.setdefault(fold(head), []).append(head)
    return heads


def _phrases(side: _Side, heads: Iterable[str]) -> Iterator[tuple[tuple[str, ...], Ids]]:
    """The phrases with one of the first words: what follows that, and what the whole means."""
    for head in heads:
        for phrase in side.phrases.get(head, ()):
            for tokens in _cuts(phrase):
                yield tokens[1:], side.ids[phrase]


def _forms(rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What may follow the first word of an English phrase: 'send it back' for 'send back', 'gift cards' for 'gift card'."""
    *before, final = rest
    yield rest
    if final in PARTICLES:
        if not before:
            yield ("it", final)
            yield ("them", final)
        return
    yield (*before, final + "'s")
    if final.endswith("y") and final[-2:-1] not in "aeiou":
        yield (*before, final[:-1] + "ies")
    else:
        yield (*before, final + ("es" if final.endswith(SIBILANTS) else "s"))


def _cuts(phrase: str) -> Iterator[tuple[str, ...]]:
    """The tokens of an entry as the tokeniser would cut them, with its hyphens and with spaces instead."""
    if phrase.replace(" ", "").isalpha():
        yield tuple(phrase.split())
        return
    yield tuple(word.lower for word in Text(phrase).words)
    if "-" in phrase:
        yield tuple(word.lower for word in Text(phrase.replace("-", " ")).words)


def _spelt(syllable: str) -> tuple[str, ...]:
    """A Vietnamese syllable in the spellings in use."""
    other = syllable[:-2] + OTHER_TONE_PLACE.get(syllable[-2:], syllable[-2:])
    other = OTHER_I.get(other, other)
    return (syllable,) if other == syllable else (syllable, other)


def _joined(phrase: str, language: str) -> list[str]:
    """The keys of an opposite: the stems, or in Vietnamese the lower case in each spelling, joined."""
    tokens = next(_cuts(phrase))
    return [" ".join(map(stem, tokens))] if language == "en" else [" ".join(s) for s in product(*map(_spelt, tokens))]
