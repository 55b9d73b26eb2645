"""Verification over HTTP gives what the library gives, and bad requests get problem documents that say the way out."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.chain.record import Entry
from tests.service.conftest import Service, Start, running
from tests.waiting import eventually

REQUEST: dict[str, Any] = {
    "request_id": "r-1",
    "query": "How many days of leave do new staff get?",
    "draft_answer": "New staff get 14 days of leave [1].",
    "retrieved_context": [{"source_id": "handbook", "text": "New staff get 14 days of leave in the first year."}],
    "as_of": "2026-02-01T09:00:00Z",
}
WRONG = REQUEST | {"request_id": "r-2", "draft_answer": "New staff get 41 days of leave [1]."}
VIETNAMESE = {
    "query": "Phí rút tiền là bao nhiêu?",
    "draft_answer": "Phí rút tiền là 5.500 đồng [1].",
    "retrieved_context": [{"source_id": "phi", "text": "Phí rút tiền là 3.300 đồng mỗi lần."}],
    "as_of": "2026-02-01T09:00:00Z",
}


def content(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict without ids and times."""
    kept = {k: v for k, v in verdict.items() if k not in ("request_id", "validator_trace_id", "metrics")}
    kept["findings"] = [{k: v for k, v in f.items() if k != "elapsed_ms"} for f in verdict["findings"]]
    return kept


def verdicts(store: AuditStore) -> list[Entry]:
    """The verdicts in a store, in order."""
    return [record.entry for record in store.records() if record.entry and record.entry.kind == "verdict"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One service for the tests that only ask."""
    with running(tmp_path_factory.mktemp("service"), {}) as found:
        yield found


@pytest.mark.parametrize("request_", [REQUEST, WRONG, VIETNAMESE], ids=["supported", "wrong number", "vietnamese"])
def test_a_verdict_over_http_is_the_library_s(service: Service, request_: dict[str, Any]) -> None:
    """Same request, same policy, same verdict, whichever way it came."""
    response = service.post("/v1/verify", request_)

    assert response.status_code == 200
    assert content(response.json()) == content(Guard().verify(request_).model_dump(mode="json"))


def test_a_request_without_a_draft_is_prechecked(service: Service) -> None:
    """Pattern B by leaving the draft out, and by its own path whatever the draft says."""
    bare = {key: value for key, value in REQUEST.items() if key != "draft_answer"}

    left_out, prechecked = service.post("/v1/verify", bare).json(), service.post("/v1/precheck", WRONG).json()

    assert (left_out["decision"], prechecked["decision"]) == ("answer", "answer")
    assert {f["stage"] for f in left_out["findings"] + prechecked["findings"]} == {"query"}


def test_precheck_refuses_without_sources(service: Service) -> None:
    """Gate 1, before anything is generated."""
    verdict = service.post("/v1/precheck", {"query": "What was the inflation rate in Vietnam in 2019?"}).json()

    assert (verdict["decision"], verdict["reasons"]) == ("refuse", ["source_required_no_context"])


def test_a_batch_keeps_order_and_says_which_request_is_wrong(service: Service) -> None:
    """One request that cannot be read does not hold up the others."""
    response = service.post("/v1/verify/batch", {"requests": [WRONG, {"query": " "}, REQUEST]})

    found = response.json()
    assert [v and v["decision"] for v in found["verdicts"]] == ["refuse", None, "answer"]
    assert [v and v["request_id"] for v in found["verdicts"]] == ["r-2", None, "r-1"]
    assert found["problems"] == [{"index": 1, "detail": "query is blank (' '): send the user's question"}]


def test_an_empty_batch_is_answered(service: Service) -> None:
    """Nothing in, nothing out."""
    assert service.post("/v1/verify/batch", {"requests": []}).json() == {"verdicts": [], "problems": []}


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        pytest.param("/v1/verify", {}, 422, "query is missing: it is required", id="a missing question"),
        pytest.param("/v1/verify", {"querry": "x"}, 422, "did you mean 'query'?", id="a misspelt key"),
        pytest.param("/v1/verify", [REQUEST], 422, "a request is a JSON object", id="a list where one is asked for"),
        pytest.param("/v1/verify", {"query": "x" * 9000}, 422, "limits.query_chars is 8000", id="over a limit"),
        pytest.param(
            "/v1/verify",
            REQUEST | {"retrieved_context": [{"source_id": "a", "text": "b", "similarity": 7}]},
            422,
            "retrieved_context[0].similarity: should be less than or equal to 1, got 7",
            id="a similarity beyond its range",
        ),
        pytest.param(
            "/v1/verify/batch", [REQUEST], 422, 'a batch is an object with one key: {"requests"', id="a bare list"
        ),
        pytest.param(
            "/v1/verify/batch", {"requests": [{}] * 300}, 422, "STILLME_MAX_BATCH is 256", id="too many at once"
        ),
        pytest.param("/nothing", {}, 404, "there is no such path", id="an unknown path"),
    ],
)
def test_bad_input_is_a_problem_document(service: Service, path: str, body: Any, status: int, detail: str) -> None:
    """It names the field, the value and the way out."""
    response = service.post(path, body)

    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert response.json()["status"] == status
    assert detail in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        pytest.param(b"", 400, "the body is not JSON", id="nothing"),
        pytest.param(b'{"query": "x"', 400, "the body is not JSON", id="cut off"),
        pytest.param(b'{"query": "\xff"}', 400, "not well-formed Unicode", id="no UTF-8"),
        pytest.param(
            b'{"query": "\\ud800"}', 400, "not well-formed Unicode", id="half a surrogate pair in the question"
        ),
        pytest.param(b'{"query": "x", "request_id": "\\udfff"}', 400, "not well-formed", id="half a pair in the id"),
        pytest.param(b'{"query": "x", "as_of": NaN}', 400, "NaN is no JSON number", id="a number that is none"),
        pytest.param(b"[" * 100_000, 400, "the body is", id="nested without end"),
        pytest.param(
            b'{"query": ' + b"9" * 5000 + b"}", 400, "the body is not JSON", id="a number of thousands of digits"
        ),
    ],
)
def test_a_body_that_is_no_json_is_told_so(service: Service, body: bytes, status: int, detail: str) -> None:
    """Whatever bytes come, a problem document goes back."""
    response = httpx.post(f"{service.url}/v1/verify", content=body, headers={"content-type": "application/json"})

    assert response.status_code == status
    assert detail in response.json()["detail"]


def test_only_json_is_taken(service: Service) -> None:
    """So that a form on somebody's web page cannot call a service on this machine."""
    response = httpx.post(
        f"{service.url}/v1/verify", content=json.dumps(REQUEST), headers={"content-type": "text/plain"}
    )

    assert response.status_code == 415
    assert "content-type: application/json" in response.json()["detail"]


def test_a_wrong_method_says_which_paths_there_are(service: Service) -> None:
    """405, with what is allowed."""
    response = service.get("/v1/verify")

    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_policy_reasons_and_validators_are_listed(service: Service) -> None:
    """What judges, in words and figures."""
    policy = service.get("/v1/policy").json()
    reasons = {row["code"]: row["say"] for row in service.get("/v1/reasons?language=vi").json()}
    validators = [row["name"] for row in service.get("/v1/validators").json()]

    assert policy["verify"]["policy_hash"] == Guard().policy.hash
    assert (policy["verify"]["mode"], policy["chat"]["mode"]) == ("monitor", "enforce")
    assert "tài liệu" in reasons["source_required_no_context"]
    assert validators[0] == "AmbiguousQuery"
    assert service.get("/v1/reasons?language=fr").status_code == 422


def test_every_verdict_is_recorded_by_default(start: Start) -> None:
    """The audit store is on without a word, and holds what was returned."""
    service = start()

    verdict = service.post("/v1/verify", WRONG).json()
    service.post("/v1/verify/batch", {"requests": [REQUEST, REQUEST]})

    with AuditStore(service.folder / "audit.db", create=False) as store:
        recorded = verdicts(store)
    assert len(recorded) == 3
    assert recorded[0].id == verdict["validator_trace_id"]


def test_a_record_can_be_declined(start: Start) -> None:
    """`none` is said, not left out."""
    service = start(STILLME_AUDIT_STORE="none")

    assert service.post("/v1/verify", REQUEST).status_code == 200
    assert not (service.folder / "audit.db").exists()


def test_a_changed_policy_file_is_taken_up_and_a_bad_one_is_not(start: Start, tmp_path: Any) -> None:
    """While serving; the last good policy stays in force, and the service says so."""
    file = tmp_path / "policy.yaml"
    file.write_text("mode: warn\n", encoding="utf-8")
    service = start(STILLME_POLICY=str(file))
    assert service.post("/v1/verify", WRONG).json()["mode"] == "warn"

    file.write_text("mode: enforce\n", encoding="utf-8")
    assert eventually(lambda: service.post("/v1/verify", WRONG).json()["mode"] == "enforce")
    file.write_text("mode: shout\n", encoding="utf-8")
    assert eventually(lambda: service.get("/v1/policy").json()["verify"]["problem"] is not None)

    found = service.get("/v1/policy").json()["verify"]
    assert (found["mode"], "shout" in found["problem"]) == ("enforce", True)
    ready = service.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    assert ready.json()["checks"]["policy"].startswith("the file cannot be used; the last good policy is in force")
    assert ready.json()["modes"]["/v1/verify"] == "enforce"
    assert 'stillme_policy_reloads_total{outcome="failed"} 1.0' in service.get("/metrics").text


def test_policies_of_callers_are_not_taken(service: Service) -> None:
    """A caller cannot choose what it is judged by."""
    response = service.post("/v1/verify", REQUEST | {"policy": {"mode": "monitor"}})

    assert response.status_code == 422
    assert "unknown key 'policy'" in response.json()["detail"]
