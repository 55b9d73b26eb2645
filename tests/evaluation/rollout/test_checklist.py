"""Each check of a step, passed, failed and unknown, on real stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stillme.audit import AuditStore
from stillme.audit.retention import prune
from stillme.policy.sections import Retention
from tests.audit.conftest import occurrence
from tests.audit.support import again
from tests.evaluation.support import CHECKS, NOW, POLICY, RULES, Verdicts, check, fill, review, states, status


def test_two_reviewed_weeks_in_monitor_open_warn_and_not_enforce(ready: AuditStore) -> None:
    """For enforce verdicts in warn are asked for, and the upper end of the escape rate."""
    found = status(ready)

    assert (found.step, found.is_open) == ("warn", True)
    assert states(found, "warn") == dict.fromkeys(CHECKS, "passed")
    assert [name for name, state in states(found, "enforce").items() if state != "passed"] == [
        "step",
        "days",
        "verdicts",
        "hallucination_escape_rate",
    ]
    escapes = check(found, "enforce", "hallucination_escape_rate")
    assert escapes.value == pytest.approx(
        40 * (1 - 0.0125 ** (1 / 20)) / (40 * (1 - 0.0125 ** (1 / 20)) + 20 * 0.0125 ** (1 / 20))
    )
    assert escapes.way_out.startswith("if they go on like this, 9 times as many reviews are needed")


@pytest.mark.parametrize(
    ("week", "wrong", "rules", "expected"),
    [
        pytest.param(
            "2026-W07",
            {"missed": 2},
            {},
            {"hallucination_escape_rate", "better_than_baseline", "stable"},
            id="escapes",
        ),
        pytest.param(
            "2026-W07",
            {"refused_wrongly": 4},
            {},
            {"refusal_precision", "better_than_baseline", "stable"},
            id="false refusals, in one tenth of the answerable questions",
        ),
        pytest.param("2026-W06", {"missed": 2}, {}, {"stable"}, id="better than the baseline, and not yet stable"),
        pytest.param("2026-W07", {}, {"min_days": 15}, {"days"}, id="too few days"),
        pytest.param("2026-W07", {}, {"min_verdicts": 121}, {"verdicts"}, id="too few verdicts"),
        pytest.param("2026-W07", {}, {"min_reviews_per_week": 81}, {"reviews_last_week"}, id="too few reviews"),
    ],
)
def test_a_check_that_does_not_hold_is_named(
    store: AuditStore, verdicts: Verdicts, week: str, wrong: dict[str, int], rules: dict[str, Any], expected: set[str]
) -> None:
    """Each fails for its own reason, with a way out."""
    for each in ("2026-W06", "2026-W07"):
        fill(store, verdicts, each)
        review(store, each, **(wrong if each == week else {}))

    found = status(store, {**POLICY, "rollout": {**RULES, **rules}})

    failed = [c for c in found.checks["warn"] if c.state != "passed"]
    assert {c.name for c in failed} == expected
    assert {c.state for c in failed} == {"failed"}
    assert all(c.way_out for c in failed)


def weeks_with(store: AuditStore, verdicts: Verdicts, *missed: int) -> None:
    """Three reviewed weeks, with so many answers that should not have been given."""
    for week, count in zip(("2026-W05", "2026-W06", "2026-W07"), missed, strict=True):
        fill(store, verdicts, week, answers=200, refusals=100)
        review(store, week, missed=count)


@pytest.mark.parametrize(
    ("missed", "state"),
    [
        pytest.param((2, 1, 1), "passed", id="better, and it stays so"),
        pytest.param((1, 1, 1), "failed", id="no worse is not enough"),
        pytest.param((0, 0, 0), "passed", id="at its best from the start: nothing can be better"),
        pytest.param((1, 0, 1), "failed", id="better once, and back again"),
    ],
)
def test_warn_takes_a_stable_improvement(
    store: AuditStore, verdicts: Verdicts, missed: tuple[int, int, int], state: str
) -> None:
    """Against the baseline, in each of the last weeks; enforce asks for thresholds, and that nothing got worse."""
    weeks_with(store, verdicts, *missed)

    found = status(store, {**POLICY, "rollout": {**RULES, "max_escape_rate": 0.5, "max_weekly_change": 0.3}})

    better = check(found, "warn", "better_than_baseline")
    assert better.state == state
    assert bool(better.way_out) == (state == "failed")
    assert states(found, "enforce")["no_worse_than_baseline"] == "passed"


def test_verdicts_that_wait_or_are_gone_are_not_logged(store: AuditStore, verdicts: Verdicts) -> None:
    """What retention took within the run cannot be shown to have been logged."""
    fill(store, verdicts, "2026-W06", answers=99, refusals=0)
    store.record([again(verdicts["monitor", True], at=datetime(2025, 1, 1, tzinfo=UTC))])
    prune(store, Retention.model_validate({"verdict": {"days": 30}}), NOW)

    logged = check(status(store), "warn", "logged_share")

    assert (logged.state, logged.value, logged.threshold) == ("passed", 0.99, 0.99)
    stricter = status(store, {**POLICY, "rollout": {**RULES, "min_logged_share": 1.0}})
    assert states(stricter, "warn")["logged_share"] == "failed"


def test_reviews_of_last_month_are_none_of_this_week(store: AuditStore, verdicts: Verdicts) -> None:
    """The habit counts, not the heap."""
    for week in ("2026-W06", "2026-W07"):
        fill(store, verdicts, week)
        review(store, week, at=NOW - timedelta(days=9) if week == "2026-W06" else NOW - timedelta(days=8))

    assert (status(store).reviews_last_week, states(status(store), "warn")["reviews_last_week"]) == (0, "failed")


def test_a_first_week_is_a_baseline_and_nothing_else(store: AuditStore, verdicts: Verdicts) -> None:
    """Whether it gets better or stays so is unknown."""
    fill(store, verdicts, "2026-W06", answers=100)
    review(store, "2026-W06", at=datetime(2026, 2, 9, tzinfo=UTC))

    found = status(store, as_of=datetime(2026, 2, 10, tzinfo=UTC))

    assert found.current is None
    assert [name for name, state in states(found, "warn").items() if state == "unknown"] == [*CHECKS[7:]]


def test_the_file_has_to_be_the_policy_that_is_served(ready: AuditStore) -> None:
    """Twice promoted is once too often: evidence from monitor does not open what comes after warn."""
    found = status(ready, {**POLICY, "mode": "warn"})

    assert [name for name, state in states(found, "warn").items() if state != "passed"] == ["policy_in_force"]


def test_figures_that_mix_policies_say_so(ready: AuditStore) -> None:
    """Two policies in a week are not told apart by the figures."""
    other = occurrence({"on_error": "deliver"})
    ready.record([again(other, at=datetime(2026, 2, 12, tzinfo=UTC))])

    assert "current: 2 policies were in force in these weeks, and the figures mix them" in status(ready).notes
