"""Numbers without a unit: names (Line 3), years, ages, and numbers of things."""

from __future__ import annotations

from typing import Final

from stillme.figures.calendar_dates import DateMention
from stillme.figures.dates import Date, year_of
from stillme.figures.measures import Measures
from stillme.figures.phrases import longest, longest_before
from stillme.figures.quantity import MeasureUnit, Numeral, Quantity
from stillme.figures.tables import AGE, LABEL, YEAR
from stillme.text.tokens import Word

__all__ = ["Names"]

YEARS_OLD: Final = MeasureUnit("year", "span", 12.0, plain=False)
# A number of so many digits names nothing.
LARGE: Final = 100_000
# A plural may stand so many words behind its number, and ends so.
PLURAL_REACH: Final = 3
NO_PLURAL: Final = frozenset("sui'")


class Names(Measures):
    """Reads what a number without a unit belongs to."""

    __slots__ = ()

    def single(self, first: int, numeral: Numeral, j: int) -> Quantity:
        """A number that no unit follows: a name, a year, an age or a count."""
        if self.is_model(j):
            return self.label(first, self.glued_end(j), numeral.text + self.tokens[j], "")
        year = self.certain_year(first, numeral, j)
        if year:
            return self.date_figure(year, numeral)
        noun = self.noun(j, numeral.values[0])
        name = self.label_before(first, numeral, j, noun)
        return name or self.count_or_year(first, numeral, j, noun)

    def is_model(self, j: int) -> bool:
        """Whether letters are glued to the digits before them: 747B."""
        return self.gaps[j] == "" and self.words[j].word and self.words[j - 1].number and self.tokens[j] != "x"

    def certain_year(self, first: int, numeral: Numeral, j: int) -> DateMention | None:
        """in 1877, AD 79: a year by the word before it."""
        before, year = self.tokens[first - 1], year_of(numeral.text)
        if year is not None and self.t.left.get(before, 0) & YEAR:
            return DateMention(first, j, (Date(year),))
        if before in self.t.terms["ad"] and self.words[first - 1].upper and len(numeral.text) <= 4:
            return DateMention(first - 1, j, (Date(int(numeral.values[0])),))
        return None

    def count_or_year(self, first: int, numeral: Numeral, j: int, noun: str) -> Quantity:
        """A year, an age or a number of things."""
        before, year = self.tokens[first - 1], year_of(numeral.text)
        if year is not None:
            dates = (Date(year),)
            is_count = noun and not self.words[first - 1].capital
            return (
                self.count(first, j, numeral, noun, dates)
                if is_count
                else self.date_figure(DateMention(first, j, dates), numeral)
            )
        of_age = before in self.t.terms["of"] and self.tokens[first - 2] in self.t.terms["age"]
        if of_age or self.t.left.get(before, 0) & AGE:
            return self.measure(first, j, numeral, YEARS_OLD)
        return self.count(first, j, numeral, noun)

    def label_before(self, first: int, numeral: Numeral, j: int, noun: str) -> Quantity | None:
        """A number that names what stands before it, and may be the number of what is counted behind it."""
        name, at = self.name_before(first, numeral)
        if not name:
            return None
        counted = noun != "" and self.is_counted(name, at, j)
        if counted and not self.words[at].capital and self.is_loose(name, j):
            return None
        text = numeral.text or f"{numeral.values[0]:g}"
        return self.label(at, j, text, name, (("count", numeral.values),) if counted else ())

    def is_counted(self, name: str, at: int, j: int) -> bool:
        """Whether the number may count what follows it: each day 300 people, in London 12 people."""
        if not self.classifies:
            return self.tokens[at - 1] in self.t.places or name in self.t.loose_labels
        return self.tokens[j - 2] not in self.t.terms["number"] and self.is_countable(j)

    def is_countable(self, at: int) -> bool:
        """Whether what begins at a token is a thing that numbers count."""
        return longest(self.t.counted, self.tokens, at) is not None

    def is_loose(self, name: str, j: int) -> bool:
        """Whether a number that may count something does so, and is no name."""
        if not self.classifies:
            return name in self.t.loose_labels
        return name != "grade" and self.tokens[j] not in self.t.labels

    def noun(self, j: int, value: float) -> str:
        """What is counted: the first plural of the next words, or the next word in a language that has none."""
        if self.classifies:
            return self.words[j].lower if self.is_classified(j) else ""
        at = j + (self.tokens[j] == "-" and self.gaps[j] == "")
        for k in range(at, at + PLURAL_REACH):
            if not self.is_noun(k):
                break
            if self.is_plural(self.words[k]):
                return self.words[k].stem
        return self.words[at].stem if value == 1 and self.is_noun(at) else ""

    def is_classified(self, at: int) -> bool:
        """Whether a word is what a number counts, in a language without plurals."""
        word = self.words[at]
        return word.word and not word.capital and (not word.stop or word.lower in self.t.counted)

    def is_plural(self, word: Word) -> bool:
        """Whether a noun looks like a plural."""
        lower = word.lower
        if lower in self.t.plurals:
            return True
        return lower[-1] == "s" and len(lower) > 3 and lower[-2] not in NO_PLURAL and lower not in self.t.singulars

    def name_before(self, at: int, numeral: Numeral) -> tuple[str, int]:
        """The noun or name that the number belongs to (Line 3, No. 5, Windows 10) and where it begins; "" if to none."""
        before, word = self.tokens[at - 1], self.words[at - 1]
        if before == "." and self.gaps[at - 1] == "" and self.tokens[at - 2] in self.t.label_short:
            return self.t.labels[self.tokens[at - 2]][0][1], at - 2
        label = longest_before(self.t.labels, self.tokens, at - 1)
        if label and (word.capital or before not in self.t.label_short):
            return self.noun_of_number(label[1]) if before in self.t.terms["number"] else label
        if word.text == before or word.stop or self.is_no_name(at - 1) or self.is_amount_of(numeral):
            return "", at
        return before, at - 1

    def is_amount_of(self, numeral: Numeral) -> bool:
        """Whether a number is written as no name is: a year, with a comma, or large."""
        return year_of(numeral.text) is not None or "," in numeral.text or numeral.values[0] >= LARGE

    def is_no_name(self, at: int) -> bool:
        """Whether a word with a capital is no name: it belongs to a figure, or is the first of its sentence."""
        here = self.tokens[at]
        if here in self.t.starters or here in self.t.hedges:
            return True
        opens = self.starts_sentence(at) and self.tokens[at - 1] != ";"
        return opens and self.words[at].text[1:] == here[1:]

    def noun_of_number(self, at: int) -> tuple[str, int]:
        """What the word for number belongs to; behind some nouns it says an amount, and no name."""
        before = self.tokens[at - 1]
        if before in self.t.amount_numbers:
            return "", at
        label = longest_before(self.t.labels, self.tokens, at - 1)
        if label:
            return label
        return (before, at - 1) if self.is_noun(at - 1) else ("number", at)

    def is_numbered(self, first: int) -> bool:
        """Whether a noun that takes numbers or ages stands before the number."""
        before = self.tokens[first - 1]
        if before in self.t.terms["number"] and self.tokens[first - 2] in self.t.amount_numbers:
            return False
        return self.t.left.get(before, 0) & (LABEL | AGE) > 0
