"""The service as a process: started by its command, stopped by a signal, killed and started again, several on one database."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import psycopg
import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore
from stillme.audit.chain.checking import check_store
from stillme.audit.chain.seals import new_key_file
from stillme.chat.documents.ingest import ingest
from stillme.cli.commands import cli
from stillme.models.embedding import embed
from stillme.storage.knowledge.engines import store_at
from tests.service.test_verify import REQUEST, WRONG, verdicts
from tests.waiting import eventually


@contextmanager
def process(folder: Path, *flags: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`stillme serve` on a free port, once it says where."""
    command = [sys.executable, "-m", "stillme", "serve", "--port", "0", "--data", str(folder), *flags]
    quiet = {k: v for k, v in os.environ.items() if not k.startswith(("STILLME_", "ENABLE_", "VALIDATOR_"))}
    started = subprocess.Popen(
        command, env=quiet | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder.parent
    )
    assert started.stdout is not None
    try:
        line = started.stdout.readline()
        found = re.search(r"http://[0-9.:]+", line)
        assert found, line + (started.stderr.read() if started.stderr and started.poll() is not None else "")
        yield found[0], started
    finally:
        if started.poll() is None:
            started.terminate()
        started.communicate(timeout=600)


RULES = "grounding: {model: none}\n"
"""A policy for services that are only started and ended: they have no model to load."""


def rules_alone(folder: Path) -> list[str]:
    """The flags that serve under it."""
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    return ["--policy", str(folder / "rules.yaml")]


CLIENT = httpx.Client(timeout=600, trust_env=False, verify=False)  # noqa: S501  (plain HTTP on loopback)


@pytest.fixture(scope="module", autouse=True)
def _client_is_closed() -> Iterator[None]:
    """After the last test."""
    yield
    CLIENT.close()


def post(url: str, body: Any) -> httpx.Response:
    """What a service answers to a request."""
    return CLIENT.post(f"{url}/v1/verify", json=body)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, or fail."""
    assert eventually(holds)


def is_up(url: str) -> bool:
    """Whether a service answers."""
    try:
        return CLIENT.get(f"{url}/healthz").status_code == 200
    except httpx.HTTPError:
        return False


def trail(where: str | Path) -> tuple[list[str], bool]:
    """The trace ids in a store, and whether its chain is whole."""
    with AuditStore(where, create=False) as store:
        ids = [entry.id for entry in verdicts(store)]
        return ids, check_store(store, store.keyring).is_complete


def test_the_collector_of_garbage_leaves_alone_what_a_process_has_loaded(tmp_path: Path) -> None:
    """And it looks for circles less often than once a request."""
    asked = "import gc; from stillme.service.server import settle; settle(); print(gc.get_freeze_count(), *gc.get_threshold())"

    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=tmp_path)

    frozen, *threshold = map(int, said.stdout.split())
    assert frozen > 10_000
    assert threshold[0] >= 50_000


def test_it_serves_and_ends_on_a_signal(tmp_path: Path) -> None:
    """No keys, no network, no database server; Ctrl-C or SIGTERM ends it with code 0 or by that signal."""
    with process(tmp_path / "data") as (url, served):
        assert post(url, WRONG).json()["decision"] == "refuse"
        assert CLIENT.get(f"{url}/docs").status_code == 200
        served.send_signal(signal.SIGTERM)
        served.wait(30)

    assert served.returncode in (0, -signal.SIGTERM)
    assert trail(tmp_path / "data" / "audit.db")[1]


@pytest.mark.parametrize(
    ("flags", "environment", "message"),
    [
        pytest.param(["--host", "0.0.0.0"], {}, "there are no API keys", id="an open address without keys"),  # noqa: S104
        pytest.param(["--port", "x"], {}, "STILLME_PORT must be a whole number", id="a port that is none"),
        pytest.param(["--policy", "nowhere.yaml"], {}, "nowhere.yaml", id="a policy that is not there"),
        pytest.param([], {"STILLME_THREADS": "0"}, "STILLME_THREADS must be", id="a bad variable"),
        pytest.param([], {"STILLME_PROVIDER": "opnai"}, "did you mean openai", id="an unknown provider"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(
    tmp_path: Path, flags: list[str], environment: dict[str, str], message: str
) -> None:
    """With the way out, and no traceback."""
    arguments = ["serve", "--port", "0", "--data", str(tmp_path / "data"), *flags]

    with patch.dict(os.environ, environment):  # flags become variables, which go with the test
        done = CliRunner().invoke(cli, arguments, catch_exceptions=False)

    assert done.exit_code in (3, 4)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_store_that_is_not_there_yet_keeps_nobody_from_starting(tmp_path: Path) -> None:
    """Verification works, the chat is a 503 that says nothing of where the store is, and readiness says what is missing."""
    flags = ["--knowledge", "postgresql://user:secret-word@127.0.0.1:1/nowhere"]
    with process(tmp_path / "data", *flags) as (url, _):
        verdict = post(url, REQUEST)
        chat = CLIENT.post(f"{url}/api/chat/rag", json={"message": "How many days of leave are there?"})
        ready = CLIENT.get(f"{url}/readyz")

    assert (verdict.status_code, chat.status_code, ready.status_code) == (200, 503, 503)
    assert ready.json()["checks"] == {
        "policy": "ok",
        "model": "ok",
        "knowledge": "not reachable",
        "keys": "ok",
        "audit": "ok",
    }
    assert "nowhere" not in chat.text
    assert "secret-word" not in chat.text


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    """It names the port and the flag; as a process, which ends with the code of bad input."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "stillme", "serve", "--data", str(tmp_path / "data"), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)

    assert done.returncode == 3
    assert f"127.0.0.1:{port} cannot be listened on" in done.stderr


def test_shutting_down_finishes_what_was_accepted(tmp_path: Path) -> None:
    """Requests under way when the signal comes get their verdicts, and each is in the record."""
    answers: list[httpx.Response] = []
    body = WRONG | {"draft_answer": " ".join(f"New staff get {n} days of leave [1]." for n in range(20, 140))}
    with process(tmp_path / "data", *rules_alone(tmp_path)) as (url, served):
        post(url, REQUEST)
        callers = [threading.Thread(target=lambda: answers.append(post(url, body))) for _ in range(3)]
        for caller in callers:
            caller.start()
        until(lambda: "stillme_http_requests_open 4.0" in CLIENT.get(f"{url}/metrics").text or len(answers) == 3)
        served.send_signal(signal.SIGTERM)
        for caller in callers:
            caller.join()

    assert [a.status_code for a in answers] == [200, 200, 200]
    ids, whole = trail(tmp_path / "data" / "audit.db")
    assert whole
    assert {a.json()["validator_trace_id"] for a in answers} <= set(ids)


def test_killed_under_load_it_loses_no_verdict_that_it_gave(tmp_path: Path) -> None:
    """Every verdict that reached a caller is in the store after SIGKILL, the chain is whole, and the next one goes on from there."""
    given: list[str] = []
    stop = threading.Event()

    def keep_asking(url: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                found = post(url, WRONG | {"request_id": f"{threading.get_ident()}-{number}"})
            except httpx.HTTPError:
                return
            if found.status_code == 200:
                given.append(found.json()["validator_trace_id"])

    for wanted in (12, 24):
        with process(tmp_path / "data", *rules_alone(tmp_path)) as (url, served):
            callers = [threading.Thread(target=keep_asking, args=(url,)) for _ in range(4)]
            for caller in callers:
                caller.start()
            until(lambda: len(given) >= wanted)  # noqa: B023  (it is called before the next round)
            served.kill()
            for caller in callers:
                caller.join()
    stop.set()

    ids, whole = trail(tmp_path / "data" / "audit.db")
    assert whole
    assert len(given) >= 24
    assert set(given) <= set(ids)


def test_several_workers_share_one_port_and_their_figures(tmp_path: Path) -> None:
    """Each request is counted once, whichever process took it; the address is told when one of them answers."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    flags = ["--workers", "2", "--port", str(port), *rules_alone(tmp_path)]
    with process(tmp_path / "data", *flags) as (url, _):
        assert is_up(url)
        for _ in range(20):
            assert post(url, REQUEST).status_code == 200
        figures = CLIENT.get(f"{url}/metrics").text

    assert 'decision="answer"' in figures
    counted = re.findall(
        r'stillme_http_requests_total{method="POST",route="/v1/verify",status="200"} ([0-9.]+)', figures
    )
    assert [float(n) for n in counted] == [20.0]
    ids, whole = trail(tmp_path / "data" / "audit.db")
    assert (len(ids), whole) == (20, True)


@pytest.fixture
def replicas_url(postgres_url: str) -> str:
    """A schema of their own in the server that all tests share."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE SCHEMA replicas")
    return f"{postgres_url}&options=-csearch_path%3Dreplicas"


def test_two_replicas_share_knowledge_and_record_in_postgresql(tmp_path: Path, replicas_url: str) -> None:
    """What one ingests the other finds; their verdicts stand in one chain."""
    documents = tmp_path / "docs"
    documents.mkdir()
    (documents / "leave.md").write_text(
        "# Leave\n\nNew staff get 14 days of paid leave in the first year.\n", encoding="utf-8"
    )
    with closing(store_at(replicas_url)) as knowledge:
        assert not ingest([documents], knowledge, embed=embed).failed
    key = tmp_path / "seal.key"
    with ExitStack() as stack:
        places = [("--store", replicas_url, "--knowledge", replicas_url)] * 2
        environment = {"STILLME_AUDIT_KEY_FILE": str(key), "ENABLE_VALIDATORS": "true"}
        new_key_file(key)
        urls = [
            stack.enter_context(process(tmp_path / f"data-{n}", *flags, **environment))[0]
            for n, flags in enumerate(places)
        ]
        answers = [
            httpx.post(
                f"{url}/api/chat/rag", json={"message": "How many days of paid leave do new staff get?"}, timeout=600
            )
            for url in urls
        ]
        ready = [CLIENT.get(f"{url}/readyz").json()["ready"] for url in urls]

    assert ready == [True, True]
    assert ["14 days" in json.dumps(a.json()) for a in answers] == [True, True]
    with AuditStore(replicas_url, key=key, create=False) as store:
        ids = {entry.id for entry in verdicts(store)}
        assert check_store(store, store.keyring).is_complete
    assert {a.headers["x-stillme-validator-trace-id"] for a in answers} <= ids
