"""Figures compared by value: counts, measures, money, percentages, dates, clock times, ordinals and the numbers of named things.

`find_quantities` reads them from the tokens of a text in English or Vietnamese, in both number formats and in words;
`agrees` says whether a source's figure states a claim's, `rivals` whether it is a figure of the same kind that says otherwise.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from math import inf
from typing import Any, Final, NamedTuple

from stillme.evidence.dates import (
    DASHES,
    ORDINAL_ENDINGS,
    Clock,
    Date,
    DateRules,
    FoundDate,
    Phrases,
    Window,
    clock_behind,
    date_behind,
    date_from,
    date_rules,
    dates_agree,
    dates_differ,
    dotted_date,
    longest,
    phrases,
    spelt_clock,
    weekday_at,
    year_of,
)
from stillme.evidence.rules import load
from stillme.evidence.text import Text, Word, fold

__all__ = ["Numeral", "Quantity", "Unit", "agrees", "find_quantities", "rivals"]


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

    def base(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Values in the base unit; a gigabyte may be a power of ten or of two."""
        if self.binary:
            return tuple(v * f for f in (self.factor, self.binary) for v in values)
        if self.factor == 1.0 and not self.offset:
            return values
        return tuple((v + self.offset) * self.factor for v in values)


class Quantity(NamedTuple):
    """A figure at tokens `first` to `last` (exclusive) of a text, its unit included.

    A tuple rather than a dataclass because a passage is scanned in microseconds and a frozen dataclass takes one to build.
    `dimension` is count, label, percent, ordinal, date, clock, weekday, money:XXX, or one of units: time (up to weeks), span (months
    and years), length, mass ... `values` are in its base unit: metres, seconds, months, kilograms, degrees Celsius, bytes.
    """

    first: int
    last: int
    values: tuple[float, ...]
    dimension: str
    noun: str = ""
    hedge: str = ""
    precision: Numeral = Numeral(())
    unit: Unit | None = None
    dates: tuple[Date, ...] = ()
    also: tuple[tuple[str, tuple[float, ...]], ...] = ()
    limit: bool = False
    article: bool = False
    language: str = ""

    @property
    def year(self) -> int | None:
        """The year that a date states (the first one of a decade or century; negative before the common era)."""
        return self.dates[0].year if self.dates else None

    @property
    def month(self) -> int | None:
        """The month that a date states (the first one of a quarter)."""
        return self.dates[0].month if self.dates else None

    @property
    def day(self) -> int | None:
        """The day of the month that a date states."""
        return self.dates[0].day if self.dates else None

    @property
    def bare(self) -> bool:
        """A number without a unit and without a counted noun."""
        return self.dimension == "count" and not self.noun


HALF_UNIT: Final = Unit("percent", "percent")
ORDINAL_UNIT: Final = Unit("ordinal", "ordinal")
GLUE: Final = frozenset("-_./\\@")
OPENERS: Final = frozenset("[【(,-–;^")
LINE_MARKS: Final = frozenset("*#>-•_")
TIMES_TEN: Final = frozenset(("×", "x", "*", "·"))
BRACKET_REACH: Final = 24
BINARY: Final = {"kilobyte": 1, "megabyte": 2, "gigabyte": 3, "terabyte": 4, "petabyte": 5}


# Vietnamese words of the number grammar by what they do.
GRAMMAR: Final = {
    "one": "một", "three": "ba", "five": "năm", "ten": "mười", "tens": "mươi", "dozens": "chục", "hundred": "trăm", "odd": "linh",
    "odd_too": "lẻ", "half": "rưỡi", "zero": "không", "point": "phẩy", "part": "phần", "share": "nửa", "number": "số", "rank": "thứ",
    "lead": "đầu", "lead_end": "tiên", "times": "lần", "among": "giữa", "and": "và", "minus": "âm",
}  # fmt: skip


class Tables:
    """The words of numbers and units of one language, compiled for look-up by token; `folded` is typed without accents."""

    def __init__(self, language: str, folded: bool) -> None:
        rules = load("numbers")
        own = "vi" if language == "vi" else "en"
        key: Callable[[str], str] = fold if folded else str

        def row(words: str) -> frozenset[str]:
            return frozenset(map(key, words.split()))

        def rows(named: dict[str, Any]) -> list[tuple[str, str]]:
            pairs = ((name, p.values() if isinstance(p, dict) else p) for name, p in named.items())
            return [(key(word), name) for name, lists in pairs for words in lists for word in words.split()]

        self.format = language if language in ("en", "vi") else "other"
        self.vi = {name: key(word) for name, word in GRAMMAR.items()}
        self.numerals = {key(w): n for w, n in rules["numerals"][own].items()}
        self.behind_ten = {key(w): n for w, n in rules["numerals"]["vi_behind_ten"].items()}
        self.signs_of_number: dict[str, float] = rules["signs"]
        self.scales = {key(w): float(n) for w, n in (rules["scales"]["en"] | rules["scales"][own]).items()}
        self.suffixes = {w: float(n) for w, n in rules["suffixes"].items()}
        self.extenders = frozenset((*self.scales, *self.suffixes, *rules["signs"], *TIMES_TEN, self.vi["half"], self.vi["point"]))
        self.ordinals: dict[str, int] = rules["ordinals"]["en"] | {key(w): n for w, n in rules["ordinals"]["vi"].items()}
        self.times: dict[str, int] = rules["times"]["en"]
        self.fractions: dict[str, int] = rules["fractions"]["en"]
        self.starters = _starters(rules, own == "vi", key)
        self.articles = {key("một"): "one"} if own == "vi" else {"a": "article", "an": "article", "both": "times"}
        self.units, self.signs = _units(rules, folded)
        self.between = frozenset(rules["between"]["en"].split())
        self.money_before: Phrases[Unit] = _backwards(
            (word, Unit(code, f"money:{code}")) for code, lists in rules["money"].items() for word in lists[0].split()
        )
        self.not_money = row(rules["not_money"])
        self.timed = _timed(rules, key)
        self.hedges: Phrases[str] = _backwards(rows(rules["hedges"]))
        self.hedges_behind = phrases(rows(rules["hedges_behind"]))
        self.than_under = row(rules["than_under"])
        self.than_none = row(rules["than_none"])
        self.ranges = row(rules["ranges"][own])
        self.labels: Phrases[str] = _backwards(rows(rules["labels"]))
        self.label_short = row(rules["label_short"])
        self.amount_numbers = row(rules["number_not_label"])
        self.joined = row(rules["joined"])
        self.ages = row(rules["age_before"]["en"] + " " + rules["age_before"]["vi"])
        self.year_before = row(rules["year_before"])
        self.no_ordinal_before = row(rules["no_ordinal"]["before"])
        self.no_ordinal_after = row(rules["no_ordinal"]["after"])
        self.one_before = row(rules["one_before"][own])
        self.one_time_before = row(rules["one_time_before"][own])
        self.needs_counted = row(rules["needs_counted"]) | (frozenset(self.numerals) if folded else frozenset())
        self.not_three = row(rules["not_three"])
        self.counted = row(rules["counted"]) | frozenset(self.units)
        self.plurals = row(rules["plurals"])
        self.singulars = row(rules["singulars"])


_tables = cache(Tables)


def _units(rules: dict[str, Any], folded: bool) -> tuple[Phrases[Unit], Phrases[Unit]]:
    """Units by their words and by their signs, in which capitals count."""
    customary = frozenset(rules["customary"].split())
    words: list[tuple[str, Unit]] = []
    signs: list[tuple[str, Unit]] = []
    for dimension, units in rules["units"].items():
        for name, (factor, sign_row, en, vi, *offset) in units.items():
            binary = 1024.0 ** BINARY[name] if name in BINARY else 0.0
            unit = Unit(name, dimension, float(factor), float(*offset), name in customary, binary)
            signs += [(sign, unit) for sign in sign_row.split()]
            words += [(word, unit) for word in f"{en} {vi}".split()]
    for code, (signs_before, en, vi) in rules["money"].items():
        words += [(word, Unit(code, f"money:{code}")) for word in f"{signs_before} {en} {vi}".split()]
    for code, (en, vi) in rules["parts"].items():
        words += [(word, Unit("cent", f"money:{code}", 0.01)) for word in f"{en} {vi}".split()]
    exact = phrases(signs, exact=True)
    for sign, unit in signs:
        if sign[-1] in "²³":
            exact.setdefault(sign, []).append(((), unit))
    table = phrases(words, folded=folded)
    if folded:
        for word in rules["not_units_unaccented"].split():
            table[word] = [option for option in table.get(word, ()) if option[0]]
    return table, exact


def _backwards(rows: Iterable[tuple[str, str | Unit]]) -> Phrases[Any]:
    """Phrases by their last token, for a look to the left."""
    return phrases((" ".join(w.text for w in reversed(Text(row.replace("_", " ")).words)), payload) for row, payload in rows)


def _timed(rules: dict[str, Any], key: Callable[[str], str]) -> frozenset[str]:
    """Tokens behind a number that may make it a date or a clock time."""
    found = {*rules["months"]["en"], *rules["months"]["short"], *"/-–.:'", "of", "s", "h", "g", "century", "centuries", "quarter", "o'clock"}
    found |= {key("tháng"), key("giờ")}
    for table in (rules["day_parts"]["en"], rules["eras"]["before"].split(), rules["eras"]["after"].split()):
        found |= {key(word.split("_")[0]) for word in table}
    return frozenset(found)


def _starters(rules: dict[str, Any], vietnamese: bool, key: Callable[[str], str]) -> dict[str, str]:
    """Which method of the scan reads the figure that a word may begin."""
    found = dict.fromkeys(rules["signs"], "sign")
    found |= dict.fromkeys((*rules["months"]["en"], *rules["months"]["short"], "q"), "date")
    found |= dict.fromkeys((*rules["weekdays"]["en"], *rules["weekdays"]["short"]), "weekday")
    if vietnamese:
        found |= dict.fromkeys(map(key, rules["numerals"]["vi"]), "spelt")
        found |= dict.fromkeys(map(key, ("ngày", "mùng", "mồng", "tháng", "quý", "thế", "thập")), "date")
        found |= dict.fromkeys(map(key, ("thứ", "hạng", "giải", "đầu")), "rank")
        found |= {key("chủ"): "weekday", key("nửa"): "half", key("giữa"): "clock", key("chính"): "clock"}
        return found | {key("năm"): "five_or_year", key("một"): "one"}
    found |= dict.fromkeys(rules["numerals"]["en"], "spelt") | dict.fromkeys(rules["scales"]["en"], "scale")
    found |= dict.fromkeys(rules["ordinals"]["en"], "ordinal") | dict.fromkeys(rules["clock_words"]["en"], "clock")
    return found | {"twice": "times", "thrice": "times", "half": "half", "quarter": "ordinal", "one": "one"}


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
        return Numeral((float("".join(groups)),), 0, 1.0, text) if _thousands(groups) else Numeral((), 0, 1.0, text, True)
    decimal = float(f"{groups[0]}.{groups[1]}")
    if not _thousands(groups):
        return Numeral((decimal,), len(groups[1]), 1.0, text)
    whole = float("".join(groups))
    if format_ == "other":
        return Numeral((whole, decimal), 3, 1.0, text)
    if separator == ("," if format_ == "en" else "."):
        return Numeral((whole,), 0, 1.0, text)
    # A Vietnamese decimal comma before three digits may be an English thousands comma, which Vietnamese writers use too.
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
