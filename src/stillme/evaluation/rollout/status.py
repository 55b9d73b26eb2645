"""How far a rollout has come: the checklist of the specification, computed from the audit store against the policy's `rollout` section.

A week is an ISO week in UTC, and counts when it has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from stillme.audit.chain.record import instant
from stillme.audit.query import Filter
from stillme.audit.review.listing import reviews
from stillme.audit.review.sampling import week_bounds, week_of
from stillme.audit.store import AuditStore
from stillme.contract import Mode
from stillme.errors import InputError
from stillme.evaluation.rollout.checklist import Check, RolloutEvidence, checks_of, notes_on
from stillme.evaluation.rollout.modes import AHEAD, ModeRun, Step, run_until
from stillme.evaluation.rollout.review_labels import opinions
from stillme.evaluation.rollout.weeks import Sampling, WeeksWindow
from stillme.policy import Policy
from stillme.storage.audit.database import RECORD

__all__ = ["Status", "rollout_status"]

# So many weeks the current figures reach back.
CURRENT_WEEKS: Final = 4
# The quotas of `stillme audit sample` where nothing else is said; its seed is the week.
QUOTA: Final = 50


@dataclass(frozen=True, slots=True)
class Status:
    """Where a rollout stands; `step` is the next mode, or `enforce` where that is in force and its checks should go on holding."""

    as_of: str
    run: ModeRun
    policy: str
    policy_mode: Mode
    step: Step
    checks: dict[Step, tuple[Check, ...]]
    baseline: WeeksWindow | None
    current: WeeksWindow | None
    weeks: tuple[WeeksWindow, ...]
    reviews_last_week: int
    notes: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        """Whether every check of the next step is passed."""
        return self.holds(self.step)

    def holds(self, step: Step) -> bool:
        """Whether every check of a step is passed."""
        checks = self.checks.get(step, ())
        return bool(checks) and all(check.state == "passed" for check in checks)


def rollout_status(
    store: AuditStore,
    policy: Policy,
    *,
    as_of: datetime,
    baseline: Sequence[str] = (),
    answers: int = QUOTA,
    others: int = QUOTA,
    seed: str | None = None,
) -> Status:
    """Compute the checklist as it stands at a moment.

    `baseline` names ISO weeks, without any the first that has ended; `answers`, `others` and `seed` are those of `stillme audit sample`.
    """
    store.prepare()
    moment = instant(as_of)
    run = run_until(store, moment)
    sampling = Sampling(store, opinions(reviews(store, Filter(until=moment))), answers, others, seed)
    ended = [week for week in _weeks(store, moment) if instant(week_bounds(week)[1]) <= moment]
    first = _named(baseline, ended) if baseline else ended[:1]
    now = [week for week in ended if instant(week_bounds(week)[1]) > (run.since or "")]
    now = [week for week in now[-CURRENT_WEEKS:] if week not in first]
    evidence = RolloutEvidence(
        run=run,
        policy=policy,
        reviewed=_reviewed_since(store, instant(as_of - timedelta(days=7)), moment),
        baseline=sampling.window(first),
        current=sampling.window(now),
        weeks=tuple(window for week in ended[-2:] if (window := sampling.window([week]))),
    )
    ahead = AHEAD.get(run.mode or policy.mode, ("enforce",))
    return Status(
        as_of=moment,
        run=run,
        policy=policy.hash,
        policy_mode=policy.mode,
        step=ahead[0],
        checks={step: tuple(checks_of(evidence, step)) for step in ahead},
        baseline=evidence.baseline,
        current=evidence.current,
        weeks=evidence.weeks,
        reviews_last_week=evidence.reviewed,
        notes=tuple(notes_on(evidence)),
    )


def _weeks(store: AuditStore, moment: str) -> list[str]:
    """The weeks in which verdicts were recorded, in order."""
    sql = f"SELECT DISTINCT substr(at, 1, 10) FROM {RECORD} WHERE kind = 'verdict' AND at < ?"  # noqa: S608
    days = [datetime.fromisoformat(row[0]).replace(tzinfo=UTC) for row in store.database.rows(sql, [moment])]
    return list(dict.fromkeys(week_of(day) for day in sorted(days)))


def _named(baseline: Sequence[str], ended: Sequence[str]) -> list[str]:
    for week in baseline:
        week_bounds(week)
        if week not in ended:
            raise InputError(
                f"the baseline {week} has no verdicts, or has not ended: weeks with verdicts are {', '.join(ended) or 'none'}"
            )
    return list(baseline)


def _reviewed_since(store: AuditStore, since: str, moment: str) -> int:
    sql = f"SELECT count(DISTINCT ref) FROM {RECORD} WHERE kind = 'review' AND at >= ? AND at < ?"  # noqa: S608
    return int(store.database.rows(sql, [since, moment])[0][0])
