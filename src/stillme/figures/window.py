"""The tokens of a range of a text, with blanks around them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stillme.figures.tables import Tables
from stillme.languages import compiled
from stillme.text.tokens import Text, Word, word_of

__all__ = ["GLUE", "TokenWindow", "small_number"]

# What stands around a window: three blank tokens to the left of it, eight to the right.
LEFT: Final = 3
RIGHT: Final = 8
LEFT_TOKENS, RIGHT_TOKENS = ("",) * LEFT, ("",) * RIGHT
LEFT_GAPS, RIGHT_GAPS = (" ",) * LEFT, (" ",) * RIGHT
# What joins the parts of a name, an address or a file.
GLUE: Final = frozenset("-_./\\@")
SENTENCE_ENDS: Final = frozenset((*".!?…;:", ""))


class TokenWindow:
    """The tokens of a range, with blanks on both sides so that a look around never falls off the end."""

    __slots__ = ("articles", "base", "classifies", "dates", "gaps", "language", "stop", "t", "tokens", "words")

    def __init__(self, text: Text, tokens: list[str], first: int, last: int, tables: Tables, articles: bool) -> None:
        left, right = _blanks()
        self.base = first - LEFT
        self.stop = last - self.base
        self.tokens: list[str] = [*LEFT_TOKENS, *tokens[first:last], *RIGHT_TOKENS]
        self.words: list[Word] = [*left, *text.words[first:last], *right]
        self.gaps: list[str] = [*LEFT_GAPS, *text.gaps[first:last], *RIGHT_GAPS]
        self.t = tables
        self.dates = tables.dates
        self.classifies = tables.classifies
        self.language = tables.language
        self.articles = articles

    def starts_sentence(self, at: int) -> bool:
        """Whether token `at` is the first of a sentence or a line."""
        return self.tokens[at - 1] in SENTENCE_ENDS or "\n" in self.gaps[at]

    def digits(self, at: int) -> str:
        """The token at `at` if it is a row of plain digits, else nothing."""
        text = self.words[at].text
        return text if text.isdecimal() else ""

    def is_glued(self, at: int) -> bool:
        """Whether neither before nor behind a token there is a gap: the dash of 3-5."""
        return self.gaps[at] == "" == self.gaps[at + 1]

    def joins_digits(self, at: int, sign: str) -> bool:
        """Whether a sign at a token joins what stands before it to a row of digits without a gap."""
        return self.tokens[at] == sign and self.is_glued(at) and self.digits(at + 1) != ""

    def is_written(self, at: int) -> bool:
        """Whether a word or a number stands at a token."""
        return self.words[at].word or self.words[at].number

    def glued_end(self, at: int) -> int:
        """Where the row of letters, digits and joints that goes on at a token without a gap ends."""
        while at < self.stop and self.gaps[at] == "":
            step = at + (self.tokens[at] in GLUE and self.gaps[at + 1] == "")
            if not self.is_written(step):
                break
            at = step + 1
        return at

    def is_noun(self, at: int) -> bool:
        """Whether a word stands at a token that is no function word."""
        word = self.words[at]
        return word.word and not word.stop


@compiled
def _blanks() -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words of no tokens on both sides, made when first needed."""
    blank = word_of("")
    return (blank,) * LEFT, (blank,) * RIGHT


@lru_cache(maxsize=1 << 10)
def small_number(text: str) -> int:
    """The number that one or two digits write; -1 if they write none."""
    return int(text) if len(text) in (1, 2) and text.isdecimal() else -1
