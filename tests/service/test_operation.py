"""What an operator sees: health, readiness, figures, logs without texts, traces, the interactive page."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from stillme.models import bundle, grounding
from stillme.version import __version__
from tests.service.conftest import Start, running
from tests.service.test_verify import REQUEST, WRONG


def test_health_and_readiness(start: Start) -> None:
    """Alive is not ready; ready names what it depends on."""
    service = start()

    assert service.get("/healthz").json() == {"status": "ok", "version": __version__}
    ready = service.get("/readyz")
    found = ready.json()
    assert (ready.status_code, found["ready"]) == (200, True)
    assert found["checks"] == {"policy": "ok", "model": "ok", "knowledge": "ok", "keys": "ok", "audit": "ok"}


def figures(text: str) -> dict[str, float]:
    """The samples of a Prometheus page, those of times and creation left out."""
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in rows if "_created" not in name and "seconds" not in name}


def test_figures_keep_decision_and_action_apart(start: Start) -> None:
    """Requests by decision, action and mode; reasons; the pass rate; errors."""
    service = start()
    service.post("/v1/verify", REQUEST)
    service.post("/v1/verify", WRONG)
    service.post("/v1/verify", {})
    service.get("/nowhere/at/all")

    text = service.get("/metrics").text
    found = figures(text)
    assert found['stillme_verdicts_total{action="deliver",decision="answer",language="en",mode="monitor"}'] == 1
    assert found['stillme_verdicts_total{action="deliver",decision="refuse",language="en",mode="monitor"}'] == 1
    assert found['stillme_reasons_total{reason="contradicted_claim"}'] == 1
    assert found["stillme_validation_pass_rate"] == 0.5
    assert found['stillme_errors_total{status="422"}'] == 1
    assert found['stillme_http_requests_total{method="POST",route="/v1/verify",status="200"}'] == 2
    assert found['stillme_http_requests_total{method="GET",route="other",status="404"}'] == 1
    assert 'stillme_validator_seconds_count{validator="CitationRequired"} 2.0' in text
    assert "nowhere" not in text


def test_figures_tell_passages_that_came_before_from_new_ones(start: Start) -> None:
    """How often a passage was read already, and what is kept of all of them."""
    service = start()
    context = [{"source_id": "a", "text": "The Tarn bridge was opened for carts in 1871."}]
    request = {**REQUEST, "retrieved_context": context}
    service.post("/v1/verify", request)
    new = figures(service.get("/metrics").text)
    service.post("/v1/verify", {**request, "retrieved_context": [{**context[0], "source_id": "b"}]})

    again = figures(service.get("/metrics").text)
    read = "stillme_passages_newly_read_total", "stillme_passages_read_before_total"
    assert new[read[0]] >= 1
    assert [again[name] - new[name] for name in read] == [0, 1]
    assert again["stillme_passage_cache_bytes"] >= len(context[0]["text"])


def test_logs_hold_no_texts_and_no_keys(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """Codes, ids and times only."""
    caplog.set_level(logging.DEBUG, "stillme")
    service = start()
    secret = REQUEST | {
        "query": "How many days of leave does Zebulon get?",
        "draft_answer": "Zebulon gets 41 days [1].",
    }

    verdict = service.post("/v1/verify", secret, authorization="Bearer sm_zebra_key").json()
    service.post("/v1/verify", {"query": "Zebulon", "zebra": 1})

    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert verdict["validator_trace_id"] in logged
    assert "Zebulon" not in logged
    assert "zebra" not in logged


def test_the_interactive_page_needs_no_network(start: Start) -> None:
    """Everything it loads comes from the service itself."""
    service = start()
    page = service.get("/docs").text

    assert "/docs/assets/swagger-ui-bundle.js" in page
    assert "http://" not in page
    assert "https://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png"):
        assert service.get(f"/docs/assets/{asset}").status_code == 200


def test_the_document_describes_bodies_and_problems(start: Start) -> None:
    """Every operation under /v1 and /api says what it takes and how it fails."""
    document = start().get("/openapi.json").json()

    body = document["paths"]["/v1/verify"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/VerifyRequest"}
    references = json.dumps(document).split('"$ref": "')[1:]
    names = {reference.split('"')[0].rsplit("/", 1)[1] for reference in references}
    assert names <= set(document["components"]["schemas"])
    assert document["components"]["schemas"]["Problem"]["required"] == ["type", "title", "status", "detail"]


def test_origins_are_closed_unless_named(start: Start) -> None:
    """A browser page elsewhere gets no leave to read, unless the operator names it."""
    closed = start().post("/v1/verify", REQUEST, origin="https://intranet.example")

    assert "access-control-allow-origin" not in closed.headers


def test_a_named_origin_may_call(start: Start) -> None:
    """And only that one."""
    service = start(STILLME_CORS_ORIGINS="https://intranet.example")

    allowed = service.post("/v1/verify", REQUEST, origin="https://intranet.example")
    other = service.post("/v1/verify", REQUEST, origin="https://elsewhere.example")

    assert allowed.headers["access-control-allow-origin"] == "https://intranet.example"
    assert "access-control-allow-origin" not in other.headers


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A collector that keeps what is sent to it."""
    kept: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", kept
        server.shutdown()
        thread.join()


def test_traces_and_evaluation_events_are_sent_where_an_endpoint_is_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A span for the request and an event for the verdict, in one trace, without texts."""
    with collector() as (url, kept):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        with running(tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": url}) as service:
            service.post("/v1/verify", WRONG, traceparent=parent)

    traces = [ExportTraceServiceRequest.FromString(body) for path, body in kept if path == "/v1/traces"]
    logs = [ExportLogsServiceRequest.FromString(body) for path, body in kept if path == "/v1/logs"]
    spans = [s for t in traces for r in t.resource_spans for g in r.scope_spans for s in g.spans]
    events = [e for t in logs for r in t.resource_logs for g in r.scope_logs for e in g.log_records]
    attributes = {a.key: a.value.string_value for a in events[0].attributes}
    assert [s.name for s in spans] == ["POST /v1/verify"]
    assert [e.event_name for e in events] == ["gen_ai.evaluation.result"]
    assert attributes["gen_ai.evaluation.score.label"] == "refuse"
    assert "contradicted_claim" in attributes["gen_ai.evaluation.explanation"]
    assert {spans[0].trace_id.hex(), events[0].trace_id.hex()} == {"0af7651916cd43dd8448eb211c80319c"}
    assert b"41 days" not in b"".join(body for _, body in kept)


# readiness tries what it promises


def test_a_store_that_takes_no_records_is_not_ready(start: Start) -> None:
    """It can be read, and a row cannot be written: not ready; once it can, ready again, and nothing was left behind."""
    service = start()
    before = service.get("/readyz")
    with closing(sqlite3.connect(service.folder / "audit.db")) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON stillme_audit_policy BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        other.commit()
        failing = service.get("/readyz")
        other.execute("DROP TRIGGER full")
        other.commit()
        after = service.get("/readyz")
        left = other.execute("SELECT count(*) FROM stillme_audit_policy").fetchone()

    assert [r.status_code for r in (before, failing, after)] == [200, 503, 200]
    assert failing.json()["checks"]["audit"] == "not reachable"
    assert left == (0,)


def test_a_model_that_judges_no_more_is_not_ready(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the model are gone after it was loaded and let go: the process is alive, and says that it cannot judge."""
    service = start()
    before = service.get("/readyz")
    monkeypatch.setattr("stillme.models.bundle.WEIGHTS", service.folder / "nowhere")
    for kept in (grounding.grounding_model.__wrapped__, bundle.checked):
        kept.cache_clear()
    failing, health = service.get("/readyz"), service.get("/healthz")
    monkeypatch.undo()
    for kept in (grounding.grounding_model.__wrapped__, bundle.checked):
        kept.cache_clear()

    assert (before.status_code, failing.status_code, health.status_code) == (200, 503, 200)
    assert failing.json()["checks"]["model"] == "not reachable"
    assert service.get("/readyz").status_code == 200


def test_a_model_is_tried_with_a_draft_that_it_has_not_seen(start: Start) -> None:
    """What it remembers does not answer for it."""
    service = start()
    for _ in range(2):
        read = grounding.grounding_model().recent.counts.misses
        assert service.get("/readyz").status_code == 200
        assert grounding.grounding_model().recent.counts.misses > read


def test_readiness_is_not_worked_out_for_everybody_who_asks(start: Start) -> None:
    """Within the time that a setting gives, what was found is told again."""
    service = start(STILLME_READY_FRESH_S="3600")
    service.get("/readyz")
    read = grounding.grounding_model().recent.counts.misses

    assert [service.get("/readyz").status_code for _ in range(3)] == [200] * 3
    assert grounding.grounding_model().recent.counts.misses == read


def test_a_key_file_that_cannot_be_read_is_no_reason_to_be_restarted(start: Start) -> None:
    """Alive, not ready, and closed to everybody who needs a key."""
    service = start()
    (service.folder / "keys.json").write_text("{", encoding="utf-8")

    health, ready, verify = service.get("/healthz"), service.get("/readyz"), service.post("/v1/verify", REQUEST)

    assert (health.status_code, ready.status_code, verify.status_code) == (200, 503, 503)
    assert ready.json()["checks"]["keys"] == "not reachable"


# an edit of the policy


def test_an_edit_that_changes_the_mode_is_a_warning_and_a_figure(
    start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """For verification and for the chat; an edit that leaves the mode as it is, is neither."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("mode: enforce\n", encoding="utf-8")
    service = start(STILLME_POLICY=str(policy))
    caplog.set_level(logging.WARNING, "stillme.service")
    watchers = [guard._watcher for guard in (service.parts.guard, service.parts.pipeline.guard)]
    for watcher in watchers:
        assert watcher is not None
        watcher.stop()  # we look ourselves, when there is something to see

    def edit(text: str) -> None:
        policy.write_text(text, encoding="utf-8")
        for watcher in watchers:
            assert watcher is not None
            watcher.poll()

    edit("mode: enforce\nlimits: {passages: 9}\n")
    quiet = [r.getMessage() for r in caplog.records]
    edit("mode: monitor\n")
    warned = [r.getMessage() for r in caplog.records]
    text = service.get("/metrics").text

    assert quiet == []
    assert sorted(warned) == [
        "the policy for chat changed its mode from enforce to monitor",
        "the policy for verify changed its mode from enforce to monitor",
    ]
    for name in ("verify", "chat"):
        labels = f'after="monitor",before="enforce",policy="{name}"'
        assert f"stillme_policy_mode_changes_total{{{labels}}} 1.0" in text
