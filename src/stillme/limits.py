"""The largest request that a policy takes on, looked at before any work starts; nothing is ever cut off unsaid.

Work is what grows with both sides: each claim of the draft is laid against the sentences of the passages, each figure against their
figures. Both are counted by marks in the text, which costs next to nothing and never counts fewer sentences than are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from stillme.contract import RetrievedPassage, VerifyRequest
from stillme.errors import InputError
from stillme.policy import Policy

__all__ = ["Amount", "check_limits", "check_work", "context_amount", "work_of"]

# Where a sentence may end: a stop with what closes behind it, unless a word goes on there; a semicolon; a line.
SENTENCE_END: Final = re.compile(r"(?:[.!?…。！？]++[\"”’»)\]'*_`】.!?…]*+(?!\w)|;|\n)\s*+")
FIGURE: Final = re.compile(r"\d++(?:[.,]\d++)*+")
FIGURE_PAIRS: Final = 20
"""So many pairs of figures take as long as a claim laid against a sentence."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much there is to read in a text, at most."""

    sentences: int = 0
    figures: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """That of one text; a text of white space has nothing to read."""
        if not text or text.isspace():
            return cls()
        said, ends, last = text.strip(), 0, 0
        for end in SENTENCE_END.finditer(said):
            ends, last = ends + 1, end.end()
        return cls(ends + (last < len(said)), len(FIGURE.findall(said)))

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.sentences + other.sentences, self.figures + other.figures)

    def against(self, other: Amount) -> int:
        """The work of laying what a draft says against what the passages say."""
        return self.sentences * other.sentences + self.figures * other.figures // FIGURE_PAIRS


def work_of(request: VerifyRequest) -> int:
    """The work that a request asks for."""
    if not request.draft_answer:
        return 0
    return Amount.of(request.draft_answer).against(context_amount(request))


def context_amount(request: VerifyRequest) -> Amount:
    """How much there is to read in the passages of a request, with their headings."""
    texts = (text for p in request.retrieved_context for text in (p.text, p.title or "", p.timestamp or ""))
    return sum((Amount.of(text) for text in texts), Amount())


def check_limits(request: VerifyRequest, policy: Policy) -> None:
    """Refuse what is over a limit of the policy, with an InputError that names it."""
    for field, size, what, key in _sizes(request):
        most = getattr(policy.limits, key)
        if size > most:
            raise InputError(
                f"{field} has {size} {what}, limits.{key} is {most}: send less, or raise the limit in the policy"
            )
    for field, extras in _extras(request):
        _check_extras(field, extras, policy)
    check_work(work_of(request), policy)


def check_work(work: int, policy: Policy) -> None:
    """Refuse what would take too long."""
    most = policy.limits.work
    if work > most:
        raise InputError(
            f"draft_answer and retrieved_context together ask for {work} units of work (claims of the one by sentences of the "
            f"other), limits.work is {most}: send a shorter draft or fewer passages, or raise the limit in the policy"
        )


def _sizes(request: VerifyRequest) -> Iterator[tuple[str, int, str, str]]:
    """Each size that has a limit: field, size, what is counted, key of the limit."""
    passages, turns = request.retrieved_context, request.conversation
    yield "query", len(request.query), "characters", "query_chars"
    yield "draft_answer", len(request.draft_answer or ""), "characters", "draft_chars"
    yield "retrieved_context", len(passages), "items", "passages"
    yield "conversation", len(turns), "items", "conversation_turns"
    spoken = sum(len(turn.content) + len(turn.role) for turn in turns)
    yield "conversation", spoken, "characters", "conversation_chars"
    for n, passage in enumerate(passages):
        yield f"retrieved_context[{n}].text", len(passage.text), "characters", "passage_chars"
    yield "retrieved_context", sum(map(_length, passages)), "characters", "context_chars"


def _length(passage: RetrievedPassage) -> int:
    told = (passage.source_id, passage.title, passage.url, passage.timestamp)
    return len(passage.text) + sum(len(text) for text in told if text)


def _extras(request: VerifyRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the caller adds to the contract, part by part."""
    metadata = request.metadata
    named = {"domain": metadata.domain, "session_id": metadata.session_id}
    yield "metadata", {**(metadata.model_extra or {}), **{key: value for key, value in named.items() if value}}
    for name, parts in (("retrieved_context", request.retrieved_context), ("conversation", request.conversation)):
        for n, part in enumerate(parts):
            if part.model_extra:
                yield f"{name}[{n}]", part.model_extra


def _check_extras(field: str, extras: dict[str, Any], policy: Policy) -> None:
    """Refuse extra keys that are too many, too long or nested too deeply; a structure that holds itself is nested without end."""
    limits = policy.limits
    items = characters = 0
    left: list[tuple[Any, int]] = [(extras, 0)]
    while left:
        value, depth = left.pop()
        if isinstance(value, dict):
            inside = list(value.values())
            characters += sum(len(key) for key in value if isinstance(key, str))
        elif isinstance(value, list | tuple):
            inside = list(value)
        else:
            inside, characters = [], characters + (len(value) if isinstance(value, str | bytes) else 0)
        items += len(inside)
        reached = (
            ("metadata_depth", depth + bool(inside), "levels"),
            ("metadata_items", items, "items"),
            ("metadata_chars", characters, "characters"),
        )
        for key, size, what in reached:
            if size > getattr(limits, key):
                raise InputError(
                    f"{field} has more than {getattr(limits, key)} {what} beside what the contract names "
                    f"(limits.{key}): send less, or raise the limit in the policy"
                )
        left += [(each, depth + 1) for each in inside]
