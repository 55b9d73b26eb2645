"""The words of numbers and units of one language, compiled from the rules of `numbers`: everything is a look-up by token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from stillme.figures.date_words import date_words
from stillme.figures.phrases import Phrases, cells, phrases, phrases_before, valued
from stillme.figures.quantity import MeasureUnit, Numeral
from stillme.languages import DEFAULT, compiled, has, is_served, language_of, languages, load
from stillme.text.tokens import fold

__all__ = ["Tables", "tables_of"]

# What a word may be to the number it stands before or behind.
SIGN: Final = 1
HEDGE: Final = 2
# Before it: Line 3, in 1877, aged 12, only one, within one month.
LABEL: Final = 4
YEAR: Final = 8
AGE: Final = 16
ONE_BEFORE: Final = 32
ONE_TIME_BEFORE: Final = 64
# Behind it: 5 million, 25 March, 2 p.m., 5 kg, 3 to 5.
EXTENDS: Final = 4
MONTH: Final = 8
TIMED: Final = 16
UNIT: Final = 32
JOINT: Final = 64
TIMES_TEN: Final = frozenset(("×", "x", "*", "·"))
# Dimensions whose units are said of a thing: a month's notice, a mile's walk.
POSSESSIVE: Final = frozenset(("time", "span", "length"))
# Which method of `Scan` reads the figure that a word begins, by the list the word stands in.
WORD_READERS: Final = (("scales", "scale"), ("ordinals", "ordinal"), ("clock_words", "clock"), ("times", "times"))
BINARY: Final = {"kilobyte": 1, "megabyte": 2, "gigabyte": 3, "terabyte": 4, "petabyte": 5}


class Tables:
    """The words of numbers and units of one language, compiled for look-up; `folded` is typed without accents."""

    def __init__(self, code: str, folded: bool) -> None:
        self.language = code
        self.own = language_of(code)
        self.decimal = self.own.decimal if is_served(code) else ""
        self.classifies, self.day_first = has(code, "classifiers"), has(code, "day_first")
        self.folded = folded
        self.dates = date_words(folded)
        rules = load("numbers")
        self._number_words(rules)
        self._words_around(rules)
        self._neighbours(rules)

    def key(self, word: str) -> str:
        """A word of the rule file as it stands in the text."""
        return fold(word) if self.folded else word

    def row(self, words: str) -> frozenset[str]:
        """A row of the rule file as a set."""
        return frozenset(map(self.key, words.split()))

    def rows(self, named: dict[str, str]) -> list[tuple[str, str]]:
        """Named rows as pairs of a word and the name of its row."""
        return [(self.key(word), name) for name, row in named.items() for word in row.split()]

    def mine(self, name: str) -> str:
        """A row of this language; of the default one where it has none."""
        found = self.own.rules("numbers").get(name)
        return str(language_of(DEFAULT).rules("numbers").get(name, "") if found is None else found)

    def spell(self, tokens: Sequence[str], i: int, start: float | None = None) -> tuple[Numeral, int] | None:
        """The number in words that begins at a token, and where it ends; `start` is the one of "a hundred"."""
        if tokens[i + 1] not in self.grammar and tokens[i] in self.spelt:
            return self.spelt[tokens[i]], i + 1
        read = self.own.spelt(tokens, self, i, start)
        return (Numeral((read[0],), *read[1:3]), read[3]) if read else None

    def _number_words(self, rules: dict[str, Any]) -> None:
        folded = self.folded
        self.terms = {name: self.row(words) for name, words in rules["terms"].items()}
        self.past_or_to = self.terms["past"] | self.terms["to"]
        self.halves = self.row(rules["starters"]["half"])
        self.numerals = valued(self.mine("numerals"), folded)
        self.spelt = {word: Numeral((value,)) for word, value in self.numerals.items()}
        self.behind_ten = valued(rules["behind_ten"], folded)
        self.signs_of_number = valued(rules["signs"])
        default = language_of(DEFAULT).rules("numbers")
        self.scales = valued(default["scales"]) | valued(self.mine("scales"), folded)
        self.suffixes, self.glued_suffixes = valued(rules["suffixes"]), self.row(rules["glued_suffixes"])
        self.ordinals = valued(rules["ordinals"], folded)
        self.times = valued(rules["times"])
        self.fractions = valued(rules["fractions"])
        inside = frozenset[str]().union(*(self.terms[name] for name in ("tens", "odd", "half", "point", "and")))
        self.grammar = inside | {*self.numerals, *self.scales, *self.behind_ten, *self.ordinals, "-"}
        self.starters = _starters(self)
        articles = self.own.rules("numbers").get("articles") or {}
        self.with_articles = self.starters | dict(self.rows(articles))

    def _words_around(self, rules: dict[str, Any]) -> None:
        row = self.row
        self.units, self.signs = _units(self, rules)
        self.not_units = {self.key(word): row(behind) for word, behind in rules["not_units"].items()}
        self.single_units = _single_units(self)
        self.between = row(rules["between"])
        codes = [(w, code) for code, signs in rules["money"].items() for w in signs.split()]
        self.money_before: Phrases[MeasureUnit] = phrases_before(
            (word, MeasureUnit(code, f"money:{code}")) for word, code in codes
        )
        self.hedges: Phrases[str] = phrases_before(self.rows(rules["hedges"]))
        self.hedges_behind = phrases(self.rows(rules["hedges_behind"]))
        self.than_under, self.than_none = row(rules["than_under"]), row(rules["than_none"])
        self.than = row(rules["than"])
        self.bound_turned, self.turned_across = row(rules["bound_turned"]), row(rules["turned_across"])
        self.turning_stops = row(rules["turning_stops"])
        self.comparing = self.terms["than"]
        self.date_bounds = {self.key(w): kind for kind, words in rules["date_bounds"].items() for w in words.split()}
        self.products, self.whole_before = row(rules["products"]), row(rules["whole_before"])
        self.labels: Phrases[str] = phrases_before(self.rows(rules["labels"]))
        self.loose_labels, self.label_short = row(rules["loose_labels"]), row(rules["label_short"])
        self.amount_numbers, self.joined = row(rules["number_not_label"]), row(rules["joined"])
        self.ordinal_before, self.ordinal_endings = row(rules["ordinal_before"]), row(rules["ordinal_endings"])
        self.no_ordinal_before, self.no_ordinal_after = (row(rules["no_ordinal"][k]) for k in ("before", "after"))
        self.not_one, self.not_three = row(rules["not_one"]), row(rules["not_three"])
        self.plurals, self.singulars, self.places = row(rules["plurals"]), row(rules["singulars"]), row(rules["places"])
        self.needs_counted = row(rules["needs_counted"]) | (frozenset(self.numerals) if self.folded else frozenset())
        self.counted = phrases((self.key(w), True) for w in rules["counted"].split())
        for word, options in self.units.items():
            self.counted.setdefault(word, []).extend((rest, True) for rest, _ in options)

    def _neighbours(self, rules: dict[str, Any]) -> None:
        row, terms = self.row, self.terms
        self.minus = frozenset("-−–") | terms["minus"]
        self.ranges, self.scores = row(self.mine("ranges")), row(self.mine("scores"))
        self.range_before, self.score_words = row(rules["range_before"]), row(rules["score_words"])
        self.date_joints, self.date_fillers = row(self.mine("date_joints")), row(rules["date_fillers"])
        eras = (self.key(word.split("_")[0]) for words in rules["eras"].values() for word in words.split())
        self.left = _flags(
            (SIGN, (*self.money_before, *self.minus, *"[【(,;^")),
            (HEDGE, (*self.hedges, "-")),
            (LABEL, self.labels),
            (YEAR, row(rules["year_before"])),
            (AGE, row(rules["age_before"])),
            (ONE_BEFORE, row(self.mine("one_before"))),
            (ONE_TIME_BEFORE, row(self.mine("one_time_before"))),
        )
        self.right = _flags(
            (SIGN, ".)/"),
            (HEDGE, self.hedges_behind),
            (EXTENDS, (*self.scales, *self.suffixes, *self.signs_of_number, *TIMES_TEN)),
            (MONTH, self.dates.months),
            (TIMED, (*row(rules["behind_number"]), *"/-–:'", *eras)),
            (UNIT, (*self.units, *(w.lower() for w in self.signs), *self.between, "-", "(")),
            (JOINT, (*self.ranges, *self.products, *self.fractions, "/", "-", *terms["part"], *terms["and"])),
        )


tables_of = compiled(Tables)


def _flags(*kinds: tuple[int, Iterable[str]]) -> dict[str, int]:
    """For each word the sum of the flags of the lists it stands in: one look-up says everything about a neighbour."""
    found: dict[str, int] = {}
    for flag, words in kinds:
        found |= {word: found.get(word, 0) | flag for word in words}
    return found


def _single_units(t: Tables) -> dict[str, MeasureUnit]:
    """Units that are one word, always the same unit, and complete: most measures end with one."""
    other = {*t.dates.months, *t.scales, *t.suffixes, *t.not_units, *t.terms["hour"], *t.terms["month"], *t.signs}
    certain = {word: options[0] for word, options in t.units.items() if len(options) == 1 and word not in other}
    return {word: unit for word, (rest, unit) in certain.items() if unit.single and not rest}


def _units(t: Tables, rules: dict[str, Any]) -> tuple[Phrases[MeasureUnit], Phrases[MeasureUnit]]:
    """Units by their words and by their signs, in which capitals count."""
    words: list[tuple[str, MeasureUnit]] = []
    signs: list[tuple[str, MeasureUnit]] = []
    for unit, sign_row, named in (*_measures(rules), *_currencies(rules)):
        signs += [(sign, unit) for sign in sign_row.split()]
        words += [(word, unit) for code, word in named if _is_read(t, code, word, named)]
    exact = phrases(signs, exact=True)
    for sign, unit in signs:
        if sign[-1] in "²³":
            exact.setdefault(sign, []).append(([], unit))
    table = phrases(words, folded=t.folded)
    if t.folded:
        for word in rules["not_units_unaccented"].split():
            table[word] = [option for option in table.get(word, ()) if option[0]]
    return table, exact


Named = list[tuple[str, str]]  # the words for a unit, each behind the code of its language


def _is_read(t: Tables, code: str, word: str, named: Named) -> bool:
    """Whether a text may mean a unit by a word: one of another language only where its letters tell it from every other word."""
    if code in ("", DEFAULT, t.own.code) or has(t.language, "accents") or not word.isascii():
        return True
    return (DEFAULT, word) in named


def _named(section: str, name: str, dimension: str = "") -> Named:
    """The words for a unit in all languages, then what belongs to it: a month's notice, a mile's walk."""
    rows = {each.code: str(each.rules("numbers").get(section, {}).get(name, "")).split() for each in languages()}
    owning = [code for code in rows if dimension in POSSESSIVE and has(code, "genitive_s")]
    owned = [(code, f"{w}'s") for code in owning for w in rows[code] if w[-1] != "s" and w.isalpha()]
    return [*((code, word) for code, row in rows.items() for word in row), *owned]


def _measures(rules: dict[str, Any]) -> Iterable[tuple[MeasureUnit, str, Named]]:
    """Each unit with its signs and its words."""
    customary = frozenset(rules["customary"].split())
    for dimension, units in rules["units"].items():
        for name, line in units.items():
            factor, signs, offset = cells(str(line), 3)
            unit = MeasureUnit(
                name,
                dimension,
                float(factor),
                float(offset or 0),
                customary=name in customary,
                binary=1024.0 ** BINARY[name] if name in BINARY else 0.0,
                plain=factor == "1" and not offset and name not in BINARY,
                single=dimension not in ("time", "span", "degree") and name not in customary,
            )
            yield unit, signs, _named("unit_words", name, dimension)


def _currencies(rules: dict[str, Any]) -> Iterable[tuple[MeasureUnit, str, Named]]:
    """Each currency and its hundredth, in the same form; a currency sign is a word, in which capitals do not count."""
    for code, signs in rules["money"].items():
        yield (
            MeasureUnit(code, f"money:{code}"),
            "",
            [*(("", sign) for sign in signs.split()), *_named("money_words", code)],
        )
    for code in rules["money_parts"]:
        yield MeasureUnit("cent", f"money:{code}", 0.01, plain=False), "", _named("money_parts", code)


def _starters(t: Tables) -> dict[str, str]:
    """Which method of the scan reads the figure that a word may begin."""
    found = dict.fromkeys(t.signs_of_number, "sign") | dict.fromkeys((*t.dates.months, "q"), "date")
    found |= dict.fromkeys((*t.dates.weekdays, *t.dates.short_weekdays), "weekday") | dict.fromkeys(t.numerals, "spelt")
    for name, reader in () if t.classifies else WORD_READERS:
        found |= dict.fromkeys(valued(t.mine(name)), reader)
    mine = t.own.rules("numbers").get("starters") or language_of(DEFAULT).rules("numbers")["starters"]
    return found | dict(t.rows(mine))
