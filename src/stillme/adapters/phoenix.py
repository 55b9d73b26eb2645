"""Verdicts as annotations on spans in Phoenix: decision and support, with each claim and its evidence.

    annotate(Client(), judged(guard, question, draft, passages), span_id=span_id)

The texts of claims and quotes are sent: to the Phoenix that has the span of the answer already.
"""

from __future__ import annotations

from phoenix.client import Client

from stillme.adapters.guarding import Judged

__all__ = ["annotate"]


def annotate(client: Client, found: Judged, *, span_id: str) -> None:
    """Annotate a span; what was not judged is labelled so, and has no score."""
    client.spans.add_span_annotation(
        span_id=span_id,
        annotation_name="stillme",
        annotator_kind="CODE",
        label=found.verdict.decision.value if found.verdict else "not_judged",
        score=found.score,
        explanation=found.why,
        metadata=found.details,
        sync=True,
    )
