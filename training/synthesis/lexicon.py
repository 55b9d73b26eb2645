"""Word lists of both languages, read from the data file beside this module."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The word lists of one language."""

    opposites: tuple[tuple[str, str], ...]
    strengthened: tuple[tuple[str, str], ...]
    units: tuple[tuple[str, ...], ...]
    number_words: tuple[str, ...]
    months: tuple[str, ...]
    synonyms: tuple[tuple[str, str], ...]
    lead_ins: tuple[str, ...]
    additions: tuple[str, ...]
    additions_with_name: tuple[str, ...]
    additions_with_year: tuple[str, ...]
    joiners: tuple[str, ...]
    question_forms: tuple[str, ...]
    conditions: tuple[str, ...]
    denials: tuple[str, ...]
    corrections: tuple[str, ...]


@cache
def lexicon(lang: str) -> Lexicon:
    """The word lists of `lang`."""
    lists = json.loads(Path(__file__).with_name("lexicon.json").read_text(encoding="utf-8"))[lang]
    fields: dict[str, Any] = {
        name: tuple(tuple(item) if isinstance(item, list) else item for item in items) for name, items in lists.items()
    }
    return Lexicon(**fields)
