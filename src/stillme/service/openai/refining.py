"""Answers that are refined: a framework sends an earlier answer with further context, and asks for both to be made one.

What the earlier answer stood on is then no part of the request. Where it is, word for word, one that was delivered to the same caller
as verified, its passages join those of the request; any other text in its place is text and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from stillme.contract import RetrievedPassage
from stillme.service.openai.exchange import Exchange
from stillme.service.openai.guarded import Parts
from stillme.service.openai.request_sources import Asked, Taken

__all__ = ["remember_answer", "with_earlier"]

ORIGIN: Final = "earlier answer"


async def with_earlier(parts: Parts, asked: Asked, caller: str | None) -> Asked:
    """The question with what the answer stood on that it asks to refine; those passages come first, as its markers count them."""
    if not asked.answer:
        return asked
    calls, name = parts.calls, _name(asked.answer)
    earlier: Asked | None = await parts.run(lambda: calls.find(caller, name))
    if earlier is None:
        return asked
    taken = {passage.source_id for passage in earlier.passages}
    passages = (*earlier.passages, *(_apart(passage, taken) for passage in asked.passages))
    told = Taken(ORIGIN, "refined", tuple(passage.source_id for passage in earlier.passages))
    return replace(asked, passages=passages, taken=(told, *asked.taken))


async def remember_answer(parts: Parts, exchange: Exchange, text: str, own: Mapping[str, Any]) -> None:
    """Keep what a verified answer stands on, where a prompt brought it: such an answer may be sent again to be refined."""
    asked, calls = exchange.asked, parts.calls
    prompted = any(taken.origin in ("user", ORIGIN) for taken in asked.taken)
    if prompted and text.strip() and own["verified"] and own["decision"] == "answer":
        await parts.run(lambda: calls.keep(exchange.caller, _name(text), asked))


def _name(text: str) -> str:
    """What an answer is kept under: no id of a call of LiteLLM's looks like it."""
    return f"answer {hashlib.sha256(text.strip().encode()).hexdigest()}"


def _apart(passage: RetrievedPassage, taken: set[str]) -> RetrievedPassage:
    name = passage.source_id
    while name in taken:
        name = f"new:{name}"
    return passage.model_copy(update={"source_id": name})
