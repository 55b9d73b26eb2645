"""Where a rollout stands: as of a moment, with the baseline that is named, in every mode."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stillme.audit import AuditStore
from stillme.errors import InputError
from tests.evaluation.support import POLICY, RULES, Verdicts, fill, review, states, status


def test_what_comes_after_the_moment_is_not_seen(store: AuditStore, verdicts: Verdicts) -> None:
    """A checklist can be computed as it stood."""
    fill(store, verdicts, "2026-W06")
    before = status(store, as_of=datetime(2026, 2, 10, tzinfo=UTC))
    fill(store, verdicts, "2026-W07", mode="warn")

    assert status(store, as_of=datetime(2026, 2, 9, tzinfo=UTC)).run == before.run
    assert status(store).run.mode == "warn"


def test_without_a_verdict_nothing_holds(store: AuditStore) -> None:
    """Unknown and failed, never passed."""
    found = status(store)

    assert set(states(found, "warn").values()) == {"failed", "unknown"}
    assert not found.is_open


def test_the_baseline_can_be_named(ready: AuditStore) -> None:
    """And has to be there."""
    found = status(ready, baseline=["2026-W07"])

    assert found.baseline is not None
    assert found.current is not None
    assert (found.baseline.weeks, found.current.weeks) == (("2026-W07",), ("2026-W06",))
    with pytest.raises(InputError, match="2026-W01 has no verdicts, or has not ended"):
        status(ready, baseline=["2026-W01"])


def test_in_enforce_its_checks_go_on(store: AuditStore, verdicts: Verdicts) -> None:
    """There is no next step, but what was agreed on should still hold."""
    for week in ("2026-W06", "2026-W07"):
        fill(store, verdicts, week, answers=100, refusals=100, mode="enforce")
        review(store, week)

    found = status(store, {**POLICY, "mode": "enforce", "rollout": {**RULES, "max_escape_rate": 0.5}})

    assert (found.step, list(found.checks), found.is_open) == ("enforce", ["enforce"], True)


def test_copies_of_one_verdict_are_told_apart(verdicts: Verdicts) -> None:
    """The stores of these tests hold what the real guard gave: an answer with a claim, a refusal for one that is contradicted."""
    good, bad = verdicts["monitor", True].verdict, verdicts["monitor", False].verdict

    assert (good.decision, good.reasons, bad.decision) == ("answer", [], "refuse")
    assert [c.status for c in bad.claims] == ["contradicted"]
    assert replace(verdicts["monitor", True]) == verdicts["monitor", True]
