"""A scripted OpenAI-compatible server: real HTTP on loopback, in a thread, that plays what a test wants and records what it was asked.

    with Upstream(completion("Paris [1].")) as upstream:
        ...                                  # talk to upstream.url, which ends in /v1
    assert upstream.requests[0].body["model"] == "a-model"

A script is a list of answers, one for each request; the last one is played again and again. A function of the request may stand for one.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Any, Literal

Step = bytes | float | Literal["hang", "reset", "close"]
"""Bytes that are sent at once, seconds of silence, silence until the client hangs up, a connection reset, a connection closed early."""

JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream; charset=utf-8"}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Asked:
    """A request as the server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that was sent."""
        value: dict[str, Any] = json.loads(self.raw)
        return value


@dataclass(frozen=True)
class Answer:
    """Status, headers and the steps of the body; `framing` is how its end is told, "raw" sends the steps with no HTTP around them."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    framing: Literal["length", "chunked", "close", "raw"] = "length"


Play = Answer | Callable[[Asked], Answer]


def answered(value: Any, status: int = 200, **headers: str) -> Answer:
    """A JSON value, or bytes as they are, with a status; header names are written with underscores."""
    body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return Answer((body,), status, JSON | {name.replace("_", "-"): text for name, text in headers.items()})


def logprobs(tokens: Iterable[tuple[str, float]]) -> dict[str, Any]:
    """Log-probabilities as a choice has them."""
    return {
        "content": [{"token": t, "logprob": p, "bytes": list(t.encode()), "top_logprobs": []} for t, p in tokens],
        "refusal": None,
    }


def completed(content: Any, *, finish_reason: Any = "stop", usage: Any = None, **choice: Any) -> dict[str, Any]:
    """The object of a whole completion."""
    one = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish_reason, **choice}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "served-model", "choices": [one]}
    return whole if usage is None else whole | {"usage": usage}


def completion(content: Any, **more: Any) -> Answer:
    """A whole answer: `finish_reason`, `usage`, `logprobs` and other keys of the choice by name."""
    return answered(completed(content, **more))


def chunk(content: str | None = None, *, finish_reason: str | None = None, **choice: Any) -> dict[str, Any]:
    """The object of one chunk of a stream."""
    delta = {} if content is None else {"content": content}
    one = {"index": 0, "delta": delta, "finish_reason": finish_reason, **choice}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served-model",
        "choices": [one],
    }


def event(value: Any) -> bytes:
    """One server-sent event with a JSON value, or with text as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def chunks(*texts: str, finish_reason: str | None = "stop", usage: Any = None, done: bool = True) -> list[bytes]:
    """The events of a stream that says these texts: opening, texts, finish reason, usage, [DONE]; None leaves the end out."""
    opening = chunk()
    opening["choices"][0]["delta"] = {"role": "assistant", "content": ""}
    events = [event(opening), *(event(chunk(text)) for text in texts)]
    if finish_reason is not None:
        events.append(event(chunk(finish_reason=finish_reason)))
    if usage is not None:
        events.append(event(chunk() | {"choices": [], "usage": usage}))
    return [*events, DONE] if done else events


def stream(*texts: str, **more: Any) -> Answer:
    """A streamed answer that says these texts; more as `chunks` takes it."""
    return streamed(*chunks(*texts, **more))


def streamed(*steps: Step) -> Answer:
    """A streamed answer of these steps."""
    return Answer(steps, headers=dict(EVENTS), framing="chunked")


def cut(answer: Answer, *at: int) -> Answer:
    """The same bytes, sent in pieces that end at these offsets, wherever they fall."""
    whole = b"".join(step for step in answer.steps if isinstance(step, bytes))
    edges = [0, *at, len(whole)]
    return Answer([whole[a:b] for a, b in pairwise(edges)], answer.status, answer.headers, answer.framing)


def dripped(answer: Answer, size: int = 1, pause_s: float = 0.0) -> Answer:
    """The same bytes, `size` at a time, with a pause behind each."""
    whole = b"".join(step for step in answer.steps if isinstance(step, bytes))
    steps: list[Step] = []
    for start in range(0, len(whole), size):
        steps += [whole[start : start + size], pause_s] if pause_s else [whole[start : start + size]]
    return Answer(steps, answer.status, answer.headers, "chunked")


def error(status: int, message: str = "words of the server", **headers: str) -> Answer:
    """An error as OpenAI-compatible servers word it."""
    return answered({"error": {"message": message, "type": "invalid_request_error", "code": None}}, status, **headers)


HANG = Answer(("hang",), framing="raw")
RESET = Answer(("reset",), framing="raw")
CLOSED = Answer(("close",), framing="raw")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what these tests are about."""


class Upstream:
    """The server while it stands: its address, what it was asked, and who hung up on it."""

    def __init__(self, *script: Play, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self.requests: list[Asked] = []
        self.hung_up = threading.Event()
        """Set when a client closed the connection before the answer was over."""
        self._script: list[Play] = list(script)
        self._played = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._http = _Server((host, 0), _handler(self))
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.port = int(self._http.server_address[1])
        self.url = f"{'http' if tls is None else 'https'}://{host}:{self.port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    def answers(self, *script: Play) -> None:
        """From now on play these."""
        with self._lock:
            self._script, self._played = list(script), 0

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON objects that were posted."""
        return [asked.body for asked in self.requests if asked.method == "POST"]

    def _next(self, asked: Asked) -> Answer:
        with self._lock:
            self.requests.append(asked)
            play = self._script[min(self._played, len(self._script) - 1)] if self._script else error(500)
            self._played += 1
        return play(asked) if callable(play) else play

    def _play(self, answer: Answer, handler: BaseHTTPRequestHandler) -> None:
        sock, chunked = handler.connection, answer.framing == "chunked"
        if answer.framing != "raw":
            handler.wfile.write(_head(answer))
        for step in answer.steps:
            if isinstance(step, bytes):
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(step), step) if chunked and step else step)
                handler.wfile.flush()
            elif isinstance(step, float | int):
                self._silence(sock, float(step))
            elif step == "hang":
                self._silence(sock, None)
                return
            else:
                _end(sock, reset=step == "reset")
                return
        if chunked:
            handler.wfile.write(b"0\r\n\r\n")

    def _silence(self, sock: socket.socket, seconds: float | None) -> None:
        """Nothing for a while, or until the client hangs up or the server is closed."""
        until = None if seconds is None else time.monotonic() + seconds
        while not self._over.is_set() and (until is None or time.monotonic() < until):
            left = 0.02 if until is None else max(0.0, min(0.02, until - time.monotonic()))
            if select.select([sock], [], [], left)[0]:
                raise ConnectionResetError("the client hung up")


def _head(answer: Answer) -> bytes:
    headers = {**answer.headers, "Connection": "close"}
    if answer.framing == "length":
        size = sum(len(step) for step in answer.steps if isinstance(step, bytes))
        headers = {"Content-Length": str(size), **headers}
    elif answer.framing == "chunked":
        headers["Transfer-Encoding"] = "chunked"
    lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _end(sock: socket.socket, *, reset: bool) -> None:
    if reset:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    else:
        sock.shutdown(socket.SHUT_WR)


def _handler(upstream: Upstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.close_connection = True
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, raw)
            try:
                upstream._play(upstream._next(asked), self)
            except OSError:
                upstream.hung_up.set()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Handler
