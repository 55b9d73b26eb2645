"""Context below a heading of its own: 'Context:', 'Documents:', up to the next heading such as 'Question:' or to the end."""

from __future__ import annotations

import re
from functools import cache

from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.words import stock

__all__ = ["headed", "heading"]


@cache
def heading(kind: str) -> re.Pattern[str]:
    """What a heading looks like: of context, or of what ends it."""
    words = "|".join(re.escape(word) for word in sorted(stock()["headings"][kind], key=len, reverse=True))
    return re.compile(
        rf"^[ \t]{{0,8}}[#*]{{0,4}}[ \t]?(?:{words})[ \t]?\*{{0,2}}:\*{{0,2}}", re.MULTILINE | re.IGNORECASE
    )


def headed(text: str) -> list[Block]:
    """The context of a text below its first heading of context."""
    begins = heading("context").search(text)
    if begins is None:
        return []
    ends = heading("end").search(text, begins.end())
    last = ends.start() if ends else len(text)
    inside = text[begins.end() : last].strip()
    return [Block(begins.start(), last, ({"text": inside},), "headed")] if inside else []
