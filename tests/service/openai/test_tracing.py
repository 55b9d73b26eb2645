"""The call of a model server is a span as the GenAI conventions have it: whole, streamed and failed, without texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.chat.upstream import Answer, Upstream, completion, error, stream
from tests.service.conftest import running
from tests.service.test_operation import collector

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OPENING = "The vault opens at nine in the morning."
ASKED = {
    "model": "small-model",
    "temperature": 0.5,
    "max_tokens": 40,
    "messages": [
        {"role": "system", "content": f"<context>{OPENING}</context>"},
        {"role": "user", "content": "When does the vault open?"},
    ],
}
USAGE = {"prompt_tokens": 31, "completion_tokens": 9, "total_tokens": 40}


def value(attribute: Any) -> Any:
    """What an attribute holds."""
    kind = attribute.WhichOneof("value")
    if kind == "array_value":
        return [each.string_value for each in attribute.array_value.values]
    return getattr(attribute, kind)


def spans_of(folder: Path, monkeypatch: pytest.MonkeyPatch, script: Answer, **changes: Any) -> tuple[list[Any], bytes]:
    """The spans of one request to the guard, and everything that was sent of it."""
    with collector() as (url, kept), Upstream(script) as upstream:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "STILLME_UPSTREAM_URL": upstream.url}
        with running(folder, environment) as service:
            service.post("/v1/chat/completions", {**ASKED, **changes}, traceparent=PARENT)
        port = int(upstream.url.rpartition(":")[2].split("/")[0])
    sent = [ExportTraceServiceRequest.FromString(body) for path, body in kept if path == "/v1/traces"]
    spans = [s for t in sent for r in t.resource_spans for g in r.scope_spans for s in g.spans]
    assert all(value(a.value) in (port, str(port)) for s in spans for a in s.attributes if a.key == "server.port")
    return spans, b"".join(body for _, body in kept)


@pytest.mark.parametrize(
    ("script", "changes"),
    [
        pytest.param(completion(OPENING, usage=USAGE), {}, id="whole"),
        pytest.param(stream("The vault opens ", "at nine.", usage=USAGE), {"stream": True}, id="streamed"),
    ],
)
def test_a_call_of_a_model_is_a_span_below_its_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Answer, changes: dict[str, Any]
) -> None:
    """Named `chat MODEL`, with what was asked for and what it took, in the trace of the caller."""
    spans, sent = spans_of(tmp_path, monkeypatch, script, **changes)

    call = next(span for span in spans if span.name == "chat small-model")
    request = next(span for span in spans if span.name == "POST /v1/chat/completions")
    told = {a.key: value(a.value) for a in call.attributes}
    assert (call.trace_id.hex(), call.parent_span_id) == ("0af7651916cd43dd8448eb211c80319c", request.span_id)
    assert call.kind == call.SPAN_KIND_CLIENT
    assert {
        key: told[key] for key in told if key.startswith(("gen_ai.operation", "gen_ai.request", "gen_ai.usage"))
    } == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small-model",
        "gen_ai.request.stream": "stream" in changes,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 40,
        "gen_ai.usage.input_tokens": 31,
        "gen_ai.usage.output_tokens": 9,
    }
    assert (told["gen_ai.response.finish_reasons"], told["server.address"]) == (["stop"], "127.0.0.1")
    assert b"vault" not in sent


def test_a_call_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kind of error, without the words of the server."""
    spans, sent = spans_of(tmp_path, monkeypatch, error(401))

    call = next(span for span in spans if span.name == "chat small-model")
    assert call.status.code == call.status.STATUS_CODE_ERROR
    assert {a.key: value(a.value) for a in call.attributes}["error.type"] == "UpstreamError"
    assert b"words of the server" not in sent
