"""Phrases of the rule files, matched on tokens in one linear pass.

A phrase is a row of slots separated by spaces:

    word        that word (case does not matter)
    a|b|c       any of these words
    (a|b)       the same, but the slot may be missing
    ~3          up to three words of any kind, within the sentence
    @name       any phrase of the list `name` of the same file
    ^           the start of a sentence
    a_b         the words a and b in a row, where a slot needs more than one word: make|put_together

Matching is on whole words, so 'whatever' never contains 'hate'. Vietnamese phrases also match text that was typed without
accents, but only in text that has no accents at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

from stillme.text.tokens import Text, fold

__all__ = ["Lexicon", "Match"]

Words = tuple[str, ...]
SENTENCE_ENDS: Final = frozenset(".!?…;")
# Stands for whatever word comes next; no word is blank.
ANY: Final = ""


class Match(NamedTuple):
    """Tokens `first` to `last` (exclusive) of a text match a phrase of the list `name`."""

    name: str
    first: int
    last: int


class _Slot:
    """One place of a phrase: its options by their first word, longest first; or a gap; or the start of a sentence."""

    __slots__ = ("gap", "optional", "options", "start")

    def __init__(
        self, options: Iterable[Words] = (), *, optional: bool = False, gap: int = 0, start: bool = False
    ) -> None:
        self.optional, self.gap, self.start = optional, gap, start
        self.options: dict[str, list[Words]] = {}
        for option in sorted(set(options), key=lambda words: (-len(words), words)):
            self.options.setdefault(option[0], []).append(option)


class _Phrase:
    """A phrase of a list; its slots are made when a text first has a word it may begin with."""

    __slots__ = ("name", "place", "slots", "written")

    def __init__(self, name: str, written: str, place: int) -> None:
        self.name, self.written, self.place = name, written, place
        self.slots: tuple[_Slot, ...] = ()


class _Heading:
    """The phrases that one word may begin, in the order in which they are written: those that may end or leave a gap behind it, and,
    by the word behind it, those and the ones that go on with that word."""

    __slots__ = ("by_next", "is_compiled", "phrases", "whatever_follows")

    def __init__(self) -> None:
        self.phrases: list[_Phrase] = []
        self.whatever_follows: list[_Phrase] = []
        self.by_next: dict[str, list[_Phrase]] = {}
        self.is_compiled = False

    def compile(self, head: str) -> None:
        """Sort the phrases, whose slots are made, by what may follow the word."""
        following = [(phrase, _following(phrase.slots, head)) for phrase in self.phrases]
        whatever = [phrase for phrase, words in following if ANY in words]
        by_next: dict[str, list[_Phrase]] = {}
        for phrase, words in following:
            for word in words - {ANY}:
                by_next.setdefault(word, []).append(phrase)
        self.by_next = {
            word: sorted({*found, *whatever}, key=lambda phrase: phrase.place) for word, found in by_next.items()
        }
        self.whatever_follows, self.is_compiled = whatever, True


def _following(slots: Sequence[_Slot], head: str) -> set[str]:
    """The words that may stand behind the first word of a phrase; ANY among them where it may end there, or leaves a gap."""
    words: set[str] = set()
    for at, slot in enumerate(slots):
        for option in slot.options.get(head, ()):
            words.update(option[1:2] or _heads_of(slots[at + 1 :]))
        if not slot.start and not slot.optional:
            break
    return words


def _heads_of(slots: Sequence[_Slot]) -> set[str]:
    """The words that what is left of a phrase may begin with; ANY among them where nothing more is needed, or a gap comes first."""
    words: set[str] = set()
    for slot in slots:
        if slot.gap:
            break
        words.update(slot.options)
        if not slot.optional:
            return words
    return words | {ANY}


class Lexicon:
    """Named lists of phrases, matched in one pass over a text."""

    def __init__(self, lists: Mapping[str, Iterable[str]], classes: Mapping[str, Iterable[str]] | None = None) -> None:
        self._known = {name: [str(p) for p in phrases] for name, phrases in {**(classes or {}), **lists}.items()}
        self._written = [(name, phrase) for name in lists for phrase in self._known[name]]
        self._expanded: dict[str, list[Words]] = {}
        self._vocabularies: dict[str, frozenset[str]] = {}
        self._indexes: dict[bool, dict[str, _Heading]] = {}
        for name, phrase in self._written:
            if "@" in phrase:
                self._check(name, phrase)

    def find(
        self, text: Text, first: int = 0, last: int | None = None, *, opening: int | None = None
    ) -> Iterator[Match]:
        """Every match in the token range, in order of its first token; the token `opening` counts as the start of a sentence."""
        plain = not text.accented
        tokens, index = text.folded if plain else text.lowers, self._index(plain)
        stop = len(tokens) if last is None else last
        for i in compress(range(first, stop), map(index.__contains__, tokens[first:stop])):
            for phrase in self._phrases(index[tokens[i]], tokens, i, stop, plain):
                end = _match(phrase.slots, tokens, text, i, stop, i == opening)
                if end:
                    yield Match(phrase.name, i, end)

    def at(self, text: Text, first: int, last: int) -> list[Match]:
        """Every match that begins with the token `first`, which counts as the start of a sentence."""
        plain = not text.accented
        tokens = text.folded if plain else text.lowers
        heading = self._index(plain).get(tokens[first])
        phrases = self._phrases(heading, tokens, first, last, plain) if heading else ()
        ends = [(phrase.name, _match(phrase.slots, tokens, text, first, last, True)) for phrase in phrases]
        return [Match(name, first, end) for name, end in ends if end]

    def _phrases(self, heading: _Heading, tokens: list[str], first: int, last: int, plain: bool) -> list[_Phrase]:
        """The phrases that may begin with a token, by it and the one behind it."""
        if not heading.is_compiled:
            for phrase in heading.phrases:
                phrase.slots = phrase.slots or tuple(self._slot(part, plain) for part in phrase.written.split())
            heading.compile(tokens[first])
        if first + 1 < last:
            return heading.by_next.get(tokens[first + 1], heading.whatever_follows)
        return heading.whatever_follows

    def vocabulary(self, name: str) -> frozenset[str]:
        """Every word that a phrase of a list names."""
        if name not in self._vocabularies:
            parts = (part for phrase in self._known[name] for part in phrase.split() if part != "^" and part[0] != "~")
            self._vocabularies[name] = frozenset(
                word for part in parts for option in self._options(part) for word in option
            )
        return self._vocabularies[name]

    def names(self, text: Text, first: int = 0, last: int | None = None) -> set[str]:
        """The names of the lists that match anywhere in the token range."""
        plain = not text.accented
        tokens, index = text.folded if plain else text.lowers, self._index(plain)
        if index.keys().isdisjoint(tokens):
            return set()
        stop, found = len(tokens) if last is None else last, set[str]()
        for i in compress(range(first, stop), map(index.__contains__, tokens[first:stop])):
            for phrase in self._phrases(index[tokens[i]], tokens, i, stop, plain):
                if phrase.name not in found and _match(phrase.slots, tokens, text, i, stop, False):
                    found.add(phrase.name)
        return found

    def first(self, text: Text, name: str, first: int = 0, last: int | None = None) -> Match | None:
        """The first match of one list in the token range."""
        return next((m for m in self.find(text, first, last) if m.name == name), None)

    # compiling

    def _check(self, name: str, phrase: str) -> None:
        for part in phrase.split():
            for option in part.strip("()").split("|"):
                if option.startswith("@") and option[1:] not in self._known:
                    raise ValueError(f"in {name!r}: no list is called {option[1:]!r}")

    def _index(self, plain: bool) -> dict[str, _Heading]:
        """The phrases by each word they may begin with; in text without accents, by that word without accents."""
        index = self._indexes.get(plain)
        if index is None:
            index = {}
            for place, (name, written) in enumerate(self._written):
                phrase = _Phrase(name, written, place)
                for head in sorted(self._heads(name, written, plain)):
                    index.setdefault(head, _Heading()).phrases.append(phrase)
            self._indexes[plain] = index
        return index

    def _heads(self, name: str, written: str, plain: bool) -> set[str]:
        heads: set[str] = set()
        for part in written.split():
            if part == "^":
                continue
            if part.startswith("~"):
                raise ValueError(f"a phrase of {name!r} must begin with a word: {written!r}")
            heads.update(self._heads_of_part(part))
            if not part.startswith("("):
                break
        return {fold(head) for head in heads} if plain else heads

    def _heads_of_part(self, part: str) -> Iterable[str]:
        """The first words of the options of a slot; only an option that is no plain row of words has to be cut into tokens."""
        if part.replace("|", "").isalpha():
            return part.split("|")
        return [option[0] for option in self._options(part)]

    def _slot(self, part: str, plain: bool) -> _Slot:
        if part == "^":
            return _Slot(start=True)
        if part.startswith("~"):
            return _Slot(gap=int(part[1:]))
        options = self._options(part)
        if plain and not all(word.isascii() for option in options for word in option):
            options = [tuple(map(fold, option)) for option in options]
        return _Slot(options, optional=part.startswith("("))

    def _options(self, part: str) -> list[Words]:
        """The options of a slot, those of classes included."""
        found: list[Words] = []
        for option in (part[1:-1] if part.startswith("(") and part.endswith(")") else part).split("|"):
            found += self._class(option[1:]) if option.startswith("@") else [_tokens(option)]
        return found

    def _class(self, name: str) -> list[Words]:
        if name not in self._expanded:
            self._expanded[name] = [option for phrase in self._known[name] for option in self._options(phrase)]
        return self._expanded[name]


def _match(slots: tuple[_Slot, ...], tokens: list[str], text: Text, at: int, stop: int, opens: bool) -> int:
    """Where a phrase that begins at token `at` ends, or 0."""
    position = 0
    if slots[0].start:
        if not (opens or _starts_sentence(text, at)):
            return 0
        position = 1
    return _rest(slots, position, tokens, at, stop)


def _rest(slots: tuple[_Slot, ...], position: int, tokens: list[str], at: int, stop: int) -> int:
    while position < len(slots):
        slot = slots[position]
        if slot.gap:
            return _after_gap(slots, position, tokens, at, stop)
        if slot.optional:
            step = _step(slot, tokens, at, stop)
            if step:
                end = _rest(slots, position + 1, tokens, at + step, stop)
                if end:
                    return end
            position += 1
            continue
        step = _step(slot, tokens, at, stop)
        if not step:
            return 0
        at += step
        position += 1
    return at


def _after_gap(slots: tuple[_Slot, ...], position: int, tokens: list[str], at: int, stop: int) -> int:
    """Try the slots behind a gap at each place the gap may end; the gap does not cross a sentence."""
    for skipped in range(slots[position].gap + 1):
        end = _rest(slots, position + 1, tokens, at + skipped, stop)
        if end:
            return end
        if at + skipped >= stop or tokens[at + skipped] in SENTENCE_ENDS:
            return 0
    return 0


def _step(slot: _Slot, tokens: list[str], at: int, stop: int) -> int:
    """How many tokens the slot takes at `at`: the longest option that fits."""
    if at >= stop or tokens[at] not in slot.options:
        return 0
    for option in slot.options[tokens[at]]:
        length = len(option)
        if length == 1 or (at + length <= stop and tuple(tokens[at : at + length]) == option):
            return length
    return 0


def _starts_sentence(text: Text, at: int) -> bool:
    if at == 0 or "\n" in text.gaps[at]:
        return True
    before = text.words[at - 1].text
    return before in SENTENCE_ENDS or (before in '"“:-–—•*,)]' and at <= 2)


def _tokens(option: str) -> tuple[str, ...]:
    """The tokens of an option, as the tokeniser would cut them."""
    words = option.split("_")
    if all(map(str.isalpha, words)):
        return tuple(words)
    return tuple(w.lower for w in Text(option.replace("_", " ")).words)
