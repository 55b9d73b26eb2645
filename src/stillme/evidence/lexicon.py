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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stillme.evidence.text import Text, fold

__all__ = ["Lexicon", "Match"]

SENTENCE_ENDS = frozenset(".!?…;")


class Match(NamedTuple):
    """Tokens `first` to `last` (exclusive) of a text match a phrase of the list `name`."""

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Slot:
    options: tuple[tuple[str, ...], ...] = ()
    optional: bool = False
    gap: int = 0
    start: bool = False
    by_head: dict[str, list[tuple[str, ...]]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for option in sorted(self.options, key=len, reverse=True):
            self.by_head.setdefault(option[0], []).append(option)


_Phrase = tuple[str, tuple[_Slot, ...]]


class Lexicon:
    """Named lists of phrases compiled for one pass over a text."""

    def __init__(self, lists: Mapping[str, Iterable[str]], classes: Mapping[str, Iterable[str]] | None = None) -> None:
        known = {name: [str(p) for p in phrases] for name, phrases in {**(classes or {}), **lists}.items()}
        self._exact: dict[str, list[_Phrase]] = {}
        self._folded: dict[str, list[_Phrase]] = {}
        for name in lists:
            for phrase in known[name]:
                slots = _compile(phrase, known)
                self._add(self._exact, name, slots)
                self._add(self._folded, name, slots if phrase.isascii() and "@" not in phrase else _fold_slots(slots))

    @staticmethod
    def _add(index: dict[str, list[_Phrase]], name: str, slots: tuple[_Slot, ...]) -> None:
        heads: set[str] = set()
        for slot in slots[1:] if slots and slots[0].start else slots:
            if slot.gap or slot.start:
                raise ValueError(f"a phrase of {name!r} must begin with a word")
            heads.update(option[0] for option in slot.options)
            if not slot.optional:
                break
        for head in sorted(heads):
            index.setdefault(head, []).append((name, slots))

    def find(self, text: Text, first: int = 0, last: int | None = None) -> Iterator[Match]:
        """Every match in the token range, in order of its first token."""
        plain = not text.accented
        tokens = text.folded if plain else text.lowers
        index = self._folded if plain else self._exact
        stop = len(tokens) if last is None else last
        for i in range(first, stop):
            candidates = index.get(tokens[i])
            if candidates:
                for name, slots in candidates:
                    end = _match(slots, tokens, text, i, stop)
                    if end:
                        yield Match(name, i, end)

    def names(self, text: Text, first: int = 0, last: int | None = None) -> set[str]:
        """The names of the lists that match anywhere in the token range."""
        return {match.name for match in self.find(text, first, last)}

    def first(self, text: Text, name: str, first: int = 0, last: int | None = None) -> Match | None:
        """The first match of one list in the token range."""
        return next((m for m in self.find(text, first, last) if m.name == name), None)


def _match(slots: tuple[_Slot, ...], tokens: list[str], text: Text, at: int, stop: int) -> int:
    """Where a phrase that begins at token `at` ends, or 0."""
    position = 0
    if slots[0].start:
        if not _starts_sentence(text, at):
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
    if at >= stop:
        return 0
    for option in slot.by_head.get(tokens[at], ()):
        length = len(option)
        if length == 1 or (at + length <= stop and tuple(tokens[at : at + length]) == option):
            return length
    return 0


def _starts_sentence(text: Text, at: int) -> bool:
    if at == 0 or "\n" in text.gaps[at]:
        return True
    before = text.words[at - 1].text
    return before in SENTENCE_ENDS or (before in '"“:-–—•*,)]' and at <= 2)


def _compile(phrase: str, known: Mapping[str, list[str]]) -> tuple[_Slot, ...]:
    return tuple(_slot(part, known) for part in phrase.split())


def _slot(part: str, known: Mapping[str, list[str]]) -> _Slot:
    if part == "^":
        return _Slot(start=True)
    if part.startswith("~"):
        return _Slot(gap=int(part[1:]))
    optional = part.startswith("(") and part.endswith(")")
    body = part[1:-1] if optional else part
    options: list[tuple[str, ...]] = []
    for option in body.split("|"):
        options += _named(option[1:], known) if option.startswith("@") else [_tokens(option)]
    return _Slot(options=tuple(sorted(set(options))), optional=optional)


def _named(name: str, known: Mapping[str, list[str]]) -> list[tuple[str, ...]]:
    if name not in known:
        raise ValueError(f"no list is called {name!r}")
    found: list[tuple[str, ...]] = []
    for phrase in known[name]:
        for option in phrase.split("|"):
            found += _named(option[1:], known) if option.startswith("@") else [_tokens(option)]
    return found


def _tokens(option: str) -> tuple[str, ...]:
    """The tokens of an option, as the tokeniser would cut them."""
    words = option.split("_")
    if all(map(str.isalpha, words)):
        return tuple(words)
    return tuple(w.lower for w in Text(option.replace("_", " ")).words)


def _fold_slots(slots: tuple[_Slot, ...]) -> tuple[_Slot, ...]:
    return tuple(
        _Slot(tuple(sorted({tuple(map(fold, option)) for option in s.options})), s.optional, s.gap, s.start) for s in slots
    )
