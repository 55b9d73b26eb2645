"""Recorded verdicts over HTTP: found, looked at, replayed, compared with the policy of today, exported as a packet."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import yaml
from fastapi import FastAPI, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from stillme.audit import AuditStore
from stillme.audit.chain.record import Entry, Record
from stillme.audit.content import request_in
from stillme.audit.replay import Replayer
from stillme.audit.review.cases import appeals_of, case_of, standing_of
from stillme.audit.review.listing import row_of, text_state
from stillme.audit.search import Search, labels_of, search
from stillme.errors import InputError, PolicyError, shown
from stillme.evaluation.changes import policy_changes
from stillme.guard import Guard
from stillme.pages.packet import packet
from stillme.policy import Policy
from stillme.service.bodies import json_response
from stillme.service.problems import Problem, ProblemError
from stillme.service.records import ASKED, Records, Route, add_routes

__all__ = ["Traces", "recorded_verdict"]


class TracePage(BaseModel):
    """Some recorded verdicts, in order."""

    traces: list[dict[str, Any]]
    next: str | None = Field(description="send it as `after` for the following page; null at the end")
    searched_to: str | None = Field(description="how far a search came before it paused; go on with `next`")


@dataclass(frozen=True, slots=True)
class Traces:
    """The endpoints over an audit store."""

    records: Records
    guard: Guard

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        routes = (
            Route("GET", "/v1/traces", self.listing, "Recorded verdicts, a page at a time.", gives=TracePage),
            Route(
                "GET",
                "/v1/traces/{trace}",
                self.one,
                "One recorded verdict with its request, reviews, appeals and place.",
            ),
            Route(
                "POST", "/v1/traces/{trace}/replay", self.replay, "Verify a recorded request again: the same verdict?"
            ),
            Route("GET", "/v1/traces/{trace}/policy-diff", self.policy_diff, "What changed in the policy since."),
            Route("GET", "/v1/traces/{trace}/packet", self.packet, "The evidence packet, one HTML page."),
        )
        add_routes(app, routes, ASKED)

    async def listing(
        self,
        since: str | None = None,
        until: str | None = None,
        decision: str | None = None,
        action: str | None = None,
        mode: str | None = None,
        language: str | None = None,
        caller: str | None = None,
        band: str | None = None,
        domain: str | None = None,
        session: str | None = None,
        request_id: str | None = None,
        reason: str | None = None,
        label: str | None = None,
        text: str | None = None,
        min_score: Annotated[float | None, Query(ge=0, le=1)] = None,
        max_score: Annotated[float | None, Query(ge=0, le=1)] = None,
        order: Literal["newest", "oldest"] = "newest",
        after: str | None = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> TracePage:
        """Verdicts that fulfil every filter, the newest first unless told otherwise."""
        wanted = Search(
            since,
            until,
            decision,
            action,
            mode,
            language,
            caller,
            band,
            domain,
            session,
            request_id,
            reason,
            label,
            text,
            min_score,
            max_score,
        )
        return await self.records.work(lambda store: _page(store, wanted, order, after, limit))

    async def one(self, trace: str) -> Response:
        """Everything that is kept of a verdict; texts that are gone are named in `notice`."""
        return json_response(await self.records.work(lambda store: _whole(store, record_of(store, trace))))

    async def replay(self, trace: str) -> Response:
        """How the verdict comes out today: `same`, `different` (and where), or `not replayable` (and why)."""

        def work(store: AuditStore) -> str:
            entry = entry_of(record_of(store, trace))
            replayer = Replayer(store, self.guard.added, self.guard.grounder)
            return json.dumps(asdict(replayer.replay(entry)), ensure_ascii=False, default=str)

        return json_response(await self.records.work(work))

    async def policy_diff(self, trace: str) -> Response:
        """The settings that differ between the policy of the verdict and the one in force."""

        def work(store: AuditStore) -> str:
            entry = entry_of(record_of(store, trace))
            return json.dumps(_changes(store.policy_text(entry.policy), self.guard.policy), ensure_ascii=False)

        return json_response(await self.records.work(work))

    async def packet(self, trace: str) -> Response:
        """The page to attach to an incident: one file that loads nothing and runs nothing."""

        def work(store: AuditStore) -> str:
            return packet(case_of(store, record_of(store, trace), store.keyring))

        name = "".join(c for c in trace if c.isalnum() or c in "-_")[:80]
        headers = {"content-disposition": f'attachment; filename="stillme-{name}.html"'}
        return Response(await self.records.work(work), headers=headers, media_type="text/html")


def record_of(store: AuditStore, trace: str) -> Record:
    """The verdict of that id, or a problem that says there is none."""
    try:
        return store.find(trace)
    except InputError as error:
        raise ProblemError(Problem(404, str(error))) from None


def entry_of(record: Record) -> Entry:
    """What a record says; one that retention emptied says nothing."""
    if record.entry is None or record.entry.kind != "verdict":
        raise ProblemError(Problem(404, f"record {record.seq} is no verdict, or its content was removed"))
    return record.entry


def _page(
    store: AuditStore, wanted: Search, order: Literal["newest", "oldest"], after: str | None, most: int
) -> TracePage:
    page = search(store, wanted, order=order, after=after, most=most)
    labels = labels_of(store, [record.entry.id for record in page.records if record.entry])
    rows = [
        {**row_of(record), "labels": labels.get(record.entry.id if record.entry else "", [])} for record in page.records
    ]
    return TracePage(traces=rows, next=page.next, searched_to=page.searched_to)


def _whole(store: AuditStore, record: Record) -> str:
    return json.dumps(recorded_verdict(store, record), ensure_ascii=False, default=str)


def recorded_verdict(store: AuditStore, record: Record) -> dict[str, Any]:
    """A verdict with everything that belongs to it."""
    entry = entry_of(record)
    case = case_of(store, record, store.keyring)
    standing = standing_of(store, record, store.keyring)
    readable = text_state(entry) in ("kept", "redacted")
    return {
        **row_of(record),
        "verdict": dict(case.verdict)
        if not isinstance(case.verdict, BaseModel)
        else case.verdict.model_dump(mode="json"),
        "request": request_in(entry) if readable and case.request is not None else None,
        "notice": case.notice,
        "policy_text": case.policy_text,
        "facts": dict(case.facts),
        "reviews": [asdict(review) for review in case.reviews],
        "appeals": [asdict(each) for each in appeals_of(store, entry.id)],
        "chain": {
            "intact": standing.fault is None,
            "fault": None if standing.fault is None else str(standing.fault),
            "sealed_by": standing.sealed_by,
            "seal": standing.seal_state,
            "before": standing.before,
        },
    }


def _changes(recorded: str | None, now: Policy) -> dict[str, Any]:
    if recorded is None:
        return {"changes": None, "problem": "its policy is not in the store"}
    try:
        settings = yaml.safe_load(recorded)
        then = Policy.load(settings if isinstance(settings, dict) else {})
    except (PolicyError, yaml.YAMLError) as error:
        return {"changes": None, "problem": f"its policy cannot be read any more: {shown(str(error))}"}
    changes = [asdict(change) for change in policy_changes(then, now)]
    return {"changes": changes, "problem": None, "policy_hash": now.hash}
