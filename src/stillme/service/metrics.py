"""What Prometheus sees: decisions beside what the mode made of them, reasons, times, errors. No label holds a caller's text."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from stillme.grounding.passage import contents
from stillme.guard import Occurrence
from stillme.models.recent import recent_counts
from stillme.reasons import Decision, Reason
from stillme.version import __version__

__all__ = ["Metrics"]

SECONDS: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
RECENT: Final = 1000
COUNTED_EVERY_S: Final = 10.0
SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"


class Metrics:
    """The figures of one process; safe to share between threads."""

    content_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self._verdicts = Counter(
            "stillme_verdicts", "Verdicts given", ("decision", "action", "mode", "language"), registry=registry
        )
        self._unverified = Counter("stillme_unverified", "Verdicts with verified: false", registry=registry)
        self._reasons = Counter("stillme_reasons", "Reason codes of verdicts", ("reason",), registry=registry)
        self._validators = Histogram(
            "stillme_validator_seconds", "Time of a validator", ("validator",), buckets=SECONDS, registry=registry
        )
        self._outcomes = Counter(
            "stillme_findings", "Outcomes of validators", ("validator", "outcome"), registry=registry
        )
        self._verifying = Histogram(
            "stillme_verification_seconds", "Time to a verdict", buckets=SECONDS, registry=registry
        )
        self._passed = Gauge(
            "stillme_validation_pass_rate",
            f"Share of the last {RECENT} verdicts that say answer",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._requests = Counter("stillme_http_requests", "Requests", ("method", "route", "status"), registry=registry)
        self._times = Histogram(
            "stillme_http_request_seconds", "Time of a request", ("route",), buckets=SECONDS, registry=registry
        )
        self._open = Gauge(
            "stillme_http_requests_open", "Requests under way", registry=registry, multiprocess_mode="livesum"
        )
        self._errors = Counter("stillme_errors", "Requests that failed", ("status",), registry=registry)
        self._reloads = Counter(
            "stillme_policy_reloads", "Looks at a changed policy file", ("outcome",), registry=registry
        )
        self._modes = Counter(
            "stillme_policy_mode_changes", "Edits that changed a mode", ("policy", "before", "after"), registry=registry
        )
        self._models = Counter(
            "stillme_model_calls", "Answers asked of models", ("provider", "outcome"), registry=registry
        )
        self._read_before = Counter(
            "stillme_passages_read_before", "Passages read for an earlier request", registry=registry
        )
        self._newly_read = Counter("stillme_passages_newly_read", "Passages read anew", registry=registry)
        self._passage_bytes = Gauge(
            "stillme_passage_cache_bytes", "What is kept of passages", registry=registry, multiprocess_mode="livesum"
        )
        self._passages = contents.counts
        self._cached = Gauge(
            "stillme_cache_lookups", "Look-ups among what models said lately", ("cache", "outcome"),
            registry=registry, multiprocess_mode="livesum",
        )  # fmt: skip
        self._entries = Gauge(
            "stillme_cache_entries", "Answers of models that are kept", ("cache",), registry=registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        Gauge("stillme_build_info", "The version", ("version",), registry=registry, multiprocess_mode="max").labels(
            __version__
        ).set(1)
        self._counted_at = 0.0
        self._known: dict[tuple[str, str], tuple[Counter, Histogram]] = {}
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._lock = threading.Lock()

    def text(self) -> bytes:
        """Everything, as Prometheus reads it; where several processes serve, of all of them together."""
        self._count_caches()
        if not os.environ.get(SHARED):
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)

    def verdicts(self, occurrences: Sequence[Occurrence]) -> None:
        """Count verdicts as they came about."""
        for occurrence in occurrences:
            verdict = occurrence.verdict
            self._verdicts.labels(verdict.decision.value, verdict.action, verdict.mode, verdict.language).inc()
            self._verifying.observe(verdict.metrics.elapsed_ms / 1000)
            if not verdict.verified:
                self._unverified.inc()
            for reason in verdict.reasons:
                self._reasons.labels(reason).inc()
            for finding in verdict.findings:
                outcomes, seconds = self._of_validator(finding.validator, finding.outcome)
                outcomes.inc()
                seconds.observe(finding.elapsed_ms / 1000)
        if time.monotonic() - self._counted_at > COUNTED_EVERY_S:
            self._count_caches()
        with self._lock:
            judged = [o.verdict for o in occurrences if Reason.VALIDATORS_OFF not in o.verdict.reasons]
            self._recent += [verdict.decision is Decision.ANSWER for verdict in judged]
            if self._recent:
                self._passed.set(self._recent.count(True) / len(self._recent))
            self._count_passages()

    def _count_passages(self) -> None:
        before, now = self._passages, contents.counts
        self._read_before.inc(now.hits - before.hits)
        self._newly_read.inc(now.misses - before.misses)
        self._passage_bytes.set(now.size_bytes)
        self._passages = now

    def _count_caches(self) -> None:
        """What the models of this process keep; of other processes as of their last count."""
        self._counted_at = time.monotonic()
        for name, counts in recent_counts().items():
            self._cached.labels(name, "hit").set(counts.hits)
            self._cached.labels(name, "miss").set(counts.misses)
            self._entries.labels(name).set(counts.entries)

    def _of_validator(self, name: str, outcome: str) -> tuple[Counter, Histogram]:
        """The figures of a validator: looking them up by label takes longer than counting."""
        known = self._known.get((name, outcome))
        if known is None:
            known = self._known[name, outcome] = self._outcomes.labels(name, outcome), self._validators.labels(name)
        return known

    def opened(self, number: int) -> None:
        """Note how many requests are under way."""
        self._open.set(number)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        known = method if method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") else "other"
        self._requests.labels(known, route, status).inc()
        self._times.labels(route).observe(seconds)
        if status >= 400:
            self._errors.labels(status).inc()

    def reload(self, event: str, _: str) -> None:
        """Count a look at a changed policy file, as PolicyWatcher tells of it."""
        self._reloads.labels(event).inc()

    def mode_changed(self, policy: str, before: str, after: str) -> None:
        """Count an edit of a policy that changed its mode."""
        self._modes.labels(policy, before, after).inc()

    def model(self, provider: str, outcome: str) -> None:
        """Count an answer that a model was asked for."""
        self._models.labels(provider, outcome).inc()
