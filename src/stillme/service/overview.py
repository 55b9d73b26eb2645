"""The state of a deployment over HTTP: what was decided, how good it was, and where its rollout stands."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from stillme.audit import AuditStore
from stillme.audit.review.listing import latest
from stillme.audit.traffic import MOST_DAYS, traffic_of
from stillme.errors import InputError
from stillme.evaluation.rollout.promotion import demote, promote
from stillme.evaluation.rollout.status import Status, rollout_status
from stillme.evaluation.rollout.weeks import WeeksWindow
from stillme.guard import Guard
from stillme.policy import Policy
from stillme.service.bodies import as_model, read_json
from stillme.service.records import Records, Route, add_routes, answer

__all__ = ["Overview", "PromotionRequest"]

# The figures of weeks rest on every record of them: they are computed anew after so many seconds.
FRESH_S: Final = 60.0
NO_FILE: Final = (
    "the policy in force is no file, or STILLME_MODE says the mode: write policy.yaml, serve with --policy policy.yaml, "
    "and take STILLME_MODE away"
)


class PromotionRequest(BaseModel):
    """A step of the rollout, and why."""

    model_config = ConfigDict(extra="forbid")

    to: Literal["monitor", "warn", "enforce"]
    reason: str | None = Field(
        None, description="to go back: why; to go on although a check is missing: why all the same"
    )


@dataclass(slots=True)
class Overview:
    """The endpoints over the audit store and the policy in force; `policy_file` is None where the policy cannot be written.

    The first of the guards is the one whose policy is told; all that follow the file look at it after a step.
    """

    records: Records
    guards: Sequence[Guard]
    policy_file: Path | None
    _status: tuple[float, str, dict[str, Any]] = field(default=(0.0, "", {}))

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        routes = (
            Route("GET", "/v1/overview", self.overview, "Decisions by day, reasons, figures, times and drift."),
            Route("GET", "/v1/rollout", self.rollout, "The checklist of the next mode, and the steps so far."),
            Route("POST", "/v1/rollout/step", self.step, "Go to the next mode, or back.", PromotionRequest),
        )
        add_routes(app, routes)

    async def overview(self, days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = 14) -> Response:
        """The last days; the figures are those of the last whole weeks, from reviews."""

        def work(store: AuditStore) -> dict[str, Any]:
            traffic = asdict(traffic_of(store, datetime.now(UTC), days))
            status = self._current(store)
            return {**traffic, "figures": status["figures"], "weeks": status["weeks"], "drift": self._drift()}

        return answer(await self.records.work(work))

    async def rollout(self) -> Response:
        """Every check of the steps ahead, what is missing and how to get it."""

        def work(store: AuditStore) -> dict[str, Any]:
            return {**self._current(store), "history": _history(store), "may_write": self.policy_file is not None}

        return answer(await self.records.work(work))

    async def step(self, request: Request) -> Response:
        """Write the mode into the policy file, with a record of who and why; a missing check needs a reason to pass over it."""
        asked = as_model(PromotionRequest, await read_json(request))
        who = request.scope.get("stillme.caller") or "local"

        def work(store: AuditStore) -> dict[str, Any]:
            if self.policy_file is None:
                raise InputError(NO_FILE)
            self._status = (0.0, "", {})
            done = _step(store, self.policy_file, asked, str(who))
            for guard in self.guards:
                guard.refresh()
            return done

        return answer(await self.records.work(work))

    def _current(self, store: AuditStore) -> dict[str, Any]:
        computed_at, policy, found = self._status
        if not found or policy != self.guards[0].policy.hash or time.monotonic() - computed_at > FRESH_S:
            found = _status(rollout_status(store, self.guards[0].policy, as_of=datetime.now(UTC)))
            self._status = (time.monotonic(), self.guards[0].policy.hash, found)
        return found

    def _drift(self) -> dict[str, Any]:
        calibration = self.guards[0].policy.calibration
        if calibration is None:
            return {"state": "not calibrated", "reason": None}
        return {"state": "drifted" if calibration.drifted else "holds", "reason": calibration.drifted}


def _step(store: AuditStore, file: Path, asked: PromotionRequest, who: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    if asked.to == "monitor" or _is_back(file, asked.to):
        made = demote(store, file, by=who, to=asked.to, why=asked.reason or "")
        return {"to": asked.to, "record": made, "done": True, "missing": []}
    done = promote(store, file, by=who, as_of=now, to=asked.to, override=asked.reason or None)
    return {
        "to": done.to,
        "record": done.record,
        "done": done.record is not None,
        "missing": [asdict(c) for c in done.closed],
    }


def _is_back(file: Path, to: str) -> bool:
    order = ("monitor", "warn", "enforce")
    return order.index(to) < order.index(Policy.load(file).mode)


def _status(status: Status) -> dict[str, Any]:
    window = status.current or status.baseline
    return {
        "as_of": status.as_of,
        "mode": status.run.mode,
        "policy_mode": status.policy_mode,
        "since": status.run.since,
        "verdicts": status.run.verdicts,
        "step": status.step,
        "is_open": status.is_open,
        "checks": {step: [asdict(check) for check in checks] for step, checks in status.checks.items()},
        "notes": list(status.notes),
        "figures": _figures(window),
        "weeks": list(window.weeks) if window else [],
    }


def _figures(window: WeeksWindow | None) -> list[dict[str, Any]]:
    if window is None:
        return []
    kept = ("name", "value", "low", "high", "counted", "unknown")
    return [{name: getattr(figure, name) for name in kept} for figure in window.figures]


def _history(store: AuditStore) -> list[dict[str, Any]]:
    """The steps so far, the newest first."""
    found = []
    for record in latest(store, "promotion", 20):
        if record.entry is not None:
            meta = json.loads(record.entry.meta)
            step = {"from": meta.get("from"), "to": meta.get("to"), "why": meta.get("why")}
            found.append({**step, "at": record.entry.at, "by": record.entry.caller, "how": record.entry.label})
    return found
