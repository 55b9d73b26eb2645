"""Text as tokens with exact character offsets, read once and shared by everything that looks at it.

A token keeps its place in the original text; its `Word` (lower case, without accents, stem) is shared by every occurrence.
All scanning is linear: the patterns use possessive quantifiers and cannot backtrack.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from html import unescape
from itertools import accumulate
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from stillme.languages import remembered, word_rules
from stillme.lazy import lazy

__all__ = ["Sentence", "Text", "Word", "fold", "fold_text", "stem", "within", "word_of"]

# Marks that may stand inside a word: combining accents, zero-width characters, the soft hyphen.
INNER: Final = "\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad"
LONGEST_WORD: Final = 64
LATIN: Final = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"
PLAIN_TOKEN: Final = re.compile(rf"([{LATIN}]++(?:['’][{LATIN}]++)*+|\d++(?:[.,]\d++)*+|[^\W\d_]++|[^\w\s]|_)")
MARKED_TOKEN: Final = re.compile(
    rf"((?:[^\W\d_][{INNER}]*+)++(?:['’](?:[^\W\d_][{INNER}]*+)++)*+|\d++(?:[.,]\d++)*+|[^\w\s{INNER}]|_|[{INNER}]++)"
)
HAS_INNER: Final = re.compile(f"[{INNER}]")
DROPPED: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]++")
QUOTES: Final = {'"': '"', "“": "”", "«": "»", "„": "“", "‘": "’"}
CODE: Final = re.compile(r"```[^`]*+(?:`{1,2}(?!`)[^`]*+)*+(?:```|\Z)|~~~[^~]*+(?:~{1,2}(?!~)[^~]*+)*+(?:~~~|\Z)")
# Letters in another dress (circled, bold, full width, joined) and characters written by their number or name; marks inside a word that
# set a part of it in bold or italics.
DRESSED: Final = re.compile(
    "[ʰ-ʸᴬ-ᵪⁱⁿₐ-ₜℂ℃-ℴ①-⓪ﬀ-ﬆ！-～\U0001d400-\U0001d7ff\U0001f110-\U0001f169\U0001f170-\U0001f189]"
    "|&(?:#[0-9]{1,7}+|#[xX][0-9a-fA-F]{1,6}+|[A-Za-z]{2,8}+);"
    r"|(?<=[^\W\d_])(?:\*{2,3}+|</?+(?:b|i|u|em|strong|span|mark)>)(?=[^\W\d_])"
)
# A part of a word in bold or italics: 'Wh**eels**'.
SET_OFF: Final = re.compile(
    r"(?<=[^\W\d_])(\*{2,3}+|<(?:b|i|u|em|strong|span|mark)>)[^\W\d_]++(\*{2,3}+|</(?:b|i|u|em|strong|span|mark)>)"
)
# A digit on a key: at the start of a line it numbers the line.
KEY_CAP: Final = re.compile("(?<=[0-9])\ufe0f?+\u20e3")
# L e t t e r s  s e t  a p a r t: of so many in a row, one space parts letters and more part words.
SPACED: Final = re.compile(r"(?<!\S)[^\W_](?: {1,3}[^\W_](?!\S)){7,}+")
LETTER_SPACE: Final = re.compile(r"(?<! ) (?! )")
# Capital letters on a dark ground have no plain form in the tables.
DARK: Final = ((0x1F150, 0x1F169), (0x1F170, 0x1F189))
SIGNS: Final = frozenset("℃℅℆℉№℞℠™℡Ω℧")
LOWER, FOLDED, ACCENTED = map(attrgetter, ("lower", "folded", "accented"))
CAPITAL, CONTENT, NUMBER = map(attrgetter, ("capital", "content", "number"))
STEM, TEXT, WORD = map(attrgetter, ("stem", "text", "word"))
SAID: Final = attrgetter("said")
URL: Final = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`\]）」】]++", re.IGNORECASE)


def undress(text: str) -> tuple[str, list[int], list[int]]:
    """The text with plain letters, and for each of its characters where the one it stands for begins and ends."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for start, end, plain in _replaced(text):
        parts += (text[at:start], plain)
        starts += (*range(at, start), *[start] * len(plain))
        ends += (*range(at + 1, start + 1), *[end] * len(plain))
        at = end
    parts.append(text[at:])
    starts += range(at, len(text))
    ends += range(at + 1, len(text) + 1)
    return "".join(parts), starts, ends


def _replaced(text: str) -> list[tuple[int, int, str]]:
    """What stands for plain letters, with its place, in order."""
    found = {(*m.span(), _plain_form(m.group())) for m in DRESSED.finditer(text)}
    found.update((*m.span(part), "") for m in SET_OFF.finditer(text) for part in (1, 2))
    found.update((*m.span(), ")" if _numbers_line(text, *m.span()) else "") for m in KEY_CAP.finditer(text))
    rows = (m.span() for m in SPACED.finditer(text) if "  " in m.group())
    found.update((*m.span(), "") for start, end in rows for m in LETTER_SPACE.finditer(text, start, end))
    return sorted((start, end, plain) for start, end, plain in found if plain != text[start:end])


def _numbers_line(text: str, start: int, end: int) -> bool:
    return text[start - 2 : start - 1] in ("", "\n") and text[end : end + 1].isspace()


def _has_dress(text: str) -> bool:
    """Whether anything in a text may stand for plain letters."""
    marked = not text.isascii() or any(mark in text for mark in ("&", "**", "</"))
    spaced = "  " in text and SPACED.search(text) is not None
    return spaced or (marked and any(pattern.search(text) for pattern in (DRESSED, KEY_CAP)))


def _plain_form(dressed: str) -> str:
    if dressed[0] in "*<":
        return ""
    if len(dressed) > 1:
        return unescape(dressed)
    dark = next((low for low, high in DARK if low <= ord(dressed) <= high), None)
    if dark is not None:
        return chr(ord("A") + ord(dressed) - dark)
    plain = unicodedata.normalize("NFKC", dressed) if dressed not in SIGNS else dressed
    return plain.strip("()") or plain if len(plain) > 1 else plain


def fold_text(text: str) -> str:
    """Lower case without accents."""
    lowered = text.lower().replace("\u0111", "d")
    if lowered.isascii():
        return lowered
    return "".join(c for c in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(c))


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """`fold_text` of a word or a short phrase, remembered."""
    return fold_text(word)


class Word:
    """One spelling: shared by every token that is spelt so, compared by identity of its parts."""

    __slots__ = (
        *(
            "accented",
            "capital",
            "content",
            "folded",
            "lower",
            "number",
            "said",
            "stem",
            "stop",
            "text",
            "upper",
            "word",
        ),
    )

    def __init__(self, text: str) -> None:
        clean = DROPPED.sub("", unicodedata.normalize("NFC", text)).replace("’", "'")
        self.text = clean
        self.lower = clean.lower()
        self.folded = fold_text(clean)
        self.word = bool(clean) and clean[0].isalpha()
        self.number = bool(clean) and clean[0].isdigit()
        self.capital = self.word and clean[0].isupper()
        self.upper = self.word and len(clean) > 1 and clean.isupper()
        self.accented = self.word and self.lower != self.folded
        rules = word_rules()
        self.stop = self.lower in rules.stop
        self.stem = stem(self.lower) if self.word else self.lower
        self.content = (self.word and not self.stop) or self.number
        self.said = self.stem if self.content else ""

    def __repr__(self) -> str:
        return f"Word({self.text!r})"


@remembered(1 << 16)
def word_of(text: str) -> Word:
    """The shared Word of a spelling that is short enough to be one."""
    return Word(text)


def stem(lower: str) -> str:
    """A light stem, by the suffixes that the languages know; words with accents stay as they are."""
    rules = word_rules()
    base = lower[:-2] if lower.endswith("'s") else lower.rstrip("'")
    base = rules.irregular.get(base, base)
    if not base.isascii() or len(base) <= 3:
        return base
    for suffix, replacement, keep in rules.suffixes:
        if base.endswith(suffix) and len(base) - len(suffix) >= keep:
            base = base[: len(base) - len(suffix)] + replacement
            break
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lse":
        base = base[:-1]
    return base[:-1] if len(base) > 3 and base[-1] in "ey" else base


def within(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    """Whether an offset lies in one of the spans, which are in order and do not overlap."""
    at = bisect_right(spans, offset, key=itemgetter(0))
    return at > 0 and offset < spans[at - 1][1]


class Sentence(NamedTuple):
    """A sentence (or line, list item, table row): token range and character range of its text."""

    first: int
    last: int
    start: int
    end: int


class Text:
    """A text and its tokens: token i is `raw[starts[i]:ends[i]]`, with `words[i]`."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.concepts: list[tuple[int, ...]] | None = None
        """What its tokens stand for, once `concepts.text_concepts` has worked it out."""
        plain = raw
        self._origin: list[list[int]] | None = None
        if _has_dress(raw):
            plain, *self._origin = undress(raw)
        pattern = PLAIN_TOKEN if plain.isascii() or not HAS_INNER.search(plain) else MARKED_TOKEN
        self._parts: list[str] = pattern.split(plain)
        self.tokens: list[str] = self._parts[1::2]
        # A token longer than any word is not remembered: nobody fills the memory with them.
        known = max(map(len, self.tokens), default=0) <= LONGEST_WORD
        self.words: list[Word] = list(map(word_of if known else Word, self.tokens))

    def __len__(self) -> int:
        return len(self.words)

    def spelt(self, tokens: Sequence[str]) -> Text:
        """The same text at the same places, its tokens read in another spelling."""
        other = Text(self.raw)
        other.tokens = list(tokens)
        other.words = list(map(word_of, tokens))
        return other

    @lazy
    def gaps(self) -> list[str]:
        """What stands before each token (and, last, after all of them): white space."""
        return self._parts[0::2]

    @lazy
    def _places(self) -> list[int]:
        return list(accumulate(map(len, self._parts)))

    @lazy
    def starts(self) -> list[int]:
        """Where each token starts."""
        places = self._places[0:-1:2]
        return places if self._origin is None else [self._origin[0][place] for place in places]

    @lazy
    def ends(self) -> list[int]:
        """Where each token ends."""
        places = self._places[1::2]
        return places if self._origin is None else [self._origin[1][place - 1] for place in places]

    @property
    def blank(self) -> bool:
        """Nothing in it that could be read: no letter and no digit."""
        return not any(w.word or w.number for w in self.words)

    @lazy
    def lowers(self) -> list[str]:
        """The tokens in lower case."""
        return list(map(LOWER, self.words))

    @lazy
    def folded(self) -> list[str]:
        """The tokens in lower case, without accents."""
        return list(map(FOLDED, self.words))

    @lazy
    def stems(self) -> list[str]:
        """The stem of each token that carries content, '' for the others."""
        return list(map(SAID, self.words))

    @lazy
    def accented(self) -> bool:
        """Whether any word carries an accent."""
        return any(map(ACCENTED, self.words))

    @lazy
    def code(self) -> list[tuple[int, int]]:
        """Character ranges of fenced code blocks."""
        return [m.span() for m in CODE.finditer(self.raw)] if "```" in self.raw or "~~~" in self.raw else []

    @lazy
    def urls(self) -> list[tuple[int, int]]:
        """Character ranges of web addresses, without the punctuation that ends a sentence."""
        if "://" not in self.raw and "www." not in self.raw.lower():
            return []
        found = []
        for match in URL.finditer(self.raw):
            trimmed = match.group().rstrip(".,;:!?)*_")
            found.append((match.start(), match.start() + len(trimmed)))
        return found

    @lazy
    def quoted(self) -> list[bool]:
        """For each token, whether it stands inside quotation marks that are closed again in the same paragraph."""
        inside = [False] * len(self.words)
        if not any(mark in self.raw for mark in QUOTES):
            return inside
        opened: dict[str, int] = {}
        for i, word in enumerate(self.words):
            if "\n\n" in self.gaps[i]:
                opened.clear()
            mark = word.text
            closing = next((o for o, c in QUOTES.items() if c == mark and o in opened), None)
            if closing is not None:
                for j in range(opened.pop(closing) + 1, i):
                    inside[j] = True
            elif mark in QUOTES and mark not in opened:
                opened[mark] = i
        return inside

    def token_at(self, offset: int) -> int:
        """The first token that ends after a character offset (the number of tokens if there is none)."""
        return bisect_right(self.ends, offset)

    @lazy
    def _lines(self) -> list[int]:
        return [0, *(i + 1 for i, c in enumerate(self.raw) if c == "\n")] if "\n" in self.raw else [0]

    def line(self, offset: int) -> tuple[int, int]:
        """Where the line that holds a character begins and ends."""
        number = bisect_right(self._lines, offset)
        end = self._lines[number] - 1 if number < len(self._lines) else len(self.raw)
        return self._lines[number - 1], end

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The character range of tokens `first` to `last`, exclusive."""
        return self.starts[first], self.ends[last - 1]

    def content(self, first: int = 0, last: int | None = None) -> list[Word]:
        """The words of a token range that carry content."""
        return [word for word in self.words[first:last] if word.content]

    def count_words(self, first: int = 0, last: int | None = None) -> int:
        """How many tokens of a range are words."""
        return sum(map(WORD, self.words[first:last]))

    def has_figure(self, first: int = 0, last: int | None = None) -> bool:
        """Whether a token of a range is a number."""
        return any(map(NUMBER, self.words[first:last]))

    def has_any(self, words: AbstractSet[str], first: int = 0, last: int | None = None) -> bool:
        """Whether a token of a range, in lower case, is one of these words."""
        return not words.isdisjoint(self.lowers[first:last])

    def slice(self, first: int, last: int) -> str:
        """The original text from token `first` to token `last`, exclusive."""
        return self.raw[self.starts[first] : self.ends[last - 1]] if first < last else ""
