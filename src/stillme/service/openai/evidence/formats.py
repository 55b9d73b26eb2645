"""The table of formats: in which of them evidence stands in a message, by who wrote the message.

What the application writes (system and developer messages) is read by every format, the surest first: a prompt that is known word for
word, then tags and an operator's markers, then headings, JSON, numbers and sentences that announce context. What a tool returns is cut
into chunks only where it consists of them: a part of it that is tagged hides nothing of the rest. A user's message is read by templates
alone, and by those alone that an operator names: its other words are the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any, Final

from stillme.errors import InputError, nearest, shown
from stillme.service.openai.evidence.announced import announced
from stillme.service.openai.evidence.block import Block, without
from stillme.service.openai.evidence.headed import headed, titled
from stillme.service.openai.evidence.json_lists import json_lists, json_whole
from stillme.service.openai.evidence.numbered import numbered, numbered_whole
from stillme.service.openai.evidence.operator import OperatorFormats, operator_formats
from stillme.service.openai.evidence.tags import tagged
from stillme.service.openai.evidence.template import Template, folded_head, template_of
from stillme.service.openai.evidence.words import stock

__all__ = ["ALL", "GUESSED", "TEMPLATES", "Formats", "Prompt", "chunks_in", "formats_from", "stock_templates"]

Find = Callable[[str], list[Block]]
ALL: Final = "all"
GUESSED: Final[tuple[tuple[str, Find], ...]] = (
    ("headed", headed),
    ("json", json_lists),
    ("numbered", numbered),
    ("announced", announced),
    ("headed", titled),
)
"""How context is found where nothing else marks it; the first that finds any is believed."""
TEMPLATES: Final = ("langchain-rag", "langchain-qa", "llamaindex", "haystack")
"""The names of the prompts that come with frameworks."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message that a template made: its context, and the question and the earlier answer in it."""

    block: Block
    slots: dict[str, str]

    @property
    def question(self) -> str:
        """What is asked; nothing where the template has no place for it."""
        return self.slots.get("question", "")

    @property
    def answer(self) -> str | None:
        """The earlier answer."""
        return self.slots.get("answer")


@cache
def stock_templates() -> tuple[Template, ...]:
    """The prompts of frameworks, as they send them."""
    return tuple(template_of(name, text) for name, texts in stock()["templates"].items() for text in texts)


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats in force: those that come with us, and what an operator adds and allows."""

    operator: OperatorFormats = field(default_factory=OperatorFormats)
    allowed: tuple[str, ...] = ()
    """The templates that may bring evidence in a user's message, by name."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """An operator's templates before the stock ones."""
        return self.operator.templates + stock_templates()

    def in_application(self, text: str) -> list[Block]:
        """The evidence in a message that the application wrote, in order."""
        prompt = self.prompt(text)
        if prompt is not None:
            return [prompt.block]
        marked = chain(tagged(text), *(markers.find(text) for markers in self.operator.markers))
        blocks = _apart(marked) or next((found for _, find in GUESSED if (found := find(text))), [])
        return [_cut(block) for block in blocks]

    def prompt(self, text: str) -> Prompt | None:
        """The prompt that a text is, if a template made it."""
        head = folded_head(text)
        for template in self.templates:
            slots = template.fill(text, head)
            if slots is not None:
                inside = {name: text[first:last] for name, (first, last) in slots.items()}
                passages = ({"text": inside["context"]},) if inside["context"] else ()
                block = _cut(Block(*slots["context"], passages, template.name))
                return Prompt(block, inside)
        return None

    def allows(self, name: str) -> bool:
        """Whether a template may bring evidence in a user's message."""
        return ALL in self.allowed or name in self.allowed


def chunks_in(text: str) -> tuple[list[dict[str, Any]], str]:
    """The chunks that a text consists of, and their format; none where it is one whole."""
    blocks = tagged(text)
    if blocks and not without(text, blocks).strip():
        return [passage for block in blocks for passage in block.passages], blocks[0].format
    if found := json_whole(text):
        return found, "json"
    return list(numbered_whole(text)), "numbered"


def _cut(block: Block) -> Block:
    """A block of one passage with the chunks that it consists of in its place."""
    if block.format in ("tags", "documents", "json", "numbered") or not block.passages:
        return block
    chunks, _ = chunks_in(block.passages[0]["text"])
    return replace(block, passages=tuple(chunks)) if chunks else block


def _apart(blocks: Iterable[Block]) -> list[Block]:
    """Blocks in order, of those that overlap the one that begins first."""
    kept: list[Block] = []
    for block in sorted(blocks, key=lambda b: (b.start, -b.end)):
        if not kept or block.start >= kept[-1].end:
            kept.append(block)
    return kept


def formats_from(file: str | None, allowed: Sequence[str]) -> Formats:
    """The formats that settings describe, or an InputError that names the setting."""
    try:
        operator = operator_formats(file, TEMPLATES) if file else OperatorFormats()
    except InputError as error:
        raise InputError(f"STILLME_EVIDENCE_FORMATS: {error}") from None
    known = (ALL, *TEMPLATES, *(template.name for template in operator.templates))
    for name in allowed:
        if name not in known:
            guess = nearest(name, known)
            hint = f"did you mean {guess}?" if guess else f"known: {', '.join(known)}"
            raise InputError(f"STILLME_USER_TEMPLATES names {shown(name)}, which is unknown: {hint}")
    return Formats(operator, tuple(allowed))
