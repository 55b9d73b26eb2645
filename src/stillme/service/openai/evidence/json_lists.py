"""Chunks in JSON, as retrieval tools return them: a list of texts or objects, alone or under a name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from stillme.service.openai.evidence.block import Block
from stillme.service.openai.evidence.words import stock

__all__ = ["json_lists", "json_whole"]

MOST_TRIES: Final = 16
"""So many beginnings of lists in a text are looked at: each look may read to its end."""
BEGINNING: Final = re.compile(r"^[ \t]{0,8}(?:```(?:json)?[ \t]{0,8}\n[ \t]{0,8})?(?=[\[{])", re.MULTILINE)
CLOSING: Final = re.compile(r"\s{0,8}```")


def json_lists(text: str) -> list[Block]:
    """The lists of chunks that begin a line of a text."""
    found: list[Block] = []
    at = 0
    for beginning in _first(text):
        if beginning.start() < at:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, beginning.end())
        except (ValueError, RecursionError):
            continue
        passages = _passages(value, texts=False)
        if passages:
            fence = CLOSING.match(text, end)
            at = fence.end() if fence and "```" in beginning[0] else end
            found.append(Block(beginning.start(), at, tuple(passages), "json"))
    return found


def _first(text: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    for beginning in BEGINNING.finditer(text):
        found.append(beginning)
        if len(found) == MOST_TRIES:
            break
    return found


def json_whole(text: str) -> list[dict[str, Any]]:
    """The chunks of a text that is one JSON value; none where it is no list of chunks."""
    if not text.lstrip().startswith(("[", "{")):
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return _passages(value, texts=True)


def _passages(value: Any, *, texts: bool) -> list[dict[str, Any]]:
    """The chunks of a value if all of its items are some; with `texts`, bare texts are chunks too."""
    if isinstance(value, Mapping):
        lists = [value[name] for name in stock()["json"]["lists"] if isinstance(value.get(name), list)]
        return _passages(lists[0], texts=texts) if len(lists) == 1 else []
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return []
    found = [_passage(item) if isinstance(item, Mapping) else _bare(item, texts=texts) for item in value]
    chunks = [chunk for chunk in found if chunk is not None]
    return chunks if len(chunks) == len(found) else []  # a list with other things in it is shown whole


def _bare(item: Any, *, texts: bool) -> dict[str, Any] | None:
    return {"text": item} if texts and isinstance(item, str) and item.strip() else None


def _passage(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """One chunk: its text, and what it is called, in itself or in what it holds of itself."""
    keys = stock()["json"]
    inside = [item, *(item[name] for name in keys["inside"] if isinstance(item.get(name), Mapping))]
    text = _told(inside, keys["text"])
    if text is None:
        return None
    named = {name: _told(inside, keys[name]) for name in ("source_id", "title", "url")}
    found: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    similarity = item.get("similarity")
    if isinstance(similarity, int | float) and not isinstance(similarity, bool) and -1 <= similarity <= 1:
        found["similarity"] = similarity
    return found | {"text": text}


def _told(inside: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    """The first text under one of these names."""
    for each in inside:
        for name in names:
            text = _text(each.get(name))
            if text:
                return text
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, list):  # parts of a content
        parts = [part.get("text") for part in value if isinstance(part, Mapping)]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts).strip() or None if len(texts) == len(value) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None
