"""Figures that begin with a word: spelt numbers, ordinals, months, weekdays, and the articles that may be a number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import or_
from typing import Final

from stillme.figures.date_lists import share_dates
from stillme.figures.measures import UnitMention
from stillme.figures.quantities import PERCENT
from stillme.figures.quantity import MeasureUnit, Numeral, Quantity
from stillme.figures.reading import DigitFigures
from stillme.figures.tables import HEDGE, ONE_BEFORE, ONE_TIME_BEFORE, tables_of
from stillme.languages import has, is_served
from stillme.text.tokens import NUMBER, Text, within

__all__ = ["Scan", "find_quantities"]

OTHER: Final = "other"
HALF: Final = Numeral((0.5,), 1)
ONE: Final = Numeral((1.0,))
TWO: Final = Numeral((2.0,))
FIFTY: Final = Numeral((50.0,))
TENS: Final = range(20, 100, 10)
ONES: Final = range(1, 10)
# The ordinals that are other words too, and the largest one behind a word such as "prize".
FIRST_THREE: Final = range(1, 4)
LARGEST_RANK: Final = 99


class Scan(DigitFigures):
    """One pass over the tokens of a range: a reader for each kind of word that may begin a figure."""

    __slots__ = ()

    # Numbers in words.

    def spelt(self, i: int, alone: bool = False) -> Sequence[Quantity]:
        """twelve, twenty-one."""
        read = self.spell(i)
        if read is None or (self.classifies and not self.is_number(i, read[1])):
            return ()
        ordinal = () if self.classifies else self.tens_and_ordinal(i, *read)
        return ordinal or self.figure_of(i, *read, alone)

    def is_number(self, i: int, j: int) -> bool:
        """Whether a spelt number is one here, in a language in which it may be a name or another word."""
        here, words, t = self.tokens[i], self.words, self.t
        if words[i].capital and (words[i + 1].capital or not self.starts_sentence(i)):
            return False
        if here in t.terms["three"] and self.tokens[j] in t.not_three:
            return False
        if j > i + 1:
            return True
        return self.tokens[i - 1] not in t.whole_before and (here not in t.needs_counted or self.is_countable(j))

    def tens_and_ordinal(self, i: int, numeral: Numeral, j: int) -> Sequence[Quantity]:
        """twenty-first."""
        at = j + (self.tokens[j] == "-")
        value, here = numeral.values[0], self.tokens[at]
        if value not in TENS or self.t.ordinals.get(here) not in ONES:
            return ()
        if at == j and here in self.t.terms["unit_too"]:
            return ()
        return (self.ordinal_or_date(i, Numeral((value + self.t.ordinals[here],)), at + 1),)

    def scale(self, i: int) -> Sequence[Quantity]:
        """a hundred, a million, a dozen."""
        terms = self.t.terms
        if self.tokens[i - 1] not in terms["article"] or self.tokens[i - 2] in terms["of"] | self.t.halves:
            return ()
        read = self.t.spell(self.tokens, i, 1.0)
        return self.figure_of(i - 1, *read) if read else ()

    def sign(self, i: int) -> Sequence[Quantity]:
        """½ teaspoon."""
        return self.figure_of(i, Numeral((self.t.signs_of_number[self.tokens[i]],), 2), i + 1)

    def times(self, i: int) -> Sequence[Quantity]:
        """twice; "both" only where articles are wanted."""
        value = self.t.times.get(self.tokens[i])
        if value:
            return (self.count(i, i + 1, Numeral((float(value),)), "time"),)
        return (self.count(i, i + 1, TWO, self.noun(i + 1, 2.0))._replace(article=True),)

    # One, which is most often an article.

    def one(self, i: int) -> Sequence[Quantity]:
        """The number one, or the article that it may be."""
        j, share = i + 1, self.t.terms["share"]
        if not (self.tokens[j] in share or self.tokens[j] in self.t.right or self.is_left(i, ONE_BEFORE)):
            return self.as_article(i, j, None)
        read = self.spell(i)
        if read is None:
            return ()
        if read[1] > j:
            return self.spelt(i)
        if self.classifies and self.tokens[j] in share:
            return (self.measure(i, j + 1, FIFTY, PERCENT),)
        unit = self.unit(j)
        if self.opens_more(j) or self.is_one(i, unit):
            return self.figure_of(i, *read)
        return self.as_article(i, j, unit)

    def is_left(self, i: int, flags: int) -> bool:
        """Whether the word before a token has one of the flags."""
        return self.t.left.get(self.tokens[i - 1], 0) & flags > 0

    def opens_more(self, j: int) -> bool:
        """Whether what stands behind one makes it a number: one third, one to three."""
        t, here, behind = self.t, self.tokens[j], self.tokens[j + 1]
        if here in t.ranges and (self.words[j + 1].number or behind in t.numerals):
            return True
        return here in t.terms["part"] or (behind if here == "-" else here) in t.fractions

    def is_one(self, i: int, unit: UnitMention | None) -> bool:
        """Whether one is said as a number: by the word before it, or by a unit that is not a rate's."""
        if self.is_left(i, ONE_BEFORE):
            return True
        if unit is None:
            return False
        if self.tokens[i + 1] == "-" or self.tokens[unit[1] - 1].endswith("'s"):
            return True
        return self.tokens[i - 1] not in self.t.units and self.is_one_unit(i, *unit)

    def is_one_unit(self, i: int, unit: MeasureUnit, end: int) -> bool:
        """Whether one before a unit is a number: alone in its sentence, behind a word of time, or within a sentence."""
        starts = self.starts_sentence(i)
        if starts and not self.words[end].word:
            return True
        if unit.dimension == "time" or (self.classifies and unit.dimension == "span"):
            return self.is_left(i, ONE_TIME_BEFORE | HEDGE)
        return not starts

    def as_article(self, i: int, j: int, unit: UnitMention | None) -> Sequence[Quantity]:
        """The one that an article may stand for, if the caller asked for it."""
        if not self.articles or self.tokens[j] in self.t.not_one:
            return ()
        if unit:
            return (self.measure(i, unit[1], ONE, unit[0])._replace(article=True),)
        return (self.count(i, j, ONE, self.noun(j, 1.0))._replace(article=True),) if self.words[j].word else ()

    def article(self, i: int) -> Sequence[Quantity]:
        """a month, an hour."""
        unit = self.unit(i + 1)
        return self.as_article(i, i + 1, unit) if unit else ()

    # Dates and times.

    def five_or_year(self, i: int) -> Sequence[Quantity]:
        """A word for year that is also the one for five: a year before digits, five before something counted."""
        dates = self.date(i)
        return dates if dates or self.tokens[i - 1] in self.dates.each else self.spelt(i)

    def date(self, i: int) -> Sequence[Quantity]:
        """March 25, Q3 2024."""
        return tuple(map(self.date_figure, self.date_from(i)))

    def weekday(self, i: int) -> Sequence[Quantity]:
        """Monday; where weekdays are numbered, one without a capital may be an ordinal."""
        day, end = self.weekday_at(i)
        if not day:
            return ()
        weekday = self.ordinal_or_weekday(i, end, float(day), "weekday")
        if self.tokens[i] in self.t.terms["rank"] and not self.words[i + 1].capital:
            weekday = weekday._replace(also=(("ordinal", (day + 1.0,)),))
        return (weekday,)

    def clock(self, i: int) -> Sequence[Quantity]:
        """noon."""
        clock = self.clock_in_words(i)
        return (self.time_figure(i, clock),) if clock else ()

    def clock_around(self, first: int, at: int, minutes: int) -> Sequence[Quantity]:
        """half past two, a quarter to nine."""
        clock = self.past_or_to(at, minutes)
        return (self.time_figure(first, clock),) if clock else ()

    # Ordinals.

    def rank(self, i: int) -> Sequence[Quantity]:
        """An ordinal that begins with a word for rank, which may be a weekday."""
        here, terms = self.tokens[i], self.t.terms
        if here in terms["lead"]:
            return self.leading(i)
        weekday = self.weekday(i) if here in terms["rank"] else ()
        if weekday or self.is_no_rank(i):
            return weekday
        value, end = self.rank_value(i)
        return (self.ordinal_or_weekday(i, end, value, "ordinal"),) if value >= 0 else ()

    def leading(self, i: int) -> Sequence[Quantity]:
        """A word for first that stands alone or before a word for "of all"."""
        whole = self.tokens[i + 1] in self.t.terms["lead_end"]
        if self.starts_sentence(i) or not (whole or self.tokens[i - 1] in self.t.terms["times"]):
            return ()
        return (self.ordinal_or_weekday(i, i + 1 + whole, 1.0, "ordinal"),)

    def is_no_rank(self, i: int) -> bool:
        """Whether a word for rank says none: "secondly," at the start of a sentence, a number of prizes."""
        here, terms = self.tokens[i], self.t.terms
        if here in terms["rank"]:
            return self.tokens[i + 2] == "," and self.starts_sentence(i)
        return here in terms["prize"] and (self.words[i + 1].number or self.is_countable(i + 2))

    def rank_value(self, i: int) -> tuple[float, int]:
        """The value behind a word for rank and where it ends; -1 if there is none."""
        here, terms = self.tokens[i + 1], self.t.terms
        value = 4.0 if here in terms["four"] else self.t.ordinals.get(here, 0)
        if value:
            return float(value), i + 2
        read = self.number(i + 1)
        number = read[0].values[0] if read and read[0].values else -1.0
        is_rank = self.tokens[i] in terms["rank"] or number <= LARGEST_RANK
        return (number, read[1]) if read and is_rank else (-1.0, i)

    def ordinal(self, i: int) -> Sequence[Quantity]:
        """first, a third of, third quarter of 2024."""
        t, here, behind = self.t, self.tokens[i], self.tokens[i + 1]
        article = self.tokens[i - 1] in t.terms["article"]
        if here in t.terms["quarter_hour"] and behind in t.past_or_to:
            return self.clock_around(i - article, i + 1, 15)
        if article and self.is_share(i):
            return (self.measure(i - 1, i + 1, Numeral((100 / t.fractions[here],)), PERCENT),)
        value = t.ordinals.get(here, 0)
        if not value or self.counts_nothing(i) or (value in FIRST_THREE and not self.is_certain_ordinal(i)):
            return ()
        return (self.ordinal_or_date(i, Numeral((float(value),)), i + 1),)

    def is_share(self, i: int) -> bool:
        """Whether an ordinal is a part of a whole: a third of."""
        if self.tokens[i] not in self.t.fractions or self.tokens[i + 1] not in self.t.terms["of"]:
            return False
        return self.tokens[i + 2] not in self.t.terms["unit_article"]

    def counts_nothing(self, i: int) -> bool:
        """Whether an ordinal is part of another phrase: first aid, at first, or stands before a number."""
        if self.tokens[i - 1] in self.t.no_ordinal_before or self.tokens[i + 1] in self.t.no_ordinal_after:
            return True
        return self.words[i + 1].number or self.tokens[i + 1] in self.t.numerals

    def is_certain_ordinal(self, i: int) -> bool:
        """Whether the words beside first, second or third make it an ordinal."""
        return self.tokens[i - 1] in self.t.ordinal_before or self.tokens[i + 1] in self.t.terms["ordinal_behind"]

    # Halves.

    def half(self, i: int) -> Sequence[Quantity]:
        """half past two, half an hour, half a million, half of."""
        clock = self.clock(i) if self.classifies else ()
        if clock:
            return clock
        at = i + 1 + (self.tokens[i + 1] == "-")
        if self.tokens[at] in self.t.terms["past"]:
            return self.clock_around(i, at, 30)
        return self.half_unit(i) or self.half_share(i)

    def half_unit(self, i: int) -> Sequence[Quantity]:
        """half an hour, half a million."""
        at = i + 1 + (self.tokens[i + 1] in self.t.terms["article"])
        if at == i + 1 and not self.classifies:
            return ()
        if self.tokens[at] in self.t.scales:
            return self.figure_of(i, *self.with_scale(HALF, at))
        unit = self.unit(at)
        return (self.whole_measure(i, HALF, *unit),) if unit else ()

    def half_share(self, i: int) -> Sequence[Quantity]:
        """half of the seats, more than half."""
        t, before = self.t, self.tokens[i - 1]
        if before in t.ordinals or before in t.terms["definite"] | t.terms["article"]:
            return ()
        is_share = self.tokens[i + 1] in t.terms["shared"] | t.terms["number"]
        return (self.measure(i, i + 1, FIFTY, PERCENT),) if is_share or self.is_amount(i) else ()

    def is_amount(self, i: int) -> bool:
        """Whether half is said as an amount: by half, about half, more than half."""
        if self.classifies or self.words[i + 1].content:
            return False
        return self.tokens[i - 1] in self.t.terms["amount"] or self.is_left(i, HEDGE)


def find_quantities(
    text: Text, language: str, first: int = 0, last: int | None = None, *, articles: bool = False
) -> list[Quantity]:
    """The figures in a token range, in order.

    With `articles`, also the "one" that an article may stand for (a month, both): it may support a figure but is none
    that needs support, so it is asked for in sources only.
    """
    folded = has(language, "accents") and not text.accented
    tables = tables_of(language if is_served(language) else OTHER, folded)
    starters = tables.with_articles if articles else tables.starters
    tokens = text.folded if folded else text.lowers
    stop = len(tokens) if last is None else min(last, len(tokens))
    begins = map(or_, map(starters.__contains__, tokens[first:stop]), map(NUMBER, text.words[first:stop]))
    places = list(compress(range(first, stop), begins))
    if not places:
        return []
    figures = _figures_at(
        Scan(text, tokens, first, stop, tables, articles), _places_outside(text, first, places), starters
    )
    if len(figures) > 1:
        share_dates(figures, tokens, tables)
    return [q for q in figures if q.noun != "source" or q.dimension != "label"]  # "Passage 2" is a citation in words


def _places_outside(text: Text, first: int, places: list[int]) -> list[int]:
    """The places outside addresses and code; in a sentence inside a block of code, as in a comment, the code counts."""
    if not text.urls and not text.code:
        return places
    masks = [text.urls] if within(text.code, text.starts[first]) else [text.urls, text.code]
    return [i for i in places if not any(within(spans, text.starts[i]) for spans in masks)]


def _figures_at(scan: Scan, places: list[int], starters: dict[str, str]) -> list[Quantity]:
    """The figures that begin at the places, each read by the method that its first word names."""
    figures: list[Quantity] = []
    done = 0
    for i in places:
        if i < done:
            continue
        at = i - scan.base
        more = getattr(scan, starters.get(scan.tokens[at], "figure"))(at)
        if more:
            figures += more
            done = more[-1].last
    return figures
