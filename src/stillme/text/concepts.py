"""Concepts: words and phrases of several languages that mean the same, found on the tokens of a text.

`languages/concepts.tsv` holds one concept a line, whose number is its id; `opposites.tsv` pairs of opposites.
A word is found in all forms that its language gives it.
Loading only reads the lines; what a spelling means, and which phrases it may begin, is worked out when it is first met.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from importlib.resources import files
from itertools import compress, count, product
from operator import is_
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from stillme.languages import DEFAULT, compiled, has, language_of, word_rules
from stillme.languages.grammar import Forms
from stillme.text.tokens import Text, Word, fold, stem

__all__ = ["concepts_of", "opposite_stems", "words_of"]

Ids = tuple[int, ...]

NO_IDS: Final[Ids] = ()
MOST_SPELLINGS: Final = 1 << 16
READ_AHEAD: Final = 32

# The shape of an unaccented syllable of the languages that write their words in syllables.
SYLLABLE: Final = re.compile(
    "(?:ngh|ch|gh|gi|kh|ng|nh|ph|qu|th|tr|[bcdghklmnpqrstvx])?"
    "(?:(?:ie|ye|oa|oe|ue|uo|uye|uy|[aeiouy])(?:ch|ng|nh|[cmnpt])?"
    "|ai|ao|au|ay|eo|eu|ia|ieu|iu|oai|oay|oi|ua|uay|ui|uoi|uou|uu|uya|yeu)"
)
FIRST_TOKEN: Final = re.compile(r"[^\W\d_]++(?:'[^\W\d_]++)*+")


class _Start(NamedTuple):
    """What a phrase may begin with: its concepts as it stands and, by the next word, those of the longer phrase."""

    ids: Ids
    longer: dict[str, Ids | _Start]


_is_start: Final = partial(is_, _Start)


def concepts_of(text: Text, first: int = 0, last: int | None = None) -> list[Ids]:
    """For each token of the range, the concepts of the word or of the longest phrase that covers it."""
    words = text.words[first:last]
    table = _table(text.accented, _language(words[:READ_AHEAD]))
    found = list(map(table.__getitem__, words))
    lowers = text.lowers[first:last]
    lowers.append("")  # no phrase goes on with it, so that none is looked for beyond the end
    for i in compress(count(), map(_is_start, map(type, found))):
        entry = found[i]
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
    if text.concepts is None:
        text.concepts = concepts_of(text)
    return text.concepts


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


def words_of(concept: int) -> list[str]:
    """The words and phrases of a concept in the default language."""
    return _columns(DEFAULT).get(concept, [])


@compiled
def _columns(code: str) -> dict[int, list[str]]:
    column = _codes().index(code)
    return {number: columns[column].split("|") for number, columns in _rows("concepts")}


@compiled
def _codes() -> list[str]:
    """The languages of the thesaurus, in the order of its columns, which its first line names."""
    return _read("concepts").partition("\n")[0].removeprefix("#").split()


@compiled
def opposite_stems() -> Mapping[str, frozenset[str]]:
    """The stem (with accents: the lower case) of each word with opposites, and theirs; a phrase is joined by spaces."""
    found: dict[str, set[str]] = {}
    for _, (code, *sides) in _rows("opposites"):
        left, right = ([key for phrase in side.split("|") for key in _joined(phrase, code)] for side in sides)
        for one, other in (*product(left, right), *product(right, left)):
            found.setdefault(one, set()).add(other)
    return MappingProxyType({key: frozenset(opposites) for key, opposites in found.items()})


class _Table(dict[Word, "Ids | _Start"]):
    """What each spelling means in a text of one kind: accented or not, in one of the languages or too short to tell."""

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
        for side in _sides():
            for rest, meaning in self._phrases(side, word):
                _insert(longer, rest, meaning)
        ids = tuple(sorted({i for side in _sides() for i in self._ids(side, word)}))
        return _Start(ids, longer) if longer else ids

    def _ids(self, side: _ConceptSide, word: Word) -> Iterable[int]:
        """The concepts of the spelling and of the words it may be a form of; none for 'song' in a text of syllables.

        Of a language with accents none without them, where a syllable may be any of a dozen words, and none for 'tin' in other text.
        """
        plain_text = bool(self.language) and not has(self.language, "accents")
        if side.has_accents and (not self.accented or (plain_text and not word.accented)):
            return ()
        if not side.has_accents and has(self.language, "syllables") and SYLLABLE.fullmatch(word.lower):
            return ()
        return [i for head in side.heads(word) for key in _keys(head, word) for i in side.ids.get(key, ())]

    def _phrases(self, side: _ConceptSide, word: Word) -> Iterator[tuple[tuple[str, ...], Ids]]:
        """The phrases that the spelling may begin: what follows it, and what the whole means."""
        if self.accented or not side.has_accents:
            for rest, ids in _starting_with(side, side.heads(word)):
                yield from ((form, ids) for form in side.forms.forms_of_rest(rest))
        elif not self.language or has(
            self.language, "accents"
        ):  # two words of one language may look like a phrase of another without its accents
            heads = _folded_heads(side.code).get(word.lower, ())
            for rest, ids in _starting_with(side, heads, side.accented_only):
                yield tuple(map(fold, rest)), ids


def _insert(longer: dict[str, Ids | _Start], rest: tuple[str, ...], ids: Ids) -> None:
    held = longer.get(rest[0], NO_IDS)
    node = held if isinstance(held, _Start) else _Start(held, {})
    if len(rest) > 1:
        _insert(node.longer, rest[1:], ids)
    else:
        node = _Start(tuple(sorted({*node.ids, *ids})), node.longer)
    longer[rest[0]] = node if node.longer else node.ids


@compiled
def _table(accented: bool, language: str) -> _Table:
    return _Table(accented, language)


def _language(words: list[Word]) -> str:
    """Whose little words the text uses most of, if one; with a capital they may be names (Ho Chi Minh)."""
    spellings = [word.text for word in words]
    counts = {code: len(little.intersection(spellings)) for code, little in _little_words().items()}
    best = max(counts, key=counts.__getitem__)
    return best if list(counts.values()).count(counts[best]) == 1 else ""


@compiled
def _little_words() -> dict[str, frozenset[str]]:
    """Stop words that only one language of the thesaurus has, with and without accents."""
    rules = {code: language_of(code).rules("words") for code in _codes()}
    rows = {code: f"{own.get('stop', '')} {own.get('stop_unaccented', '')}".split() for code, own in rules.items()}
    others = {code: {word for other, row in rows.items() if other != code for word in row} for code in rows}
    return {code: frozenset(row) - others[code] for code, row in rows.items()}


def _keys(lower: str, word: Word) -> tuple[str, ...]:
    """How an entry may be written: in lower case and, where the text has a capital, as a name that needs one."""
    return (lower, lower.capitalize(), lower.upper())[: 1 + word.capital + word.upper]


class _ConceptSide(NamedTuple):
    """One language of the thesaurus: the concepts of each entry, all entries sorted, and those that need accents."""

    code: str
    ids: dict[str, Ids]
    entries: list[str]
    accented_only: frozenset[str]
    forms: Forms
    has_accents: bool

    def heads(self, word: Word) -> tuple[str, ...]:
        """The entries, or first words of entries, that a word may be a form or a spelling of."""
        bases = () if word.stop else self.forms.bases(word.lower, word_rules().irregular)
        return (*self.forms.spellings(word.lower), *bases)


@compiled
def _sides() -> tuple[_ConceptSide, ...]:
    return tuple(_side(column, code) for column, code in enumerate(_codes()))


def _side(column: int, code: str) -> _ConceptSide:
    ids: dict[str, Ids] = {}
    for number, columns in _rows("concepts"):
        for entry in columns[column].split("|"):
            ids[entry] = (*ids[entry], number) if entry in ids else (number,)
    ids.pop("", None)
    accented_only = [entry for entry in ids if entry[-1] == "*"]
    for entry in accented_only:
        ids[entry[:-1]] = ids.pop(entry)
    needing = frozenset(entry[:-1] for entry in accented_only)
    return _ConceptSide(code, ids, sorted(ids), needing, language_of(code).forms, has(code, "accents"))


def _rows(name: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table that are not comments, with their numbers."""
    for number, line in enumerate(_read(name).split("\n"), start=1):
        if line and line[0] != "#":
            yield number, line.split("\t")


@compiled
def _read(name: str) -> str:
    return files("stillme.languages").joinpath(f"{name}.tsv").read_text(encoding="utf-8")


@compiled
def _folded_heads(code: str) -> dict[str, set[str]]:
    """The first words of the phrases of a language, by what they look like without accents."""
    heads: dict[str, set[str]] = {}
    side = _sides()[_codes().index(code)]
    for start in {entry.partition(" ")[0] for entry in side.entries}:
        head = _head(start)
        heads.setdefault(fold(head), set()).add(head)
    return heads


def _starting_with(
    side: _ConceptSide, heads: Iterable[str], without: Container[str] = ()
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


def _cuts(phrase: str) -> Iterator[tuple[str, ...]]:
    """The tokens of an entry as the tokeniser would cut them, with its hyphens and with spaces instead."""
    if phrase.replace(" ", "").isalpha():
        yield tuple(phrase.split())
        return
    yield tuple(word.lower for word in Text(phrase).words)
    if "-" in phrase:
        yield tuple(word.lower for word in Text(phrase.replace("-", " ")).words)


def _joined(phrase: str, code: str) -> list[str]:
    """The keys of an opposite: the stems or, of a language with accents, the lower case in each spelling, joined."""
    tokens = next(_cuts(phrase))
    if not has(code, "accents"):
        return [" ".join(map(stem, tokens))]
    return [" ".join(s) for s in product(*map(language_of(code).forms.spellings, tokens))]
