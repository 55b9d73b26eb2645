"""One client cannot stop the others: work, connections, headers, bodies and rates are bounded, and health is always told."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from stillme import Guard
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.service.app import create_app, parts_from
from stillme.service.auth import Keys
from stillme.service.bodies import check_structure
from stillme.service.limits import Pool, Rate, address_of
from stillme.service.problems import ProblemError
from stillme.service.readiness import FIRST
from stillme.service.server import connection_options
from tests.service.conftest import Service, Start
from tests.service.serving import served
from tests.service.test_verify import REQUEST, VIETNAMESE, verdicts
from tests.test_stopping import Endless


class Held(Endless):
    """Endless, but for the draft that a service warms up with."""

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        if tasks[0].query.raw == FIRST["query"]:
            return ExactGrounder().judge(tasks)
        return super().judge(tasks)


@contextmanager
def endless(folder: Path, **environment: str) -> Iterator[tuple[Service, Endless]]:
    """A service whose verifications end only when they are stopped."""
    parts = parts_from({"STILLME_DATA": str(folder), "STILLME_READY_FRESH_S": "0", **environment})
    grounder = Held()
    parts.guard = Guard({"grounding": {"model": "none"}}, grounder=grounder, audit=parts.store)
    with served(create_app(parts), **connection_options(parts.settings)) as url:
        yield Service(url, parts, folder), grounder


def address(service: Service) -> tuple[str, int]:
    host, port = service.url.removeprefix("http://").split(":")
    return host, int(port)


def said(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


# work that nobody waits for


def test_a_408_frees_its_thread(tmp_path: Path) -> None:
    """The work ends when its time is over, and nothing of it is recorded."""
    with endless(tmp_path, STILLME_THREADS="1", STILLME_REQUEST_TIMEOUT_S="0.1") as (service, grounder):
        response = service.post("/v1/verify", REQUEST)
        grounder.ended.wait()
        again = service.post("/v1/verify", VIETNAMESE)
        assert service.parts.store is not None
        kept = verdicts(service.parts.store)

    assert (response.status_code, again.status_code) == (408, 408)
    assert kept == []


def test_who_leaves_takes_the_work_along(tmp_path: Path) -> None:
    """A client that closes its connection ends its verification."""
    body = json.dumps(REQUEST).encode()
    head = f"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    with endless(tmp_path, STILLME_THREADS="1") as (service, grounder):
        with socket.create_connection(address(service)) as client:
            client.sendall(head.encode() + body)
            grounder.begun.wait()
        grounder.ended.wait()
        health = service.get("/healthz").status_code

    assert health == 200


def test_work_that_has_not_begun_when_nobody_waits_never_begins() -> None:
    """A place in the queue is free at once, while the thread is still busy with another's work."""
    pool, held, begun = Pool(1, 1), threading.Event(), list[str]()

    async def scenario() -> int:
        first = asyncio.create_task(pool.run(held.wait))
        second = asyncio.create_task(pool.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        await asyncio.sleep(0)
        third = asyncio.create_task(pool.run(lambda: begun.append("third")))
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(first, third)
        return pool.taken

    assert asyncio.run(scenario()) == 0
    assert begun == ["third"]
    pool.close()


def test_health_is_told_however_busy_the_others_are(tmp_path: Path) -> None:
    """Every thread and every place in the queue taken: both health endpoints still answer."""
    with endless(tmp_path, STILLME_THREADS="1", STILLME_MAX_WAITING="1") as (service, grounder), ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(address(service))) for _ in range(2)]
        body = json.dumps(REQUEST).encode()
        for client in clients:
            client.sendall(
                b"POST /v1/verify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                b"content-length: %d\r\n\r\n%s" % (len(body), body)
            )
        grounder.begun.wait()
        while service.parts.pool.taken < 2:
            service.get("/healthz")
        turned_away = service.post("/v1/verify", REQUEST).status_code
        alive, ready = service.get("/healthz"), service.get("/readyz")

    assert turned_away == 429
    assert (alive.status_code, ready.status_code) == (200, 200)


# how much one request may ask for


@pytest.mark.parametrize(
    ("draft", "passage"),
    [
        pytest.param("Room 7 is on floor 3. ", "The hall of room 7 has 40 seats. ", id="en"),
        pytest.param("Phòng 7 ở tầng 3. ", "Sảnh của phòng 7 có 40 ghế. ", id="vi"),
    ],
)
def test_a_maximal_request_is_turned_away_before_work_starts(tmp_path: Path, draft: str, passage: str) -> None:
    """Within every limit on size, over that on work: 422 at once, alone and in a batch."""
    request = {
        "query": "Where is room 7?",
        "draft_answer": (draft * 3_000)[:64_000],
        "retrieved_context": [{"source_id": str(n), "text": (passage * 3_000)[:60_000]} for n in range(15)],
    }
    with endless(tmp_path) as (service, grounder):
        alone = service.post("/v1/verify", request)
        batch = service.post("/v1/verify/batch", {"requests": [request]})

    assert alone.status_code == 422
    assert "limits.work" in alone.json()["detail"]
    assert "limits.work" in batch.json()["problems"][0]["detail"]
    assert not grounder.begun.is_set()


def test_a_batch_has_a_limit_on_work_of_its_own(tmp_path: Path) -> None:
    """Many requests that are each within the limit are not, together."""
    with endless(tmp_path, STILLME_MAX_BATCH_WORK="3") as (service, grounder):
        response = service.post("/v1/verify/batch", {"requests": [REQUEST] * 4})

    assert response.status_code == 422
    assert "STILLME_MAX_BATCH_WORK is 3" in response.json()["detail"]
    assert not grounder.begun.is_set()


# bodies


@pytest.mark.parametrize(
    ("body", "status", "names"),
    [
        pytest.param(b'{"query":"q","metadata":{"x":[' + b"[]," * 2_500_000 + b"[]]}}", 413, "STILLME_MAX_JSON_VALUES", id="millions of empty lists"),
        pytest.param(b'{"query":"q","metadata":{"x":[' + b'"",' * 2_500_000 + b'""]}}', 413, "STILLME_MAX_JSON_VALUES", id="millions of empty texts"),
        pytest.param(b'{"query":"q","metadata":{"x":[' + b'"\\\\",' * 1_500_000 + b'""]}}', 413, "STILLME_MAX_JSON_VALUES", id="millions of backslashes"),
        pytest.param(b'{"query":"q","metadata":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}", 400, "nested", id="nested deeply"),
        pytest.param('{"query":"∀","metadata":{"x":['.encode("utf-16-le") + "[],".encode("utf-16-le") * 600_000 + "[]]}}".encode("utf-16-le"), 400, "not JSON", id="hidden behind a letter with the byte of a quote"),
        pytest.param('{"query":"q"}'.encode("utf-16"), 400, "UTF-8", id="another encoding, with its mark"),
        pytest.param('{"query":"q"}'.encode("utf-32-be"), 400, "not JSON", id="another encoding without"),
        pytest.param(b'{"query":"q","metadata":{"x":1e999}}', 400, "out of range", id="a number out of range"),
        pytest.param(b'{"query":"q","query":"p"}', 400, "'query'", id="a key that stands twice"),
        pytest.param(b'{"query":"q","qu\\u0065ry":"p"}', 400, "'query'", id="twice, one of them escaped"),
        pytest.param('{"query":"q","metadata":{"khóa":1,"khóa":2}}'.encode(), 400, "'khóa'", id="twice further inside"),
    ],
)  # fmt: skip
def test_a_body_that_would_hold_up_everybody_is_refused(service: Service, body: bytes, status: int, names: str) -> None:
    """The answer names the limit or the key."""
    response = httpx.post(
        f"{service.url}/v1/verify", content=body, headers={"content-type": "application/json"}, timeout=600
    )

    assert response.status_code == status
    assert names in response.json()["detail"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[]{}," * 100, id="brackets and commas"),
        pytest.param('"' * 300, id="quotes"),
        pytest.param('\\"[' * 100, id="backslashes"),
        pytest.param('Ông nói: "vâng, [được]". ' * 30, id="Vietnamese"),
    ],
)
def test_what_stands_in_a_text_is_not_counted(text: str) -> None:
    """Commas and brackets of an answer are no values."""
    check_structure(json.dumps({"query": text, "draft_answer": text}).encode(), 100)
    check_structure(json.dumps({"query": text}, ensure_ascii=False).encode(), 100)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the tests that only ask."""
    with endless(tmp_path_factory.mktemp("bounds")) as (found, _):
        yield found


# connections


def test_headers_without_end_are_431(service: Service) -> None:
    """However slowly or fast they come, no more of them is kept than the limit."""
    with socket.create_connection(address(service)) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n")
        try:
            for n in range(10_000):
                client.sendall(b"x-%d: %s\r\n" % (n, b"a" * 10_000))
        except ConnectionError:
            pass
        answer = said(client)

    assert answer.startswith(b"HTTP/1.1 431") or answer == b""  # closed while we were still writing
    assert service.get("/healthz").status_code == 200


def test_headers_that_come_at_once_are_431_too(service: Service) -> None:
    """With the limit in the answer."""
    response = service.get("/healthz", x_long="a" * 40_000)

    assert response.status_code == 431
    assert "STILLME_MAX_HEADER_BYTES" in response.json()["detail"]


@pytest.mark.parametrize("start_of_request", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nhost: loc"])
def test_a_connection_that_sends_no_request_is_closed(tmp_path: Path, start_of_request: bytes) -> None:
    """Nothing, or a beginning of headers: closed when their time is over, without an answer."""
    with endless(tmp_path, STILLME_HEADER_TIMEOUT_S="0.1") as (service, _):
        with socket.create_connection(address(service)) as slow:
            slow.sendall(start_of_request)
            answer = said(slow)

        assert service.get("/healthz").status_code == 200
    assert answer == b""


def test_a_second_request_on_a_connection_has_no_more_time(tmp_path: Path) -> None:
    """A connection that served once drips its next headers."""
    with (
        endless(tmp_path, STILLME_HEADER_TIMEOUT_S="0.1") as (service, _),
        socket.create_connection(address(service)) as slow,
    ):
        slow.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        answer = slow.recv(65536)
        slow.sendall(b"GET /healthz HT")
        answer += said(slow)

    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1") == 1


def test_idle_connections_make_room(tmp_path: Path) -> None:
    """Many sockets that send nothing take no place from whoever asks."""
    with (
        endless(tmp_path, STILLME_MAX_CONNECTIONS="5", STILLME_HEADER_TIMEOUT_S="600") as (service, _),
        ExitStack() as stack,
    ):
        idle = [stack.enter_context(socket.create_connection(address(service))) for _ in range(30)]

        answers = [service.get("/healthz").status_code for _ in range(3)]
        dropped = said(idle[0])

    assert answers == [200] * 3
    assert dropped == b""


REFUSED = b"POST /v1/verify HTTP/1.1\r\nhost: elsewhere.example\r\ncontent-length: 9000\r\n\r\n{"


def test_a_body_that_goes_on_behind_its_answer_is_ended(tmp_path: Path) -> None:
    """Whoever is refused before the body has arrived cannot hold the connection by dripping the rest."""
    with (
        endless(tmp_path, STILLME_HEADER_TIMEOUT_S="0.1") as (service, _),
        socket.create_connection(address(service)) as slow,
    ):
        slow.sendall(REFUSED)
        answer = slow.recv(65536)
        slow.sendall(b" ")
        answer += said(slow)

    assert answer.startswith(b"HTTP/1.1 403")


def test_answered_connections_make_room(tmp_path: Path) -> None:
    """Many that were refused and never end their bodies take no place from whoever asks."""
    with (
        endless(tmp_path, STILLME_MAX_CONNECTIONS="5", STILLME_HEADER_TIMEOUT_S="600") as (service, _),
        ExitStack() as stack,
    ):
        refused = [stack.enter_context(socket.create_connection(address(service))) for _ in range(5)]
        for client in refused:
            client.sendall(REFUSED)
            assert client.recv(65536).startswith(b"HTTP/1.1 403")
        answers = [service.get("/healthz").status_code for _ in range(3)]

    assert answers == [200] * 3


def test_a_connection_whose_body_ended_behind_its_answer_is_used_again(tmp_path: Path) -> None:
    """It is as good as any other."""
    with (
        endless(tmp_path, STILLME_HEADER_TIMEOUT_S="600") as (service, _),
        socket.create_connection(address(service)) as client,
    ):
        client.sendall(REFUSED)
        first = client.recv(65536)
        client.sendall(b" " * 8999 + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        second = said(client)

    assert first.startswith(b"HTTP/1.1 403")
    assert second.count(b"HTTP/1.1 200") == 1


# rates


def test_a_caller_has_so_many_requests_a_minute() -> None:
    """All at once or spread; another caller has as many; whoever comes too soon is told when to come back."""
    now = [0.0]
    rate = Rate(3, "STILLME_RATE_PER_KEY", lambda: now[0])
    for _ in range(3):
        rate.take("a")

    with pytest.raises(ProblemError) as refused:
        rate.take("a")
    rate.take("b")
    now[0] = 19.0
    with pytest.raises(ProblemError) as still:
        rate.take("a")
    now[0] = 21.0
    rate.take("a")

    assert refused.value.problem.status == still.value.problem.status == 429
    assert (refused.value.problem.headers, still.value.problem.headers) == ({"retry-after": "20"}, {"retry-after": "1"})
    assert "STILLME_RATE_PER_KEY" in refused.value.problem.detail


def test_no_rate_is_no_bound_and_callers_are_not_kept_for_ever() -> None:
    """0 switches it off; of many callers the ones that have not asked for longest are forgotten."""
    Rate(0, "X").take("a")
    rate = Rate(1, "X", lambda: 0.0)
    for n in range(20_000):
        rate.take(str(n))

    assert len(rate._left) == 10_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("10.0.0.1", "10.0.0.2", False, id="two hosts"),
        pytest.param("2001:db8::1", "2001:db8::ffff:2", True, id="two addresses of one network"),
        pytest.param("2001:db8::1", "2001:db8:0:1::1", False, id="two networks"),
        pytest.param("::ffff:10.0.0.1", "10.0.0.1", True, id="one host, written in two ways"),
    ],
)
def test_whose_address_it_is(one: str, other: str, same: bool) -> None:
    """A host of IPv6 has a whole network of addresses."""
    assert (address_of((one, 1)) == address_of((other, 2))) == same


@contextmanager
def bounded(folder: Path, **rates: int) -> Iterator[Service]:
    """A service whose clock for rates stands still."""
    parts = parts_from({"STILLME_DATA": str(folder), "STILLME_AUDIT_STORE": "none"})
    app: Any = create_app(parts)
    for name, most in rates.items():
        setattr(app, name, Rate(most, f"STILLME_RATE_{name.upper()}", lambda: 0.0))
    with served(app, **connection_options(parts.settings)) as url:
        yield Service(url, parts, folder)


def test_an_address_that_asks_too_often_is_429_before_anybody_is_known(tmp_path: Path) -> None:
    """Wrong keys count too, a header that names another address changes nothing, and health is told all the same."""
    Keys(tmp_path / "keys.json").create("bank", ["verify"])
    with bounded(tmp_path, by_address=2) as service:
        found = [
            service.post("/v1/verify", REQUEST, x_api_key="sm_wrong_key", x_forwarded_for=f"10.0.0.{n}")
            for n in range(4)
        ]
        health = service.get("/healthz").status_code

    assert [r.status_code for r in found] == [401, 401, 429, 429]
    assert found[2].headers["retry-after"] == "30"
    assert health == 200


def test_a_key_that_asks_too_often_is_429_and_another_is_not(tmp_path: Path) -> None:
    """Each key has its own measure."""
    keys = Keys(tmp_path / "keys.json")
    one, other = keys.create("one", ["verify"]), keys.create("other", ["verify"])
    with bounded(tmp_path, by_key=1) as service:
        found = [service.get("/v1/reasons", x_api_key=key).status_code for key in (one, one, other)]

    assert found == [200, 429, 200]


def test_the_settings_for_rates_are_read(start: Start) -> None:
    """As the environment says."""
    settings = start(STILLME_RATE_PER_KEY="7", STILLME_RATE_PER_ADDRESS="9").parts.settings

    assert (settings.rate_per_key, settings.rate_per_address) == (7, 9)
