"""What an OpenAI-style request asks, and the passages it brings: by an extension field, or in the messages that may carry them.

    {"messages": [...], "stillme": {"context": [{"source_id": "faq-1", "text": "…"}], "language": "vi", "session_id": "s-1"}}

Whoever may write a message with sources writes the evidence. That is the application, in system and developer messages, and the tools
that it calls; in a user's message tags count only where the operator says so (`SOURCE_ROLES`), and the context of a prompt only where
the operator names its template. Sources of others stand beside the application's, never in their place. What an assistant message says
is never evidence. All of it is untrusted: it is cut by position and never executed. How evidence looks is for `evidence.formats`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from stillme.contract import RetrievedPassage, Turn, VerifyRequest, parse_request
from stillme.errors import InputError, nearest, shown
from stillme.service.openai.evidence.block import without
from stillme.service.openai.evidence.formats import Formats, Prompt, chunks_in
from stillme.service.openai.evidence.tags import tagged
from stillme.text.tokens import fold_text

__all__ = ["APPLICATION", "BELIEVED", "EXTENSION", "SOURCE_ROLES", "Asked", "Taken", "asked_in", "request_of"]

EXTENSION: Final = "stillme"
KEYS: Final = ("context", "language", "session_id", "upstream_url", "upstream_api_key")
TOOLS: Final = frozenset({"tool", "function"})
APPLICATION: Final = ("system", "developer")
"""The roles of messages that the application writes: they may carry sources."""
BELIEVED: Final = (*APPLICATION, "tool")
"""The roles that carry sources where an operator says nothing: what a tool returns, the application has called for."""
SOURCE_ROLES: Final = (*BELIEVED, "user")
"""The roles that an operator may let carry sources, those first whose names are not given away to others."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Passages that were taken as evidence: who brought them, in which format, and where."""

    origin: str
    """The role of the message; `request` for the extension field, `retrieval` for what we found ourselves."""
    format: str
    source_ids: tuple[str, ...]
    message: int | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """As a verdict shows it."""
        where = {} if self.message is None else {"message": self.message}
        return {"origin": self.origin, "format": self.format, **where, "source_ids": list(self.source_ids)}


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a request and what came with it."""

    question: str
    passages: tuple[RetrievedPassage, ...] = ()
    conversation: tuple[Turn, ...] = ()
    language: str = "auto"
    session_id: str | None = None
    unread: tuple[str, ...] = ()
    """What the model may see and no verification can read: kinds of content parts, in order, each once."""
    set_aside: int = 0
    """How many sources, and results of tools, stand in messages that may carry none."""
    taken: tuple[Taken, ...] = field(default=(), compare=False)
    """Where the passages come from."""
    not_allowed: str | None = None
    """The template that made the question's message, where it may bring no evidence."""
    answer: str | None = None
    """The earlier answer that the message asks to refine."""
    offers_tools: bool = False
    """Whether the model may call a tool: what is missing now may come with its result."""
    retrieved: bool = False
    """Whether the passages were found by our own retrieval."""
    upstream_url: str | None = None
    """A model server that the caller names,"""
    upstream_api_key: str | None = field(default=None, repr=False)
    """and the caller's key for it."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One message: what it says without its evidence, and the passages it brings, each with its format."""

    role: str
    text: str
    passages: tuple[tuple[str, dict[str, Any]], ...] = ()
    unread: tuple[str, ...] = ()
    set_aside: int = 0
    prompt: Prompt | None = None
    """What a template made of it, where it is a user's."""


@dataclass(frozen=True, slots=True)
class _Brought:
    """One passage, and who brought it."""

    role: str
    message: int
    format: str
    passage: dict[str, Any]


def asked_in(body: Mapping[str, Any], sources: Sequence[str] = BELIEVED, formats: Formats | None = None) -> Asked:
    """The question and the passages of a request body, or an InputError that names the field; `sources` are the roles that carry them."""
    extension = _extension(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InputError(f"messages must be a list of at least one message, got {shown(messages)}")
    chosen = formats or Formats()
    read = [_message(message, n, sources, chosen) for n, message in enumerate(messages)]
    at = _question_at(read)
    prompt = read[at].prompt
    if prompt is not None and chosen.allows(prompt.block.format):
        read[at] = _from_prompt(read[at], prompt)
        prompt = None
    given = extension.get("context")
    brought = _brought(read) if given is None else []
    conversation = [r for r in read[:at] if r.role in ("user", "assistant") and r.text.strip()]
    request = _checked(
        {
            "query": read[at].text.strip(),
            "retrieved_context": [each.passage for each in brought] if given is None else given,
            "conversation": [{"role": r.role, "content": r.text} for r in conversation],
            "metadata": {
                "language": extension.get("language") or "auto",
                "session_id": extension.get("session_id"),
            },
        }
    )
    named = tuple(p.source_id for p in request.retrieved_context)
    earlier = read[at].prompt
    return Asked(
        request.query,
        request.retrieved_context,
        request.conversation,
        request.metadata.language,
        request.metadata.session_id,
        tuple(dict.fromkeys(kind for r in read for kind in r.unread)),
        sum(r.set_aside for r in read) + (prompt is not None),
        _taken(brought) if given is None else (Taken("request", "context", named),) if named else (),
        prompt.block.format if prompt is not None else None,
        earlier.answer if earlier is not None and prompt is None else None,
        _offers_tools(body),
        upstream_url=_text(extension, "upstream_url"),
        upstream_api_key=_text(extension, "upstream_api_key"),
    )


def _offers_tools(body: Mapping[str, Any]) -> bool:
    offered = body.get("tools") or body.get("functions")
    return bool(offered) and "none" not in (body.get("tool_choice"), body.get("function_call"))


def _from_prompt(read: _Read, prompt: Prompt) -> _Read:
    """A message as its template tells it: the question in it, and the context."""
    passages = tuple((prompt.block.format, passage) for passage in prompt.block.passages)
    return _Read(read.role, prompt.question, passages, read.unread, read.set_aside, prompt)


def request_of(asked: Asked, **more: Any) -> VerifyRequest:
    """The request that the guard is asked; `more` are further fields, `metadata` among them is added to what is known."""
    metadata = {"language": asked.language, "session_id": asked.session_id, **more.pop("metadata", {})}
    return _checked(
        {
            "query": asked.question,
            "retrieved_context": asked.passages,
            "conversation": asked.conversation,
            "metadata": metadata,
            **more,
        }
    )


# the request


def _checked(values: Mapping[str, Any]) -> VerifyRequest:
    try:
        return parse_request(values)
    except InputError as error:
        message = str(error).replace("retrieved_context", f"{EXTENSION}.context").replace("metadata.", f"{EXTENSION}.")
        raise InputError(message.replace("query", "the question (the last user message)", 1)) from None


def _extension(body: Mapping[str, Any]) -> Mapping[str, Any]:
    given = body.get(EXTENSION)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"{EXTENSION} must be an object with {', '.join(KEYS)}, got {shown(given)}")
    for key in given:
        if key in ("policy", "mode"):
            raise InputError(f"{EXTENSION}.{key} cannot be set by a request: the policy is the operator's")
        if key not in KEYS:
            guess = nearest(key, KEYS)
            hint = f"did you mean {guess!r}?" if guess else f"valid keys: {', '.join(KEYS)}"
            raise InputError(f"{EXTENSION} has the unknown key {shown(key)}: {hint}")
    return given


def _text(extension: Mapping[str, Any], key: str) -> str | None:
    value = extension.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{EXTENSION}.{key} must be text, got {type(value).__name__}")
    return value


def _question_at(read: Sequence[_Read]) -> int:
    """The last message of the user that says something of its own; without one, the last that speaks to the model at all."""
    for roles in (("user",), ("system", "developer")):
        for at in range(len(read) - 1, -1, -1):
            if read[at].role in roles and read[at].text.strip():
                return at
    raise InputError("messages has no user message with text: there is no question to verify an answer against")


def _brought(read: Sequence[_Read]) -> list[_Brought]:
    """What system messages bring, then what the newest turn that brings any does: a turn begins with each user message."""
    listed = [
        _Brought("tool" if r.role in TOOLS else r.role, n, kind, p)
        for n, r in enumerate(read)
        for kind, p in r.passages
    ]
    begun = [n for n, r in enumerate(read) if r.role == "user"]
    newest: list[_Brought] = []
    end = len(read)
    for begin in [*reversed(begun), 0]:
        newest = [each for each in listed if begin <= each.message < end and each.role not in APPLICATION]
        end = begin
        if newest:
            break
    standing = [each for each in listed if each.role in APPLICATION]
    return _told_apart([
        _Brought(each.role, each.message, each.format, {"source_id": f"source-{n}", **each.passage})
        for n, each in enumerate([*standing, *newest], 1)
    ])  # fmt: skip


def _told_apart(brought: Sequence[_Brought]) -> list[_Brought]:
    """The passages, each under its name; one that the application (or else a tool) uses is given to nobody else.

    Passages of one name are parts of one source: under a borrowed name a stranger's would pass for a part of it.
    """
    owners: dict[str, str] = {}
    for role in SOURCE_ROLES:
        for each in brought:
            if _owner(each.role) == _owner(role):
                owners.setdefault(_name(each.passage["source_id"]), _owner(role))
    found: list[_Brought] = []
    for each in brought:
        name, by = each.passage["source_id"], _owner(each.role)
        while owners.setdefault(_name(name), by) != by:
            name = f"{by}:{name}"
        found.append(_Brought(each.role, each.message, each.format, each.passage | {"source_id": name}))
    return found


def _owner(role: str) -> str:
    return APPLICATION[0] if role in APPLICATION else role


def _taken(brought: Sequence[_Brought]) -> tuple[Taken, ...]:
    """Where the passages come from, message by message."""
    groups = groupby(brought, lambda each: (each.role, each.format, each.message))
    return tuple(
        Taken(role, kind, tuple(each.passage["source_id"] for each in group), message)
        for (role, kind, message), group in groups
    )


def _name(source_id: str) -> str:
    """A source's name as it is compared: one that only looks different is the same."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", source_id) if unicodedata.category(c) != "Cf")
    return " ".join(fold_text(plain).split())


# the messages


def _message(message: object, n: int, sources: Sequence[str], formats: Formats) -> _Read:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InputError(f"messages[{n}] must be an object with a role and a content, got {shown(message)}")
    role = message["role"]
    text, unread = _content(message.get("content"), n)
    if role in TOOLS:
        result = _tool_result(message, text)
        return _Read(role, "", result, unread) if "tool" in sources else _Read(role, "", (), unread, len(result))
    if role not in SOURCE_ROLES:
        return _Read(role, text, (), unread)
    blocks = formats.in_application(text) if role in APPLICATION else tagged(text)
    passages = tuple((block.format, passage) for block in blocks for passage in block.passages)
    prompt = formats.prompt(text) if role == "user" else None
    if prompt is not None and "question" not in prompt.slots:
        prompt = None  # whoever wrote such a message may have written all of it
    if role not in sources:
        return _Read(role, text, (), unread, len(passages), prompt)
    return _Read(role, without(text, blocks), passages, unread, 0, prompt)


def _tool_result(message: Mapping[str, Any], text: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A tool's result: the chunks it consists of, or the whole as one; a part of it that looks like one may be anybody's."""
    chunks, kind = chunks_in(text)
    if chunks:
        return tuple((kind, chunk) for chunk in chunks)
    if not text.strip():
        return ()
    name = message.get("name") or message.get("tool_call_id")
    named = {"source_id": name} if isinstance(name, str) and name else {}
    return (("text", named | {"text": text}),)


def _content(content: object, n: int) -> tuple[str, tuple[str, ...]]:
    """The text of a message, and the kinds of the parts that are none."""
    if content is None or isinstance(content, str):
        return content or "", ()
    if not isinstance(content, list):
        raise InputError(f"messages[{n}].content must be text or a list of parts, got {shown(content)}")
    texts: list[str] = []
    unread: list[str] = []
    for k, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        said = part.get("refusal" if kind == "refusal" else "text") if isinstance(part, dict) else None
        if kind in ("text", "refusal") and isinstance(said, str):
            texts.append(said)
        elif isinstance(kind, str) and kind not in ("text", "refusal"):
            unread.append(kind[:40] if kind.isprintable() else "other")
        else:
            raise InputError(f"messages[{n}].content[{k}] must be a part such as {{'type': 'text', 'text': …}}")
    return "\n".join(texts), tuple(unread)
