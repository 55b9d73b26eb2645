"""Context that a sentence announces: 'Answer from the following context:', 'Use the documents below.'.

It begins behind that sentence's colon, at a rule of dashes or the like, or at the next paragraph. It ends at the rule that closes it, at a
heading such as 'Question:', or with the text. That is for what an application writes: nothing here is looked for in a user's message.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import Final

from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.headed import ending
from stillme.service.openai.evidence.words import stock

__all__ = ["announced"]

RULE: Final = r"^[ \t]{0,8}(-{3,}|={3,}|_{3,}|~{3,}|`{3,}|\*{3,}|#{3,}|\"{3}|'{3})\w{0,12}[ \t]{0,8}$"
OPENS: Final = re.compile(rf":[ \t]{{0,8}}$|{RULE}|\n[ \t]{{0,8}}\n", re.MULTILINE)
CLOSES: Final = re.compile(RULE, re.MULTILINE)
AT_ONCE: Final = re.compile(r"[ \t]?\*{0,2}:\*{0,2}[ \t]")
SAME_LINE: Final = re.compile(r"[^.:\n]{0,80}+:[ \t]{0,8}$", re.MULTILINE)
SPACE: Final = re.compile(r"\s*+")
MOST: Final = 8
"""So many announcements are looked behind."""


@cache
def _announcement() -> re.Pattern[str]:
    """A name of context with a word that points at what comes, before it or behind it; `weak` points at what may have come before."""
    words = {
        key: "|".join(re.escape(word) for word in sorted(given, key=len, reverse=True))
        for key, given in stock()["announced"].items()
    }
    between = rf"[ \t\n]{{1,4}}+(?:(?:{words['between']})[ \t\n]{{1,4}}+){{0,4}}+"
    return re.compile(
        rf"\b(?:(?:{words['before']}){between}(?:{words['names']})|(?:{words['names']}){between}(?:{words['behind']})|"
        rf"(?P<weak>{words['weak']}){between}(?:{words['names']}))\b",
        re.IGNORECASE,
    )


def announced(text: str) -> list[Block]:
    """The context that the first announcement with anything behind it announces."""
    for found in islice(_announcement().finditer(text), MOST):
        begin = _begin(text, found.end(), weak=found["weak"] is not None)
        if begin is None:
            continue
        first, rule = begin
        last = _end(text, first, rule)
        inside = text[first:last].strip()
        if inside:
            return [Block(first, last, ({"text": inside},), "announced")]
    return []


def _begin(text: str, at: int, *, weak: bool) -> tuple[int, str] | None:
    """Where the context begins, and the rule above it, if there is one."""
    opens = AT_ONCE.match(text, at) or (SAME_LINE.match(text, at) if weak else OPENS.search(text, at))
    if opens is None:
        return None
    if opens.lastindex:
        return opens.end(), opens[1]
    rule = CLOSES.match(text, SPACE.match(text, opens.end()).end())  # type: ignore[union-attr]  # it matches nothing too
    return (rule.end(), rule[1]) if rule else (opens.end(), "")


def _end(text: str, first: int, rule: str) -> int:
    """Where the context ends: at a rule of the same characters where one stands above it, else at a heading that is another matter's."""
    if rule:
        closes = (each for each in CLOSES.finditer(text, first) if each[1][0] == rule[0])
        if (end := next(closes, None)) is not None:
            return end.start()
    ends = ending().search(text, first)
    return ends.start() if ends else len(text)
