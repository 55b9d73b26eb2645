"""Redaction: what the policy calls personal is blanked before a record is written, and no character moves.

`audit.redact` maps a name to `true` (a built-in kind) or to a regular expression of the operator's own. Every character of
a match but white space becomes `█`, so that offsets of claims stay right. What is blanked cannot be replayed exactly:
the built-in kinds check what they take (digit sums, structure, the words before it) and leave ordinary figures alone.

email       name@host.tld, Vietnamese letters included. Not: hosts without a dot, `name@1.2.3`.
phone       `+` or `00` and a country code, 9 to 15 digits; Vietnamese `0912 345 678`, `(024) 3825 1234`, `84912345678`.
            Not: numbers of other countries without `+`, hotlines such as 1900 1234, `84.912.345.678` (an amount).
card        13 to 19 digits, alone or in groups of four or more by space or dash, that begin like those of a payment
            network and are right by Luhn.
iban        account numbers of the countries in the IBAN registry, in any case, right by mod 97.
            Not: Vietnamese account numbers, which have no check digits.
ip          IPv4 and IPv6. Not: `v1.2.3.4`, `section 1.2.3.4`; a bare 1.2.3.4 is taken.
id_number   CCCD: 12 digits that begin with a province (001 to 096) and a century. After CMND, CCCD, ID card and
            the like, within 40 characters: any 9 or 12 digits. After passport: 7 to 9 digits and the letter
            before them. Not: 9 digits without such a word, which are mostly amounts.

Digits are ASCII digits. UUIDs and long hexadecimal codes are never taken for phones, cards or identity numbers.

Patterns and kinds are matched on composed text (NFC), a pattern is composed too, and the place is mapped back: decomposed
Vietnamese (NFD) is matched like composed. A pattern that is written without accents matches text without accents only.

A record is redacted in two passes: the secrets of all its texts are found, then every occurrence of each is blanked
everywhere it stands in whole words and numbers (from eight letters and digits on also inside a longer number), whatever its
case, accents, spacing and punctuation. A secret of fewer than three letters and digits is blanked only where its pattern
matches. `RECORD_FIELDS` says which fields are kept and which may hold parts of a secret.
Keys are never changed.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Self

from stillme.errors import PolicyError, nearest, shown
from stillme.redaction.fields import RECORD_FIELDS, Field, leaves_of, tree_of
from stillme.redaction.kinds import KINDS
from stillme.redaction.patterns import MOST_STEPS_IN_ALL, checked_pattern, key_of
from stillme.redaction.places import BLANK, Finder, Span, blanked, composed, merged
from stillme.redaction.secrets import Secrets

__all__ = ["BLANK", "KINDS", "RECORD_FIELDS", "Field", "Redacted", "Redactor"]

MOST_PATTERNS: Final = 32
MOST_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Redacted:
    """A structure with its secrets blanked, and in how many places something was."""

    value: Any
    places: int


@dataclass(frozen=True, slots=True)
class Redactor:
    """Blanks what the entries of `audit.redact` match; equal entries make equal redactors."""

    entries: tuple[tuple[str, str | bool], ...] = ()
    _finders: tuple[Finder, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of(cls, mapping: Mapping[str, str | bool]) -> Self:
        """The redactor of `audit.redact`, or a PolicyError that names the entry, the part of it and the way out."""
        if not isinstance(mapping, Mapping):
            raise PolicyError(f"audit.redact must map names to true or to a pattern, got {shown(mapping)}")
        if len(mapping) > MOST_PATTERNS:
            raise PolicyError(f"audit.redact has {len(mapping)} entries, at most {MOST_PATTERNS}: join some by `|`")
        for name, given in mapping.items():
            if not isinstance(name, str) or not isinstance(given, str | bool):
                raise PolicyError(f"{key_of(name)} must be true, false or a pattern, got {shown(given)}")
        entries = tuple(sorted(mapping.items()))
        return cls(entries, _finders(entries))

    def __bool__(self) -> bool:
        return bool(self._finders)

    def text(self, text: str) -> tuple[str, frozenset[str]]:
        """A text with its secrets blanked, as long as before, and the secrets."""
        page = _Page(text, Field.WHOLE)
        secrets = self._blank([page])
        return page.shown, secrets

    def record(self, value: Any, fields: Mapping[str, Field] = RECORD_FIELDS) -> Redacted:
        """A JSON-like structure with every secret of any of its texts blanked in all of them; it is not changed itself."""
        if not self._finders:
            return Redacted(value, 0)
        copy, leaves = leaves_of(value, tree_of(tuple(fields.items())))
        pages = [_Page(leaf.text, leaf.rule) for leaf in leaves]
        if not self._blank(pages):
            return Redacted(value, 0)
        for leaf, page in zip(leaves, pages, strict=True):
            if page.spans:
                leaf.holder[leaf.key] = page.shown
        return Redacted(copy[0], sum(len(page.spans) for page in pages))

    def _blank(self, pages: Sequence[_Page]) -> frozenset[str]:
        """Blank every page, and return the secrets: what is blanked may show another that it ran into, so it is read again.

        What is still not settled after a few rounds is blanked up to the white space around it, which shows nothing new.
        """
        secrets: set[str] = set()
        for _ in range(MOST_ROUNDS):
            if self._is_settled(pages, secrets):
                return frozenset(secrets)
        for page in pages:
            page.blank_to_the_ends()
        return frozenset(secrets)

    def _is_settled(self, pages: Sequence[_Page], secrets: set[str]) -> bool:
        """Blank every page once, with all that was found so far, to which what is found now is added; whether that was all."""
        for page in pages:
            page.find(self._finders)
            secrets |= page.secrets
        known = Secrets.of(secrets)
        for page in pages:
            page.blank(known)
        return not any(page.runs_on for page in pages)


class _Page:
    """A text of a record while it is redacted."""

    __slots__ = ("matches", "rule", "runs_on", "shown", "spans", "text")

    def __init__(self, text: str, rule: Field) -> None:
        self.text = self.shown = text
        self.rule = rule
        self.spans: list[Span] = []
        self.matches: list[Span] = []
        self.runs_on = False

    @property
    def secrets(self) -> set[str]:
        """What was found last."""
        return {self.shown[a:b] for a, b in self.matches}

    def find(self, finders: Sequence[Finder]) -> None:
        """Look for secrets in what is shown."""
        whole, places = composed(self.shown)
        spans = [span for find in finders for span in find(whole)]
        if places is not None:
            spans = [(places[a][0], places[b - 1][1]) for a, b in spans]
        self.matches = self._readable(merged(spans))

    def blank(self, known: Secrets) -> None:
        """Blank what was found and all that is known."""
        fresh = self._readable(known.spans(self.shown, self.matches, self.rule))
        self.runs_on = any(self._goes_on_beside(a, b) for a, b in fresh)
        self.spans = merged([*self.spans, *fresh])
        self.shown = blanked(self.text, self.spans)

    def blank_to_the_ends(self) -> None:
        """Blank each span up to the white space around it."""
        cut = merged([*self.spans, *(match.span() for match in WORDS.finditer(self.text))])
        firsts = [a for a, _ in cut]
        self.spans = [cut[n] for n in sorted({bisect_right(firsts, a) - 1 for a, _ in self.spans})]
        self.shown = blanked(self.text, self.spans)

    def _readable(self, spans: Iterable[Span]) -> list[Span]:
        """The spans that hold something which is not blank yet."""
        return [(a, b) for a, b in spans if self.shown[a:b].strip(f"{BLANK} \t\r\n")]

    def _goes_on_beside(self, start: int, end: int) -> bool:
        """Whether something that can be read goes on beside a span, before any white space: blanking makes another word of it."""
        before = self.shown[max(0, start - NEAR) : start][::-1]
        return bool(BESIDE.match(self.shown, end) or BESIDE.match(before))


NEAR: Final = 8
BESIDE: Final = re.compile(rf"[^\w\s]{{0,{NEAR - 1}}}+[^\W_]")
WORDS: Final = re.compile(r"\S++")


@lru_cache(maxsize=64, typed=True)
def _finders(entries: tuple[tuple[str, str | bool], ...]) -> tuple[Finder, ...]:
    finders: list[Finder] = []
    steps = 0
    for name, given in entries:
        if isinstance(given, str):
            pattern, cost = checked_pattern(name, unicodedata.normalize("NFC", given))
            steps += cost
            finders.append(_finder(pattern))
        elif name not in KINDS:
            raise _unknown_kind(name)
        elif given:
            finders.append(KINDS[name])
    if steps > MOST_STEPS_IN_ALL:
        raise PolicyError(
            f"audit.redact: the patterns may take {steps} steps at each character, at most {MOST_STEPS_IN_ALL}: "
            "lower the bounds of their repetitions"
        )
    return tuple(finders)


def _unknown_kind(name: str) -> PolicyError:
    guess = nearest(name, KINDS)
    hint = f"did you mean {guess}? " if guess else ""
    return PolicyError(
        f"{key_of(name)} is no built-in kind: {hint}built in are {', '.join(KINDS)}; any other name needs a pattern"
    )


def _finder(pattern: re.Pattern[str]) -> Finder:
    return lambda text: (match.span() for match in pattern.finditer(text))
