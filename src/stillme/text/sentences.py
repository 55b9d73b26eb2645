"""Sentences with exact offsets: abbreviations, initials, decimals, lists, tables, headings, quotes, trailing citation markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, count, pairwise
from typing import Final, NamedTuple
from unicodedata import category

from stillme.languages import compiled, word_set
from stillme.text.tokens import TEXT, Sentence, Text, Word

__all__ = ["Sentence", "is_picture", "split"]

ENDS: Final = frozenset(".!?…。！？")
STOPS: Final = ENDS | {";"}
CLOSERS: Final = frozenset("\"”’»)]'*_`】")
LONGEST_ENTRY: Final = 8
BULLETS: Final = frozenset("-*•+–—>#|")
# What stands behind the number of a line; behind an opened bracket only the second.
CLOSING: Final = ".)"
ROMAN: Final = frozenset("ivx")
# What a line before a heading or item ends with, and a line of so many tokens is one.
LINE_ENDS: Final = ENDS | {":", "|", ""}
SHORT_LINE: Final = 8
# Symbols, marks of form and skin colours: what emoji are written with.
PICTURES: Final = frozenset({"So", "Sk", "Mn"})
FENCES: Final = frozenset("`~")
COMMAS: Final = frozenset(",;")


class _Abbreviations(NamedTuple):
    before_name: frozenset[str]
    maybe_end: frozenset[str]
    often_end: frozenset[str]
    openers: frozenset[str]
    not_behind: frozenset[str]
    words_too: frozenset[str]
    before_bracket: frozenset[str]
    before_number: frozenset[str]


@compiled
def _abbreviations() -> _Abbreviations:
    return _Abbreviations(*(word_set("sentences", name) for name in _Abbreviations._fields))


def split(text: Text, markers: Sequence[tuple[int, int]] = (), apart: Sequence[tuple[int, int]] = ()) -> list[Sentence]:
    """The sentences of a text; a citation marker behind the full stop belongs to the sentence before it.

    `markers` are character ranges of citation markers; those of `apart` are sentences of their own, whatever stands around them.
    """
    cuts = {text.token_at(edge) for span in apart for edge in span}
    cuts |= _line_cuts(text) | _stop_cuts(text, dict(markers)) | _picture_cuts(text)
    last = len(text.words)
    edges = [0, *sorted(cut for cut in cuts if 0 < cut < last), last]
    spans = (_trim(text, first, last) for first, last in pairwise(edges))
    return [span for span in spans if span]


def _line_cuts(text: Text) -> set[int]:
    """The tokens before which a line break ends a sentence."""
    if "\n" not in text.raw:
        return set()
    broken = [i for i in range(1, len(text.words)) if "\n" in text.gaps[i]]
    return {i for i in broken if _line_break(text, i)}


def _stop_cuts(text: Text, marked: Mapping[int, int]) -> set[int]:
    """The tokens behind the stops that end a sentence, and behind the citation markers that follow them."""
    cuts: set[int] = set()
    behind: dict[int, int] = {}
    after, last = 0, len(text.words)
    for i in compress(count(), map(STOPS.__contains__, text.tokens)):
        if i >= after:  # the stops of one row have the same token behind them: it is walked once
            after = _after_closers(text, i + 1)
        if after < last and (_parts_clauses(text, i) or _ends_sentence(text, i, after)):
            cuts.add(_after_markers(text, after, marked, behind))
    return cuts


def _picture_cuts(text: Text) -> set[int]:
    """The tokens behind a picture that ends a sentence as a full stop does: one with a capital follows it."""
    signs = set() if text.raw.isascii() else {token for token in map(TEXT, text.words) if len(token) == 1}
    if not any(map(is_picture, signs)):
        return set()
    behind = (i for i in range(1, len(text.words)) if text.words[i].capital and text.gaps[i].strip() == "")
    return {i for i in behind if text.gaps[i] and is_picture(text.words[i - 1].text)}


def is_picture(token: str) -> bool:
    """Whether a token is an emoji, or the mark of its form or colour."""
    return len(token) == 1 and not token.isascii() and category(token) in PICTURES


def _trim(text: Text, first: int, last: int) -> Sentence | None:
    """A sentence without list bullets, heading marks, quote marks and numbering at its start; None if nothing is left."""
    words = text.words
    while first < last and words[first].text in BULLETS:
        first += 1
    first = _behind_numbering(text, first, last)
    while last > first and words[last - 1].text == "|":
        last -= 1
    if first >= last:
        return None
    return Sentence(first, last, text.starts[first], text.ends[last - 1])


def _behind_numbering(text: Text, first: int, last: int) -> int:
    """The token behind '1.', '2)', '3/', 'b)' or '(iv)' at the start of a line, as long as something stands behind it."""
    if first >= last or not _line_start(text, first):
        return first
    words = [word.lower for word in text.words[first : min(last, first + 4)]]
    opened = words[:1] == ["("]
    if len(words) < 3 + opened:
        return first
    number, mark = words[opened], words[opened + 1]
    if number.isdigit():
        is_number = mark in CLOSING[opened:] or (mark == "/" and text.gaps[first + 2] != "")
    else:
        is_number = mark == ")" and (len(number) == 1 or ROMAN.issuperset(number))
    return first + 2 + opened if is_number else first


def _parts_clauses(text: Text, i: int) -> bool:
    """Whether the token is a semicolon between clauses, not one inside 'TL;DR'."""
    if text.words[i].text != ";":
        return False
    beside = text.words[i - 1 : i + 2] if i else []
    return text.gaps[i + 1] != "" or len(beside) < 3 or not (beside[0].upper and beside[2].upper)


def _line_start(text: Text, i: int) -> bool:
    while i > 0 and "\n" not in text.gaps[i] and text.words[i - 1].text in BULLETS:
        i -= 1
    return i == 0 or "\n" in text.gaps[i]


def _line_break(text: Text, i: int) -> bool:
    """Whether the line break before token i ends a sentence, or only wraps a line."""
    word, before = text.words[i], text.words[i - 1]
    if text.gaps[i].count("\n") > 1 or text.raw[text.line(text.starts[i - 1])[0]] == "#":
        return True
    if word.number or word.text in BULLETS or before.text in LINE_ENDS:
        return True
    if not word.word:
        return before.text in CLOSERS or word.text in FENCES or _opens_entry(text, i)
    return word.capital and (before.text not in COMMAS or _is_short_line(text, i))


def _opens_entry(text: Text, i: int) -> bool:
    """Whether a bracket opens a line and more than a full stop stands behind it: '[2] The manual', not a marker that was wrapped."""
    brackets = (j for j in range(i + 1, min(i + LONGEST_ENTRY, len(text) - 1)) if text.words[j].text in "]】")
    after = next(brackets, len(text)) + 1
    if after >= len(text) or "\n" in text.gaps[after]:
        return False
    return text.words[after].capital or text.words[after].number


def _is_short_line(text: Text, i: int) -> bool:
    """A line of at most eight tokens before token i: a heading or an item, not wrapped prose."""
    breaks = (j for j in range(i - 1, max(0, i - SHORT_LINE - 1), -1) if "\n" in text.gaps[j])
    return i - next(breaks, max(0, i - SHORT_LINE - 1)) <= SHORT_LINE


def _after_closers(text: Text, i: int) -> int:
    """The token behind the quotes, brackets and further stops that close a sentence."""
    while i < len(text.words) and not text.gaps[i] and (text.words[i].text in CLOSERS or text.words[i].text in ENDS):
        i += 1
    return i


def _after_markers(text: Text, i: int, spans: Mapping[int, int], behind: dict[int, int]) -> int:
    """The token behind citation markers (and the stops they may carry) that stand on the same line.

    `behind` remembers where each row of markers ends, so that a draft of nothing but markers is walked once.
    """
    passed: list[int] = []
    while i < len(text.words) and text.starts[i] in spans and "\n" not in text.gaps[i] and i not in behind:
        passed.append(i)
        i = text.token_at(spans[text.starts[i]])
        while i < len(text.words) and not text.gaps[i] and text.words[i].text in ENDS:
            i += 1
    end = behind.get(i, i)
    behind.update(dict.fromkeys(passed, end))
    return end


def _ends_sentence(text: Text, i: int, after: int) -> bool:
    """Whether the stop at token i, with the next text at token `after`, ends a sentence."""
    follows = text.words[after]
    spaced = bool(text.gaps[after])
    if text.words[i].text not in ".…":
        return spaced and not (follows.word and follows.lower == follows.text and after > i + 1)
    if not spaced:
        return follows.text in "[【"
    if "\n" in text.gaps[after]:
        return True
    if i == 0 or text.words[i - 1].number:
        return not (i > 0 and _line_start(text, i - 1)) and _may_open(text, after)
    return _may_open(text, after) and not _abbreviated(text, i, after)


def _may_open(text: Text, i: int) -> bool:
    word = text.words[i]
    return not word.word or word.capital or not word.text.islower()


def _abbreviated(text: Text, i: int, after: int) -> bool:
    """Whether the stop at token i belongs to an abbreviation or an initial and the sentence goes on."""
    known = _abbreviations()
    before, follows = text.words[i - 1], text.words[after]
    if after > i + 1:
        return False
    if before.lower in known.before_name and (before.capital or before.lower not in known.words_too):
        return _goes_on(known, before.lower, follows)
    forms = {_dotted(text, i), before.lower}
    if not known.often_end.isdisjoint(forms):
        return not follows.capital or follows.upper or follows.lower in known.not_behind
    if not known.maybe_end.isdisjoint(forms):
        return follows.text not in known.openers
    initial = len(before.text) == 1 and before.capital and not text.gaps[i]
    return initial and follows.capital and follows.text not in known.openers


def _goes_on(known: _Abbreviations, before: str, follows: Word) -> bool:
    """Whether an abbreviation before a name is followed by what it stands before: a year in brackets, a number."""
    if before in known.before_bracket:
        return follows.text == "("
    return before not in known.before_number or not follows.word


def _dotted(text: Text, i: int) -> str:
    """The letters of a dotted abbreviation that ends at token i: 'a.m', 'u.s', 'v.v'."""
    words, gaps = text.words, text.gaps
    parts = [words[i - 1].lower]
    j = i - 1
    while j >= 2 and words[j - 1].text == "." and gaps[j] == "" == gaps[j - 1] and words[j - 2].word:
        parts.append(words[j - 2].lower)
        j -= 2
    return ".".join(reversed(parts))
