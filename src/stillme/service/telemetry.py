"""OpenTelemetry, where an endpoint is configured: a span for each request and each call of a model, an evaluation event for each verdict.

The usual OTEL_* variables say where to and how. Neither questions nor answers nor passages are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from stillme.errors import BackendError
from stillme.guard import Occurrence
from stillme.version import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import Span

__all__ = ["ENDPOINTS", "Telemetry", "telemetry_from"]

ENDPOINTS: Final = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
EVENT: Final = "gen_ai.evaluation.result"
NAME: Final = "stillme"


def telemetry_from(environment: Mapping[str, str]) -> Telemetry | None:
    """What sends spans and events, if the environment names an endpoint."""
    return Telemetry() if any(environment.get(name) for name in ENDPOINTS) else None


class Telemetry:
    """Spans and events on their way to a collector; what cannot be sent is dropped, and no request waits for it."""

    def __init__(self) -> None:
        try:
            traces = import_module("opentelemetry.sdk.trace")
            batches = import_module("opentelemetry.sdk.trace.export")
            spans = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
            logs = import_module("opentelemetry.sdk._logs")
            log_batches = import_module("opentelemetry.sdk._logs.export")
            records = import_module("opentelemetry.exporter.otlp.proto.http._log_exporter")
            resources = import_module("opentelemetry.sdk.resources")
            self._propagate = import_module("opentelemetry.propagate")
            self._kinds = import_module("opentelemetry.trace").SpanKind
            self._failed = import_module("opentelemetry.trace").StatusCode.ERROR
        except ImportError:
            raise BackendError(
                "an OpenTelemetry endpoint is configured, and its packages are not installed: pip install 'stillme[telemetry]'"
            ) from None
        resource = resources.Resource.create({"service.name": NAME, "service.version": __version__})
        self._traces = traces.TracerProvider(resource=resource)
        self._traces.add_span_processor(batches.BatchSpanProcessor(spans.OTLPSpanExporter()))
        self._logs = logs.LoggerProvider(resource=resource)
        self._logs.add_log_record_processor(log_batches.BatchLogRecordProcessor(records.OTLPLogExporter()))
        self._tracer = self._traces.get_tracer(NAME, __version__)
        self._logger = self._logs.get_logger(NAME, __version__)

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Span]:
        """A span around a request, within the caller's trace if it has one."""
        above = self._propagate.extract(headers)
        with self._tracer.start_as_current_span(method, context=above, kind=self._kinds.SERVER) as span:
            yield span

    @contextmanager
    def call(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Span]:
        """A span around the call of a model, below the request that it is made for; what it raises is named in it.

        It is not made the current one: a stream is closed from wherever its reader stands.
        """
        span = self._tracer.start_span(name, kind=self._kinds.CLIENT, attributes=attributes)
        try:
            yield span
        except BaseException as error:
            if not isinstance(error, GeneratorExit):  # a reader who leaves early is no error
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(self._failed)
            raise
        finally:
            span.end()

    def verdicts(self, occurrences: Sequence[Occurrence]) -> None:
        """An evaluation event for each verdict, in the span of its request."""
        for occurrence in occurrences:
            self._logger.emit(event_name=EVENT, attributes=_attributes(occurrence))

    def close(self) -> None:
        """Send what is waiting."""
        self._traces.shutdown()
        self._logs.shutdown()


def _attributes(occurrence: Occurrence) -> dict[str, Any]:
    verdict = occurrence.verdict
    total = verdict.metrics.claims_total
    found: dict[str, Any] = {
        "gen_ai.evaluation.name": "stillme.verdict",
        "gen_ai.evaluation.score.label": verdict.decision.value,
        "gen_ai.evaluation.explanation": ", ".join(verdict.reasons),
        "stillme.action": verdict.action,
        "stillme.mode": verdict.mode,
        "stillme.verified": verdict.verified,
        "stillme.confidence_band": verdict.confidence_band,
        "stillme.policy_hash": verdict.policy_hash,
        "stillme.request_id": verdict.request_id,
    }
    if verdict.validator_trace_id:
        found["stillme.validator_trace_id"] = verdict.validator_trace_id
    if total:
        found["gen_ai.evaluation.score.value"] = verdict.metrics.claims_supported / total
    return found
