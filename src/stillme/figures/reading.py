"""Figures that begin with digits: what the signs and words around a number make of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from stillme.figures.calendar_dates import DateMention, dotted_date
from stillme.figures.date_words import DASHES
from stillme.figures.dates import Date, year_of
from stillme.figures.numerals import digits, scaled_like
from stillme.figures.phrases import longest_before
from stillme.figures.quantity import MeasureUnit, Numeral, Quantity
from stillme.figures.ranges import Ranges
from stillme.figures.tables import EXTENDS, JOINT, MONTH, SIGN, TIMED, UNIT
from stillme.figures.window import GLUE

__all__ = ["DigitFigures"]

LINE_MARKS: Final = frozenset("*#>-•_")
MOST_LINE_MARKS: Final = 5
ITEM_ENDS: Final = frozenset((".", ")"))
# What opens or divides a list of numbers in brackets, and how far it is looked for.
OPENERS: Final = frozenset("[【(,-–;^")
INSIDE_LEFT: Final = frozenset(",-–;^")
INSIDE_RIGHT: Final = frozenset((",", "-", "–", ";"))
BRACKET_REACH: Final = 24
BRACKETS: Final = frozenset(("[]", "【】"))
DOI: Final = "10."
SHORTEST_DOI: Final = 7
MINUS_SIGNS: Final = frozenset("-−–")
# What may make a figure of a number, in this order: by what the token behind it is, or as a code.
CODE: Final = 128
RANGE: Final = 256
READERS: Final = (
    (MONTH, "month_behind"),
    (TIMED, "date_or_clock"),
    (CODE, "code"),
    (TIMED, "ordinal_ending"),
    (UNIT, "unit_behind"),
    (JOINT, "fraction"),
    (RANGE, "range"),
)


@cache
def _readers(flags: int) -> tuple[str, ...]:
    """The readers to be tried on a number with these flags."""
    return tuple(reader for flag, reader in READERS if flags & flag)


class DigitFigures(Ranges):
    """Reads the figures that begin with digits; a reader returns one figure, or the two of a range."""

    __slots__ = ()

    def figure(self, i: int, alone: bool = False) -> Sequence[Quantity]:
        """A figure that begins with digits; `alone` is the second half of a range."""
        tokens, t = self.tokens, self.t
        right, negative = t.right.get(tokens[i + 1], 0), False
        if self.gaps[i] == "" or right & SIGN or t.left.get(tokens[i - 1], 0) & SIGN:
            special = self.special_figure(i, alone)
            if special is not None:
                return special
            negative = tokens[i - 1] in t.minus and self.is_negative(i)
        numeral = digits(self.words[i].text, t.decimal)
        if numeral is None:
            return ()
        if tokens[i + 1] in t.single_units and numeral.values and not negative:
            return (self.measure(i, i + 2, numeral, t.single_units[tokens[i + 1]]),)
        j = i + 1
        if right & EXTENDS or self.words[j].number:
            numeral, j = self.whole_numeral(i, numeral)
        if negative:
            numeral = numeral._replace(values=tuple(-v for v in numeral.values))
        return self.figure_of(i - negative, numeral, j, alone)

    # What signs or letters beside a number make of it.

    def special_figure(self, i: int, alone: bool) -> Sequence[Quantity] | None:
        """A marker (nothing), money, a part of a name; None where the number is none of them."""
        if self.is_list_item(i) or (self.may_be_bracketed(i) and self.is_in_brackets(i)):
            return ()
        currency = longest_before(self.t.money_before, self.tokens, i - 1)
        if currency and not (self.words[i - 1].word and self.words[currency[1] - 1].number):
            return self.money(i, currency[0], currency[1], alone)
        name = self.glued_name(i) if self.gaps[i] == "" else 0
        if name:
            return (self.identifier(i, name),)
        is_doi = self.tokens[i].startswith(DOI) and len(self.tokens[i]) >= SHORTEST_DOI
        if is_doi and self.tokens[i + 1] == "/" and self.gaps[i + 1] == "":
            return (self.label(i, self.glued_end(i + 1), self.tokens[i], "doi"),)
        return None

    def is_negative(self, i: int) -> bool:
        """Whether a minus stands before the number and is no dash."""
        if self.tokens[i - 1] not in MINUS_SIGNS:
            return self.tokens[i - 1] in self.t.terms["minus"]
        is_apart = self.gaps[i - 1] != "" or not self.tokens[i - 2]
        return self.gaps[i] == "" and is_apart and not self.words[i - 2].number

    def is_list_item(self, i: int) -> bool:
        """Whether the number is that of a list item: 1. or 1) at the start of a line."""
        if self.tokens[i + 1] not in ITEM_ENDS or self.gaps[i + 1] or len(self.tokens[i]) > 3:
            return False
        behind = self.tokens[i + 2]
        if not behind or not (self.gaps[i + 2] or behind in LINE_MARKS):
            return False
        at = i
        while at > i - MOST_LINE_MARKS and self.tokens[at - 1] in LINE_MARKS and "\n" not in self.gaps[at]:
            at -= 1
        return "\n" in self.gaps[at] or (self.tokens[at - 1] == "" and at + self.base == 0)

    def may_be_bracketed(self, i: int) -> bool:
        """Whether a bracket may stand around a number: a quick look at its neighbours."""
        return self.tokens[i - 1] in OPENERS or self.tokens[i + 1] in ITEM_ENDS

    def is_in_brackets(self, i: int) -> bool:
        """[1], [1, 2], [1-3], 【1】, [^1], (1): nothing but numbers between brackets."""
        left, right = i - 1, i + 1
        while max(0, i - BRACKET_REACH) < left and self.is_listed(left, INSIDE_LEFT):
            left -= 1
        while right < min(self.stop, i + BRACKET_REACH) and self.is_listed(right, INSIDE_RIGHT):
            right += 1
        pair = self.tokens[left] + self.tokens[right]
        return pair in BRACKETS or (pair == "()" and len(self.tokens[i]) <= 2 and right == left + 2)

    def is_listed(self, at: int, marks: frozenset[str]) -> bool:
        """Whether a token is a number or one of the marks between numbers."""
        return self.words[at].number or self.tokens[at] in marks

    def money(self, i: int, currency: MeasureUnit, first: int, alone: bool) -> Sequence[Quantity]:
        """$12, US$1.2 million, £10-20."""
        numeral = digits(self.words[i].text, self.t.decimal)
        if numeral is None or not numeral.values:
            return ()
        numeral, j = self.whole_numeral(i, numeral, money=True)
        more = self.second_amount(j) if not alone else None
        if not more:
            return (self.measure(first, j, numeral, currency),)
        second, end = self.whole_numeral(j + 1, more, money=True)
        one = self.measure(first, j, scaled_like(numeral, second), currency)
        return one, self.measure(j + 1, end, second, currency)

    def second_amount(self, j: int) -> Numeral | None:
        """The number behind the dash of £10-20."""
        if self.tokens[j] not in self.t.ranges or not self.words[j + 1].number:
            return None
        more = digits(self.words[j + 1].text, self.t.decimal)
        return more if more and more.values and not more.code else None

    def glued_name(self, i: int) -> int:
        """Where the word begins that a number is glued to, over a joint or without: COVID-19, IPv4; 0 if to none."""
        at = i - 1
        if self.words[at].word:
            return at
        if self.tokens[at] not in GLUE or self.gaps[at] or not self.words[at - 1].word:
            return 0
        behind_number = self.gaps[at - 1] == "" and self.words[at - 2].number
        is_prefix = self.tokens[at - 1] in self.t.joined or self.tokens[at - 1] in self.t.numerals
        return 0 if behind_number or (is_prefix and self.tokens[at] == "-") else at - 1

    def identifier(self, i: int, at: int) -> Quantity:
        """A number that is glued to a name at a token; FY2024 is also a year."""
        text = self.words[i].text
        name, year = self.label(at, self.glued_end(i + 1), text, self.tokens[at]), year_of(text)
        return name if year is None else name._replace(dates=(Date(year),))

    # What a number belongs to.

    def figure_of(self, first: int, numeral: Numeral, j: int, alone: bool = False) -> Sequence[Quantity]:
        """The figure of a number that ends before token `j`: a measure, a date, a name, an ordinal or a count."""
        right = self.t.right.get(self.tokens[j], 0)
        flags = right | CODE * numeral.code | RANGE * (right & JOINT > 0 and not alone)
        for reader in _readers(flags):
            figures = getattr(self, reader)(first, numeral, j)
            if figures:
                return figures if isinstance(figures, list) else (figures,)
        return (self.single(first, numeral, j),)

    def month_behind(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """25 March."""
        date = self.day_and_month(first, j, numeral.value)
        return self.date_figure(date, numeral) if date else None

    def date_or_clock(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """14:00, 25/3/1655; "decree 10/2020" is a name."""
        here = self.tokens[j]
        if here == "/" and longest_before(self.t.labels, self.tokens, first - 1):
            return None
        clock = self.clock_behind(first, j, numeral.value)
        if clock:
            return self.time_figure(first, clock, numeral)
        if here == ":":
            return self.ratio(first, numeral, j)
        date = self.date_behind(first, j, numeral.value)
        return self.date_figure(date, numeral) if date else None

    def ordinal_ending(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """3rd: the ending is glued to the number."""
        is_ending = self.gaps[j] == "" and self.tokens[j] in self.t.ordinal_endings
        return self.ordinal_or_date(first, numeral, j + 1) if is_ending else None

    def unit_behind(self, first: int, numeral: Numeral, j: int) -> Quantity | None:
        """5 kg."""
        unit = self.unit(j)
        return self.whole_measure(first, numeral, *unit) if unit else None

    def ordinal_or_date(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """An ordinal, unless it is the day or the century of a date."""
        date = self.date_behind_ordinal(first, j, numeral.value)
        return self.date_figure(date, numeral) if date else self.ordinal_or_weekday(first, j, numeral.value, "ordinal")

    def code(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A row of digits that is no number: a date with dots, a version, a phone number, 007."""
        date = dotted_date(numeral.text)
        if date:
            return self.date_figure(DateMention(first, j, (date,)), numeral)
        return self.label(first, self.chain_end(j) or j, numeral.text, "")

    # Ranges.

    def range(self, first: int, numeral: Numeral, j: int) -> list[Quantity] | None:
        """three to five working days, 12-14 March: the first half takes what the second says."""
        here = self.tokens[j]
        if here in self.t.products:
            return self.size(first, numeral, j)
        if here not in self.t.ranges and not self.is_list(first, j):
            return None
        end = self.chain_end(j) if here == "-" else 0
        if end:
            return [self.label(first, end, "".join(word.text for word in self.words[first:end]), "")]
        halves = self.second_half(j + 1)
        if not halves:
            return None
        second = halves[0]
        if self.is_score(first, numeral, j, second):
            return [self.score(first, second.last - self.base, (numeral.values[0], second.values[0]))]
        return self.range_halves(self.single(first, numeral, j), second, here in DASHES)

    def second_half(self, k: int) -> Sequence[Quantity]:
        """The figure behind the joint of a range."""
        k += self.tokens[k] in self.t.money_before and self.words[k + 1].number
        if self.words[k].number:
            return self.figure(k, alone=True)
        read = self.number(k)
        return self.figure_of(k, *read, alone=True) if read else ()

    def size(self, first: int, numeral: Numeral, j: int) -> list[Quantity] | None:
        """160 × 80 cm, 60 x 40 x 30 cm: each side takes the unit of the last."""
        last = self.tokens[first - 1] in self.t.products
        sides = self.figure(j + 1, alone=last) if self.words[j + 1].number else ()
        if not sides or sides[0].dimension != "length":
            return None
        return [self.first_half(self.single(first, numeral, j), sides[0]), *sides]
