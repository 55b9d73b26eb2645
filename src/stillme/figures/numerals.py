"""Numbers as they are written: in digits and in words, and the units, scales and nouns around them.

The tables are compiled from the rules of `numbers` once for each language; everything here is a look-up by token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from stillme.figures.dates import Phrases, Window, cells, date_rules, phrases, valued
from stillme.languages import DEFAULT, compiled, has, is_served, language_of, languages, load
from stillme.text.tokens import Text, fold

__all__ = [
    "Numeral",
    "Tables",
    "Unit",
    "back",
    "digits",
    "extended",
    "scaled",
    "scaled_like",
    "tables_of",
]

SPACES: Final = frozenset((" ", "\u00a0", "\u202f", "\u2009"))
SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
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
BINARY: Final = {"kilobyte": 1, "megabyte": 2, "gigabyte": 3, "terabyte": 4, "petabyte": 5}


class Numeral(NamedTuple):
    """A number as written: its value or values, how finely it was written, and its digits where it is a name."""

    values: tuple[float, ...]
    decimals: int = 0
    scale: float = 1.0
    text: str = ""
    code: bool = False


class Unit(NamedTuple):
    """A unit of a dimension: a value in it is (value + offset) * factor in the base unit."""

    name: str
    dimension: str
    factor: float = 1.0
    offset: float = 0.0
    customary: bool = False
    binary: float = 0.0
    plain: bool = True
    single: bool = True

    def base(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Values in the base unit; a gigabyte may be a power of ten or of two."""
        if len(values) == 1 and not self.binary:
            return ((values[0] + self.offset) * self.factor,)
        if self.binary:
            return tuple(v * f for f in (self.factor, self.binary) for v in values)
        return tuple((v + self.offset) * self.factor for v in values)


class Tables:
    """The words of numbers and units of one language, compiled for look-up; `folded` is typed without accents."""

    def __init__(self, code: str, folded: bool) -> None:
        self.language = code
        self.own = language_of(code)
        self.decimal = self.own.decimal if is_served(code) else ""
        self.classifies, self.day_first = has(code, "classifiers"), has(code, "day_first")
        self.folded = folded
        self.rules = date_rules(folded)
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
        self.suffixes = valued(rules["suffixes"])
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
        self.money_before: Phrases[Unit] = _backwards((word, Unit(code, f"money:{code}")) for word, code in codes)
        self.hedges: Phrases[str] = _backwards(self.rows(rules["hedges"]))
        self.hedges_behind = phrases(self.rows(rules["hedges_behind"]))
        self.than_under, self.than_none = row(rules["than_under"]), row(rules["than_none"])
        self.than = row(rules["than"])
        self.bound_turned, self.turned_across = row(rules["bound_turned"]), row(rules["turned_across"])
        self.comparing = self.terms["than"]
        self.date_bounds = {self.key(w): kind for kind, words in rules["date_bounds"].items() for w in words.split()}
        self.products, self.whole_before = row(rules["products"]), row(rules["whole_before"])
        self.labels: Phrases[str] = _backwards(self.rows(rules["labels"]))
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
            (MONTH, self.rules.months),
            (TIMED, (*row(rules["behind_number"]), *"/-–:'", *eras)),
            (UNIT, (*self.units, *(w.lower() for w in self.signs), *self.between, "-", "(")),
            (JOINT, (*self.ranges, *self.products, *self.fractions, "/", "-", *terms["part"], *terms["and"])),
        )


tables_of = compiled(Tables)


def _flags(*kinds: tuple[int, Iterable[str]]) -> dict[str, int]:
    """For each word the sum of the flags of the lists it stands in: one look-up says everything about a neighbour."""
    found: dict[str, int] = {}
    for flag, words in kinds:
        for word in words:
            found[word] = found.get(word, 0) | flag
    return found


def _single_units(t: Tables) -> dict[str, Unit]:
    """Units that are one word, always the same unit, and complete: most measures end with one."""
    other = {*t.rules.months, *t.scales, *t.suffixes, *t.not_units, *t.terms["hour"], *t.terms["month"]}
    found: dict[str, Unit] = {}
    for word, options in t.units.items():
        rest, unit = options[0] if len(options) == 1 else (("",), None)
        if unit and not rest and unit.single and word not in other and word not in t.signs:
            found[word] = unit
    return found


def _units(t: Tables, rules: dict[str, Any]) -> tuple[Phrases[Unit], Phrases[Unit]]:
    """Units by their words and by their signs, in which capitals count."""
    words: list[tuple[str, Unit]] = []
    signs: list[tuple[str, Unit]] = []
    for unit, sign_row, named in (*_measures(rules), *_currencies(rules)):
        signs += [(sign, unit) for sign in sign_row.split()]
        words += [(word, unit) for code, word in named if _is_read(t, code, word, named)]
    exact = phrases(signs, exact=True)
    for sign, unit in signs:
        if sign[-1] in "²³":
            exact.setdefault(sign, []).append(((), unit))
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


def _measures(rules: dict[str, Any]) -> Iterable[tuple[Unit, str, Named]]:
    """Each unit with its signs and its words."""
    customary = frozenset(rules["customary"].split())
    for dimension, units in rules["units"].items():
        for name, line in units.items():
            factor, signs, offset = cells(str(line), 3)
            unit = Unit(
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


def _currencies(rules: dict[str, Any]) -> Iterable[tuple[Unit, str, Named]]:
    """Each currency and its hundredth, in the same form; a currency sign is a word, in which capitals do not count."""
    for code, signs in rules["money"].items():
        yield Unit(code, f"money:{code}"), "", [*(("", sign) for sign in signs.split()), *_named("money_words", code)]
    for code in rules["money_parts"]:
        yield Unit("cent", f"money:{code}", 0.01, plain=False), "", _named("money_parts", code)


def _backwards(rows: Iterable[tuple[str, str | Unit]]) -> Phrases[Any]:
    """Phrases by their last token, for a look to the left."""

    def reversed_row(row: str) -> str:
        return row if row.isalpha() else " ".join(w.text for w in reversed(Text(row.replace("_", " ")).words))

    return phrases((reversed_row(row), payload) for row, payload in rows)


def _starters(t: Tables) -> dict[str, str]:
    """Which method of the scan reads the figure that a word may begin."""
    found = dict.fromkeys(t.signs_of_number, "sign") | dict.fromkeys((*t.rules.months, "q"), "date")
    found |= dict.fromkeys((*t.rules.weekdays, *t.rules.short_weekdays), "weekday") | dict.fromkeys(t.numerals, "spelt")
    if not t.classifies:
        for name, reader in (
            ("scales", "scale"),
            ("ordinals", "ordinal"),
            ("clock_words", "clock"),
            ("times", "times"),
        ):
            found |= dict.fromkeys(valued(t.mine(name)), reader)
    mine = t.own.rules("numbers").get("starters") or language_of(DEFAULT).rules("numbers")["starters"]
    return found | dict(t.rows(mine))


@lru_cache(maxsize=1 << 14)
def digits(text: str, decimal_sign: str) -> Numeral | None:
    """The number that a token of digits, dots and commas writes; a code where it is no number.

    `decimal_sign` is what stands before the decimals in the language; "" where that is not known.
    """
    dots, commas = text.count("."), text.count(",")
    if not dots and not commas:
        if not text.isdecimal():
            return None
        return Numeral((float(text),), 0, 1.0, text, len(text) > 1 and int(text[0]) == 0)
    if not text.replace(".", "").replace(",", "").isdecimal():
        return None
    if dots and commas:
        return _mixed_separators(text, "." if text.rfind(".") > text.rfind(",") else ",")
    separator = "." if dots else ","
    groups = text.split(separator)
    if len(groups) > 2:
        return (
            Numeral((float("".join(groups)),), 0, 1.0, text) if _thousands(groups) else Numeral((), 0, 1.0, text, True)
        )
    decimal = float(f"{groups[0]}.{groups[1]}")
    if not _thousands(groups):
        return Numeral((decimal,), len(groups[1]), 1.0, text)
    whole = float("".join(groups))
    if not decimal_sign:
        return Numeral((whole, decimal), 3, 1.0, text)
    if separator != decimal_sign:
        return Numeral((whole,), 0, 1.0, text)
    # A decimal comma before three digits may be an English thousands comma: writers of languages with the comma use both.
    return Numeral((decimal,) if decimal_sign == "." else (decimal, whole), 3, 1.0, text)


def _mixed_separators(text: str, decimal: str) -> Numeral:
    whole, _, rest = text.rpartition(decimal)
    groups = whole.split("," if decimal == "." else ".")
    if decimal in whole or not _thousands(groups):
        return Numeral((), 0, 1.0, text, True)
    return Numeral((float("".join(groups) + "." + rest),), len(rest), 1.0, text)


def _thousands(groups: list[str]) -> bool:
    """Groups of three digits behind the first, or of two and then three as in 1,00,000."""
    if not 1 <= len(groups[0]) <= 3 or int(groups[0][0]) == 0 or len(groups[-1]) != 3:
        return False
    return all(len(g) == 3 for g in groups[1:]) or (len(groups[0]) <= 2 and all(len(g) == 2 for g in groups[1:-1]))


def back(table: Phrases[Any], tokens: list[str], at: int) -> tuple[Any, int] | None:
    """The longest phrase that ends with the token `at`, and where it begins."""
    for rest, payload in table.get(tokens[at], ()):
        if not rest:
            return payload, at
        if tokens[at - 1] == rest[0]:
            begin = at - len(rest)
            if len(rest) == 1 or (begin >= 0 and tuple(reversed(tokens[begin:at])) == rest):
                return payload, begin
    return None


def extended(window: Window, t: Tables, i: int, numeral: Numeral, money: bool) -> tuple[Numeral, int]:
    """The number with its scale word, suffix, fraction sign, power of ten or further groups, and where it ends."""
    j = i + 1
    here = window.tokens[j]
    if numeral.values and t.right.get(here, 0) & EXTENDS:
        if here in t.scales:
            return scaled(window, t, numeral, j)
        if here in t.suffixes:
            return _suffixed(window, t, numeral, j, money)
        if here in t.signs_of_number:
            return Numeral(tuple(v + t.signs_of_number[here] for v in numeral.values), 2), j + 1
        return _power(window, numeral, j)
    if window.words[j].number and window.gaps[j] in SPACES:
        return _spaced(window, t, i, numeral)
    return numeral, j


def scaled(window: Window, t: Tables, numeral: Numeral, j: int) -> tuple[Numeral, int]:
    """1,5 triệu; 2 tỷ 300 triệu; 3 nghìn tỷ; 1 triệu rưỡi."""
    tokens = window.tokens
    scale = 1.0
    while tokens[j] in t.scales:
        scale *= t.scales[tokens[j]]
        j += 1
    values = tuple(v * scale for v in numeral.values)
    smallest = scale
    while more := _smaller_scale(window, t, j, smallest):
        amount, smallest, j = more
        values = tuple(v + amount for v in values)
    if tokens[j] in t.terms["half"]:
        values, smallest, j = tuple(v + scale / 2 for v in values), scale / 10, j + 1
    return Numeral(values, numeral.decimals, smallest, "", False), j


def _smaller_scale(window: Window, t: Tables, j: int, limit: float) -> tuple[float, float, int] | None:
    """What a number with a smaller scale adds, its scale and its end: the 200 nghìn, 2 trăm nghìn of 1 triệu."""
    tokens = window.tokens
    if not window.words[j].number:
        read = t.spell(tokens, j) if t.classifies and tokens[j] in t.numerals else None
        amount = read[0].values[0] if read else 0.0
        return (amount, read[0].scale, read[1]) if read and 100 <= amount < limit and read[0].scale > 1 else None
    more, scale, end = digits(window.words[j].text, t.decimal), 1.0, j + 1
    while tokens[end] in t.scales:
        scale *= t.scales[tokens[end]]
        end += 1
    if more is None or not more.values or end == j + 1 or scale >= limit or more.values[0] * scale >= limit:
        return None
    return more.values[0] * scale, scale, end


def _suffixed(window: Window, t: Tables, numeral: Numeral, j: int, money: bool) -> tuple[Numeral, int]:
    """450k, $3bn, 5M."""
    text, glued = window.words[j].text, window.gaps[j] == ""
    letter = len(text) == 1
    if letter and not (glued and (money or text in "kKMB")) and not (money and text in "mMbB"):
        return numeral, j
    if text == "tr" and not glued:
        return numeral, j
    scale = t.suffixes[window.tokens[j]]
    return Numeral(tuple(v * scale for v in numeral.values), numeral.decimals, scale), j + 1


def _power(window: Window, numeral: Numeral, j: int) -> tuple[Numeral, int]:
    """3 × 10^8, 3 x 10⁸."""
    tokens = window.tokens
    if tokens[j] not in TIMES_TEN or tokens[j + 1] != "10":
        return numeral, j
    caret = tokens[j + 2] == "^"
    exponent = tokens[j + 3] if caret else window.words[j + 2].text.translate(SUPERSCRIPTS)
    if not exponent.isdecimal() or len(exponent) > 2 or (not caret and exponent == window.words[j + 2].text):
        return numeral, j
    scale = 10.0 ** int(exponent)
    return Numeral(tuple(v * scale for v in numeral.values), numeral.decimals, scale), j + 3 + caret


def _spaced(window: Window, t: Tables, i: int, numeral: Numeral) -> tuple[Numeral, int]:
    """1 000 000, and phone numbers such as 0912 345 678."""
    parts, j = [window.digits(i)], i + 1
    phone = numeral.code and parts[0] != ""
    while window.gaps[j] in SPACES and (len(window.digits(j)) == 3 or (phone and 2 <= len(window.digits(j)) <= 4)):
        parts.append(window.digits(j))
        j += 1
    single = len(parts) == 2 and window.gaps[i + 1] == " "
    if len(parts) == 1 or not parts[0] or (not phone and len(parts[0]) > 3):
        return numeral, i + 1
    if single and (phone or window.words[i - 1].capital or window.tokens[i - 1] in t.labels):
        return numeral, i + 1
    text = "".join(parts)
    return Numeral((float(text),), 0, 1.0, text, phone), j


def scaled_like(one: Numeral, two: Numeral) -> Numeral:
    """The first number of a range with the scale word of the second: 2 to 3 million."""
    if two.scale < 1000 or one.scale != 1.0 or one.values[0] * two.scale > two.values[0]:
        return one
    return Numeral(tuple(v * two.scale for v in one.values), one.decimals, two.scale)
