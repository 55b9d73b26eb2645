"""Every endpoint acts in the mode that the service says it does: monitor, unless something says otherwise."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from stillme.cli.serve import _in_force
from tests.chat.upstream import Upstream, completion
from tests.service.conftest import Service, Start
from tests.service.test_server import process
from tests.waiting import eventually

LEAVE = "How many days of paid leave do new staff get in the first year?"
WRONG = "New staff get 41 days of paid leave in the first year [1]."
PASSAGE = {
    "source_id": "h",
    "text": "New staff get 14 days of paid leave in the first year.",
    "similarity": 0.9,
}
V1 = (
    "/v1/verify",
    "/v1/precheck",
    "/v1/verify/batch",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/completions",
    "/beta/litellm_basic_guardrail_api",
)


def acted(service: Service) -> dict[str, str]:
    """What each endpoint does about a wrong answer, told by what comes out of it."""
    request = {"query": LEAVE, "draft_answer": WRONG, "retrieved_context": [PASSAGE]}
    verdict = service.post("/v1/verify", request).json()
    asking = [{"role": "user", "content": LEAVE}]
    context = {"stillme": {"context": [PASSAGE]}}
    guarded = service.post("/v1/chat/completions", {"model": "m", "messages": asking, **context})
    sent: dict[str, Any] = {"texts": [WRONG], "structured_messages": asking, "litellm_call_id": "c"}
    params = {"additional_provider_specific_params": context}
    litellm = service.post("/beta/litellm_basic_guardrail_api", {"input_type": "response", **sent, **params}).json()
    chat = service.post("/api/chat/rag", {"message": LEAVE}, x_stillme_response="chat")
    return {
        "/v1/verify": verdict["action"],
        "/v1/chat/completions": guarded.headers["x-stillme-action"],
        "/beta/litellm_basic_guardrail_api": litellm["verdicts"][0]["action"],
        "/api/chat/rag": chat.headers["x-stillme-action"],
    }


WATCHES, BLOCKS = "deliver", "block"


@pytest.mark.parametrize(
    ("environment", "policy", "v1", "chat"),
    [
        pytest.param({}, None, "monitor", "enforce", id="nothing is said: only the validated chat enforces"),
        pytest.param(
            {"STILLME_MODE": "monitor"}, None, "monitor", "monitor", id="a mode that is said holds everywhere"
        ),
        pytest.param({"STILLME_MODE": "enforce"}, None, "enforce", "enforce", id="and so does enforce"),
        pytest.param({"STILLME_POLICY": "book"}, None, "enforce", "enforce", id="book enforces"),
        pytest.param(
            {"STILLME_POLICY": "book", "STILLME_MODE": "monitor"}, None, "monitor", "monitor", id="a mode beside book"
        ),
        pytest.param({"STILLME_POLICY": "lite"}, None, "monitor", "monitor", id="lite, named, says monitor"),
        pytest.param({}, "on_error: refuse\n", "monitor", "enforce", id="a file without a mode"),
        pytest.param({}, "mode: monitor\n", "monitor", "monitor", id="a file that says monitor"),
        pytest.param({}, "extends: book\n", "enforce", "enforce", id="a file that extends book"),
        pytest.param({}, "extends: book\nmode: monitor\n", "monitor", "monitor", id="that and a mode"),
    ],
)
def test_what_is_said_is_what_is_done(
    start: Start, handbook: Path, tmp_path: Path, environment: dict[str, str], policy: str | None, v1: str, chat: str
) -> None:
    """`/readyz` names the mode of each endpoint, and a wrong answer fares accordingly."""
    if policy is not None:
        (tmp_path / "own.yaml").write_text(policy, encoding="utf-8")
        environment = {**environment, "STILLME_POLICY": str(tmp_path / "own.yaml")}
    with Upstream(completion(WRONG), completion(WRONG)) as upstream:
        known = {
            "STILLME_KNOWLEDGE": str(handbook),
            "STILLME_LOCAL_URL": upstream.url,
            "STILLME_LOCAL_MODEL": "small",
            "STILLME_PROVIDER": "local",
            "STILLME_UPSTREAM_URL": upstream.url,
            "ENABLE_VALIDATORS": "true",
        }
        service = start(**known, **environment)
        modes, found = service.get("/readyz").json()["modes"], acted(service)

    assert modes == {**dict.fromkeys(V1, v1), "/api/chat/rag": chat, "/api/chat/stream": chat}
    does = {"monitor": WATCHES, "enforce": BLOCKS}
    assert found == {path: does[modes[path]] for path in found}


def test_a_chat_without_validators_says_so(start: Start) -> None:
    """It has no mode: nothing of it is verified."""
    assert start().get("/readyz").json()["modes"]["/api/chat/rag"] == "not validated"


def test_a_mode_that_is_written_into_a_served_file_is_taken_up(start: Start, tmp_path: Path) -> None:
    """The chat's own default gives way as soon as the file says a mode."""
    file = tmp_path / "own.yaml"
    file.write_text("on_error: refuse\n", encoding="utf-8")
    service = start(STILLME_POLICY=str(file), ENABLE_VALIDATORS="true")
    before = service.get("/readyz").json()["modes"]["/api/chat/rag"]

    file.write_text("on_error: refuse\nmode: warn\n", encoding="utf-8")

    assert before == "enforce"
    assert eventually(lambda: service.get("/readyz").json()["modes"]["/api/chat/rag"] == "warn")


@pytest.mark.parametrize(
    ("environment", "lines"),
    [
        pytest.param(
            {},
            [
                f"mode: monitor at {', '.join(V1)}",
                "mode: not validated at /api/chat/rag",
                "mode: enforce at /api/chat/stream",
                "note: chat answers at /api/chat/rag are not validated: ENABLE_VALIDATORS=true turns the validators on",
            ],
            id="as it comes",
        ),
        pytest.param(
            {"ENABLE_VALIDATORS": "true"},
            [f"mode: monitor at {', '.join(V1)}", "mode: enforce at /api/chat/rag, /api/chat/stream"],
            id="with validators in the chat",
        ),
        pytest.param(
            {"ENABLE_VALIDATORS": "true", "STILLME_POLICY": "book"},
            [f"mode: enforce at {', '.join(V1)}, /api/chat/rag, /api/chat/stream"],
            id="book",
        ),
    ],
)
def test_the_start_says_the_mode_of_each_endpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environment: dict[str, str], lines: list[str]
) -> None:
    """For a person to read; that it comes on stderr of the process is the next test's."""
    monkeypatch.chdir(tmp_path)
    for name in ("STILLME_POLICY", "STILLME_MODE", "ENABLE_VALIDATORS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert list(_in_force()) == lines


def test_the_start_says_that_the_policy_of_the_folder_is_used(tmp_path: Path) -> None:
    """On stderr, before the first request: a file that nobody named is not used in silence."""
    (tmp_path / "policy.yaml").write_text("mode: warn\n", encoding="utf-8")
    with process(tmp_path / "data") as (_, served):
        assert served.stderr is not None
        told = (line.rstrip("\n") for line in served.stderr if line.startswith(("note: ", "mode: ")))
        said = list(islice(told, 2))  # between them may stand what is logged

    assert said == [
        "note: the policy is policy.yaml of this folder; --policy names another",
        f"mode: warn at {', '.join(V1)}, /api/chat/stream",
    ]


def test_the_policy_file_of_the_working_folder_is_served(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`policy.yaml` is the policy where no other is named."""
    (tmp_path / "policy.yaml").write_text("mode: warn\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    here, named = start(), start(STILLME_POLICY="lite")

    assert (here.get("/v1/policy").json()["verify"]["mode"], named.get("/v1/policy").json()["verify"]["mode"]) == (
        "warn",
        "monitor",
    )
