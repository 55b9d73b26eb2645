"""Figures of short texts, for the tables of this folder."""

from __future__ import annotations

from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


def figures(raw: str, language: str = "en") -> list[tuple[str, str, tuple[float, ...]]]:
    """Each figure as its words, its dimension and its values."""
    text = Text(raw)
    return [(text.slice(q.first, q.last), q.dimension, q.values) for q in find_quantities(text, language)]


def figure(raw: str, language: str = "en") -> Quantity:
    """The only figure of a text."""
    found = find_quantities(Text(raw), language)
    assert len(found) == 1, found
    return found[0]


def language_of(raw: str) -> str:
    """The language of a row of these tables: what has Vietnamese letters is Vietnamese."""
    return "vi" if Text(raw).accented and not raw.isascii() and any(c in raw for c in VIETNAMESE) else "en"


VIETNAMESE = "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ"
