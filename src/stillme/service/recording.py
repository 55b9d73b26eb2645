"""Where verdicts of every endpoint come together: kept in the audit store first, then counted and told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from stillme.guard import Occurrence, Opening, Recorder
from stillme.service.metrics import Metrics
from stillme.service.telemetry import Telemetry

__all__ = ["Recording"]

log = logging.getLogger("stillme.verdicts")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorder that counts only what was kept."""

    store: Recorder | None
    metrics: Metrics
    telemetry: Telemetry | None = None

    def open(self, opening: Opening) -> None:
        """Keep that an answer begins to go out; what becomes of it is counted with its verdict."""
        keeps = getattr(self.store, "open", None)
        if keeps is not None:
            keeps(opening)

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        """Keep, count, tell and log verdicts; the log has codes and ids, no texts."""
        if self.store is not None:
            self.store.record(occurrences)
        self.metrics.verdicts(occurrences)
        if self.telemetry is not None:
            self.telemetry.verdicts(occurrences)
        for each in occurrences:
            verdict = each.verdict
            log.info(
                "%(decision)s %(action)s %(mode)s %(confidence_band)s %(reasons)s %(validator_trace_id)s",
                {
                    "decision": verdict.decision.value,
                    "action": verdict.action,
                    "mode": verdict.mode,
                    "confidence_band": verdict.confidence_band,
                    "reasons": ",".join(verdict.reasons) or "-",
                    "validator_trace_id": verdict.validator_trace_id,
                },
            )
