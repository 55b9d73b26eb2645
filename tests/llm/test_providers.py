"""Every way in which a model server can fail is an UpstreamError that names it, in time, without its words and without the key."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

from stillme.errors import BackendError, InputError, UpstreamError
from stillme.llm.breaker import Breaker
from stillme.llm.client import CallLimits
from stillme.llm.messages import Delta, Generation, Prompt, PromptMessage
from stillme.llm.providers import PRESETS, OpenAICompatible, preset
from tests.chat.upstream import (
    CLOSED,
    HANG,
    JSON,
    RESET,
    Answer,
    Asked,
    Play,
    Upstream,
    answered,
    chunk,
    chunks,
    completed,
    completion,
    cut,
    dripped,
    error,
    event,
    logprobs,
    stream,
    streamed,
)

Result = TypeVar("Result")
KEY = "sk-never-shown-4f1b"
SERVERS_WORDS = "words of the server"
PROMPT = Prompt("Where is the tower?", (PromptMessage("system", "Cite."), PromptMessage("user", "Where is the tower?")))
QUICK = CallLimits(connect_s=5.0, first_byte_s=5.0, total_s=5.0, retries=2, backoff_s=0.0)
IMPATIENT = CallLimits(connect_s=5.0, first_byte_s=0.8, total_s=1.6, retries=0, backoff_s=0.0)


def server_at(upstream: Upstream | str, **more: Any) -> OpenAICompatible:
    """A provider at a scripted server."""
    url = upstream if isinstance(upstream, str) else upstream.url
    known: dict[str, Any] = {"api_key": KEY, "model": "a-model", "limits": QUICK, "breaker": Breaker(100)} | more
    return OpenAICompatible("acme", url, **known)


def run(provider: OpenAICompatible, ask: Callable[[OpenAICompatible], Awaitable[Result]]) -> Result:
    """What comes of asking a provider, which is closed afterwards."""

    async def asked() -> Result:
        try:
            return await ask(provider)
        finally:
            await provider.aclose()

    return asyncio.run(asked())


def generated(upstream: Upstream, **more: Any) -> Generation:
    """A whole answer."""
    return run(server_at(upstream, **more), lambda p: p.generate(PROMPT))


async def deltas_of(provider: OpenAICompatible) -> list[Delta]:
    """The pieces of a streamed answer."""
    return [delta async for delta in provider.stream(PROMPT)]


def streamed_from(upstream: Upstream, **more: Any) -> list[Delta]:
    """A streamed answer."""
    return run(server_at(upstream, **more), deltas_of)


def failing(*plays: Play, streams: bool = False, **more: Any) -> UpstreamError:
    """The error that a server leads to; it names the provider and keeps the server's words and the key out."""
    with Upstream(*plays) as upstream, pytest.raises(UpstreamError) as caught:
        (streamed_from if streams else generated)(upstream, **more)
    message = str(caught.value)
    assert message.startswith("acme ")
    assert KEY not in message
    assert SERVERS_WORDS not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


# what is asked


def test_what_is_asked_and_what_comes_back() -> None:
    """The operation, the key as a header, temperature 0, a seed, log-probabilities; the answer with its figures."""
    told = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    with Upstream(
        completion("Ở Paris [1].", usage=told, logprobs=logprobs([("Ở", -0.2), (" Paris", 0.0)]))
    ) as upstream:
        answer = generated(upstream)
    (asked,) = upstream.requests

    assert answer == Generation("Ở Paris [1].", "acme", "a-model", "stop", 0.9048, told)
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert (asked.headers["content-type"], asked.headers["accept-encoding"]) == ("application/json", "identity")
    assert asked.body == {
        "model": "a-model",
        "messages": [{"role": "system", "content": "Cite."}, {"role": "user", "content": "Where is the tower?"}],
        "stream": False,
        "temperature": 0.0,
        "seed": 0,
        "logprobs": True,
    }


def test_a_stream_is_asked_for_and_told_piece_by_piece() -> None:
    """The pieces as they come, then one with the end, the confidence and the usage."""
    told = {"total_tokens": 11}
    sent = [
        event(chunk("Ở ", logprobs=logprobs([("Ở ", -0.2)]))),
        event(chunk("Paris", logprobs=logprobs([("Paris", 0.0)]))),
        *chunks(usage=told)[1:],
    ]
    with Upstream(streamed(*sent)) as upstream:
        deltas = streamed_from(upstream)
    (asked,) = upstream.requests

    assert deltas == [
        Delta("Ở ", None, "acme", "a-model"),
        Delta("Paris", None, "acme", "a-model"),
        Delta("", "stop", "acme", "a-model", 0.9048, told),
    ]
    assert (asked.body["stream"], asked.body["stream_options"]) == (True, {"include_usage": True})
    assert asked.headers["accept"] == "text/event-stream"


def test_the_model_of_the_request_is_asked_for() -> None:
    """In place of the provider's own."""
    with Upstream(completion("a")) as upstream:
        answer = run(server_at(upstream), lambda p: p.generate(PROMPT, "another"))

    assert (upstream.bodies[0]["model"], answer.model) == ("another", "another")


@pytest.mark.parametrize("model", ["", " ", "a\nb", "x" * 201])
def test_a_model_that_is_no_name_is_refused(model: str) -> None:
    """Before anything is sent."""
    with (
        Upstream(completion("a")) as upstream,
        pytest.raises(InputError, match="model must be the name of a model of acme"),
    ):
        run(server_at(upstream), lambda p: p.generate(PROMPT, model))

    assert upstream.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(cut(stream("Hà Nội", " 🙂"), *range(1, 400, 3)), id="cut every three bytes, inside letters too"),
        pytest.param(dripped(stream("Hà Nội", " 🙂"), 1), id="byte by byte"),
        pytest.param(streamed(b": OPENROUTER PROCESSING\n\n", b":\n\n", *chunks("Hà Nội", " 🙂")), id="with comments"),
        pytest.param(stream("Hà Nội", " 🙂", done=False), id="without [DONE]"),
        pytest.param(streamed(*chunks("Hà Nội", " 🙂"), b"data: {broken\n\n"), id="with rubbish behind [DONE]"),
        pytest.param(Answer(chunks("Hà Nội", " 🙂"), headers={"Content-Type": "text/event-stream"}, framing="close"), id="ended by closing"),
    ],
)  # fmt: skip
def test_a_stream_reads_the_same_however_it_is_sent(answer: Answer) -> None:
    """The cuts of the network are not the cuts of the text."""
    with Upstream(answer) as upstream:
        deltas = streamed_from(upstream)

    assert [(d.text, d.finish_reason) for d in deltas] == [("Hà Nội", None), (" 🙂", None), ("", "stop")]


@pytest.mark.parametrize("reason", ["length", "content_filter", "something_new"])
def test_the_finish_reason_is_kept(reason: str) -> None:
    """An answer that was cut off at its length says so."""
    with Upstream(completion("a", finish_reason=reason), stream("a", finish_reason=reason)) as upstream:
        whole = generated(upstream)
        last = streamed_from(upstream)[-1]

    assert (whole.finish_reason, last.finish_reason) == (reason, reason)


def test_without_log_probabilities_there_is_no_figure() -> None:
    """None, which is not low."""
    with Upstream(completion("a"), stream("a")) as upstream:
        whole = generated(upstream)
        last = streamed_from(upstream)[-1]

    assert (whole.confidence, last.confidence) == (None, None)


# bodies that are forwarded


def test_a_body_is_forwarded_as_it_is() -> None:
    """Nothing is added but whether to stream, and the answer is the server's object."""
    body = {"model": "m", "messages": [], "tools": [{"type": "function"}], "n": 2, "stream": True}
    whole = completed("a") | {"system_fingerprint": "fp"}
    with Upstream(answered(whole)) as upstream:
        found = run(server_at(upstream), lambda p: p.complete(body))

    assert found == whole
    assert upstream.bodies == [body | {"stream": False}]


def test_a_streamed_body_is_forwarded_as_it_is() -> None:
    """The chunk objects come as they were sent, usage and all."""
    body = {"model": "m", "messages": [], "temperature": 1.5}
    sent = [
        chunk("a"),
        chunk("b", index=1),
        chunk(finish_reason="stop"),
        chunk(finish_reason="stop", index=1),
        chunk() | {"choices": []},
    ]

    async def collect(provider: OpenAICompatible) -> list[dict[str, Any]]:
        return [each async for each in provider.complete_stream(body)]

    with Upstream(streamed(*map(event, sent), event("[DONE]"))) as upstream:
        found = run(server_at(upstream), collect)

    assert found == sent
    assert upstream.bodies == [body | {"stream": True}]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("\ud800", id="a lone surrogate"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param({1}, id="a set"),
    ],
)
def test_a_body_that_cannot_be_written_is_the_callers_mistake(value: Any) -> None:
    """Before anything is sent."""
    with Upstream(completion("a")) as upstream, pytest.raises(InputError, match="JSON has no words for"):
        run(server_at(upstream), lambda p: p.complete({"messages": value}))

    assert upstream.requests == []


# what a server refuses of our own wishes


def refusing(*parameters: str, says: str | None = None) -> Play:
    """A server that refuses parameters, naming the first of them, or saying something else."""

    def play(asked: Asked) -> Answer:
        wrong = [name for name in parameters if name in asked.body]
        if wrong:
            return error(400, says if says is not None else f"Unsupported parameter: '{wrong[0]}'")
        return stream("a") if asked.body["stream"] else completion("a")

    return play


@pytest.mark.parametrize(
    ("play", "bodies"),
    [
        pytest.param(refusing("logprobs"), [{"temperature", "seed", "logprobs"}, {"temperature", "seed"}], id="named"),
        pytest.param(
            refusing("logprobs", says="no"),
            [{"temperature", "seed", "logprobs"}, {"temperature", "seed"}],
            id="not named",
        ),
        pytest.param(
            refusing("temperature", "logprobs", "seed"),
            [{"temperature", "seed", "logprobs"}, {"seed", "logprobs"}, {"seed"}, set()],
            id="one after another",
        ),
    ],
)
def test_a_server_that_refuses_a_wish_is_asked_without_it_and_not_again(play: Play, bodies: list[set[str]]) -> None:
    """The second question does not try what the first one found out."""
    wishes = {"temperature", "seed", "logprobs"}

    async def twice(provider: OpenAICompatible) -> list[str]:
        return [(await provider.generate(PROMPT)).text for _ in range(2)]

    with Upstream(play) as upstream:
        assert run(server_at(upstream), twice) == ["a", "a"]

    assert [wishes & body.keys() for body in upstream.bodies] == [*bodies, bodies[-1]]


def test_a_stream_goes_on_without_usage_where_that_is_refused() -> None:
    """And remembers it for this model, not for another."""

    async def thrice(provider: OpenAICompatible) -> None:
        await deltas_of(provider)
        await deltas_of(provider)
        assert [d.text async for d in provider.stream(PROMPT, "another")] == ["a", ""]

    with Upstream(refusing("stream_options")) as upstream:
        run(server_at(upstream), thrice)

    assert ["stream_options" in body for body in upstream.bodies] == [True, False, False, True, False]


def test_a_refusal_that_stays_is_an_error_and_nothing_is_remembered() -> None:
    """A question that is too long does not cost later ones their log-probabilities."""

    async def twice(provider: OpenAICompatible) -> None:
        with pytest.raises(UpstreamError, match="acme answered 400: the model may be unknown"):
            await provider.generate(PROMPT)
        await provider.generate(PROMPT)

    with Upstream(error(400, "too long"), error(400, "too long"), completion("a")) as upstream:
        run(server_at(upstream), twice)

    assert ["logprobs" in body for body in upstream.bodies] == [True, False, True]


def test_wishes_of_others_are_not_dropped() -> None:
    """A body that is forwarded is refused if the server refuses it."""
    with Upstream(refusing("logprobs")) as upstream, pytest.raises(UpstreamError, match="answered 400"):
        run(server_at(upstream), lambda p: p.complete({"messages": [], "logprobs": True}))

    assert len(upstream.requests) == 1


# what goes wrong


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        pytest.param(error(401), "answered 401: check its API key", id="a wrong key"),
        pytest.param(error(402), "answered 402: check the account", id="no credit"),
        pytest.param(error(404), "answered 404: check its address and model", id="nothing there"),
        pytest.param(error(418), "answered 418: check its address and model", id="a status that nobody expects"),
        pytest.param(answered({}, 201), "answered 201", id="a success of another kind"),
        pytest.param(Answer((), 204), "answered 204", id="no content"),
        pytest.param(answered(b"", 302, Location=f"http://{KEY}.example/"), "answered 302, a redirect, which is never followed", id="a redirect"),
        pytest.param(answered({"error": {"message": SERVERS_WORDS}}), "answered 200 with an error", id="an error with status 200"),
        pytest.param(answered({"choices": []}), "no choice at all", id="no choices"),
        pytest.param(completion(None), "without any text", id="null for content"),
        pytest.param(completion(""), "without any text", id="no text"),
        pytest.param(completion(" \n"), "without any text", id="white space for text"),
        pytest.param(completion("a", finish_reason=None), "without a finish_reason", id="no finish reason"),
        pytest.param(answered(b'{"choices": [{"mess'), "JSON that is broken", id="JSON that is cut off"),
        pytest.param(answered(b'"\\ud800"'), "no completion", id="a text"),
        pytest.param(answered(json.dumps(completed("\ud800")).encode()), "not well-formed Unicode", id="half a character"),
        pytest.param(Answer((b"<html>",), 200, {"Content-Type": "text/html"}), "answered with text/html, not application/json", id="a page"),
        pytest.param(Answer((b"{}",), 200, {"Content-Type": f"text/{KEY}"}), "answered with another content type", id="a type with a secret"),
        pytest.param(Answer((b"{}",), 200, {}), "answered with another content type", id="no type"),
        pytest.param(Answer((b"\x1f\x8b",), 200, JSON | {"Content-Encoding": "gzip"}), "a compressed answer", id="compressed"),
        pytest.param(Answer((b" " * 5_000,), 200, dict(JSON), "chunked"), "sent more than 4000 bytes", id="too much"),
        pytest.param(Answer((), 200, JSON | {"Content-Length": "5000"}), "sent more than 4000 bytes", id="too much, as announced"),
        pytest.param(Answer((), 200, JSON | {"Content-Length": "9" * 30}), "acme ", id="a length out of this world"),
        pytest.param(Answer((b'{"choices"', "reset"), 200, dict(JSON), "chunked"), "broke off its answer", id="reset half-way"),
        pytest.param(Answer((b'{"choices"', "close"), 200, JSON | {"Content-Length": "99"}, "close"), "broke off its answer", id="closed half-way"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_an_error_and_is_not_asked_for_again(answer: Answer, what: str) -> None:
    """One request, one error, no answer text."""
    limits = CallLimits(total_s=5.0, most_bytes=4000, backoff_s=0.0)

    problem = failing(answer, limits=limits, logprobs=False)

    assert what in str(problem)
    assert (problem.retry_after_s, problem.timed_out) == (None, False)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        pytest.param(stream("a", finish_reason=None), "ended its answer without a finish_reason", id="no end but [DONE]"),
        pytest.param(stream("a", finish_reason=None, done=False), "ended its answer without a finish_reason", id="no end at all"),
        pytest.param(stream(), "without any text", id="an end and no text"),
        pytest.param(stream(" "), "without any text", id="white space for text"),
        pytest.param(streamed(), "no choice at all", id="nothing"),
        pytest.param(streamed(b"data: [DONE]\n\n"), "no choice at all", id="[DONE] only"),
        pytest.param(streamed(*chunks("a")[:2], "reset"), "broke off its answer", id="reset half-way"),
        pytest.param(streamed(*chunks("a")[:2], "close"), "broke off its answer", id="closed half-way"),
        pytest.param(streamed(*chunks("a")[:2], event({"error": {"message": SERVERS_WORDS}})), "an error in place of an answer", id="an error half-way"),
        pytest.param(streamed(b"event: error\n" + event(chunk(SERVERS_WORDS))), "with an error", id="an event named error"),
        pytest.param(streamed(event("{broken")), "JSON that is broken", id="broken JSON"),
        pytest.param(streamed(b"data: \xff\n\n"), "not UTF-8", id="bytes that are no text"),
        pytest.param(streamed(event(json.dumps(chunk("\ud800")))), "not well-formed Unicode", id="half a character"),
        pytest.param(completion(SERVERS_WORDS), "answered with application/json, not text/event-stream", id="a whole answer"),
        pytest.param(answered({"error": SERVERS_WORDS}), "answered with application/json", id="an error with status 200"),
        pytest.param(streamed(*[b": " + b"x" * 998 + b"\n"] * 50), "sent more than 40000 bytes", id="comments without end"),
    ],
)  # fmt: skip
def test_a_stream_that_is_no_answer_is_an_error(answer: Answer, what: str) -> None:
    """Where it breaks the rules, or at its end."""
    assert what in str(failing(answer, streams=True, limits=CallLimits(total_s=5.0, most_bytes=40_000, backoff_s=0.0)))


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(RESET, id="a connection reset"),
        pytest.param(CLOSED, id="a connection closed"),
        pytest.param(Answer((b"rubbish\r\n\r\n",), framing="raw"), id="no HTTP"),
        pytest.param(error(429), id="too many requests"),
        pytest.param(error(500), id="an internal error"),
        pytest.param(error(503), id="overloaded"),
        pytest.param(error(529), id="overloaded, as some say it"),
    ],
)
def test_what_may_pass_is_asked_for_again(fault: Answer, streams: bool) -> None:
    """Twice more, and no oftener."""
    good = stream("a") if streams else completion("a")
    ask = streamed_from if streams else generated
    with Upstream(fault, fault, good) as upstream:
        ask(upstream)
    assert len(upstream.requests) == 3

    with Upstream(fault) as upstream, pytest.raises(UpstreamError, match=r"acme .*\(tries: 3\)"):
        ask(upstream)
    assert len(upstream.requests) == 3


def test_a_pause_that_is_asked_for_is_kept_if_it_is_short() -> None:
    """A long one is told to the caller instead."""
    with Upstream(error(429, Retry_After="0.05"), completion("a")) as upstream:
        generated(upstream)
    problem = failing(error(429, Retry_After="120"))
    dated = failing(error(503, Retry_After="Fri, 31 Dec 2100 23:59:59 GMT"))
    rubbish = failing(error(503, Retry_After=f"{KEY}"))

    assert len(upstream.requests) == 2
    assert (str(problem), problem.retry_after_s) == ("acme answered 429", 120.0)
    assert dated.retry_after_s is not None
    assert dated.retry_after_s > 1e6
    assert (str(rubbish), rubbish.retry_after_s) == ("acme answered 503 (tries: 3)", None)


@pytest.mark.parametrize(
    ("answer", "streams", "what"),
    [
        pytest.param(HANG, False, "took longer than 1.6 s", id="a whole answer that never comes"),
        pytest.param(HANG, True, "sent nothing within 0.8 s", id="a stream that never begins"),
        pytest.param(streamed("hang"), True, "sent nothing within 0.8 s", id="a stream of which the head came"),
        pytest.param(streamed(*chunks("a")[:2], "hang"), True, "took longer than 1.6 s", id="a stream that stops"),
        pytest.param(dripped(stream("a" * 800), 1, 0.01), True, "took longer than 1.6 s", id="a stream that drips"),
        pytest.param(
            dripped(completion("a" * 800), 1, 0.01), False, "took longer than 1.6 s", id="an answer that drips"
        ),
        pytest.param(
            streamed(*[b": keep-alive\n\n", 0.02] * 300),  # type: ignore[arg-type]
            True,
            "took longer than 1.6 s",
            id="nothing but signs of life",
        ),
        pytest.param(
            Answer((b"{", "hang"), 400, dict(JSON), "chunked"), False, "answered 400", id="a refusal that never ends"
        ),
    ],
)
def test_a_server_that_is_late_is_not_waited_for(answer: Answer, streams: bool, what: str) -> None:
    """Neither at the beginning nor in the middle, however slowly it speaks."""
    problem = failing(answer, streams=streams, limits=IMPATIENT)

    assert what in str(problem)
    assert problem.timed_out is (what != "answered 400")


def test_a_server_that_is_not_there() -> None:
    """Named by the provider's name, not by its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(UpstreamError, match=r"^acme cannot be reached: connection refused \(tries: 3\)$"):
        run(server_at(f"http://127.0.0.1:{port}/v1"), lambda p: p.generate(PROMPT))


def test_a_server_that_does_not_speak_tls() -> None:
    """Said as such, and not tried again."""
    with (
        Upstream(completion("a")) as upstream,
        pytest.raises(UpstreamError, match="no encrypted connection can be made: check"),
    ):
        run(server_at(upstream.url.replace("http:", "https:")), lambda p: p.generate(PROMPT))


# the breaker


def test_a_server_that_fails_too_often_is_left_alone() -> None:
    """Without a request, with the time to wait; then one call may try."""
    now = [0.0]
    breaker = Breaker(2, 30.0, lambda: now[0])

    async def ask(provider: OpenAICompatible) -> list[str]:
        said = []
        for wait_s in (0, 0, 10, 20):
            now[0] += wait_s
            try:
                said.append((await provider.generate(PROMPT)).text)
            except UpstreamError as problem:
                said.append(f"{problem} {problem.retry_after_s}")
        return said

    with Upstream(error(500), error(500), completion("back")) as upstream:
        said = run(server_at(upstream, breaker=breaker, limits=CallLimits(retries=0)), ask)

    left_alone = "acme failed too often in a row and is left alone; it is tried again in 20 s 20.0"
    assert said == ["acme answered 500 None", "acme answered 500 None", left_alone, "back"]
    assert (len(upstream.requests), breaker.state) == (3, "closed")


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        pytest.param(error(401), "closed", id="a wrong key is no failure of the server"),
        pytest.param(error(400), "closed", id="nor is a request that it refuses"),
        pytest.param(error(503), "open", id="an overload is"),
        pytest.param(completion(None), "closed", id="an answer without text is not: a question can bring it about"),
        pytest.param(completion(7), "open", id="an answer that is no text is"),
        pytest.param(answered(b"{"), "open", id="so is broken JSON"),
        pytest.param(HANG, "open", id="so is silence"),
    ],
)
def test_what_the_breaker_counts(answer: Answer, state: str) -> None:
    """What says that the server gives no answers."""
    breaker = Breaker(1)

    failing(answer, breaker=breaker, limits=IMPATIENT)

    assert breaker.state == state


@pytest.mark.parametrize("text", ["I cannot help with that.", "Tôi không thể giúp việc đó."], ids=["en", "vi"])
def test_a_refusal_is_an_answer(text: str) -> None:
    """What a model refuses with is what it said, whole and streamed, and the breaker counts an answer."""
    refusing = chunk()
    refusing["choices"][0]["delta"] = {"role": "assistant", "content": None, "refusal": text}
    whole = completion(None, message={"role": "assistant", "content": None, "refusal": text})
    breaker = Breaker(1)

    async def both(provider: OpenAICompatible) -> tuple[str, str]:
        said = await provider.generate(PROMPT)
        return said.text, "".join([delta.text async for delta in provider.stream(PROMPT)])

    with Upstream(whole, streamed(event(refusing), event(chunk(finish_reason="stop")))) as upstream:
        told = asyncio.run(both(OpenAICompatible("acme", upstream.url, model="m", breaker=breaker)))

    assert (told, breaker.state) == ((text, text), "closed")


def test_a_stream_that_is_closed_ends_the_call_upstream() -> None:
    """The server sees the connection go, and the breaker holds it against nobody."""
    breaker = Breaker(1)

    async def first(provider: OpenAICompatible) -> str:
        async with aclosing(provider.stream(PROMPT)) as deltas:
            async for delta in deltas:
                return delta.text
        return ""

    with Upstream(streamed(*chunks("a")[:2], "hang")) as upstream:
        assert run(server_at(upstream, breaker=breaker), first) == "a"
        assert upstream.hung_up.wait(5)

    assert breaker.state == "closed"


def test_a_call_that_is_cancelled_ends_upstream_and_leaves_the_breaker_as_it_was() -> None:
    """Half-open, its place goes to the next."""
    now = [0.0]
    breaker = Breaker(1, 30.0, lambda: now[0])

    async def ask(provider: OpenAICompatible) -> str:
        with pytest.raises(UpstreamError):
            await provider.generate(PROMPT)
        now[0] = 30.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await provider.generate(PROMPT)
        return (await provider.generate(PROMPT)).text

    with Upstream(error(500), HANG, completion("a")) as upstream:
        assert run(server_at(upstream, breaker=breaker, limits=CallLimits(retries=0)), ask) == "a"
        assert upstream.hung_up.wait(5)


def test_many_at_once() -> None:
    """Each gets its own answer."""

    def echo(asked: Asked) -> Answer:
        return completion(asked.body["messages"][0]["content"])

    async def ask(provider: OpenAICompatible) -> list[str]:
        prompts = [Prompt(f"{n}", (PromptMessage("user", f"{n}"),)) for n in range(40)]
        return [answer.text for answer in await asyncio.gather(*(provider.generate(p) for p in prompts))]

    with Upstream(echo) as upstream:
        assert run(server_at(upstream), ask) == [f"{n}" for n in range(40)]


def test_one_provider_serves_one_event_loop_after_another() -> None:
    """As a command line does that answers one question at a time."""
    with Upstream(completion("a")) as upstream:
        provider = server_at(upstream)
        texts = [run(provider, lambda p: p.generate(PROMPT)).text for _ in range(2)]

    assert texts == ["a", "a"]


# what is set


@pytest.mark.parametrize(
    ("url", "more", "what"),
    [
        pytest.param("ftp://a/v1", {}, "acme: url must begin with http", id="another scheme"),
        pytest.param("https://me:pw@a/v1", {}, "acme: url must not hold a user name", id="credentials"),
        pytest.param("https://a/v1/chat/completions", {}, "which is added", id="the whole operation"),
        pytest.param("http://10.0.0.1/v1", {}, "unencrypted", id="a key over plain http"),
        pytest.param(
            "https://a/v1", {"api_key": f"{KEY}\n"}, "acme: api_key must be printable", id="a key with a line end"
        ),
        pytest.param("https://a/v1", {"model": ""}, "acme: model must be the name", id="no model"),
    ],
)
def test_a_provider_that_cannot_be_used_is_refused_at_once(url: str, more: dict[str, Any], what: str) -> None:
    """With the way out, without the key."""
    with pytest.raises(InputError, match=what) as caught:
        server_at(url, **more)

    assert KEY not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    """Neither by repr nor by str."""
    provider = server_at("https://a.example/v1")

    assert KEY not in f"{provider!r} {provider}"


@pytest.mark.parametrize(
    "bad", [{"total_s": 0}, {"connect_s": -1}, {"first_byte_s": float("inf")}, {"retries": -1}, {"most_bytes": 0}]
)
def test_limits_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    """No time limit is a mistake."""
    with pytest.raises(InputError, match="must be"):
        CallLimits(**bad)


def test_the_presets() -> None:
    """Four names; one without a model of its own needs one."""
    assert list(PRESETS) == ["deepseek", "openai", "gemini", "local"]
    assert preset("local", model="m").base_url == "http://127.0.0.1:11434/v1"
    assert (preset("gemini", KEY).logprobs, preset("openai", KEY).logprobs) == (False, True)
    with pytest.raises(InputError, match="local needs the name of a model"):
        preset("local")
    with pytest.raises(InputError, match="provider must be one of deepseek, openai, gemini, local"):
        preset("other")


def test_a_proxy_of_the_environment_is_used_but_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain http to another host goes to the proxy; loopback goes straight."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Upstream(completion("by proxy")) as proxy, Upstream(completion("straight")) as upstream:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        straight = generated(upstream).text
        far = run(server_at("http://model.invalid/v1", api_key=None), lambda p: p.generate(PROMPT)).text

    assert (straight, far) == ("straight", "by proxy")
    assert proxy.requests[0].path == "http://model.invalid/v1/chat/completions"


def test_a_proxy_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable, not its value."""
    monkeypatch.setenv("ALL_PROXY", f"gopher://{KEY}")
    monkeypatch.setenv("all_proxy", f"gopher://{KEY}")
    with pytest.raises(InputError, match="acme: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY") as caught:
        run(server_at("https://model.invalid/v1"), lambda p: p.generate(PROMPT))

    assert KEY not in str(caught.value)


def test_a_missing_httpx_is_a_friendly_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the extra."""
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(BackendError, match=r"pip install 'stillme\[chat\]'"):
        run(server_at("https://model.invalid/v1"), lambda p: p.generate(PROMPT))
