"""Bounds: too large, too slow, too much at once; each is told so at once, and nothing that was accepted is lost."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from stillme.service.limits import Pool, within
from stillme.service.problems import ProblemError
from tests.service.conftest import Start
from tests.service.test_verify import REQUEST
from tests.waiting import eventually


def test_work_beyond_the_places_is_turned_away() -> None:
    """So many run, so many wait, the next is told when to come back; a place that gets free is given again."""
    pool, go = Pool(1, 1), threading.Event()

    async def scenario() -> list[Any]:
        first = asyncio.create_task(pool.run(go.wait))
        second = asyncio.create_task(pool.run(lambda: "second"))
        await asyncio.sleep(0)
        with pytest.raises(ProblemError) as refused:
            await pool.run(lambda: "third")
        go.set()
        found = [await first, await second, await pool.run(lambda: "fourth")]
        return [*found, refused.value.problem.status, refused.value.problem.headers]

    assert asyncio.run(scenario()) == [True, "second", "fourth", 429, {"retry-after": "1"}]
    assert pool.taken == 0
    pool.close()


def test_work_that_nobody_waits_for_keeps_its_place() -> None:
    """A slot is free when the thread is, not when the caller gave up: work that cannot be stopped holds it."""
    pool, go = Pool(1, 0), threading.Event()

    async def scenario() -> list[int]:
        with pytest.raises(ProblemError) as late:
            await within(0.01, pool.run(go.wait), "STILLME_REQUEST_TIMEOUT_S")
        taken = pool.taken
        go.set()
        assert await asyncio.to_thread(eventually, lambda: not pool.taken)
        return [late.value.problem.status, taken, await pool.run(lambda: 7)]

    assert asyncio.run(scenario()) == [408, 1, 7]
    pool.close()


def test_an_error_in_the_work_reaches_whoever_waits() -> None:
    """And frees the place."""
    pool = Pool(1, 0)

    async def scenario() -> None:
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 / 0)

    asyncio.run(scenario())
    assert pool.taken == 0
    pool.close()


@pytest.mark.parametrize("announced", [True, False], ids=["its length told", "chunk by chunk"])
def test_a_request_that_is_too_large_is_413(start: Start, announced: bool) -> None:
    """Before it is read where its length is told, as soon as it is too much where not."""
    service = start(STILLME_MAX_BODY_BYTES="2000")
    body = b"x" * 5000

    response = httpx.post(
        f"{service.url}/v1/verify",
        content=body if announced else iter([body[:1000]] * 5),
        headers={"content-type": "application/json"},
    )

    assert response.status_code == 413
    assert "STILLME_MAX_BODY_BYTES" in response.json()["detail"]


def test_a_request_that_does_not_arrive_is_408(start: Start) -> None:
    """A connection that drips cannot hold a place for long."""
    service = start(STILLME_BODY_TIMEOUT_S="0.2")
    host, port = service.url.removeprefix("http://").split(":")

    with socket.create_connection((host, int(port)), timeout=600) as slow:
        slow.sendall(
            b"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"
        )
        answer = slow.recv(65536)

    assert answer.startswith(b"HTTP/1.1 408")


def test_a_verification_that_takes_too_long_is_408(start: Start) -> None:
    """The caller hears of it in time; the detail names the setting."""
    service = start(STILLME_REQUEST_TIMEOUT_S="0.1")
    held = threading.Event()
    busy = [service.parts.pool._executor.submit(held.wait) for _ in range(service.parts.settings.threads)]

    response = service.post("/v1/verify", REQUEST)
    held.set()

    assert [task.result() for task in busy]
    assert response.status_code == 408
    assert "STILLME_REQUEST_TIMEOUT_S" in response.json()["detail"]


def test_an_overload_sheds_load_and_ends(start: Start) -> None:
    """Of many at once some are served and the others told to come back; health is answered throughout."""
    service = start(STILLME_THREADS="1", STILLME_MAX_WAITING="1", STILLME_VERDICT_CACHE="0")
    held = threading.Event()
    service.parts.pool._executor.submit(held.wait)

    with ThreadPoolExecutor(12) as callers:
        waiting = [callers.submit(service.post, "/v1/verify", REQUEST) for _ in range(12)]
        assert eventually(lambda: sum(task.done() for task in waiting) >= 10)
        health = service.get("/healthz").status_code
        held.set()
        responses = [task.result() for task in waiting]

    assert sorted(r.status_code for r in responses) == [200] * 2 + [429] * 10
    assert all(int(r.headers["retry-after"]) >= 1 for r in responses if r.status_code == 429)
    assert health == 200


def test_a_long_draft_does_not_hold_up_short_ones(start: Start) -> None:
    """Ninety claims are still being verified when those that came after them are answered."""
    service = start(STILLME_THREADS="2", STILLME_VERDICT_CACHE="0", STILLME_REQUEST_TIMEOUT_S="600")
    said = [f"Chuyến xe số {n} rời bến lúc {n % 12 + 1} giờ và chở {n + 20} khách." for n in range(1, 90)]
    passages = [{"source_id": f"p{k}", "text": " ".join(said[k::8])} for k in range(8)]
    long = {"query": "Các chuyến xe chạy thế nào?", "draft_answer": " ".join(said), "retrieved_context": passages}

    with ThreadPoolExecutor(1) as caller:
        waiting = caller.submit(service.post, "/v1/verify", long)
        assert eventually(lambda: service.parts.pool.taken > 0)
        short = [service.post("/v1/verify", {**REQUEST, "request_id": f"short-{n}"}).status_code for n in range(3)]
        is_under_way = not waiting.done()

    assert short == [200] * 3
    assert is_under_way
    assert waiting.result().status_code == 200


def test_open_requests_are_bounded(start: Start) -> None:
    """Connections that send nothing hold no more than their share."""
    service = start(STILLME_MAX_REQUESTS="1", STILLME_BODY_TIMEOUT_S="600")
    host, port = service.url.removeprefix("http://").split(":")

    with socket.create_connection((host, int(port)), timeout=600) as idle:
        idle.sendall(
            b"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n"
        )
        assert eventually(lambda: service.post("/v1/verify", REQUEST).status_code == 429)
        response = service.post("/v1/verify", REQUEST)
        health = service.get("/healthz").status_code

    assert (response.status_code, health) == (429, 200)
    assert response.headers["retry-after"] == "1"
