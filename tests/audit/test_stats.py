"""The figures of a store are those of what was put into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from stillme.audit import AuditStore, Filter
from stillme.audit.retention import erase, prune
from stillme.audit.stats import Stats, stats_of
from stillme.policy.sections import Retention
from tests.audit.conftest import KEY, occurrence

WRONG = {"draft_answer": "Unused gear can be returned within 45 days of delivery [1]."}
AT = datetime(2026, 2, 27, 9, 30, tzinfo=UTC)


def filled(store: AuditStore) -> None:
    """Two answers in February, one refusal in March, one of them without texts."""
    for day, policy, changes in [(0, {}, {}), (1, {"audit": {"content": "none"}}, {}), (2, {}, WRONG)]:
        store.record([replace(occurrence(policy, **changes), at=AT + timedelta(days=day))])


def test_an_empty_store_has_its_first_record_and_nothing_else(store: AuditStore) -> None:
    """Nothing is divided by zero, and no group is made up."""
    found = stats_of(store)

    assert (found.records, found.last, found.kinds, found.decisions, found.reasons) == (1, 1, {"store": 1}, {}, {})
    assert (found.texts, found.erased, found.removed, found.policies) == (0, 0, 0, 0)
    assert found.bytes_per_record == found.bytes > 0


def test_every_figure_of_a_filled_store(store: AuditStore) -> None:
    """Groups, ends, texts, policies, seals and bytes."""
    filled(store)

    found = stats_of(store)

    begun = f"{datetime.now(UTC):%Y-%m}"
    assert found == Stats(
        records=4,
        last=4,
        removed=0,
        erased=0,
        texts=2,
        oldest="2026-02-27T09:30:00.000000Z",
        newest=found.newest,
        kinds={"store": 1, "verdict": 3},
        decisions={"answer": 2, "refuse": 1},
        reasons={"contradicted_claim": 1, "number_not_in_sources": 1},
        months=dict(sorted({"2026-02": 2, "2026-03": 1, begun: 1}.items())),
        policies=2,
        keys={f"hmac:{KEY.id}": 3},
        bytes=found.bytes,
        bytes_per_record=round(found.bytes / 4),
        journal_pending=0,
        journal_damaged=0,
    )
    assert found.bytes > 4 * 600


def test_what_was_erased_and_removed_is_counted_apart(store: AuditStore) -> None:
    """An erasure takes texts, retention takes records; neither is counted as the other."""
    filled(store)
    erase(store, Filter(decision="refuse"), who="an officer", why="a request")
    prune(store, Retention.model_validate({"verdict": {"days": 1}}), AT + timedelta(days=1, hours=12))

    found = stats_of(store)

    assert (found.records, found.removed, found.erased, found.texts) == (4, 2, 1, 0)
    assert found.kinds == {"erasure": 1, "tombstone": 1, "verdict": 2}
    assert found.last == 6
