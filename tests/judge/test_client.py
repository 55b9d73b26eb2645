"""Every way in which an endpoint can fail is an error that names its host, in time, and never shows the key."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme import BackendError
from tests.judge.support import (
    KEY,
    PASSAGE,
    Response,
    Seen,
    agreeing,
    completion,
    entry,
    judge_at,
    playing,
    task,
    verdicts,
)
from tests.soak import examples

JSON = {"Content-Type": "application/json"}
GOOD = verdicts(entry(1, "supported", 1, PASSAGE))


def failing(*plays: Any, **more: Any) -> str:
    """The error that an endpoint leads to."""
    with playing(*plays) as server, pytest.raises(BackendError) as error:
        judge_at(server, api_key=KEY, **more).judge([task()])
    message = str(error.value)
    assert f"the judge at 127.0.0.1:{server.port}" in message
    assert KEY not in message
    assert ":" in message.replace(f"127.0.0.1:{server.port}", "")
    return message


def test_what_is_asked() -> None:
    """The operation, the key as a header, and a request that leaves as little as possible to chance."""
    with playing(agreeing) as server:
        judge_at(server, api_key=KEY, max_tokens=99, seed=7).judge([task()])
    (seen,) = server.seen
    form = seen.body.pop("response_format")

    assert seen.path == "/v1/chat/completions"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert (seen.headers["Content-Type"], seen.headers["Accept-Encoding"]) == ("application/json", "identity")
    assert [message["role"] for message in seen.body.pop("messages")] == ["system", "user"]
    assert seen.body == {"model": "a-model", "temperature": 0, "seed": 7, "max_tokens": 99, "stream": False}
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)


def test_the_older_form_is_asked_for_where_that_is_set() -> None:
    """For servers that know no JSON Schema; nothing is tried behind one's back."""
    with playing(agreeing) as server:
        judge_at(server, structured="json_object").judge([task()])
    (seen,) = server.seen

    assert seen.body["response_format"] == {"type": "json_object"}
    assert "Authorization" not in seen.headers


@pytest.mark.parametrize(
    ("response", "what"),
    [
        pytest.param(Response(b"{}", 400, JSON), r"answered 400: .*structured='json_object'", id="a bad request"),
        pytest.param(Response(b'{"error": "bad key %s"}' % KEY.encode(), 401, JSON), "answered 401: check api_key", id="a wrong key"),
        pytest.param(Response(b"", 404, JSON), "answered 404: check url and model", id="nothing there"),
        pytest.param(Response(b"", 418, JSON), "answered 418: check url and model", id="a status that nobody expects"),
        pytest.param(Response(GOOD.body, 201, JSON), "answered 201", id="a success of another kind"),
        pytest.param(Response(b"", 301, {"Location": f"https://{KEY}.example/"}), "redirect, which is never followed", id="a redirect"),
        pytest.param(Response(b"", 307, {"Location": "/v1/chat/completions"}), "redirect, which is never followed", id="a redirect to itself"),
        pytest.param(Response(GOOD.body, 200, {"Content-Type": "text/html"}), "answered with text/html, not", id="a page"),
        pytest.param(Response(GOOD.body, 200, {"Content-Type": f"text/{KEY}"}), "answered with another content type", id="a content type with the key in it"),
        pytest.param(Response(GOOD.body, 200, {}), "answered with another content type", id="no content type"),
        pytest.param(Response(GOOD.body, 200, {**JSON, "Content-Encoding": "gzip"}), "a compressed answer", id="a compressed body"),
        pytest.param(Response(b"", 200, JSON), "JSON that is broken", id="an empty body"),
        pytest.param(Response(b"OK", 200, JSON), "JSON that is broken", id="prose"),
        pytest.param(Response(b"\xff\xfe{}", 200, JSON), "JSON that is broken", id="bytes that are no UTF-8"),
        pytest.param(Response(b"[" * 200_000, 200, JSON), "JSON that is broken", id="nested without end"),
        pytest.param(Response(b"null", 200, JSON), "no completion", id="null"),
        pytest.param(Response(b'{"choices": []}', 200, JSON), "no choice at all", id="no choice"),
        pytest.param(Response(json.dumps({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}] * 2}).encode(), 200, JSON), "several choices", id="two choices"),
        pytest.param(Response(b'{"choices": [{"text": "supported"}]}', 200, JSON), "no message", id="a completion of the older kind"),
        pytest.param(Response(b'{"error": {"message": "%s"}}' % KEY.encode(), 200, JSON), "answered 200 with an error", id="an error that calls itself a success"),
        pytest.param(completion('{"claims": [', finish_reason="length"), "raise max_tokens", id="cut short"),
        pytest.param(completion({"claims": [entry(1, "supported", 1, PASSAGE)]}, finish_reason="length"), "raise max_tokens", id="whole, but said to be cut"),
        pytest.param(completion("", finish_reason="content_filter"), "refuses to judge", id="filtered"),
        pytest.param(completion("", message={"content": None, "refusal": f"No. {KEY}"}), "refuses to judge", id="a refusal"),
        pytest.param(completion("", message={"content": None}), "without any text", id="no content"),
        pytest.param(completion("", message={"content": [{"type": "text"}]}), "without any text", id="content in parts"),
        pytest.param(completion("x", finish_reason="tool_calls"), "ended with tool_calls", id="a call of a tool"),
        pytest.param(completion("x", finish_reason=[KEY]), "without a finish_reason", id="an end with the key in it"),
        pytest.param(completion("supported"), "is not JSON", id="content that is prose"),
        pytest.param(completion({"claims": []}), "leaves out claim 1", id="content without a claim"),
        pytest.param(completion({"claims": [entry(1, KEY, KEY, KEY)]}), "a status that does not exist", id="the key as a status"),
        pytest.param(Response(b" " * 1_100_000, 200, JSON), "more than 1000000 bytes", id="a body without end"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_an_error_at_once(response: Response, what: str) -> None:
    """Asked once, not again: asking the same gives the same."""
    with playing(response) as server, pytest.raises(BackendError, match=what) as error:
        judge_at(server, api_key=KEY, retries=5).judge([task()])

    assert f"the judge at 127.0.0.1:{server.port}" in str(error.value)
    assert KEY not in str(error.value)
    assert len(server.seen) == 1


def test_a_redirect_is_not_followed() -> None:
    """The key and the texts go nowhere else."""
    with playing(agreeing) as other:
        message = failing(Response(b"", 308, {"Location": f"{other.url}/chat/completions"}))

    assert "redirect" in message
    assert other.seen == []


# connections that break


def raw(*pieces: bytes, pause_s: float = 0.0) -> Response:
    """An answer that is written piece by piece, as it is."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        for piece in pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()
            time.sleep(pause_s)  # noqa: TID251  (a server that takes its time)

    return Response(raw=write)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def drip(start: bytes, piece: bytes) -> Response:
    """An answer that goes on for ten seconds, a few bytes at a time."""
    return raw(start, *[piece] * 200, pause_s=0.05)


@pytest.mark.parametrize(
    ("response", "what"),
    [
        pytest.param(raw(), "closed the connection", id="nothing is said"),
        pytest.param(raw(HEAD + b"Content-Length: 900\r\n\r\n" + GOOD.body[:90]), "broke off", id="half a body"),
        pytest.param(raw(CHUNKED + b"5\r\nab"), "broke off", id="half a chunk"),
        pytest.param(raw(CHUNKED + b"zz\r\nab"), "broke off", id="a chunk of no size"),
    ],
)
def test_a_connection_that_breaks_is_tried_again_and_then_an_error(response: Response, what: str) -> None:
    """Half an answer is none."""
    with playing(response) as server, pytest.raises(BackendError, match=what):
        judge_at(server, retries=2).judge([task()])
    with playing(response, agreeing) as server:
        assert judge_at(server).judge([task()])[0][0].supported


@pytest.mark.parametrize(
    ("response", "what"),
    [
        pytest.param(raw(HEAD), "closed the connection", id="half a head"),
        pytest.param(raw(b"hello, here is no server of yours\r\n\r\n"), "does not answer in HTTP", id="another protocol"),
        pytest.param(raw(b"HTTP/1.1 abc\r\n\r\n"), "does not answer in HTTP", id="a status that is no number"),
        pytest.param(raw(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000), "does not answer in HTTP", id="a header without end"),
        pytest.param(raw(HEAD + b"A: b\r\n" * 60_000 + b"\r\n"), "does not answer in HTTP", id="headers without end"),
        pytest.param(raw(CHUNKED + b"-1\r\n" + b"x" * 1_100_000), "more than 1000000 bytes|HTTP|broke", id="a chunk of negative size"),
        pytest.param(raw(CHUNKED + b"100000\r\n" + b"x" * 1_100_000), "more than 1000000 bytes", id="a chunk that is too large"),
        pytest.param(raw(HEAD + b"\r\n" + b"x" * 1_100_000), "more than 1000000 bytes", id="a body that never ends"),
    ],
)  # fmt: skip
def test_what_is_no_http_is_an_error(response: Response, what: str) -> None:
    """Read as far as is safe, and no further."""
    with playing(response) as server, pytest.raises(BackendError, match=what):
        judge_at(server, retries=0).judge([task()])


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(raw(b"", pause_s=10), id="silence"),
        pytest.param(drip(b"", b"H"), id="a status line that drips"),
        pytest.param(drip(HEAD, b"A: b\r\n"), id="headers that drip"),
        pytest.param(drip(HEAD + b"Content-Length: 9999\r\n\r\n", b" "), id="a body that drips"),
        pytest.param(drip(CHUNKED, b"1\r\n \r\n"), id="chunks that drip"),
        pytest.param(drip(HEAD + b"\r\n", b" "), id="a body that drips and has no length"),
        pytest.param(drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), id="patience that is asked for again and again"),
    ],
)
def test_a_slow_endpoint_does_not_exceed_the_time(response: Response) -> None:
    """However small the pieces and however steady they come."""
    with playing(response) as server, pytest.raises(BackendError, match=r"took longer than 0.4 s: raise timeout_s"):
        judge_at(server, timeout_s=0.4, retries=3).judge([task()])


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_nobody_listens() -> None:
    """The error says so, and how often it was tried."""
    port = closed_port()
    with pytest.raises(BackendError) as error:
        judge_at(f"http://127.0.0.1:{port}/v1").judge([task()])

    assert str(error.value) == (
        f"the judge at 127.0.0.1:{port} cannot be reached: connection refused (tries: 2):"
        " check that it is up, or raise retries or timeout_s"
    )


def test_a_host_that_does_not_exist() -> None:
    """The name is reserved: no resolver knows it."""
    with pytest.raises(BackendError, match=r"the judge at judge\.invalid cannot be reached"):
        judge_at("http://judge.invalid/v1", use_proxy=False, timeout_s=2.0).judge([task()])


NOBODY_WAITS = threading.Event()


def slow_resolver(*_: Any, **__: Any) -> list[Any]:
    """Come back when nobody waits any more."""
    NOBODY_WAITS.wait()
    return []


@pytest.mark.parametrize(
    "act", [pytest.param(slow_resolver, id="a slow resolver"), pytest.param(None, id="a silent host")]
)
def test_connecting_has_a_time_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch, act: Callable[..., Any] | None
) -> None:
    """A resolver that does not return and a host that does not answer are given up in time."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(8)]  # they fill the queue, so that one more gets no answer
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(full.getsockname())
        host = "127.0.0.1"
        if act:
            host = "judge.invalid"
            monkeypatch.setattr(socket, "getaddrinfo", act)
        url = f"http://{host}:{full.getsockname()[1]}/v1"
        with pytest.raises(BackendError, match="cannot be reached: no connection in time"):
            judge_at(url, connect_timeout_s=0.2, retries=1, use_proxy=False).judge([task()])
        for sock in waiting:
            sock.close()
    NOBODY_WAITS.set()


# trying again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_fault_that_may_pass_is_tried_again(status: int) -> None:
    """Once by default; if it has passed, the answer counts."""
    with playing(Response(b"", status), agreeing) as server:
        (judged,) = judge_at(server).judge([task()])[0]

    assert (judged.status, len(server.seen)) == ("supported", 2)
    assert server.seen[0] == server.seen[1]


@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (1, 2), (3, 4)])
def test_it_is_tried_as_often_as_set(retries: int, asked: int) -> None:
    """And then it is an error that says how often."""
    with playing(Response(b"", 503)) as server, pytest.raises(BackendError, match=rf"answered 503 \(tries: {asked}\)"):
        judge_at(server, retries=retries).judge([task()])

    assert len(server.seen) == asked


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, none of which takes time."""
    made: list[float] = []
    at_once = asyncio.sleep

    async def pause(seconds: float, *_: object) -> None:
        if seconds:
            made.append(seconds)
        await at_once(0)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return made


def test_pauses_double(pauses: list[float]) -> None:
    """0.1 s, then 0.2 s, lengthened by up to a half."""
    with playing(Response(b"", 503), Response(b"", 503), agreeing) as server:
        judge_at(server, retries=2, backoff_s=0.1).judge([task()])

    first, second = pauses
    assert 0.1 <= first <= 0.15
    assert 0.2 <= second <= 0.3


def test_a_pause_that_the_endpoint_asks_for_is_kept(pauses: list[float]) -> None:
    """As long as it fits into the time."""
    with playing(Response(b"", 429, {"Retry-After": "1"}), agreeing) as server:
        judge_at(server).judge([task()])

    assert pauses == [1.0]


@pytest.mark.parametrize(
    "wanted", ["30", "Wed, 21 Oct 2099 07:28:00 GMT", "9" * 400], ids=["seconds", "a date", "digits without end"]
)
def test_a_pause_beyond_the_time_is_not_waited_for(wanted: str) -> None:
    """It fails at once and says what was asked for."""
    with playing(Response(b"", 429, {"Retry-After": wanted}), agreeing) as server:
        with pytest.raises(BackendError, match=r"answered 429 \(tries: 1\); it asks for a pause of"):
            judge_at(server, timeout_s=20.0).judge([task()])

        assert len(server.seen) == 1


@pytest.mark.parametrize("wanted", ["soon", "-5", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT", "", "٣"])
def test_a_pause_that_cannot_be_read_is_none(wanted: str) -> None:
    """The own pause counts then."""
    with playing(Response(b"", 503, {"Retry-After": wanted.encode().decode("latin-1")}), agreeing) as server:
        assert judge_at(server).judge([task()])[0][0].supported


# whatever it sends

ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.text(max_size=4), st.sampled_from(["stop", "length", PASSAGE])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["choices", "message", "content", "claims"]), inner, max_size=2)),
    max_leaves=6,
)  # fmt: skip
ENTRIES = st.builds(
    entry,
    st.sampled_from([1, 1, 1, 2, "1"]),
    st.sampled_from(["supported", "contradicted", "unsupported", "maybe"]),
    st.sampled_from([1, 1, None, 2]),
    st.sampled_from([PASSAGE, "30 days", "90 days", None]),
)


@st.composite
def envelopes(draw: st.DrawFn) -> Any:
    """A chat completion that is nearly right, or any JSON at all."""
    if draw(st.integers(0, 3)) == 0:
        return draw(ANYTHING)
    content: Any = {"claims": draw(st.lists(ENTRIES, max_size=2))}
    message = {
        "content": draw(st.one_of(st.just(json.dumps(content)), ANYTHING)),
        "refusal": draw(st.sampled_from([None, None, "no"])),
    }
    return {
        "choices": [
            {"message": message, "finish_reason": draw(st.sampled_from(["stop", "stop", "stop", "length", None]))}
        ]
    }


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(envelopes(), min_size=5, max_size=5))
def test_whatever_an_endpoint_returns_is_an_error_or_a_judgement_that_holds(bodies: list[Any]) -> None:
    """Through a real connection: supported or contradicted only with a quote that the passage says, and always by the judge."""
    plays = [Response(json.dumps(body).encode()) for body in bodies]
    with playing(*plays) as server:
        for body in bodies:
            try:
                (judged,) = judge_at(server).judge([task()])[0]
            except BackendError as error:
                assert "the judge at" in str(error)  # noqa: PT017  (either is right, and both are checked)
                continue
            (said,) = json.loads(body["choices"][0]["message"]["content"])["claims"]
            assert (judged.status, judged.decided_by) == (said["status"], "judge")
            assert judged.score == {"supported": 0.8, "contradicted": 0.05, "unsupported": 0.15}[judged.status]
            if judged.status == "unsupported":
                assert (judged.quote, judged.passages) == (None, ())
            else:
                assert judged.quote is not None
                assert PASSAGE[judged.quote.start : judged.quote.end] == said["quote"]
                assert judged.passages == (0,)
            assert bool(judged.unsupported) == (judged.status != "supported")


def test_what_is_seen_is_what_was_sent_however_long() -> None:
    """A long text arrives whole."""
    text = "Đường số 9 dài 5 km. " * 2000

    def first_words(seen: Seen) -> Response:
        assert seen.document["passages"][0]["text"] == text
        return verdicts(entry(1, "supported", 1, "Đường số 9 dài 5 km."))

    with playing(first_words) as server:
        assert judge_at(server).judge([task("Đường số 9 dài 5 km.", [text])])[0][0].supported
