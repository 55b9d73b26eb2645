"""Context below a heading of its own: 'Context:', '## Knowledge base', up to the next heading such as 'Question:' or to the end.

`titled` reads headings that say what they are about, 'Store information:'. They are less sure: every other format comes before them.
"""

from __future__ import annotations

import re
from functools import cache

from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.words import stock

__all__ = ["ending", "headed", "titled"]

WORD = r"[^\W\d_]{1,20}+"


@cache
def _context() -> re.Pattern[str]:
    """What a heading of context looks like."""
    return _line_of(_before_colon(_any_of("context")), _between_marks(_any_of("context")))


@cache
def _title() -> re.Pattern[str]:
    """A line that says what is told below it, and nothing else."""
    words = rf"(?:{WORD}[ \t]){{0,3}}(?:{_any_of('about')})|(?:{_any_of('of')})(?:[ \t]{WORD}){{0,4}}"
    return _line_of(_before_colon(words) + r"[ \t]{0,8}$", _between_marks(words))


@cache
def ending() -> re.Pattern[str]:
    """What a heading of another matter looks like, which ends a context."""
    return _line_of(_before_colon(_any_of("ends", "ends_with_colon")), _between_marks(_any_of("ends")))


def _any_of(*kinds: str) -> str:
    words = (word for kind in kinds for word in stock()["headings"][kind])
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _before_colon(words: str) -> str:
    return rf"[#*]{{0,4}}[ \t]?(?:{words})[ \t]?\*{{0,2}}:\*{{0,2}}"


def _between_marks(words: str) -> str:
    """A line of its own, marked as a heading: it needs no colon."""
    return (
        rf"(?:\#{{1,6}}|[*=~_-]{{2,8}}|\[)[ \t]{{0,2}}(?:{words})[ \t]{{0,2}}:?(?:[#*=~_-]{{1,8}}|\])?:?[ \t]{{0,8}}$"
    )


def _line_of(*ways: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]{{0,8}}(?:{'|'.join(ways)})", re.MULTILINE | re.IGNORECASE)


def headed(text: str) -> list[Block]:
    """The context of a text below its first heading of context."""
    return _below(_context(), text)


def titled(text: str) -> list[Block]:
    """What a text tells below its first line that says what is told."""
    return _below(_title(), text)


def _below(title: re.Pattern[str], text: str) -> list[Block]:
    begins = title.search(text)
    if begins is None:
        return []
    ends = ending().search(text, begins.end())
    last = ends.start() if ends else len(text)
    inside = text[begins.end() : last].strip()
    return [Block(begins.start(), last, ({"text": inside},), "headed")] if inside else []
