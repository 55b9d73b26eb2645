"""Server-sent events are read the same wherever the bytes are cut, and whatever is not an answer is a fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.llm.wire import (
    MOST_EVENT_BYTES,
    Choices,
    FaultError,
    StreamedAnswer,
    check_completion,
    events,
    json_object,
    usage,
)
from tests.chat.upstream import chunk, completed, logprobs


def read(*pieces: bytes) -> list[tuple[str, str]]:
    """The events of bytes that arrive in these pieces."""

    async def arriving() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    async def collect() -> list[tuple[str, str]]:
        return [event async for event in events(arriving())]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param(b"data: a\n\n", [("", "a")], id="one event"),
        pytest.param(b"data:a\n\ndata:  b\n\n", [("", "a"), ("", " b")], id="one blank after the colon belongs to the form"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [("", "a"), ("", "b"), ("", "c")], id="three kinds of line end"),
        pytest.param(b": keep-alive\n\n:\n\ndata: a\n\n", [("", "a")], id="comments"),
        pytest.param(b"event: error\nid: 7\nretry: 10\ndata: a\n\n", [("error", "a")], id="other fields"),
        pytest.param(b"data: a\ndata: b\n\n", [("", "a\nb")], id="two lines of data"),
        pytest.param(b"data\n\n", [("", "")], id="a field without a colon"),
        pytest.param(b"\n\n\n", [], id="blank lines"),
        pytest.param(b"data: a", [], id="an event that never ends"),
        pytest.param(b"data: a\n", [], id="an event without its blank line"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [("", "a")], id="a byte order mark"),
        pytest.param("data: Hà Nội, 東京, 🙂\n\n".encode(), [("", "Hà Nội, 東京, 🙂")], id="letters of several bytes"),
        pytest.param("data: a\u2028b\x85c\x0bd\n\n".encode(), [("", "a\u2028b\x85c\x0bd")], id="what ends a line elsewhere"),
    ],
)  # fmt: skip
def test_events_are_the_same_wherever_they_are_cut(raw: bytes, found: list[tuple[str, str]]) -> None:
    """At once, byte by byte, and at every single place."""
    assert read(raw) == found
    assert read(*(raw[i : i + 1] for i in range(len(raw)))) == found
    assert all(read(raw[:i], raw[i:]) == found for i in range(len(raw)))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("aế🙂: \t"), max_size=6), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.lists(st.integers(0, 80), max_size=8),
)
def test_what_is_written_is_read(texts: list[str], end: str, cuts: list[int]) -> None:
    """Any data, any line end, any cuts."""
    raw = "".join(f": c{end}data: {text}{end}{end}" for text in texts).encode()
    edges = sorted({0, len(raw), *(c for c in cuts if c < len(raw))})

    assert read(*(raw[a:b] for a, b in pairwise(edges))) == [("", text) for text in texts]


@pytest.mark.parametrize(
    ("pieces", "what"),
    [
        pytest.param([b"data: \xff\n\n"], "not UTF-8", id="bytes that are no text"),
        pytest.param([b"data: \xe1\xba\n\n"], "not UTF-8", id="half a letter"),
        pytest.param([b"x" * 100_000] * 12, f"more than {MOST_EVENT_BYTES} bytes", id="a line without an end"),
        pytest.param([b"data: " + b"x" * 1000 + b"\n"] * 1200, f"more than {MOST_EVENT_BYTES} bytes", id="an event without an end"),
        pytest.param([b"data:\n" * 100_000] * 12, f"more than {MOST_EVENT_BYTES} bytes", id="an event of a million empty lines"),
    ],
)  # fmt: skip
def test_what_is_no_stream_of_events(pieces: Sequence[bytes], what: str) -> None:
    """A fault, and before the memory is full."""
    with pytest.raises(FaultError, match=what):
        read(*pieces)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        pytest.param(b"", "JSON that is broken", id="nothing"),
        pytest.param(b'{"choices": [', "JSON that is broken", id="cut off"),
        pytest.param(b"\xff{}", "JSON that is broken", id="not UTF-8"),
        pytest.param(b'{"a": NaN}', "JSON that is broken", id="NaN"),
        pytest.param(b'{"error": 1, "error": null}', "JSON that is broken", id="a key twice"),
        pytest.param(b"[" * 100_000, "JSON that is broken", id="nested without end"),
        pytest.param(b"[]", "no completion", id="a list"),
        pytest.param(b'"text"', "no completion", id="a text"),
        pytest.param(b'{"error": {"message": "sk-secret"}, "choices": []}', "an error in place of an answer", id="an error"),
        pytest.param(b'{"id": "\\ud83d"}', "not well-formed Unicode", id="half a letter"),
        pytest.param(b'{"error": "sk-secret"}', "an error in place of an answer", id="an error as text"),
    ],
)  # fmt: skip
def test_json_that_is_no_answer(content: bytes, what: str) -> None:
    """A fault without the server's words."""
    with pytest.raises(FaultError, match=what) as fault:
        json_object(content)

    assert "secret" not in str(fault.value)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        pytest.param({}, "no completion", id="no choices"),
        pytest.param({"choices": None}, "no completion", id="null for choices"),
        pytest.param({"choices": []}, "no choice at all", id="an empty list"),
        pytest.param({"choices": ["text"]}, "no completion", id="choices that are texts"),
        pytest.param({"choices": [{"finish_reason": "stop"}]}, "no message", id="a choice without a message"),
        pytest.param(completed(None), "without any text", id="null for content"),
        pytest.param(completed(7), "without any text", id="a number for content"),
        pytest.param(completed([{"type": "text", "text": "a"}]), "without any text", id="a list for content"),
        pytest.param(completed("a", finish_reason=None), "without a finish_reason", id="no finish reason"),
        pytest.param(
            completed(None, message={"content": None, "tool_calls": []}), "without any text", id="no tools either"
        ),
    ],
)
def test_a_completion_that_is_none(value: dict[str, Any], what: str) -> None:
    """A fault, never an empty answer."""
    with pytest.raises(FaultError, match=what):
        check_completion(value)


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        pytest.param({"content": None, "tool_calls": [{"id": "1"}]}, "tool_calls", id="calls of tools"),
        pytest.param({"content": None, "function_call": {"name": "f"}}, "function_call", id="a call of a function"),
        pytest.param({"content": None, "refusal": "I can't."}, "stop", id="a refusal"),
        pytest.param({"refusal": "Tôi không thể."}, "stop", id="a refusal, and no content at all"),
        pytest.param({"content": None}, "content_filter", id="what a filter left of an answer"),
        pytest.param({"content": None}, "length", id="thoughts that took all the room"),
    ],
)
def test_an_answer_without_content(message: dict[str, Any], finish: str) -> None:
    """It is an answer all the same."""
    check_completion(completed(None, message=message, finish_reason=finish))


@pytest.mark.parametrize(
    ("value", "neutral"),
    [
        pytest.param(completed(None), True, id="nothing said: a question can bring that about"),
        pytest.param(completed(None, message={"refusal": 7}), False, id="a refusal that is no text"),
        pytest.param(completed("a", message={"content": "a", "tool_calls": "x"}), False, id="calls that are no list"),
        pytest.param(completed(None, message={"function_call": "f"}), False, id="a function call that is none"),
    ],
)
def test_whose_fault_it_is(value: dict[str, Any], neutral: bool) -> None:
    """What a caller can bring about is not held against the server."""
    with pytest.raises(FaultError) as fault:
        check_completion(value)

    assert fault.value.neutral == neutral


@pytest.mark.parametrize(
    ("chunks", "what"),
    [
        pytest.param([], "no choice at all", id="nothing"),
        pytest.param([{"choices": [], "usage": {}}], "no choice at all", id="usage only"),
        pytest.param([chunk("a")], "without a finish_reason", id="no end"),
        pytest.param([chunk("a"), chunk(finish_reason="stop"), chunk("b")], "went on after", id="text after the end"),
        pytest.param([chunk("a"), chunk("b", index=1), chunk(finish_reason="stop")], "without a finish_reason", id="one of two ended"),
        pytest.param([{"choices": [{"delta": "a"}]}], "a chunk that is none", id="a text for delta"),
        pytest.param([{"choices": [{"delta": {"content": 1}}]}], "a chunk that is none", id="a number for content"),
        pytest.param([{"choices": [{"delta": {}, "finish_reason": 1}]}], "a chunk that is none", id="a number for the end"),
        pytest.param([{"choices": [{"delta": {}, "index": "0"}]}], "a chunk that is none", id="a text for the index"),
        pytest.param([{"choices": {}}], "no completion", id="an object for choices"),
        pytest.param([{"choices": [{"delta": {"refusal": 1}}]}], "a chunk that is none", id="a number for the refusal"),
        pytest.param([{"choices": [{"delta": {"tool_calls": "x"}}]}], "a chunk that is none", id="a text for the calls"),
        pytest.param([chunk("a", finish_reason="stop"), {"choices": [{"delta": {"refusal": "b"}}]}], "went on after", id="a refusal after the end"),
        pytest.param([chunk("a", finish_reason="stop"), {"choices": [{"delta": {"tool_calls": [{"id": "c"}]}}]}], "went on after", id="calls after the end"),
    ],
)  # fmt: skip
def test_a_stream_that_is_none(chunks: list[dict[str, Any]], what: str) -> None:
    """A fault where it breaks the rules, or at its end."""

    def follow() -> None:
        choices = Choices()
        for each in chunks:
            choices.checked(each, "")
        choices.check_finished()

    with pytest.raises(FaultError, match=what):
        follow()


def test_an_event_named_error_is_one() -> None:
    """Whatever it holds."""
    with pytest.raises(FaultError, match="with an error"):
        Choices().checked(chunk("a"), "error")


def test_what_a_stream_says() -> None:
    """Texts, end, log-probabilities and usage of the first choice."""
    said = StreamedAnswer()
    sent = [
        chunk("Hà ", logprobs=logprobs([("Hà ", -0.1)])),
        chunk("Nội", logprobs=logprobs([("Nội", -0.2)])),
        chunk("other", index=1),
        chunk(finish_reason="length"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "cached": 1}},
    ]

    assert [said.add(each) for each in sent] == ["Hà ", "Nội", "", "", ""]
    assert (said.anything, said.finish_reason, said.logprobs) == (True, "length", [-0.1, -0.2])
    assert said.usage == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def test_log_probabilities_of_a_part_are_none() -> None:
    """A piece of text without them leaves the whole without a figure."""
    said = StreamedAnswer()
    for each in (
        chunk("a", logprobs=logprobs([("a", -0.1)])),
        chunk("b"),
        chunk("c", logprobs=logprobs([("c", -0.1)])),
    ):
        said.add(each)

    assert said.logprobs is None


@pytest.mark.parametrize("told", [None, [], "5", {"total_tokens": -1}, {"total_tokens": True}, {"total_tokens": "5"}])
def test_usage_that_is_none(told: Any) -> None:
    """Only counts count."""
    assert usage({"usage": told}) is None
