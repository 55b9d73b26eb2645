"""Concepts: words and phrases of English and Vietnamese that mean the same, found on the tokens of a text.

`rules/concepts.tsv` holds one concept a line, whose number is its id; `rules/opposites.tsv` pairs of opposites.
An English word is found in all its inflected forms, but by spelling: 'planes' is no 'plan' and 'care' no 'car'.
Loading only reads the lines; what a spelling means, and which phrases it may begin, is worked out when it is first met.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from stillme.languages import load, word_rules
from stillme.text.tokens import Text, Word, fold, stem

__all__ = ["concepts_of", "english_of", "opposite_stems"]

Ids = tuple[int, ...]

NO_IDS: Final[Ids] = ()
MOST_SPELLINGS: Final = 1 << 16
READ_AHEAD: Final = 32

PARTICLES: Final = frozenset({"away", "back", "down", "in", "off", "on", "out", "over", "together", "up"})
SIBILANTS: Final = ("s", "x", "z", "ch", "sh", "o")
NO_FORMS: Final = frozenset({"goods", "news"})  # no plurals of 'good' and 'new'
FIRST_TOKEN: Final = re.compile(r"[^\W\d_]++(?:'[^\W\d_]++)*+")
# Verbs that double their last letter before -ed and -ing: 'planed' is no form of 'plan'.
DOUBLING: Final = re.compile("(?:[^aeiouy]*+|qu)[aeiouy][^aeiouwxy]")
# The shape of a Vietnamese syllable without accents.
SYLLABLE: Final = (
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
    words = text.words[first:last]
    table = _table(text.accented, _language(words[:READ_AHEAD]))
    found = list(map(table.__getitem__, words))
    lowers = text.lowers[first:last]
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


def text_concepts(text: Text) -> list[Ids]:
    """The concepts of a whole text, worked out once."""
    found = text.__dict__.get("_concepts")
    if found is None:
        found = text.__dict__["_concepts"] = concepts_of(text)
    return found


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


def english_of(concept: int) -> list[str]:
    """The English words and phrases of a concept."""
    return _english_columns().get(concept, [])


@cache
def _english_columns() -> dict[int, list[str]]:
    return {number: columns[0].split("|") for number, columns in _rows("concepts")}


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
        entry = self[word] = self._entry(word) if word.word else NO_IDS
        return entry

    def _entry(self, word: Word) -> Ids | _Start:
        longer: dict[str, Ids | _Start] = {}
        for rest, meaning in self._phrases(word):
            _insert(longer, rest, meaning)
        ids = tuple(sorted({*self._english_ids(word), *self._vietnamese_ids(word)}))
        return _Start(ids, longer) if longer else ids

    def _english_ids(self, word: Word) -> Iterable[int]:
        """The concepts of the spelling and of the words it may be a form of; none for 'song' in Vietnamese text."""
        if self.language == "vi" and re.fullmatch(SYLLABLE, word.lower):
            return ()
        known = _english().ids
        return [i for base in (word.lower, *_bases(word)) for key in _keys(base, word) for i in known.get(key, ())]

    def _vietnamese_ids(self, word: Word) -> Iterable[int]:
        """None without accents, where a syllable may be any of a dozen words; none for 'tin' in English text."""
        if not self.accented or (self.language == "en" and not word.accented):
            return ()
        known = _vietnamese().ids
        return [i for lower in _spelt(word.lower) for key in _keys(lower, word) for i in known.get(key, ())]

    def _phrases(self, word: Word) -> Iterator[tuple[tuple[str, ...], Ids]]:
        """The phrases that the spelling may begin: what follows it, and what the whole means."""
        for rest, ids in _starting_with(_english(), (word.lower, *_bases(word))):
            yield from ((form, ids) for form in _forms(rest))
        if self.accented:
            for rest, ids in _starting_with(_vietnamese(), _spelt(word.lower)):
                yield from ((spelling, ids) for spelling in product(*map(_spelt, rest)))
        elif self.language != "en":  # in English text 'in an' is not 'in ấn', nor 'may in' a printer
            heads = _folded_heads().get(word.lower, ())
            for rest, ids in _starting_with(_vietnamese(), heads, _vietnamese().accented_only):
                yield tuple(map(fold, rest)), ids


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


def _language(words: list[Word]) -> str:
    """Whose little words the text uses more of: en, vi, or neither; with a capital they may be names (Ho Chi Minh)."""
    english, vietnamese = _little_words()
    spellings = [word.text for word in words]
    difference = len(english.intersection(spellings)) - len(vietnamese.intersection(spellings))
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


def _bases(word: Word) -> Iterator[str]:
    """The words that an English word may be an inflected form of."""
    if word.stop or word.lower in NO_FORMS:
        return
    form = word.lower.removesuffix("'s")
    if form != word.lower:
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
    """One language of the thesaurus: the concepts of each entry, all entries sorted, and those that need accents."""

    ids: dict[str, Ids]
    entries: list[str]
    accented_only: frozenset[str]


@cache
def _english() -> _Side:
    return _side(0)


@cache
def _vietnamese() -> _Side:
    return _side(1)


def _side(column: int) -> _Side:
    ids: dict[str, Ids] = {}
    for number, columns in _rows("concepts"):
        for entry in columns[column].split("|"):
            ids[entry] = (*ids[entry], number) if entry in ids else (number,)
    ids.pop("", None)
    accented_only = [entry for entry in ids if entry[-1] == "*"]
    for entry in accented_only:
        ids[entry[:-1]] = ids.pop(entry)
    return _Side(ids, sorted(ids), frozenset(entry[:-1] for entry in accented_only))


def _rows(name: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table that are not comments, with their numbers."""
    for number, line in enumerate(_read(name).split("\n"), start=1):
        if line and line[0] != "#":
            yield number, line.split("\t")


@cache
def _read(name: str) -> str:
    return files("stillme.languages").joinpath(f"{name}.tsv").read_text(encoding="utf-8")


@cache
def _folded_heads() -> dict[str, set[str]]:
    """The first words of Vietnamese phrases, by what they look like without accents."""
    heads: dict[str, set[str]] = {}
    for start in {entry.partition(" ")[0] for entry in _vietnamese().entries}:
        head = _head(start)
        heads.setdefault(fold(head), set()).add(head)
    return heads


def _starting_with(
    side: _Side, heads: Iterable[str], without: Container[str] = ()
) -> Iterator[tuple[tuple[str, ...], Ids]]:
    """The phrases whose first word is one of these: what follows it, and what the whole means."""
    for head in heads:
        for i in range(bisect_left(side.entries, head), len(side.entries)):
            entry = side.entries[i]
            if not entry.startswith(head):
                break
            if not entry.isalpha() and entry not in without and _head(entry) == head:
                yield from ((tuple(rest), side.ids[entry]) for _, *rest in _cuts(entry) if rest)


def _head(entry: str) -> str:
    """The first token of an entry."""
    match = FIRST_TOKEN.match(entry)
    return match[0] if match else ""


def _forms(rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What may follow the first word of an English phrase: also '(send) it back', '(gift) cards', '(Hong) Kong's'."""
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
