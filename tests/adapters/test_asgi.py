"""The middleware and the dependency in a FastAPI application behind a real server on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from stillme.adapters.asgi import GuardMiddleware, rests_on
from stillme.adapters.fastapi import Check, guarded
from stillme.guard import Guard
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard
from tests.waiting import eventually

PASSAGES = [{"source_id": "faq", "text": PASSAGE, "similarity": 0.9}]


class Held:
    """A generation that goes on only when the test says so."""

    def __init__(self) -> None:
        self.go_on = threading.Event()


async def words(text: str) -> AsyncIterator[str]:
    """A text as a model gives it."""
    for number, word in enumerate(text.split(" ")):
        yield word if number == 0 else f" {word}"


def application(made: Guard, held: Held | None = None) -> FastAPI:  # noqa: C901  (one endpoint a form)
    """An application that answers whatever the path says, in every form."""
    app, of_this = FastAPI(), Depends(guarded(made))
    app.add_middleware(GuardMiddleware, guard=made, paths=["/ask"], event_key=None)

    async def generate(text: str) -> AsyncIterator[str]:
        async for word in words(text):
            yield word
        if held is not None:
            await asyncio.to_thread(held.go_on.wait, 600)

    @app.get("/ask/json")
    async def whole(request: Request, text: str, declared: bool = True) -> Any:
        if declared:
            rests_on(request.scope, QUESTION, PASSAGES)
        return {"answer": text, "model": "scripted"}

    @app.get("/ask/text")
    async def plain(request: Request, text: str) -> Response:
        rests_on(request.scope, QUESTION, PASSAGES)
        return StreamingResponse(generate(text), media_type="text/plain")

    @app.get("/ask/events")
    async def events(request: Request, text: str) -> Response:
        rests_on(request.scope, QUESTION, PASSAGES)

        async def sent() -> AsyncIterator[str]:
            async for word in generate(text):
                yield f"data: {word}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(sent(), media_type="text/event-stream")

    @app.get("/ask/picture")
    async def picture(request: Request) -> Response:
        rests_on(request.scope, QUESTION, PASSAGES)
        return Response(b"\x89PNG", media_type="image/png")

    @app.get("/ask/missing")
    async def missing() -> Response:
        return JSONResponse({"detail": "no such thing"}, 404)

    @app.get("/else")
    async def other() -> Any:
        return {"answer": FALSE}

    @app.get("/checked")
    async def checked(text: str, check: Check = of_this) -> Any:
        return {"text": (await check(QUESTION, text, PASSAGES)).text}

    @app.get("/checked/stream")
    async def checked_stream(text: str, check: Check = of_this) -> Response:
        return StreamingResponse(check.stream(QUESTION, words(text), PASSAGES), media_type="text/plain")

    return app


class Server(uvicorn.Server):
    """A server in a thread of this process."""

    def install_signal_handlers(self) -> None:
        """The tests have their own."""


@pytest.fixture
def serve() -> Iterator[Any]:
    """Serves applications for the length of a test."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(app: FastAPI) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = Server(uvicorn.Config(app, port=port, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        assert eventually(lambda: server.started)
        return f"http://127.0.0.1:{port}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join()


def events_in(text: str) -> str:
    """The text of all events, as a browser joins their lines."""
    blocks = [block for block in text.split("\n\n") if block]
    data = ["\n".join(line.removeprefix("data: ") for line in block.split("\n")) for block in blocks]
    return "".join(each for each in data if each != "[DONE]")


@pytest.mark.parametrize(
    ("path", "read"),
    [
        pytest.param("/ask/json", lambda found: found.json()["answer"], id="JSON"),
        pytest.param("/ask/text", lambda found: found.text, id="a stream of text"),
        pytest.param("/ask/events", lambda found: events_in(found.text), id="a stream of events"),
        pytest.param("/checked", lambda found: found.json()["text"], id="the dependency"),
        pytest.param("/checked/stream", lambda found: found.text, id="a stream of the dependency"),
    ],
)
def test_only_what_the_guard_lets_out_arrives(serve: Any, path: str, read: Any) -> None:
    """In every form."""
    url = serve(application(guard()))

    right = httpx.get(f"{url}{path}", params={"text": TRUE})
    wrong = httpx.get(f"{url}{path}", params={"text": f"{TRUE} {FALSE}"})

    assert read(right) == TRUE
    assert wrong.status_code == 200
    assert FALSE not in read(wrong)
    assert read(wrong)


def test_a_json_answer_keeps_its_other_fields_and_has_its_verdict(serve: Any) -> None:
    """In the body and in headers."""
    found = httpx.get(f"{serve(application(guard()))}/ask/json", params={"text": FALSE})

    assert (found.json()["model"], found.json()["stillme"]["decision"]) == ("scripted", "refuse")
    assert (found.headers["x-stillme-action"], found.headers["x-stillme-decision"]) == ("block", "refuse")


def test_a_stream_stays_a_stream(serve: Any) -> None:
    """A claim arrives while the model is still writing."""
    held = Held()
    url = serve(application(guard(), held))

    with httpx.stream("GET", f"{url}/ask/text", params={"text": f"{TRUE} Gear that"}, timeout=600) as response:
        arriving = response.iter_text()
        first = next(arriving)
        held.go_on.set()
        rest = "".join(arriving)

    assert first.strip() == TRUE
    assert "Gear that" in rest


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param(f"/ask/json?text={TRUE}&declared=false", 502, id="nobody said what it rests on"),
        pytest.param("/ask/picture", 502, id="a form that cannot be read"),
        pytest.param("/ask/missing", 404, id="an error of the application stays"),
        pytest.param("/else", 200, id="another path is not guarded"),
    ],
)
def test_what_cannot_be_judged_does_not_go_out_in_enforce(serve: Any, path: str, status: int) -> None:
    """And says so."""
    found = httpx.get(f"{serve(application(guard()))}{path}")

    assert found.status_code == status
    assert ("not_verified" in found.text) is (status == 502)


@pytest.mark.parametrize(("mode", "passes"), [("enforce", False), ("monitor", True)])
@pytest.mark.parametrize("path", ["/ask/json", "/ask/text", "/ask/events", "/checked", "/checked/stream"])
def test_a_guard_that_fails_blocks_in_enforce(serve: Any, path: str, mode: str, passes: bool) -> None:
    """In every form; monitor delivers."""
    found = httpx.get(f"{serve(application(broken_guard(mode)))}{path}", params={"text": TRUE})

    text = events_in(found.text) if path.endswith("events") else found.text
    assert (TRUE in text) is passes
    if path == "/ask/json":
        assert BROKEN in json.loads(found.text)["stillme"]["problem"]
