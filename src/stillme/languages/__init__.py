"""The languages: every word list, numeral, date form and wording of one stands in a folder of its own.

A folder holds one YAML file per concept, named like the module that reads it; what holds in every language stands beside the folders.
Matching code reads `load`, the rules of all languages in one, and names no language. `register` adds one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, ParamSpec, Protocol, TypeVar, cast

from stillme.languages.en import forms as english_forms
from stillme.languages.en.numerals import spelt as english_numbers
from stillme.languages.grammar import Forms, NumberWords, Speller, SpeltNumber
from stillme.languages.vi import forms as vietnamese_forms
from stillme.languages.vi.numerals import spelt as vietnamese_numbers

__all__ = [
    "DEFAULT",
    "Language",
    "WordRules",
    "accented_language",
    "compiled",
    "forgettable",
    "has",
    "is_served",
    "language_of",
    "languages",
    "load",
    "register",
    "registered",
    "remembered",
    "word_rules",
    "word_set",
]

P = ParamSpec("P")
T = TypeVar("T")

HERE: Final = files(__package__)
DEFAULT: Final = "en"
"""The language of texts for a reader whose own is not known."""

_COMPILED: list[Forgettable] = []


def compiled(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose results are kept until a language is added or taken away: what is made of the rules."""
    kept = cache(function)
    _COMPILED.append(kept)
    return cast("Callable[P, T]", kept)


class Forgettable(Protocol):
    """What is made of the rules, and can be made anew."""

    def cache_clear(self) -> None:
        """Forget all of it."""


def forgettable(kept: Forgettable) -> None:
    """Have something cleared whenever a language is added or taken away."""
    _COMPILED.append(kept)


def remembered(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Like `compiled`, for what is made of texts: only so many results are kept."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        kept = lru_cache(size)(function)
        _COMPILED.append(kept)
        return cast("Callable[P, T]", kept)

    return wrap


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its code, as in `metadata.language`, and the folder with its files."""

    code: str
    folder: Traversable
    speller: Speller = english_numbers
    """How its numbers are put together from words; as in English where nothing else is said."""
    forms: Forms = english_forms
    """The forms of its words; as in English where nothing else is said."""

    def spelt(self, tokens: Sequence[str], words: NumberWords, at: int, start: float | None) -> SpeltNumber | None:
        """The number in words that begins at a token."""
        return self.speller(tokens, words, at, start)

    def rules(self, name: str) -> dict[str, Any]:
        """The rule file `name`.yaml of this language; nothing where it has none."""
        return _parsed(self.folder, name)

    def words(self, name: str) -> frozenset[str]:
        """The words of `name`.txt, whose first line says what they are; none where there is no such file."""
        return _listed(self.folder, name)

    @property
    def decimal(self) -> str:
        """What stands before the decimals of a figure."""
        return str(self.rules("language").get("decimal", "."))

    @property
    def name(self) -> str:
        """What the language is called in English."""
        return str(self.rules("language")["name"])


@compiled
def _parsed(folder: Traversable, name: str) -> dict[str, Any]:
    file = folder.joinpath(f"{name}.yaml")
    import yaml  # noqa: PLC0415  (whoever only asks which languages there are needs no parser)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = yaml.load(file.read_text(encoding="utf-8"), Loader=loader) if file.is_file() else None  # noqa: S506  (a safe loader, in C where available)
    return found or {}


@compiled
def _listed(folder: Traversable, name: str) -> frozenset[str]:
    file = folder.joinpath(f"{name}.txt")
    return frozenset(file.read_text(encoding="utf-8").partition("\n")[2].split()) if file.is_file() else frozenset()


_REGISTERED: dict[str, Language] = {
    "en": Language("en", HERE.joinpath("en"), english_numbers, english_forms),
    "vi": Language("vi", HERE.joinpath("vi"), vietnamese_numbers, vietnamese_forms),
}


def languages() -> tuple[Language, ...]:
    """The registered languages, in the order in which their rules are put together."""
    return tuple(_REGISTERED.values())


def language_of(code: str) -> Language:
    """The language of a code; the default one where the code is of none."""
    return _REGISTERED.get(code, _REGISTERED[DEFAULT])


def is_served(code: str) -> bool:
    """Whether a code is that of a registered language."""
    return code in _REGISTERED


@compiled
def has(code: str, trait: str) -> bool:
    """Whether a registered language has a trait of `traits` in its language.yaml, by which its grammar differs from that of others."""
    return is_served(code) and trait in str(language_of(code).rules("language").get("traits", "")).split()


def accented_language() -> str:
    """The language of a text with accents of which nothing else is known."""
    return next((code for code in _REGISTERED if has(code, "accents")), DEFAULT)


def register(added: Language) -> None:
    """Add a language, or put another one in the place of that with its code; what was made of the rules is made anew."""
    _REGISTERED[added.code] = added
    _forget()


@contextmanager
def registered(added: Language) -> Iterator[Language]:
    """A language that is there for a while, as in a test."""
    before = dict(_REGISTERED)
    register(added)
    try:
        yield added
    finally:
        _REGISTERED.clear()
        _REGISTERED.update(before)
        _forget()


def _forget() -> None:
    for kept in _COMPILED:
        kept.cache_clear()


@compiled
def load(name: str) -> dict[str, Any]:
    """The rules `name` of all languages in one: lists one behind the other, rows of words joined, mappings put together by key."""
    found: dict[str, Any] = {}
    for rules in (_parsed(HERE, name), *(each.rules(name) for each in languages())):
        found = _joined(found, rules)
    return found


@compiled
def word_set(name: str, *keys: str) -> frozenset[str]:
    """Rows of words of the rules `name` as one set."""
    return frozenset(word for key in keys for word in str(load(name)[key]).split())


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {**one, **{key: _joined(one[key], own) if key in one else own for key, own in other.items()}}
    return [*one, *other] if isinstance(one, list) else f"{one} {other}"


@dataclass(frozen=True, slots=True)
class WordRules:
    """What the tokeniser knows about words: those without content, the same typed without accents, and irregular forms."""

    stop: frozenset[str]
    stop_folded: frozenset[str]
    irregular: dict[str, str]
    suffixes: tuple[tuple[str, str, int], ...]
    """Endings that a stem goes without: what replaces each, and how many letters must stay."""


@compiled
def word_rules() -> WordRules:
    """The word rules of all languages."""
    rules = load("words")
    irregular = {form: base for base, forms in rules["irregular"].items() for form in str(forms).split()}
    suffixes = tuple((str(ending), str(instead), int(keep)) for ending, instead, keep in rules["suffixes"])
    return WordRules(word_set("words", "stop"), word_set("words", "stop_unaccented"), irregular, suffixes)
