"""What an OpenAI-style request asks, and the passages it brings: by an extension field, or in tags of the messages that may carry them.

    {"messages": [...], "stillme": {"context": [{"source_id": "faq-1", "text": "…"}], "language": "vi", "session_id": "s-1"}}

    <source id="faq-1" title="Refunds" url="https://…">…</source> in a system or developer message; inside <context>…</context> or alone
    <context>…</context>                                          without sources inside: one passage

Whoever may write a message with sources writes the evidence. That is the application, in system and developer messages; users and
tools only where the operator says so (`SOURCE_ROLES`), and then beside the application's sources, never in their place. A tag in
any other message is text like all the rest. What an assistant message says is never evidence. All of it is untrusted: it is cut by
position and never executed, and a tag that is not closed is no tag.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.contract import RetrievedPassage, Turn, VerifyRequest, parse_request
from stillme.errors import InputError, nearest, shown
from stillme.text.tokens import fold_text

__all__ = ["APPLICATION", "EXTENSION", "SOURCE_ROLES", "Asked", "asked_in", "request_of", "without_blocks"]

EXTENSION: Final = "stillme"
KEYS: Final = ("context", "language", "session_id", "upstream_url", "upstream_api_key")
TAGS: Final = ("context", "source")
ATTRIBUTES: Final = {"id": "source_id", "title": "title", "url": "url", "timestamp": "timestamp"}
TOOLS: Final = frozenset({"tool", "function"})
APPLICATION: Final = ("system", "developer")
"""The roles of messages that the application writes: they may carry sources."""
SOURCE_ROLES: Final = (*APPLICATION, "tool", "user")
"""The roles that an operator may let carry sources, those first whose names are not given away to others."""
MOST_ATTRIBUTES: Final = 4_096
"""Characters of one opening tag; a longer one is text."""


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
    """How many tagged sources, and results of tools, stand in messages that may carry none."""
    retrieved: bool = False
    """Whether the passages were found by our own retrieval."""
    upstream_url: str | None = None
    """A model server that the caller names,"""
    upstream_api_key: str | None = field(default=None, repr=False)
    """and the caller's key for it."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A tagged stretch of a text: characters `start` to `end` with the tags, `inner` without."""

    tag: str
    start: int
    end: int
    inner: tuple[int, int]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Read:
    """One message: what it says without tagged blocks, and the passages it brings."""

    role: str
    text: str
    passages: tuple[dict[str, Any], ...] = ()
    unread: tuple[str, ...] = ()
    set_aside: int = 0


def asked_in(body: Mapping[str, Any], sources: Sequence[str] = APPLICATION) -> Asked:
    """The question and the passages of a request body, or an InputError that names the field; `sources` are the roles that carry them."""
    extension = _extension(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InputError(f"messages must be a list of at least one message, got {shown(messages)}")
    read = [_message(message, n, sources) for n, message in enumerate(messages)]
    at = _question_at(read)
    given = extension.get("context")
    conversation = [r for r in read[:at] if r.role in ("user", "assistant") and r.text.strip()]
    request = _checked(
        {
            "query": read[at].text.strip(),
            "retrieved_context": _passages(read) if given is None else given,
            "conversation": [{"role": r.role, "content": r.text} for r in conversation],
            "metadata": {
                "language": extension.get("language") or "auto",
                "session_id": extension.get("session_id"),
            },
        }
    )
    return Asked(
        request.query,
        request.retrieved_context,
        request.conversation,
        request.metadata.language,
        request.metadata.session_id,
        tuple(dict.fromkeys(kind for r in read for kind in r.unread)),
        sum(r.set_aside for r in read),
        upstream_url=_text(extension, "upstream_url"),
        upstream_api_key=_text(extension, "upstream_api_key"),
    )


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


def without_blocks(text: str) -> tuple[str, list[dict[str, Any]]]:
    """A text without its tagged blocks, and the passages in them, in order."""
    kept: list[str] = []
    passages: list[dict[str, Any]] = []
    at = 0
    for block in _blocks(text, TAGS):
        kept.append(text[at : block.start])
        passages += _in_block(text, block)
        at = block.end
    kept.append(text[at:])
    return "".join(kept), passages


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


def _passages(read: Sequence[_Read]) -> list[dict[str, Any]]:
    """What system messages bring, then what the newest turn that brings any does: a turn begins with each user message."""
    standing = [(APPLICATION[0], p) for r in read if r.role in APPLICATION for p in r.passages]
    newest: list[tuple[str, dict[str, Any]]] = []
    for r in reversed(read):
        if r.role not in APPLICATION:
            role = "tool" if r.role in TOOLS else r.role
            newest = [*((role, p) for p in r.passages), *newest]
        if r.role == "user" and newest:
            break
    return _told_apart(
        [(role, {"source_id": f"source-{n}", **p}) for n, (role, p) in enumerate([*standing, *newest], 1)]
    )


def _told_apart(brought: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The passages, each under its name; one that the application (or else a tool) uses is given to nobody else.

    Passages of one name are parts of one source: under a borrowed name a stranger's would pass for a part of it.
    """
    owners: dict[str, str] = {}
    for role in SOURCE_ROLES:
        for by, passage in brought:
            if by == role:
                owners.setdefault(_name(passage["source_id"]), role)
    passages: list[dict[str, Any]] = []
    for by, passage in brought:
        name = passage["source_id"]
        while owners.setdefault(_name(name), by) != by:
            name = f"{by}:{name}"
        passages.append(passage | {"source_id": name})
    return passages


def _name(source_id: str) -> str:
    """A source's name as it is compared: one that only looks different is the same."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", source_id) if unicodedata.category(c) != "Cf")
    return " ".join(fold_text(plain).split())


# the messages


def _message(message: object, n: int, sources: Sequence[str]) -> _Read:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InputError(f"messages[{n}] must be an object with a role and a content, got {shown(message)}")
    role = message["role"]
    text, unread = _content(message.get("content"), n)
    if role in TOOLS:
        result = _tool_result(message, text)
        return _Read(role, "", result, unread) if "tool" in sources else _Read(role, "", (), unread, len(result))
    if role not in SOURCE_ROLES:
        return _Read(role, text, (), unread)
    said, passages = without_blocks(text)
    if role not in sources:
        return _Read(role, text, (), unread, len(passages))
    return _Read(role, said, tuple(passages), unread)


def _tool_result(message: Mapping[str, Any], text: str) -> tuple[dict[str, Any], ...]:
    """A tool's result: the sources it consists of, or the whole as one; tags amid other text may be anybody's."""
    said, inside = without_blocks(text)
    if inside and not said.strip():
        return tuple(inside)
    name = message.get("name") or message.get("tool_call_id")
    named = {"source_id": name} if isinstance(name, str) and name else {}
    return (named | {"text": text},)


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


# the tags


def _in_block(text: str, block: _Block) -> Iterator[dict[str, Any]]:
    """The sources inside a block, or the block itself where there are none."""
    start, end = block.inner
    inner = text[start:end]
    sources = list(_blocks(inner, ("source",))) if block.tag == "context" else []
    if not sources:
        yield _passage(text, block)
    for source in sources:
        yield _passage(inner, source)


def _passage(text: str, block: _Block) -> dict[str, Any]:
    named = {key: block.attributes[name] for name, key in ATTRIBUTES.items() if block.attributes.get(name)}
    return {**named, "text": text[slice(*block.inner)].strip()}


def _blocks(text: str, tags: Sequence[str]) -> Iterator[_Block]:
    """The outermost closed blocks with these tags, in order; each end is looked for once, so that time is linear in the text."""
    lowered = text.lower() if len(text.lower()) == len(text) else text  # a few letters grow in lower case
    closing = {tag: _Finder(lowered, f"</{tag}>") for tag in tags}
    opening = {tag: _Finder(lowered, f"<{tag}") for tag in tags}
    at = 0
    while True:
        found = [(place, tag) for tag in tags if (place := opening[tag].behind(at)) is not None]
        if not found:
            return
        place, tag = min(found)
        opened = _opened(text, place, tag)
        close = closing[tag].behind(opened[0]) if opened else None
        if opened is None or close is None:
            at = place + 1
            continue
        at = close + len(tag) + 3
        yield _Block(tag, place, at, (opened[0], close), opened[1])


class _Finder:
    """Where a text occurs next; the place found last is kept until it has been passed."""

    def __init__(self, text: str, wanted: str) -> None:
        self._text, self._wanted = text, wanted
        self._next = text.find(wanted)

    def behind(self, at: int) -> int | None:
        """The first occurrence from `at` on, which never goes back."""
        if 0 <= self._next < at:
            self._next = self._text.find(self._wanted, at)
        return self._next if self._next >= 0 else None


def _opened(text: str, at: int, tag: str) -> tuple[int, dict[str, str]] | None:
    """Where the opening tag at `at` ends, and its attributes; None if it is none."""
    i = at + 1 + len(tag)
    last = min(len(text), at + MOST_ATTRIBUTES)
    attributes: dict[str, str] = {}
    while i < last:
        spaced = i
        while i < last and text[i].isspace():
            i += 1
        if i < last and text[i] == ">":
            return i + 1, attributes
        if i == spaced:
            return None
        attribute = _attribute(text, i, last)
        if attribute is None:
            return None
        name, value, i = attribute
        attributes.setdefault(name, html.unescape(value))
    return None


def _attribute(text: str, i: int, last: int) -> tuple[str, str, int] | None:
    """`name="value"` or `name='value'` at a place: both, and the place behind it."""
    equals = text.find("=", i, last)
    if equals < 0 or equals + 1 >= last or text[equals + 1] not in "\"'":
        return None
    name = text[i:equals].lower()
    end = text.find(text[equals + 1], equals + 2, last)
    if end < 0 or not name.isalpha():
        return None
    return name, text[equals + 2 : end], end + 1
