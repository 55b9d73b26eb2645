"""What an OpenAI-compatible server may send: server-sent events, completions, chunks. Anything else is a fault, in our words."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final

from stillme.llm.confidence import token_logprobs
from stillme.llm.strict_json import strict_json

__all__ = [
    "NO_TEXT", "Choices", "FaultError", "Lines", "StreamedAnswer", "check_completion", "events", "json_object",
    "said_in", "usage",
]  # fmt: skip

NO_TEXT: Final = "answered without any text"
MOST_EVENT_BYTES: Final = 1_000_000
# What a message, or a piece of one, may hold: its texts and its calls of tools, each of one type or null.
TYPES: Final[dict[str, type]] = {"content": str, "refusal": str, "tool_calls": list, "function_call": dict}
# An answer that ends so may have no words: they were filtered out, or thoughts took all the room.
WORDLESS: Final = frozenset({"content_filter", "length"})
USAGE: Final = ("prompt_tokens", "completion_tokens", "total_tokens")


class FaultError(Exception):
    """What went wrong in one exchange, in our words."""

    def __init__(
        self,
        what: str,
        *,
        passing: bool = False,
        retry_after_s: float | None = None,
        timed_out: bool = False,
        neutral: bool = False,
        refusal: str | None = None,
        tries: int = 1,
    ) -> None:
        super().__init__(what)
        self.passing = passing
        """Whether it is worth asking again."""
        self.neutral = neutral
        """Whether it says nothing about how the server is: the fault lies with the request."""
        self.retry_after_s = retry_after_s
        self.timed_out = timed_out
        self.refusal = refusal
        """The server's words on a request that it refused: looked through for the names of parameters, never repeated."""
        self.tries = tries
        """How often it was asked."""


async def events(pieces: AsyncIterator[bytes]) -> AsyncGenerator[tuple[str, str], None]:
    """Server-sent events: kind and data of each that is whole. Comments and fields that are not ours are passed over."""
    lines = Lines()
    kind, data, size = "", list[str](), 0
    async for piece in pieces:
        for line in lines.add(piece):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
                size += len(value) + 1
                if size > MOST_EVENT_BYTES:
                    raise FaultError(f"sent an event of more than {MOST_EVENT_BYTES} bytes")
            elif name == "event":
                kind = value
            elif not line:
                if data:
                    yield kind, "\n".join(data)
                kind, data, size = "", [], 0


class Lines:
    """Lines out of bytes that are cut anywhere: LF, CR and CRLF end one, also where a cut falls between the two."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_return = False
        self._first = True

    def add(self, piece: bytes) -> Iterator[str]:
        """The lines that are whole now."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_return = False
        if not piece:
            return
        self._after_return = piece.endswith(b"\r")
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if end:
            whole = bytes(self._rest) + piece[:end]
            self._rest = bytearray(piece[end:])
            for line in whole.splitlines():
                yield self._text(line)
        else:
            self._rest += piece
        if len(self._rest) > MOST_EVENT_BYTES:
            raise FaultError(f"sent an event of more than {MOST_EVENT_BYTES} bytes")

    def _text(self, line: bytes) -> str:
        first, self._first = self._first, False
        try:
            return line.decode("utf-8-sig" if first else "utf-8")
        except UnicodeDecodeError:
            raise FaultError("sent bytes that are not UTF-8") from None


def json_object(content: str | bytes) -> dict[str, Any]:
    """The JSON object that was sent; one that reports an error is one."""
    try:
        text = content if isinstance(content, str) else content.decode()
        value = strict_json(text)
    except ValueError:
        raise FaultError("sent JSON that is broken") from None
    if not isinstance(value, dict):
        raise FaultError("sent JSON that is no completion")
    if "\\ud" in text.lower() and not _is_written(value):  # only an escape can be half a letter
        raise FaultError("sent text that is not well-formed Unicode", neutral=True)
    if value.get("error") is not None:
        raise FaultError("answered 200 with an error in place of an answer")
    return value


def _is_written(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def check_completion(value: dict[str, Any]) -> None:
    """Nothing, if every choice of a completion has an answer and has ended."""
    for choice in _choices_of(value, at_least=1):
        message = choice.get("message")
        if not isinstance(message, dict):
            raise FaultError("answered with a choice that has no message")
        if not _is_typed(message):
            raise FaultError(NO_TEXT)
        finish = choice.get("finish_reason")
        if not isinstance(finish, str):
            raise FaultError("answered without a finish_reason: the answer may be cut off")
        if message.get("content") is None and not any(map(message.get, TYPES)) and finish not in WORDLESS:
            raise FaultError(
                NO_TEXT, neutral=True
            )  # a question can bring that about: it is no reason to shut others out


def said_in(message: Mapping[str, Any]) -> str:
    """What a message says to whoever reads it: its content, its refusal, or one below the other."""
    return "\n\n".join(text for text in (message.get("content"), message.get("refusal")) if text)


def _is_typed(message: Mapping[str, Any]) -> bool:
    return all(isinstance(message.get(name), kind | None) for name, kind in TYPES.items())


def _choices_of(value: dict[str, Any], at_least: int) -> Sequence[dict[str, Any]]:
    choices = value.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise FaultError("sent JSON that is no completion")
    if len(choices) < at_least:
        raise FaultError("answered with no choice at all")
    return choices


class Choices:
    """Follows the choices of a stream from their beginning to their end."""

    def __init__(self) -> None:
        self._open: dict[object, bool] = {}

    def checked(self, chunk: dict[str, Any], kind: str) -> dict[str, Any]:
        """A chunk that is one, and that says nothing after the end."""
        if kind == "error":
            raise FaultError("broke off its answer with an error")
        for choice in _choices_of(chunk, at_least=0):
            index, delta, finish = choice.get("index", 0), choice.get("delta", {}), choice.get("finish_reason")
            if not isinstance(index, int) or not isinstance(delta, dict | None) or not isinstance(finish, str | None):
                raise FaultError("sent a chunk that is none")
            if not _is_typed(delta or {}):
                raise FaultError("sent a chunk that is none")
            if any(map((delta or {}).get, TYPES)) and self._open.get(index) is False:
                raise FaultError("went on after it had ended its answer")
            self._open[index] = self._open.get(index, True) and finish is None
        return chunk

    def check_finished(self) -> None:
        """Nothing, if every choice has come to its end."""
        if not self._open:
            raise FaultError("answered with no choice at all")
        if any(self._open.values()):
            raise FaultError("ended its answer without a finish_reason: it is cut off")


class StreamedAnswer:
    """What the first choice of a stream has said so far."""

    def __init__(self) -> None:
        self.anything = False
        self.finish_reason: str | None = None
        self.logprobs: list[float] | None = []
        self.usage: dict[str, int] | None = None

    def add(self, chunk: Mapping[str, Any]) -> str:
        """The text that a chunk adds."""
        self.usage = usage(chunk) or self.usage
        choice = next((c for c in chunk["choices"] if c.get("index", 0) == 0), None)
        if choice is None:
            return ""
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = choice.get("delta") or {}
        text: str = (delta.get("content") or "") + (delta.get("refusal") or "")
        told = token_logprobs(choice)
        if text and not told:
            self.logprobs = None  # of a part only: that is no figure for the whole
        elif told and self.logprobs is not None:
            self.logprobs += told
        self.anything = self.anything or bool(text.strip())
        return text


def usage(value: Mapping[str, Any]) -> dict[str, int] | None:
    told = value.get("usage")
    if not isinstance(told, Mapping):
        return None
    counts = {name: told.get(name) for name in USAGE}
    return {name: n for name, n in counts.items() if isinstance(n, int) and not isinstance(n, bool) and n >= 0} or None
