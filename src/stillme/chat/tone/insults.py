"""Insults to the reader in an answer, and what takes them out: beside what is said, as sentences of their own, as epithets, as oaths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from stillme.languages import compiled, load
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Sentence, Text, within

__all__ = ["Cut", "apart", "insults"]

LISTS: Final = ("calls", "bare_calls", "sentences", "epithets", "oaths", "reporting")
CALLS: Final = frozenset({"calls", "bare_calls"})
WHOLE: Final = frozenset({"sentences", "calls"})
PAUSES: Final = frozenset(",;:–—-")
STOPS: Final = frozenset({"!", "?", ".", "…"})


class _Ranged(Protocol):
    """What stands between two characters of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


Ranged = TypeVar("Ranged", bound=_Ranged)


class Cut(NamedTuple):
    """Tokens `first` to `last` (exclusive) say an insult; without characters `start` to `end` it is gone.

    `capital`: the next word opens the sentence then.
    """

    first: int
    last: int
    start: int
    end: int
    capital: bool = False


@compiled
def _lexicon() -> Lexicon:
    rules = load("insults")
    return Lexicon({name: rules[name] for name in LISTS}, rules["classes"])


@compiled
def _epithet_words() -> Lexicon:
    rules = load("insults")
    return Lexicon({"words": rules["epithet_words"]}, rules["classes"])


def insults(text: Text, sentences: Sequence[Sentence], untouchable: Sequence[tuple[int, int]]) -> list[Cut]:
    """The insults of some sentences, in order and apart; none in code, quotations, addresses and citations."""
    return apart(cut for s in sentences for cut in _in_sentence(text, s, untouchable))


def apart(found: Iterable[Ranged]) -> list[Ranged]:
    """Pieces of a text in order; of those that overlap the first, and of those that begin together the longest."""
    kept: list[Ranged] = []
    for piece in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or piece.start >= kept[-1].end:
            kept.append(piece)
    return kept


def _in_sentence(text: Text, s: Sentence, untouchable: Sequence[tuple[int, int]]) -> Iterator[Cut]:
    matches = list(_lexicon().find(text, s.first, s.last))
    if any(m.name == "reporting" for m in matches):
        return
    free = [m for m in matches if not any(within(untouchable, start) for start in text.starts[m.first : m.last])]
    if any(m.name in WHOLE and _is_whole(text, s, m) for m in free):
        yield _sentence_cut(text, s)
    else:
        yield from filter(None, (_cut(text, s, match) for match in free))


def _is_whole(text: Text, s: Sentence, match: Match) -> bool:
    """Whether a phrase is all that the sentence says; a call may stand behind it."""
    last = s.last
    while last > match.last and not text.words[last - 1].text.isalnum():
        last -= 1
    if match.first > s.first or match.last == last:
        return match.first == s.first
    call = next((m for m in _lexicon().find(text, match.last, last) if m.name in CALLS), match)
    return call.last == last and text.lowers[match.last] == ","


def _sentence_cut(text: Text, s: Sentence) -> Cut:
    """The whole sentence, with the white space behind it, or before it at the end of the text."""
    end = s.end
    while end < len(text.raw) and text.raw[end] in " \t":
        end += 1
    start = s.start
    if end >= len(text.raw.rstrip()):
        while start > 0 and text.raw[start - 1].isspace():
            start -= 1
        end = len(text.raw) if start else end
    return Cut(s.first, s.last, start, end)


def _cut(text: Text, s: Sentence, match: Match) -> Cut | None:
    inside = text.words[max(match.first, s.first + 1) : match.last]
    if any(word.capital and not word.upper for word in inside):
        return None  # a name, or a title
    if match.name == "calls":
        return _call_cut(text, s, match)
    if match.name == "epithets":
        words = next(_epithet_words().find(text, match.first + 1, match.last), None)
        return None if words is None else _span(text, words.first, words.last)
    return _span(text, match.first, match.last) if match.name == "oaths" and match.first > s.first else None


def _call_cut(text: Text, s: Sentence, match: Match) -> Cut | None:
    """A call set off on both sides, with one of the marks that set it off."""
    tokens, starts, ends = text.tokens, text.starts, text.ends
    opens = match.first == s.first
    before = not opens and tokens[match.first - 1] in PAUSES
    closes = match.last >= s.last or tokens[match.last] in STOPS
    behind = match.last < s.last and tokens[match.last] in PAUSES
    if opens and behind and match.last + 1 < s.last:
        return Cut(match.first, match.last + 1, starts[match.first], starts[match.last + 1], capital=True)
    if before and (closes or behind):
        return Cut(match.first - 1, match.last, ends[match.first - 2], ends[match.last - 1])
    return None


def _span(text: Text, first: int, last: int) -> Cut:
    """The tokens with the white space before them."""
    return Cut(first, last, text.ends[first - 1], text.ends[last - 1])
