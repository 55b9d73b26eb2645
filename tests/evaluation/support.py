"""What the tests of a rollout share: weeks of traffic and reviews in a store, and a look at the checklist over them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Entry, compact, instant
from stillme.audit.review.listing import candidates
from stillme.audit.review.sampling import draw, week_bounds
from stillme.evaluation.rollout.checklist import Check
from stillme.evaluation.rollout.status import Status, rollout_status
from stillme.guard import Occurrence
from stillme.policy import Policy
from tests.audit.support import again

NOW = datetime(2026, 2, 17, tzinfo=UTC)  # a Tuesday: 2026-W06 and W07 have ended
RULES = {"min_verdicts": 100, "min_reviews_per_week": 20}
QUOTAS = {"answers": 20, "others": 20}
POLICY = {"mode": "monitor", "rollout": RULES}
WRONG = "Unused gear can be returned within 45 days of delivery [1]."
CHECKS = (
    "step",
    "policy_in_force",
    "days",
    "verdicts",
    "logged_share",
    "reviews_last_week",
    "baseline",
    "hallucination_escape_rate",
    "refusal_precision",
    "source_coverage",
    "false_refusal_rate",
    "better_than_baseline",
    "stable",
)
Verdicts = dict[tuple[str, bool], Occurrence]


def fill(
    store: AuditStore, verdicts: Verdicts, week: str, *, answers: int = 40, refusals: int = 20, mode: str = "monitor"
) -> None:
    """A week of traffic, from its first hour to its last."""
    start, end = week_bounds(week)
    made = [(verdicts[mode, True], answers), (verdicts[mode, False], refusals)]
    for one, count in made:
        step = (end - start - timedelta(hours=1)) / max(count - 1, 1)
        store.record([again(one, at=start + n * step) for n in range(count)])


def review(
    store: AuditStore, week: str, *, missed: int = 0, refused_wrongly: int = 0, at: datetime | None = None
) -> None:
    """Label the whole sample of a week: so many of its answers and of its refusals are wrong."""
    start, end = map(instant, week_bounds(week))
    rows = draw(candidates(store, Filter(since=start, until=end)), seed=week, answers=20, others=20).rows
    left = {"answer": missed, "refuse": refused_wrongly}
    for row in rows:
        decision = row.candidate.decision
        wrong = "missed_hallucination" if decision == "answer" else "false_refusal"
        label(store, row.candidate.trace, wrong if left[decision] > 0 else "correct", at=at)
        left[decision] -= 1


def label(
    store: AuditStore,
    trace: str,
    said: str,
    who: str = "lan",
    at: datetime | None = None,
    unsupported: list[int] | None = None,
) -> None:
    moment = instant(at or NOW - timedelta(days=1))
    meta = "{}" if unsupported is None else compact({"unsupported": unsupported})
    store.add([Entry("review", f"review-{uuid4()}", moment, meta, ref=trace, label=said, caller=who)])


def status(store: AuditStore, policy: Any = POLICY, as_of: datetime = NOW, **how: Any) -> Status:
    return rollout_status(store, Policy.load(policy), as_of=as_of, **{**QUOTAS, **how})


def states(found: Status, step: str) -> dict[str, str]:
    return {check.name: check.state for check in found.checks[step]}  # type: ignore[index]


def check(found: Status, step: str, name: str) -> Check:
    return next(c for c in found.checks[step] if c.name == name)  # type: ignore[index]
