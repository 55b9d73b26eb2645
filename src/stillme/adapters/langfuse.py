"""Verdicts as scores in Langfuse: decision, support and whether it was verified, with each claim and its evidence.

    score(langfuse, judged(guard, question, draft, passages), trace_id=langfuse.get_current_trace_id())

The texts of claims and quotes are sent: to the Langfuse that has the trace of the answer already.
"""

from __future__ import annotations

from typing import Any

from langfuse import Langfuse

from stillme.adapters.guarding import Judged

__all__ = ["score"]


def score(client: Langfuse, found: Judged, *, trace_id: str, observation_id: str | None = None) -> None:
    """Score a trace, or one observation of it. What was not judged is scored as not verified, and has neither decision nor support."""
    values: dict[str, tuple[str, Any]] = {
        "stillme_verified": ("BOOLEAN", float(bool(found.verdict and found.verdict.verified)))
    }
    if found.verdict is not None:
        values["stillme_decision"] = ("CATEGORICAL", found.verdict.decision.value)
        values["stillme_support"] = ("NUMERIC", found.score)
    for name, (kind, value) in values.items():
        client.create_score(
            name=name,
            value=value,
            data_type=kind,
            trace_id=trace_id,
            observation_id=observation_id,
            comment=found.why,
            metadata=found.details,
        )
