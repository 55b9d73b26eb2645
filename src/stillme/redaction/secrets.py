"""Every occurrence of every secret, whatever its case, accents, spacing and punctuation."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

from stillme.redaction.fields import Field
from stillme.redaction.places import Span, merged

__all__ = ["LATIN", "Secrets", "folded"]

SHORTEST_SECRET: Final = 3
SHORTEST_PART: Final = 4
SHORTEST_ANYWHERE: Final = 8
WIDEST_GAP: Final = 3


@dataclass(frozen=True, slots=True)
class _SecretTokens:
    """The words and single digits of a text, folded: their places, and how far each is from the one before it."""

    text: str
    places: list[Span]
    words: list[str]
    gaps: list[int]
    mirrored: bool = False

    @classmethod
    def of(cls, text: str) -> Self:
        places = [match.span() for match in TOKEN.finditer(text)]
        gaps = [after[0] - before[1] for before, after in pairwise(places)]
        return cls(text, places, _folded_words(text, places), [0, *gaps])

    def mirror(self) -> Self:
        """The tokens from the last to the first, each spelt backwards."""
        words = [word[::-1] for word in reversed(self.words)]
        return type(self)(self.text, self.places[::-1], words, [0, *self.gaps[:0:-1]], mirrored=True)

    def goes_on(self, n: int) -> bool:
        """Whether a token and the one before it are digits of one number."""
        pair = "".join(self.words[n - 1 : n + 1])
        return 0 < n < len(self.words) and not self.gaps[n] and pair.isdecimal()

    def cut_after(self, n: int) -> bool:
        """Whether the text breaks off after a token."""
        start, end = self.places[n]
        if self.mirrored:
            return start == 0 or self.text.endswith(ELLIPSES, 0, start)
        return end == len(self.text) or self.text.startswith(ELLIPSES, end)


def _folded_words(text: str, places: list[Span]) -> list[str]:
    """The words at some places, folded: all at once where no mark is lost by it, for that is faster."""
    if not text.isascii() and MARK.search(text):
        return [folded(text[start:end]) for start, end in places]
    return TOKEN.findall(folded(text))


ELLIPSES: Final = ("…", "...")
TOKEN: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*+)++|\d")
MARK: Final = re.compile(r"[\u0300-\u036f]")
WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*+)++|\d++")


def folded(text: str) -> str:
    """Lower case without accents, so that NFC, NFD and unaccented spellings are one; as long as before but for marks."""
    return text.lower() if text.isascii() else text.translate(FOLD).lower()


LATIN: Final = "".join(map(chr, (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))))
FOLD: Final = {
    **{ord(letter): unicodedata.normalize("NFD", letter)[0].lower() for letter in LATIN if letter.isalpha()},
    **dict.fromkeys(range(0x300, 0x370)),
    0x110: "d",
    0x111: "d",
}


class _Branch:
    """What the secrets go on with after some of their tokens, and whether one ends here (a long one: anywhere)."""

    __slots__ = ("_sorted", "anywhere", "ends", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Branch] = {}
        self.ends = self.anywhere = False
        self._sorted: list[str] | None = None

    def grow(self, words: Sequence[str]) -> None:
        """Add a secret."""
        branch = self
        for word in words:
            branch = branch.next.setdefault(word, _Branch())
        branch.ends = True
        branch.anywhere = sum(map(len, words)) >= SHORTEST_ANYWHERE

    def has_start(self, word: str) -> bool:
        """Whether a secret goes on with a word that begins so."""
        if self._sorted is None:
            self._sorted = sorted(self.next)
        at = bisect_left(self._sorted, word)
        return at < len(self._sorted) and self._sorted[at].startswith(word)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a record as words, to be found in any spelling."""

    forward: _Branch
    backward: _Branch
    words: frozenset[str]
    widest_gap: int

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Self:
        forward, backward = _Branch(), _Branch()
        words: set[str] = set()
        widest = WIDEST_GAP
        for secret in secrets:
            tokens = _SecretTokens.of(secret)
            if sum(map(len, tokens.words)) >= SHORTEST_SECRET:
                forward.grow(tokens.words)
                backward.grow(tokens.mirror().words)
                widest = max(widest, *tokens.gaps)
                words.update(map(folded, WORD.findall(secret)))
        return cls(forward, backward, frozenset(w for w in words if len(w) >= SHORTEST_SECRET), widest)

    def spans(self, text: str, matches: list[Span], rule: Field) -> list[Span]:
        """Where a text is to be blanked: its own matches, and all that a field of this rule may hold of a secret."""
        if not self.forward.next:
            return matches
        tokens = _SecretTokens.of(text)
        cut = rule in (Field.CUT, Field.WORDS)
        spans = [*matches, *self._occurrences(self.forward, tokens, cut=cut)]
        if cut:
            spans += self._occurrences(self.backward, tokens.mirror(), cut=True)
        if rule is Field.WORDS:
            spans += [match.span() for match in WORD.finditer(text) if folded(match.group()) in self.words]
        return merged(spans)

    def _occurrences(self, root: _Branch, tokens: _SecretTokens, *, cut: bool) -> Iterator[Span]:
        """Where secrets stand, from the first character of one to its last."""
        for first, word in enumerate(tokens.words):
            may_begin = word in root.next or (cut and tokens.cut_after(first))
            last = self._reach(root, tokens, first, cut=cut) if may_begin else None
            if last is not None:
                ends = tokens.places[first], tokens.places[last]
                yield min(ends)[0], max(ends)[1]

    def _reach(self, root: _Branch, tokens: _SecretTokens, first: int, *, cut: bool) -> int | None:
        """The last token of the longest secret (or of a part that the text cuts off) that begins at a token."""
        branch = root
        found = None
        may_break_off = cut and not tokens.goes_on(first)
        for n in self._together(tokens, first):
            word = tokens.words[n]
            if may_break_off and tokens.cut_after(n) and branch.has_start(word) and _is_telling(tokens, first, n):
                return n
            if word not in branch.next:
                break
            branch = branch.next[word]
            if branch.anywhere or (branch.ends and _is_apart(tokens, first, n)):
                found = n
        return found

    def _together(self, tokens: _SecretTokens, first: int) -> Iterator[int]:
        """The tokens from one on, as far as none stands further apart than the words of a secret do."""
        yield first
        for n in range(first + 1, len(tokens.words)):
            if tokens.gaps[n] > self.widest_gap:
                return
            yield n


def _is_telling(tokens: _SecretTokens, first: int, last: int) -> bool:
    """Whether some tokens are long enough to be told as a part of a secret."""
    return sum(map(len, tokens.words[first : last + 1])) >= SHORTEST_PART


def _is_apart(tokens: _SecretTokens, first: int, last: int) -> bool:
    """Whether some tokens are no part of a longer number, which a short secret may stand in by chance."""
    return not tokens.goes_on(first) and not tokens.goes_on(last + 1)
