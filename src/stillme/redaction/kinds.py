"""The built-in kinds: each finds its spans and checks what it takes."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from stillme.languages import compiled, load
from stillme.redaction.places import UUID, Finder, Span
from stillme.redaction.secrets import LATIN, folded

__all__ = ["KINDS"]


def _emails(text: str) -> Iterator[Span]:
    """Addresses up to the last label that begins with a letter and is no single one."""
    for match in EMAIL.finditer(text) if "@" in text else ():
        name = DOMAIN.match(match[0], match[0].index("@") + 1)
        if name:
            yield match.start(), match.start() + name.end()


EMAIL: Final = re.compile(r"\w[\w.%+'-]{0,63}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+")
DOMAIN: Final = re.compile(r"(?:[\w-]++\.){1,8}[^\W\d_][\w-]++")


def _in_code(text: str, start: int, end: int) -> bool:
    """Whether digits stand inside a UUID or a long hexadecimal code: then they are no number."""
    before, after = text[max(0, start - LONGEST_CODE) : start], text[end : end + LONGEST_CODE]
    first = start - (len(before) - len(before.rstrip(CODE_CHARACTERS)))
    last = end + (len(after) - len(after.lstrip(CODE_CHARACTERS)))
    if (first, last) == (start, end):
        return False
    run = text[first:last]
    place = start - first
    return any(code.start() <= place < code.end() for code in CODE.finditer(run))


LONGEST_CODE: Final = 128
CODE_CHARACTERS: Final = "0123456789abcdefABCDEF-"
CODE: Final = re.compile(rf"(?<![0-9A-Za-z])(?:{UUID}|(?=[0-9]*+[A-Fa-f])[0-9A-Fa-f]{{16,128}}+)(?![0-9A-Za-z])")


@dataclass(frozen=True, slots=True)
class _Digits:
    """Digits that may be a number: where they begin, the digits, and where each group of them ends, by their count."""

    start: int
    number: str
    ends: dict[int, int]

    def first_groups(self) -> tuple[int, int]:
        """How long the first group is, and the second if there is one."""
        counts = [*self.ends, 0, 0]
        return counts[0], max(counts[1] - counts[0], 0)


def _candidates(pattern: re.Pattern[str], text: str) -> Iterator[_Digits]:
    """What a pattern (its first characters and the group that it sees ahead) takes outside of codes."""
    for match in pattern.finditer(text):
        groups = [group.span() for group in DIGITS.finditer(text, match.start(), match.end(1))]
        candidate = _digits(text, match.start(), groups)
        if candidate.ends and not _in_code(text, match.start(), groups[0][1]):
            yield candidate


def _digits(text: str, start: int, groups: Sequence[Span]) -> _Digits:
    """Groups of digits as one number; it cannot end with a group that goes on where the pattern did not look."""
    number = ""
    ends = {}
    for first, last in groups:
        number += text[first:last]
        if not DIGITS.match(text, last):
            ends[len(number)] = last
    return _Digits(start, number, ends)


DIGITS: Final = re.compile("[0-9]++")
# Each begins with what it looks for, which is fast to search, then looks back whether a number can begin there, and only
# looks ahead for the rest, so that one candidate does not swallow the next.
GAP: Final = "[ \u00a0\u2009\u202f.\u2011\u2013-]"
NEXT_DIGIT: Final = rf"(?:{GAP}?+[()]?+{GAP}?+[0-9])"
PHONE_PLUS: Final = re.compile(rf"\+(?=({GAP}?+\(?+[1-9]{NEXT_DIGIT}{{8,14}}+))")
PHONE_ZEROS: Final = re.compile(rf"00(?<![0-9]00)(?<![0-9][.,]00)(?=({GAP}?+\(?+[1-9]{NEXT_DIGIT}{{8,14}}+))")
PHONE_AT_HOME: Final = re.compile(rf"0(?<![0-9]0)(?<![0-9][.,]0)(?=([1-9]{NEXT_DIGIT}{{8,9}}+))")
PHONE_BARE: Final = re.compile(r"84(?<![0-9]84)(?<![0-9][.,]84)(?=([35789][0-9]{8}(?![0-9])))")


def _phones(text: str) -> Iterator[Span]:
    for pattern, length in PHONES:
        for candidate in _candidates(pattern, text):
            count = length(candidate)
            if count:
                yield candidate.start, candidate.ends[count]


# How long a number with a country code is, for the codes that tell.
CODE_LENGTHS: Final = (("842", 12), ("840", 12), ("84", 11), ("1", 11))


def _abroad(candidate: _Digits) -> int:
    """How many digits of a candidate are a number with a country code; 0: it is none."""
    zeros = 2 * candidate.number.startswith("00")
    whole = _told_length(candidate.number, zeros)
    if whole in candidate.ends:
        return whole
    count = max(candidate.ends.keys() & _usual_lengths(candidate, zeros), default=0)
    is_amount = candidate.number[:count].endswith("000000")  # a round figure with a sign
    return 0 if is_amount else count


def _usual_lengths(candidate: _Digits, zeros: int) -> set[int]:
    """How many digits a number with a country code has, with the zeros that may stand before it."""
    may_be_code = zeros and candidate.first_groups()[0] > 5  # '00' also begins codes of twelve digits
    return set(range(13 if may_be_code else 9 + zeros, 16 + zeros))


def _told_length(number: str, zeros: int) -> int:
    """How long a number is by its country code, which stands behind the zeros; 0: its code does not tell."""
    lengths = (length for code, length in CODE_LENGTHS if number.startswith(code, zeros))
    length = next(lengths, None)
    return 0 if length is None else length + zeros


def _at_home(candidate: _Digits) -> int:
    """How many digits of a candidate are a Vietnamese number; 0: it is none."""
    number = candidate.number
    if number[1] == "1" and number[2] not in "2689":
        return 0
    whole = 11 if number[1] in "12" else 10
    # '03-12-2024 10' is a day and an hour: no two short groups at the beginning
    return whole if whole in candidate.ends and max(candidate.first_groups()) >= 3 else 0


PHONES: Final[tuple[tuple[re.Pattern[str], Callable[[_Digits], int]], ...]] = (
    (PHONE_PLUS, _abroad),
    (PHONE_ZEROS, _abroad),
    (PHONE_AT_HOME, _at_home),
    (PHONE_BARE, lambda candidate: len(candidate.number)),
)
CARD_GROUP: Final = "(?:[ \u00a0\u2011-][0-9]{1,15}+(?![0-9]))"
CARD: Final = re.compile(
    "[2-689](?<![0-9][0-9])"
    f"(?=([0-9]{{12,18}}+(?![0-9]){CARD_GROUP}{{0,2}}+|[0-9]{{3,11}}+(?![0-9]){CARD_GROUP}{{1,4}}+))"
)
NETWORK: Final = re.compile("[3-6]|2[2-7]|8[12]|9704|9792")


def _cards(text: str) -> Iterator[Span]:
    """Numbers of a known network whose last digit checks the others."""
    done = 0
    for candidate in _candidates(CARD, text):
        count = _card_length(candidate) if NETWORK.match(candidate.number) else 0
        if count and candidate.start >= done:
            done = candidate.ends[count]
            yield candidate.start, done


def _card_length(candidate: _Digits) -> int:
    """How many digits of a candidate are a card number, in groups of four or more but for the last; 0: it is none."""
    length = 0
    for start, end in pairwise([0, *candidate.ends]):
        if 13 <= end <= 19 and _luhn(candidate.number[:end]):
            length = end
        if end - start < 4:
            break
    return length


def _luhn(number: str) -> bool:
    return sum(map(int, number[::-2])) % 10 == -sum(map(int, number[-2::-2].translate(DOUBLED))) % 10


DOUBLED: Final = str.maketrans("0123456789", "0246813579")  # twice the digit, its digits added


IBAN: Final = re.compile(
    "[0-9](?<=[A-Za-z]{2}[0-9])(?<![0-9A-Za-z][A-Za-z]{2}[0-9])(?=([0-9](?:[ \u00a0]?+[0-9A-Za-z]){11,30}+))"
)
# how long an account number is, and in which countries, by the registry of ISO 13616
IBAN_COUNTRIES: Final = {
    15: "NO", 16: "BE", 18: "DK FI FK FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
IBAN_LENGTHS: Final = {country: n for n, countries in IBAN_COUNTRIES.items() for country in countries.split()}


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers of the length of their country whose first digits check the rest."""
    for match in IBAN.finditer(text):
        span = _account_at(text, match.start() - 2, match.end(1))
        if span is not None:
            yield span


def _account_at(text: str, start: int, end: int) -> Span | None:
    """Where the account number stands that begins at a place; None where there is none."""
    length = IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
    places = [at for at in range(start, end) if text[at].isalnum()][:length]
    if not _is_account("".join(text[at] for at in places), length):
        return None
    behind = places[-1] + 1
    return None if text[behind : behind + 1].isalnum() else (start, behind)


def _is_account(account: str, length: int) -> bool:
    """Whether an account number is whole and its check digits fit."""
    if len(account) != length or not account:
        return False
    digits = "".join(str(int(character, 36)) for character in account[4:] + account[:4])
    return int(digits) % 97 == 1


IPV4: Final = re.compile(r"[0-9](?<![\w.][0-9])[0-9]{0,2}+(?:\.[0-9]{1,3}+){3}(?!\w|\.[0-9])")
LEAST_COLONS: Final = 7  # of an IPv6 address without "::"
IPV6: Final = re.compile(r"(?<![0-9A-Fa-f:.])[0-9A-Fa-f:.]{4,64}+(?![0-9A-Fa-f:.])")


@compiled
def _numbered() -> re.Pattern[str]:
    """What stands before the number of a part of a text."""
    return re.compile(rf"(?:{'|'.join(map(re.escape, load('redaction')['numbered']))})\s?\Z", re.IGNORECASE)


def _addresses(text: str) -> Iterator[Span]:
    """IPv4 addresses that number no part of a text, and IPv6 addresses."""
    yield from _short_addresses(text)
    if "::" in text or text.count(":") >= LEAST_COLONS:
        yield from _long_addresses(text)


def _short_addresses(text: str) -> Iterator[Span]:
    for match in IPV4.finditer(text):
        if _is_address(text, *match.span()):
            yield match.span()


def _long_addresses(text: str) -> Iterator[Span]:
    for span in map(_without_punctuation, IPV6.finditer(text)):
        if _is_somebodys(text, *span):
            yield span


def _is_address(text: str, start: int, end: int) -> bool:
    return _is_ip(text[start:end]) and not _numbered().search(text[max(0, start - 12) : start])


def _is_somebodys(text: str, start: int, end: int) -> bool:
    """Whether a run is an IPv6 address, and no part of a longer word."""
    joined = re.search(r"\w\Z", text[max(0, start - 1) : start])
    return not joined and _is_telling(text[start:end]) and _is_ip(text[start:end])


# A run of hexadecimal digits, colons and dots without the marks of the sentence around it.
UNMARKED: Final = re.compile(r"(?::(?!:))?+(.*?)(?:(?<!:):)?\.*+")


def _without_punctuation(run: re.Match[str]) -> Span:
    """Where the run stands without a colon before it and a colon and full stops behind it."""
    inner = UNMARKED.fullmatch(run[0])
    start, end = inner.span(1) if inner else (0, len(run[0]))
    return run.start() + start, run.start() + end


def _is_telling(run: str) -> bool:
    """Whether a run can be an IPv6 address of somebody: no time of day, no '::' of a programming language."""
    return len(run.replace(":", " ").split()) > 1 and any(map(str.isdigit, run))


def _is_ip(text: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(text)
        return True
    return False


CITIZEN: Final = re.compile(
    r"0(?<![0-9]0)(?<![0-9][.,]0)(?=([0-9]{2}(?:[0-3][0-9]{8}|([ .-])[0-3][0-9]{2}\2[0-9]{3}\2[0-9]{3}|"
    r"[0-3]([ .-])[0-9]{4}\3[0-9]{4})(?![0-9])))"
)
NUMBER: Final = re.compile(
    "[0-9](?<![0-9][0-9])(?=([0-9]{8}(?:[0-9]{3})?+(?![0-9])|[0-9]{2,3}+(?:[ .-][0-9]{3,4}+(?![0-9])){2,3}+))"
)
PASSPORT: Final = re.compile("[0-9](?<![0-9][0-9])(?=([0-9]{6,8}+(?![0-9])))")
PROVINCES: Final = range(1, 97)
ID_REACH: Final = 40
LIST_REACH: Final = 6
LONGEST_ID_WORD: Final = 24


def _id_numbers(text: str) -> Iterator[Span]:
    """Numbers of citizens, of identity cards and of passports."""
    citizens = _candidates(CITIZEN, text)
    yield from ((each.start, each.ends[12]) for each in citizens if int(each.number[:3]) in PROVINCES)
    yield from _cards_of_identity(text)
    yield from _passports(text)


def _passports(text: str) -> Iterator[Span]:
    """Numbers behind the words for a passport, each with the letter before it."""
    for candidate in _candidates(PASSPORT, text):
        if _follows("passport_words", text, candidate.start):
            letter = text[candidate.start - 1].isalpha()
            yield candidate.start - letter, candidate.ends[len(candidate.number)]


def _cards_of_identity(text: str) -> Iterator[Span]:
    """Numbers behind the words for an identity card, and those that follow another in a list."""
    done = -ID_REACH
    for candidate in _candidates(NUMBER, text):
        count = _id_length(candidate)
        if count and (candidate.start - done <= LIST_REACH or _follows("id_words", text, candidate.start)):
            done = candidate.ends[count]
            yield candidate.start, done


def _follows(words: str, text: str, start: int) -> bool:
    """Whether one of the words stands within reach before a place."""
    before = text[max(0, start - ID_REACH - LONGEST_ID_WORD) : start]
    return any(len(before) - cue.end() <= ID_REACH for cue in _spelt(words).finditer(before))


def _id_length(candidate: _Digits) -> int:
    """How many digits of a candidate are an identity number: the first group alone, if it can be one; 0: it is none."""
    return next((n for n in (candidate.first_groups()[0], 12, 9) if n in (9, 12) and n in candidate.ends), 0)


@compiled
def _spelt(name: str) -> re.Pattern[str]:
    """Phrases in any case, with or without their accents, not inside a longer word."""
    spellings: dict[str, str] = {}
    for letter in filter(str.isalpha, LATIN):
        base = folded(letter)
        spellings[base] = spellings.get(base, base) + letter
    phrases = (_any_spelling(folded(phrase), spellings) for phrase in load("redaction")[name])
    return re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?![^\W\d])", re.IGNORECASE)


def _any_spelling(phrase: str, spellings: Mapping[str, str]) -> str:
    """The pattern of a phrase: each letter with any accent, one or two spaces for each other character."""
    return "".join(f"[{spellings.get(c, c)}]" if c.isalpha() else "[ \u00a0]{1,2}+" for c in phrase)


KINDS: Final[Mapping[str, Finder]] = MappingProxyType(
    {
        "email": _emails,
        "phone": _phones,
        "card": _cards,
        "iban": _ibans,
        "ip": _addresses,
        "id_number": _id_numbers,
    }
)
