"""Numbers as they are written: in digits, in words, with a scale word, a suffix or a power of ten."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from stillme.figures.quantity import Numeral
from stillme.figures.tables import EXTENDS, TIMES_TEN
from stillme.figures.window import TokenWindow

__all__ = ["Numerals", "digits", "scaled_like"]

SPACES: Final = frozenset((" ", "\u00a0", "\u202f", "\u2009"))
SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
SEPARATOR: Final = re.compile("[.,]")
EXCHANGED: Final = str.maketrans(".,", ",.")
# Groups of three digits behind the first, or of two and then three as in 1,00,000; then decimals.
GROUPED: Final = re.compile(r"((?!0)(?:\d{1,3}(?:,\d{3})++|\d{1,2}(?:,\d{2})*,\d{3}))(?:\.(\d*))?")
EXPONENT: Final = re.compile(r"\d{1,2}")
# Letters that multiply a number they are glued to, and those that multiply a sum of money beside them.
GLUED_LETTERS: Final = frozenset("kKMB")
MONEY_LETTERS: Final = frozenset("mMbB")


@lru_cache(maxsize=1 << 14)
def digits(text: str, decimal_sign: str) -> Numeral | None:
    """The number that a token of digits, dots and commas writes; a code where it is no number.

    `decimal_sign` is what stands before the decimals in the language; "" where that is not known.
    """
    if text.isdecimal():
        return Numeral((float(text),), text=text, code=len(text) > 1 and int(text[0]) == 0)
    if not SEPARATOR.sub("", text).isdecimal():
        return None
    signs = SEPARATOR.findall(text)
    if len(signs) == 1:
        return _one_separator(text, signs[0], decimal_sign)
    grouped = GROUPED.fullmatch(text.translate(EXCHANGED) if signs[0] == "." else text)
    if not grouped:
        return Numeral((), text=text, code=True)
    decimals = len(grouped[2] or "")
    return Numeral((float(grouped[0].replace(",", "")),), decimals, text=text)


def _one_separator(text: str, sign: str, decimal_sign: str) -> Numeral:
    """1.5, and 1,000, which may be a thousand or one with three decimals."""
    decimal = float(text.replace(",", "."))
    if not GROUPED.fullmatch(text.replace(".", ",")):
        return Numeral((decimal,), len(text) - text.index(sign) - 1, text=text)
    whole = float(text.replace(sign, ""))
    if decimal_sign and sign != decimal_sign:
        return Numeral((whole,), text=text)
    # A decimal comma before three digits may be an English thousands comma: writers of languages with the comma use both.
    values = {".": (decimal,), ",": (decimal, whole), "": (whole, decimal)}
    return Numeral(values[decimal_sign], 3, text=text)


def scaled_like(one: Numeral, two: Numeral) -> Numeral:
    """The first number of a range with the scale word of the second: 2 to 3 million."""
    if two.scale < 1000 or one.scale != 1.0 or one.values[0] * two.scale > two.values[0]:
        return one
    return one.times(two.scale)


class Numerals(TokenWindow):
    """Reads the numbers of a window; each reader says where its number ends."""

    __slots__ = ()

    def number(self, at: int) -> tuple[Numeral, int] | None:
        """A number in digits or words at a token, and where it ends."""
        if not self.words[at].number:
            return self.spell(at) if self.tokens[at] in self.t.numerals else None
        numeral = digits(self.words[at].text, self.t.decimal)
        return self.whole_numeral(at, numeral) if numeral else None

    def spell(self, at: int) -> tuple[Numeral, int] | None:
        """A number in words, and where it ends."""
        return self.t.spell(self.tokens, at)

    def whole_numeral(self, at: int, numeral: Numeral, money: bool = False) -> tuple[Numeral, int]:
        """The number with its scale word, suffix, fraction sign, power of ten or further groups, and where it ends."""
        j = at + 1
        if numeral.values and self.t.right.get(self.tokens[j], 0) & EXTENDS:
            return self.with_factor(numeral, j, money)
        if self.words[j].number and self.gaps[j] in SPACES:
            return self.with_groups(at, numeral)
        return numeral, j

    def with_factor(self, numeral: Numeral, j: int, money: bool) -> tuple[Numeral, int]:
        """5 million, 450k, 1½, 3 × 10⁸."""
        here, t = self.tokens[j], self.t
        if here in t.scales:
            return self.with_scale(numeral, j)
        if here in t.suffixes:
            return self.with_suffix(numeral, j, money)
        if here in t.signs_of_number:
            return numeral.plus(t.signs_of_number[here], 2), j + 1
        return self.with_power(numeral, j)

    def with_scale(self, numeral: Numeral, j: int) -> tuple[Numeral, int]:
        """A number with its scale words and what smaller ones add to it: 1.5 million, 2 billion 300 million."""
        scale, j = self.scale_words(j)
        total, smallest = numeral.times(scale), scale
        while more := self.smaller_scale(j, smallest):
            amount, smallest, j = more
            total = total.plus(amount, numeral.decimals)
        if self.tokens[j] in self.t.terms["half"]:
            return total.plus(scale / 2, numeral.decimals)._replace(scale=scale / 10), j + 1
        return total._replace(scale=smallest), j

    def scale_words(self, j: int) -> tuple[float, int]:
        """What the scale words at a token come to, and where they end."""
        scale = 1.0
        while self.tokens[j] in self.t.scales:
            scale *= self.t.scales[self.tokens[j]]
            j += 1
        return scale, j

    def smaller_scale(self, j: int, limit: float) -> tuple[float, float, int] | None:
        """What a number with a smaller scale adds, its scale and its end."""
        if not self.words[j].number:
            return self.smaller_in_words(j, limit)
        more = digits(self.words[j].text, self.t.decimal)
        scale, end = self.scale_words(j + 1)
        amount = more.values[0] * scale if more and more.values else limit
        return (amount, scale, end) if end > j + 1 and max(scale, amount) < limit else None

    def smaller_in_words(self, j: int, limit: float) -> tuple[float, float, int] | None:
        """The same in a language that needs no word between the two."""
        read = self.number(j) if self.classifies else None
        if read is None:
            return None
        numeral, end = read
        is_added = 100 <= numeral.values[0] < limit and numeral.scale > 1
        return (numeral.values[0], numeral.scale, end) if is_added else None

    def with_suffix(self, numeral: Numeral, j: int, money: bool) -> tuple[Numeral, int]:
        """450k, $3bn, 5M."""
        text = self.words[j].text
        if not (self.multiplies_glued(text, money) if self.gaps[j] == "" else self.multiplies_apart(text, money)):
            return numeral, j
        return numeral.times(self.t.suffixes[self.tokens[j]]), j + 1

    @staticmethod
    def multiplies_glued(text: str, money: bool) -> bool:
        """Whether a suffix multiplies the number that it is glued to."""
        return len(text) > 1 or money or text in GLUED_LETTERS

    def multiplies_apart(self, text: str, money: bool) -> bool:
        """Whether a suffix multiplies the number that it stands beside."""
        if len(text) > 1:
            return text not in self.t.glued_suffixes
        return money and text in MONEY_LETTERS

    def with_power(self, numeral: Numeral, j: int) -> tuple[Numeral, int]:
        """3 × 10^8, 3 x 10⁸."""
        if self.tokens[j] not in TIMES_TEN or self.tokens[j + 1] != "10":
            return numeral, j
        raised, caret = self.words[j + 2].text, self.tokens[j + 2] == "^"
        exponent = self.tokens[j + 3] if caret else raised.translate(SUPERSCRIPTS)
        if exponent == raised or not EXPONENT.fullmatch(exponent):
            return numeral, j
        return numeral.times(10.0 ** int(exponent)), j + 3 + caret

    def with_groups(self, at: int, numeral: Numeral) -> tuple[Numeral, int]:
        """1 000 000, and phone numbers such as 0912 345 678."""
        first, j = self.digits(at), at + 1
        sizes = range(2, 5) if numeral.code else (3,)
        while self.gaps[j] in SPACES and len(self.digits(j)) in sizes:
            j += 1
        most = len(first) if numeral.code else 3
        if j == at + 1 or not 0 < len(first) <= most or self.are_two_numbers(at, j, numeral):
            return numeral, at + 1
        text = "".join(word.text for word in self.words[at:j])
        return Numeral((float(text),), text=text, code=numeral.code), j

    def are_two_numbers(self, at: int, end: int, numeral: Numeral) -> bool:
        """Whether two groups beside each other are no thousand: behind a name, or of a phone number too short."""
        if end > at + 2 or self.gaps[at + 1] != " ":
            return False
        return numeral.code or self.words[at - 1].capital or self.tokens[at - 1] in self.t.labels
