"""A real endpoint on loopback that plays whatever a test wants, and a base grounder that is never sure."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.grounding.grounder import GroundingTask, Judgement
from stillme.judge import JudgeGrounder

KEY = "sk-never-shown-4f1b"
PASSAGE = "Unused gear can be returned within 30 days of delivery. Gift cards are not refundable."
DOAN_VAN = "Khách hàng được đổi trả hàng trong 15 ngày. Hàng giảm giá không được đổi trả."


@dataclass(frozen=True)
class Unsure:
    """A grounder that leaves every claim undecided, or decides it with the score it was given."""

    score: float = 0.5
    id: str = "unsure/1"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """The same for every claim."""
        return [[Judgement("unsupported", self.score, unsupported=(c.span,)) for c in task.claims] for task in tasks]


@dataclass(frozen=True)
class Seen:
    """A request as the endpoint saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        """The untrusted document of the user message."""
        content = self.body["messages"][1]["content"]
        assert content.startswith("<data>\n")
        assert content.endswith("\n</data>")
        document: dict[str, Any] = json.loads(content[7:-8])
        return document


@dataclass(frozen=True)
class Response:
    """What the endpoint sends; `raw` is written to the connection as it is."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    raw: Callable[[BaseHTTPRequestHandler], None] | None = None


Play = Callable[[Seen], Response]


def completion(content: Any, **choice: Any) -> Response:
    """A chat completion with one message."""
    message = {"role": "assistant", "content": content if isinstance(content, str) else json.dumps(content)}
    whole = {"index": 0, "message": message, "finish_reason": "stop", **choice}
    return Response(json.dumps({"object": "chat.completion", "choices": [whole]}).encode())


def entry(claim: Any, status: Any, passage: Any = None, quote: Any = None) -> dict[str, Any]:
    """One entry of an answer."""
    return {"claim": claim, "status": status, "passage": passage, "quote": quote}


def verdicts(*entries: dict[str, Any]) -> Response:
    """A well-formed answer."""
    return completion({"claims": list(entries)})


def agreeing(seen: Seen) -> Response:
    """Every claim is supported by the first passage, all of it."""
    first = seen.document["passages"][0]
    return verdicts(*(entry(c["claim"], "supported", first["passage"], first["text"]) for c in seen.document["claims"]))


class Server:
    """The endpoint while it stands: its address and what it was asked."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self.seen: list[Seen] = []
        self.port = http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what these tests are about."""


@contextmanager
def playing(*plays: Play | Response, wrap: Callable[[socketserver.TCPServer], None] | None = None) -> Iterator[Server]:
    """An endpoint that plays one answer after another, the last one again and again."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.seen.append(Seen(self.path, dict(self.headers.items()), body))
                play = plays[min(len(server.seen), len(plays)) - 1]
            response = play(server.seen[-1]) if callable(play) else play
            self.close_connection = True
            if response.raw is not None:
                response.raw(self)
                return
            self.send_response(response.status)
            for name, value in {"Content-Length": str(len(response.body)), **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    lock = threading.Lock()
    with _Quiet(("127.0.0.1", 0), Handler) as http:
        if wrap is not None:
            wrap(http)
        server = Server(http)
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def task(
    draft: str = "You can give unused gear back for a month.",
    passages: Sequence[str | RetrievedPassage] = (PASSAGE,),
    query: str = "How long can I return unused gear?",
    conversation: Sequence[str] = (),
) -> GroundingTask:
    """A grounding task of plain texts."""
    return Evidence.of(query, draft, passages, conversation=conversation).grounding_task


def judge_at(server: Server | str, base: Any = None, **settings: Any) -> JudgeGrounder:
    """A judge at an endpoint, with time enough and no pause between tries."""
    url = server if isinstance(server, str) else server.url
    known = {"model": "a-model", "timeout_s": 600.0, "backoff_s": 0.0, **settings}
    return JudgeGrounder(Unsure() if base is None else base, url=url, **known)
