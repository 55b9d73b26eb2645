"""The mode in force: how long it has been, and under which policy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from stillme.audit import AuditStore
from stillme.evaluation.rollout.modes import policy_in_force
from stillme.policy import Policy
from tests.audit.conftest import occurrence
from tests.audit.support import again
from tests.evaluation.support import NOW, Verdicts, fill, status


def test_the_run_of_a_mode_begins_after_the_last_verdict_in_another(store: AuditStore, verdicts: Verdicts) -> None:
    """A single verdict in another mode starts it anew."""
    fill(store, verdicts, "2026-W05", mode="warn")
    fill(store, verdicts, "2026-W06")
    run = status(store).run

    assert (run.mode, run.since, run.verdicts, run.logged, run.not_logged) == (
        "monitor",
        "2026-02-02T00:00:00.000000Z",
        60,
        60,
        0,
    )
    assert run.days == pytest.approx(7 - 1 / 24)

    store.record([again(verdicts["enforce", True], at=datetime(2026, 2, 5, tzinfo=UTC))])
    later = status(store).run
    assert later.since is not None
    assert (later.mode, later.since > "2026-02-05", later.verdicts < 60) == ("monitor", True, True)


def test_the_policy_of_the_last_verdict_is_the_one_in_force(ready: AuditStore) -> None:
    """Its thresholds are the ones of its text in the store."""
    served = {"limits": {"passages": 63}, "rollout": {"min_verdicts": 7}}
    ready.record([again(occurrence(served), at=NOW)])

    assert policy_in_force(ready).hash == Policy.load(served).hash
    assert policy_in_force(ready).rollout.min_verdicts == 7


def test_a_store_without_verdicts_has_lite_in_force(store: AuditStore) -> None:
    assert policy_in_force(store) == Policy.load("lite")
