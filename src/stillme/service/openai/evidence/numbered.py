"""Chunks under numbers: '[1] …', 'Document 1: …', and '1. …' where it is known that chunks stand there."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.words import stock

__all__ = ["numbered", "numbered_whole"]

BARE: Final = re.compile(r"[ \t]{0,8}\(?(\d{1,3})[.)][ \t]{1,8}", re.MULTILINE)
LINE: Final = re.compile(r"^", re.MULTILINE)


@cache
def _labelled() -> re.Pattern[str]:
    """A number in brackets, or behind a name of chunks, at the beginning of a line."""
    labels = "|".join(re.escape(label) for label in sorted(stock()["labels"], key=len, reverse=True))
    return re.compile(
        rf"[ \t]{{0,8}}(?:\[(\d{{1,3}})\]|\[?(?:{labels})[ \t]{{0,2}}#?(\d{{1,3}})\]?[ \t]?[:.)\-]?)(?=\s|$)",
        re.IGNORECASE,
    )


def numbered(text: str) -> list[Block]:
    """The numbered chunks of a text as one block, from the first label to the end."""
    starts = _starts(text, _labelled())
    if not starts:
        return []
    return [Block(starts[0][0], len(text), tuple(_chunks(text, starts)), "numbered")]


def numbered_whole(text: str) -> list[dict[str, str]]:
    """The chunks of a text that consists of them, under labels or bare numbers."""
    for labels in (_labelled(), BARE):
        starts = _starts(text, labels)
        if starts and not text[: starts[0][0]].strip() and (labels is not BARE or len(starts) > 1):
            return _chunks(text, starts)
    return []


def _starts(text: str, labels: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where each chunk's label begins and ends; numbers count up from one, so that other numbers are text."""
    found: list[tuple[int, int]] = []
    for line in LINE.finditer(text):
        label = labels.match(text, line.start())
        if label and int(next(filter(None, label.groups()))) == len(found) + 1:
            found.append(label.span())
    return found


def _chunks(text: str, starts: list[tuple[int, int]]) -> list[dict[str, str]]:
    ends = [*(first for first, _ in starts[1:]), len(text)]
    inside = [text[last:end].strip() for (_, last), end in zip(starts, ends, strict=True)]
    return [{"text": chunk} for chunk in inside if chunk]
