"""Reviewing over HTTP: the next verdict of a queue, a label on it, how far reviewers agree, and appeals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from stillme.audit import AuditStore, Filter
from stillme.audit.review.agreement import agreement, kappa_interval
from stillme.audit.review.listing import reviews as given_reviews
from stillme.audit.review.queues import Queue, appeal, hand_out, latest_week, progress_of, queue_of
from stillme.audit.review.reviews import review
from stillme.service.bodies import as_model, read_json
from stillme.service.records import Records, Route, add_routes, answer
from stillme.service.traces import record_of, recorded_verdict

__all__ = ["REVIEW_BODIES", "Reviews"]

# A queue is drawn anew after so many seconds: in a running week verdicts come in all the time.
FRESH_S: Final = 60.0
MOST_DRAWN: Final = 32
NOBODY: Final = "local"


class NextRequest(BaseModel):
    """Who wants the next verdict of which queue."""

    model_config = ConfigDict(extra="forbid")

    queue: Queue = "sample"
    week: str | None = Field(
        None, description="an ISO week such as 2026-W46; without it the last whole one with verdicts"
    )
    skip: list[str] = Field(default_factory=list, max_length=500, description="traces to leave out")
    reviewer: str | None = Field(None, max_length=100, description="only without API keys: with one, its name counts")
    browser: str | None = Field(
        None, max_length=100, description="whose hands keep the verdict, where several review under one name"
    )


class ReviewRequest(BaseModel):
    """A label on a verdict."""

    model_config = ConfigDict(extra="forbid")

    trace: str
    label: str
    note: str = ""
    unsupported: list[int] | None = Field(
        None, description="claims that no source supports, from 1; null: not looked at"
    )
    reviewer: str | None = Field(None, max_length=100, description="only without API keys: with one, its name counts")


class AppealRequest(BaseModel):
    """What somebody has against a verdict."""

    model_config = ConfigDict(extra="forbid")

    trace: str
    note: str


REVIEW_BODIES: Final = (NextRequest, ReviewRequest, AppealRequest)


@dataclass(slots=True)
class Reviews:
    """The endpoints over an audit store."""

    records: Records
    _drawn: dict[tuple[str, str], tuple[float, list[str]]] = field(default_factory=dict)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        routes = (
            Route("POST", "/v1/reviews", self.label, "Label a verdict.", ReviewRequest),
            Route(
                "POST", "/v1/reviews/next", self.next, "The next verdict to review, kept for whoever asks.", NextRequest
            ),
            Route("GET", "/v1/reviews/agreement", self.agreement, "How far reviewers agree."),
            Route("POST", "/v1/appeals", self.appeal, "Contest a verdict.", AppealRequest),
        )
        add_routes(app, routes)

    async def next(self, request: Request) -> Response:
        """A verdict of the queue that nobody else has in hand, or null; and how far the queue is done."""
        asked = as_model(NextRequest, await read_json(request))
        who = _reviewer(request, asked.reviewer)
        holder = f"{who} at {asked.browser}" if asked.browser else None

        def work(store: AuditStore) -> dict[str, Any]:
            now = datetime.now(UTC)
            week = asked.week or latest_week(store, now)
            traces = self._queue(store, asked.queue, week)
            chosen = hand_out(store, asked.queue, traces, who, now, asked.skip, holder)
            item = recorded_verdict(store, record_of(store, chosen)) if chosen else None
            progress = asdict(progress_of(store, asked.queue, traces))
            return {"queue": asked.queue, "week": week, "reviewer": who, "item": item, "progress": progress}

        return answer(await self.records.work(work))

    async def label(self, request: Request) -> Response:
        """Record a label; a later one of the same reviewer counts instead, and both stay recorded."""
        asked = as_model(ReviewRequest, await read_json(request))
        who = _reviewer(request, asked.reviewer)

        def work(store: AuditStore) -> dict[str, Any]:
            made = review(store, asked.trace, asked.label, who, asked.note, asked.unsupported)
            return {"id": made.id, "trace": made.ref, "label": made.label, "reviewer": made.caller, "at": made.at}

        return answer(await self.records.work(work))

    async def agreement(self, since: str | None = None, until: str | None = None) -> Response:
        """Counts, percent agreement, Cohen's kappa of each pair with its interval, Krippendorff's alpha."""

        def work(store: AuditStore) -> dict[str, Any]:
            said = list(given_reviews(store, Filter(since=since, until=until)))
            figures = asdict(agreement(said))
            for pair in figures["pairs"]:
                pair["interval"] = kappa_interval(said, pair["first"], pair["second"])
            return figures

        return answer(await self.records.work(work))

    async def appeal(self, request: Request) -> Response:
        """Record that somebody contests a verdict: it waits in the queue `appeals`."""
        asked = as_model(AppealRequest, await read_json(request))

        def work(store: AuditStore) -> dict[str, Any]:
            made = appeal(store, asked.trace, asked.note, request.scope.get("stillme.caller"))
            return {"id": made.id, "trace": made.ref, "at": made.at}

        return answer(await self.records.work(work))

    def _queue(self, store: AuditStore, queue: str, week: str) -> Sequence[str]:
        """The traces of a queue; a sample is not drawn anew for every look."""
        if queue not in ("sample", "second", "low_margin"):
            return queue_of(store, queue, week)
        drawn_at, traces = self._drawn.get((queue, week), (0.0, []))
        if not traces or time.monotonic() - drawn_at > FRESH_S:
            traces = queue_of(store, queue, week)
            if len(self._drawn) >= MOST_DRAWN:
                self._drawn.clear()
            self._drawn[queue, week] = (time.monotonic(), traces)
        return traces


def _reviewer(request: Request, said: str | None) -> str:
    """Who reviews: the name of the key; without keys whoever they say they are."""
    key = request.scope.get("stillme.key")
    if key is not None:
        return str(key.name)
    return (said or "").strip() or NOBODY
