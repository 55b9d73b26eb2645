"""Rule files: words and phrases in English and Vietnamese, side by side, compiled once.

Each YAML file beside this module belongs to the module that reads it; `load` parses it, `Lexicon` matches its phrases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

__all__ = ["WordRules", "load", "small_words", "word_rules"]

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def load(name: str) -> dict[str, Any]:
    """The parsed rule file `name`.yaml."""
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    parsed: dict[str, Any] = yaml.load(text, Loader=LOADER)  # noqa: S506  (a safe loader, in C where available)
    return parsed


@cache
def small_words(language: str) -> frozenset[str]:
    """Words that "english" texts write in small letters, but for Vietnamese syllables; "vietnamese": syllables of hardly any name."""
    text = files(__package__).joinpath(f"{language}_words.txt").read_text(encoding="utf-8")
    return frozenset(text.partition("\n")[2].split())


@dataclass(frozen=True, slots=True)
class WordRules:
    """What the tokeniser knows about words."""

    stop: frozenset[str]
    stop_folded: frozenset[str]
    irregular: dict[str, str]


@cache
def word_rules() -> WordRules:
    """Stop words of both languages and irregular English forms."""
    rules = load("words")
    irregular = {form: base for base, forms in rules["irregular"].items() for form in str(forms).split()}
    vi = frozenset(str(rules["stop"]["vi"]).split())
    return WordRules(
        frozenset(str(rules["stop"]["en"]).split()) | vi,
        frozenset(str(rules["stop"]["vi_unaccented"]).split()),
        irregular,
    )
