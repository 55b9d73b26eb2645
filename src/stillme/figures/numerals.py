"""Numbers as they are written: in digits of both formats and in words, and the units, scales and nouns around them.

The tables are compiled from rules/numbers.yaml once for each language; everything here is a look-up by token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from math import inf
from typing import Any, Final, NamedTuple

from stillme.figures.dates import ORDINAL_ENDINGS, Phrases, Window, cells, date_rules, phrases, valued
from stillme.languages import load
from stillme.text.tokens import Text, fold

__all__ = [
    "Numeral",
    "Tables",
    "Unit",
    "back",
    "digits",
    "english_words",
    "extended",
    "scaled",
    "scaled_like",
    "tables_of",
    "vietnamese_words",
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


# Vietnamese words of the number grammar by what they do.
GRAMMAR: Final = {
    "one": "một", "three": "ba", "four": "tư", "ten": "mười", "tens": "mươi", "dozens": "chục", "hundred": "trăm",
    "odd": "linh", "odd_too": "lẻ", "half": "rưỡi", "zero": "không", "point": "phẩy", "part": "phần", "share": "nửa",
    "number": "số", "rank": "thứ", "prize": "giải", "lead": "đầu", "lead_end": "tiên", "times": "lần",
    "among": "giữa", "and": "và", "minus": "âm",
}  # fmt: skip


class Tables:
    """The words of numbers and units of one language, compiled for look-up; `folded` is typed without accents."""

    def __init__(self, language: str, folded: bool) -> None:
        self.format = language if language in ("en", "vi") else "other"
        self.vietnamese = language == "vi"
        self.folded = folded
        self.rules = date_rules(folded)
        rules = load("numbers")
        own = "vi" if self.vietnamese else "en"
        self._number_words(rules, own)
        self._words_around(rules)
        self._neighbours(rules, own)

    def key(self, word: str) -> str:
        """A word of the rule file as it stands in the text."""
        return fold(word) if self.folded else word

    def row(self, words: str) -> frozenset[str]:
        """A row of the rule file as a set."""
        return frozenset(map(self.key, words.split()))

    def rows(self, named: dict[str, Any]) -> list[tuple[str, str]]:
        """Named rows as pairs of a word and the name of its row."""
        texts = ((name, " ".join(r.values()) if isinstance(r, dict) else r) for name, r in named.items())
        return [(self.key(word), name) for name, text in texts for word in text.replace("|", "").split()]

    def _number_words(self, rules: dict[str, Any], own: str) -> None:
        folded = self.folded
        self.vi = {name: self.key(word) for name, word in GRAMMAR.items()}
        self.numerals = valued(rules["numerals"][own], folded)
        self.spelt = {word: Numeral((value,)) for word, value in self.numerals.items()}
        self.behind_ten = valued(rules["numerals"]["vi_behind_ten"], folded)
        self.signs_of_number = valued(rules["signs"])
        self.scales = valued(rules["scales"]["en"]) | valued(rules["scales"][own], folded)
        self.suffixes = valued(rules["suffixes"])
        self.ordinals = valued(rules["ordinals"]["en"]) | valued(rules["ordinals"]["vi"], folded)
        self.times = valued(rules["times"])
        self.fractions = valued(rules["fractions"])
        self.grammar = frozenset((*self.numerals, *self.scales, *self.behind_ten, *self.ordinals, "-", "and")) | {
            self.vi[name] for name in ("tens", "odd", "odd_too", "half", "point")
        }
        articles = {"a": "article", "an": "article", "both": "times"}
        self.starters = _starters(rules, self.vietnamese, self.key)
        self.with_articles = self.starters if self.vietnamese else self.starters | articles

    def _words_around(self, rules: dict[str, Any]) -> None:
        row = self.row
        self.units, self.signs = _units(rules, self.vietnamese, self.folded)
        self.not_units = {self.key(word): row(behind) for word, behind in rules["not_units"].items()}
        self.single_units = _single_units(self)
        self.between = frozenset(rules["between"].split())
        codes = [(w, code) for code, line in rules["money"].items() for w in cells(line, 3)[0].split()]
        self.money_before: Phrases[Unit] = _backwards((word, Unit(code, f"money:{code}")) for word, code in codes)
        self.hedges: Phrases[str] = _backwards(self.rows(rules["hedges"]))
        self.hedges_behind = phrases(self.rows(rules["hedges_behind"]))
        self.than_under, self.than_none = row(rules["than_under"]), row(rules["than_none"])
        self.bound_turned = row(" ".join(rules["bound_turned"].values()))
        self.turned_across, self.comparing = row(rules["turned_across"]), frozenset(("than", self.key("hơn")))
        self.date_bounds = {self.key(w): kind for kind, words in rules["date_bounds"].items() for w in words.split()}
        self.products, self.whole_before = row(rules["products"]), row(rules["whole_before"])
        self.labels: Phrases[str] = _backwards(self.rows(rules["labels"]))
        self.loose_labels, self.label_short = row(rules["loose_labels"]), row(rules["label_short"])
        self.amount_numbers, self.joined = row(rules["number_not_label"]), row(rules["joined"])
        self.ordinal_before = row(rules["ordinal_before"])
        self.no_ordinal_before, self.no_ordinal_after = (row(rules["no_ordinal"][k]) for k in ("before", "after"))
        self.not_one, self.not_three = row(rules["not_one"]), row(rules["not_three"])
        self.plurals, self.singulars = row(rules["plurals"]), row(rules["singulars"])
        self.needs_counted = row(rules["needs_counted"]) | (frozenset(self.numerals) if self.folded else frozenset())
        self.counted = phrases((self.key(w), True) for w in rules["counted"].split())
        for word, options in self.units.items():
            self.counted.setdefault(word, []).extend((rest, True) for rest, _ in options)

    def _neighbours(self, rules: dict[str, Any], own: str) -> None:
        row, vi = self.row, self.vi
        self.minus = frozenset(("-", "−", "–", "minus", vi["minus"]))
        self.ranges = row(rules["ranges"][own])
        self.range_before = row(rules["range_before"])
        self.scores, self.score_words = row(rules["scores"][own]), row(rules["score_words"])
        self.date_joints = row(rules["date_joints"][own])
        self.date_fillers = row(rules["date_fillers"])
        self.left = _flags(
            (SIGN, (*self.money_before, *self.minus, *"[【(,;^")),
            (HEDGE, (*self.hedges, "-")),
            (LABEL, self.labels),
            (YEAR, row(rules["year_before"])),
            (AGE, row(rules["age_before"])),
            (ONE_BEFORE, row(rules["one_before"][own])),
            (ONE_TIME_BEFORE, row(rules["one_time_before"][own])),
        )
        self.right = _flags(
            (SIGN, ".)/"),
            (HEDGE, self.hedges_behind),
            (EXTENDS, (*self.scales, *self.suffixes, *self.signs_of_number, *TIMES_TEN)),
            (MONTH, self.rules.months),
            (TIMED, _timed(rules, self.key)),
            (UNIT, (*self.units, *(w.lower() for w in self.signs), *self.between, "-", "(")),
            (JOINT, (*self.ranges, *self.products, *self.fractions, "/", "-", vi["part"], "and", vi["and"])),
        )


tables_of = cache(Tables)


def _flags(*kinds: tuple[int, Iterable[str]]) -> dict[str, int]:
    """For each word the sum of the flags of the lists it stands in: one look-up says everything about a neighbour."""
    found: dict[str, int] = {}
    for flag, words in kinds:
        for word in words:
            found[word] = found.get(word, 0) | flag
    return found


def _single_units(t: Tables) -> dict[str, Unit]:
    """Units that are one word, always the same unit, and complete: most measures end with one."""
    other = {*t.rules.months, *t.scales, *t.suffixes, *t.not_units, t.rules.vi["hour"], t.rules.vi["month"]}
    found: dict[str, Unit] = {}
    for word, options in t.units.items():
        rest, unit = options[0] if len(options) == 1 else (("",), None)
        if unit and not rest and unit.single and word not in other and word not in t.signs:
            found[word] = unit
    return found


def _units(rules: dict[str, Any], vietnamese: bool, folded: bool) -> tuple[Phrases[Unit], Phrases[Unit]]:
    """Units by their words and by their signs, in which capitals count."""
    words: list[tuple[str, Unit]] = []
    signs: list[tuple[str, Unit]] = []
    english: set[str] = set()
    for unit, sign_row, en, vi in (*_measures(rules), *_currencies(rules)):
        signs += [(sign, unit) for sign in sign_row.split()]
        words += [(word, unit) for word in f"{en} {vi}".split()]
        if unit.dimension in POSSESSIVE:
            owners = [f"{word}'s" for word in en.split() if word[-1] != "s" and word.isalpha()]
            words += [(word, unit) for word in owners]
            english |= set(owners)
        english |= set(en.split())
    if not vietnamese:
        words = [(word, unit) for word, unit in words if word in english or not word.isascii()]
    exact = phrases(signs, exact=True)
    for sign, unit in signs:
        if sign[-1] in "²³":
            exact.setdefault(sign, []).append(((), unit))
    table = phrases(words, folded=folded)
    if folded:
        for word in rules["not_units_unaccented"].split():
            table[word] = [option for option in table.get(word, ()) if option[0]]
    return table, exact


def _measures(rules: dict[str, Any]) -> Iterable[tuple[Unit, str, str, str]]:
    """Each unit with its signs, its English and its Vietnamese words."""
    customary = frozenset(rules["customary"].split())
    for dimension, units in rules["units"].items():
        for name, line in units.items():
            factor, signs, en, vi, offset = cells(line, 5)
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
            yield unit, signs, en, vi


def _currencies(rules: dict[str, Any]) -> Iterable[tuple[Unit, str, str, str]]:
    """Each currency and its hundredth, in the same form; a currency sign is a word, in which capitals do not count."""
    for code, line in rules["money"].items():
        signs, en, vi = cells(line, 3)
        yield Unit(code, f"money:{code}"), "", f"{signs} {en}", vi
    for code, line in rules["parts"].items():
        en, vi = cells(line, 2)
        yield Unit("cent", f"money:{code}", 0.01, plain=False), "", en, vi


def _backwards(rows: Iterable[tuple[str, str | Unit]]) -> Phrases[Any]:
    """Phrases by their last token, for a look to the left."""

    def reversed_row(row: str) -> str:
        return row if row.isalpha() else " ".join(w.text for w in reversed(Text(row.replace("_", " ")).words))

    return phrases((reversed_row(row), payload) for row, payload in rows)


def _timed(rules: dict[str, Any], key: Callable[[str], str]) -> frozenset[str]:
    """Tokens behind a number that may make it a date, a clock time or an ordinal."""
    found = {*ORDINAL_ENDINGS, *"/-–:'", "of", "s", "h", "g", "century", "centuries", "quarter", "o'clock", "past"}
    found |= {key("tháng"), key("giờ"), key("rưỡi")}
    for row in (*rules["day_parts"].values(), *rules["eras"].values()):
        found |= {key(word.split("_")[0]) for word in row.partition("|")[0].split()}
    return frozenset(found)


def _starters(rules: dict[str, Any], vietnamese: bool, key: Callable[[str], str]) -> dict[str, str]:
    """Which method of the scan reads the figure that a word may begin."""
    found = dict.fromkeys(valued(rules["signs"]), "sign")
    found |= dict.fromkeys((*valued(rules["months"]["en"]), *valued(rules["months"]["short"]), "q"), "date")
    found |= dict.fromkeys((*valued(rules["weekdays"]["en"]), *valued(rules["weekdays"]["short"])), "weekday")
    if vietnamese:
        found |= dict.fromkeys(map(key, valued(rules["numerals"]["vi"])), "spelt")
        found |= dict.fromkeys(map(key, ("ngày", "mùng", "mồng", "tháng", "quý", "thế", "thập")), "date")
        found |= dict.fromkeys(map(key, ("thứ", "hạng", "giải", "đầu")), "rank")
        found |= {key("chủ"): "weekday", key("nửa"): "half", key("giữa"): "clock", key("chính"): "clock"}
        return found | {key("năm"): "five_or_year", key("một"): "one"}
    found |= dict.fromkeys(valued(rules["numerals"]["en"]), "spelt") | dict.fromkeys(
        valued(rules["scales"]["en"]), "scale"
    )
    found |= dict.fromkeys(valued(rules["ordinals"]["en"]), "ordinal") | dict.fromkeys(
        valued(rules["clock_words"]["en"]), "clock"
    )
    return found | dict.fromkeys(valued(rules["times"]), "times") | {"half": "half", "quarter": "ordinal", "one": "one"}


@lru_cache(maxsize=1 << 14)
def digits(text: str, format_: str) -> Numeral | None:
    """The number that a token of digits, dots and commas writes; a code where it is no number."""
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
    if format_ == "other":
        return Numeral((whole, decimal), 3, 1.0, text)
    if separator == ("," if format_ == "en" else "."):
        return Numeral((whole,), 0, 1.0, text)
    # A Vietnamese decimal comma before three digits may be an English thousands comma: Vietnamese writers use both.
    return Numeral((decimal,), 3, 1.0, text) if format_ == "en" else Numeral((decimal, whole), 3, 1.0, text)


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
    if tokens[j] == t.vi["half"]:
        values, smallest, j = tuple(v + scale / 2 for v in values), scale / 10, j + 1
    return Numeral(values, numeral.decimals, smallest, "", False), j


def _smaller_scale(window: Window, t: Tables, j: int, limit: float) -> tuple[float, float, int] | None:
    """What a number with a smaller scale adds, its scale and its end: the 200 nghìn, 2 trăm nghìn of 1 triệu."""
    tokens = window.tokens
    if not window.words[j].number:
        read = vietnamese_words(window, t, j) if t.vietnamese and tokens[j] in t.numerals else None
        amount = read[0].values[0] if read else 0.0
        return (amount, read[0].scale, read[1]) if read and 100 <= amount < limit and read[0].scale > 1 else None
    more, scale, end = digits(window.words[j].text, t.format), 1.0, j + 1
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


def english_words(window: Window, t: Tables, i: int, start: float | None = None) -> tuple[Numeral, int] | None:
    """two hundred and five, one and a half million; `start` is the one of "a hundred"."""
    tokens = window.tokens
    if tokens[i + 1] not in t.grammar and tokens[i] in t.spelt:
        return t.spelt[tokens[i]], i + 1
    total, group, scale, j = 0.0, start, 1.0, i
    while True:
        here = tokens[j]
        if here in t.numerals and _continues(group, t.numerals[here]):
            group = (group or 0) + t.numerals[here]
            j += 1
            if tokens[j] == "-" and group % 100 >= 20 and t.numerals.get(tokens[j + 1], 99) < 10:
                j += 1
        elif here in t.scales and group is not None:
            size = t.scales[here]
            if size <= 100:
                group *= size
            else:
                total, group, scale = total + group * size, None, size
            j += 1
        elif here == "and" and (group is None or group % 100 == 0) and tokens[j + 1] in t.numerals and (total or group):
            j += 1
        elif here == "and" and tokens[j + 1 : j + 3] == ["a", "half"] and group is not None:
            group, j = group + 0.5, j + 3
        else:
            break
    if j == i:
        return None
    value = total + (group or 0)
    return Numeral((value,), int(value % 1 > 0), scale if group is None else 1.0), j


def vietnamese_words(window: Window, t: Tables, i: int) -> tuple[Numeral, int] | None:
    """hai mươi mốt, năm trăm linh năm, hai nghìn không trăm linh tám, ba triệu rưỡi."""
    tokens = window.tokens
    if tokens[i + 1] not in t.grammar:
        return (t.spelt[tokens[i]], i + 1) if tokens[i] in t.spelt else None
    group, j = _vietnamese_group(window, t, i)
    if j == i:
        return None
    total, limit = 0.0, inf
    while True:
        scale = 1.0
        while t.scales.get(tokens[j], 0) >= 1000:
            scale *= t.scales[tokens[j]]
            j += 1
        total += group * scale
        if scale == 1.0 or scale >= limit:
            break
        limit = scale
        if tokens[j] == t.vi["half"]:
            return Numeral((total + scale / 2,), 0, scale / 10), j + 1
        group, end = _vietnamese_group(window, t, j, more=True)
        if end == j:
            break
        j = end
    if tokens[j] == t.vi["point"] and tokens[j + 1] in t.numerals:
        return Numeral((total + t.numerals[tokens[j + 1]] / 10,), 1), j + 2
    return Numeral((total,), 0, limit if limit != inf and total % limit == 0 else 1.0), j


def _vietnamese_group(window: Window, t: Tables, i: int, more: bool = False) -> tuple[float, int]:
    """A number below a thousand and where it ends; behind a scale word (`more`) only one written out in full."""
    tokens = window.tokens
    vi = t.vi
    if more and tokens[i] in (vi["odd"], vi["odd_too"]) and tokens[i + 1] in t.numerals:
        return t.numerals[tokens[i + 1]], i + 2
    digit = 0 if more and tokens[i] == vi["zero"] else t.numerals.get(tokens[i])
    if digit is None:
        return 0.0, i
    if tokens[i + 1] == vi["hundred"]:
        rest, end = _vietnamese_tens(window, t, i + 2)
        return 100.0 * digit + rest, end
    tens, end = _vietnamese_tens(window, t, i)
    if more and t.scales.get(tokens[end], 0) < 1000:
        return 0.0, i
    return (tens, end) if end > i else (digit, i + 1)


def _vietnamese_tens(window: Window, t: Tables, i: int) -> tuple[float, int]:
    """mười hai, hai mươi mốt, ba lăm, linh năm, rưỡi (fifty, behind a hundred); nothing for a single digit."""
    tokens = window.tokens
    vi = t.vi
    if tokens[i] in (vi["odd"], vi["odd_too"]) and tokens[i + 1] in t.numerals:
        return t.numerals[tokens[i + 1]], i + 2
    if tokens[i] == vi["half"]:
        return 50.0, i + 1
    digit = t.numerals.get(tokens[i])
    if digit is None:
        return 0.0, i
    if digit == 10:
        return _behind_ten(window, t, 10.0, i + 1)
    if tokens[i + 1] == vi["tens"]:
        return _behind_ten(window, t, 10.0 * digit, i + 2)
    if tokens[i + 1] == vi["dozens"]:
        return 10.0 * digit, i + 2
    ending = t.behind_ten.get(tokens[i + 1], 0)
    if digit > 1 and tokens[i + 1] not in t.numerals and ending and ending != 4:
        return 10.0 * digit + ending, i + 2
    return 0.0, i


def _behind_ten(window: Window, t: Tables, tens: float, i: int) -> tuple[float, int]:
    """The digit behind a ten; "mười năm" is ten years, so five is only lăm, and one behind ten is một."""
    here = window.tokens[i]
    if tens == 10 and here == t.vi["one"]:
        return 11.0, i + 1
    digit = t.behind_ten.get(here, 0)
    return (tens + digit, i + 1) if digit else (tens, i)


def _continues(group: float | None, value: float) -> bool:
    """Whether a spelt number may go on with a value: two hundred five, twenty one."""
    if not group:
        return group is None
    return group % 100 == 0 if value >= 10 else group % 10 == 0 and (group % 100 == 0 or group % 100 >= 20)


def scaled_like(one: Numeral, two: Numeral) -> Numeral:
    """The first number of a range with the scale word of the second: 2 to 3 million."""
    if two.scale < 1000 or one.scale != 1.0 or one.values[0] * two.scale > two.values[0]:
        return one
    return Numeral(tuple(v * two.scale for v in one.values), one.decimals, two.scale)
