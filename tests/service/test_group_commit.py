"""Verdicts of requests that arrive together are kept together, and each request hears of its own alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.errors import BackendError
from stillme.guard import Guard, Occurrence
from stillme.service.metrics import Metrics
from stillme.service.recording import Recording
from stillme.storage.audit.database import RowsRefusedError

GUARD = Guard({"grounding": {"model": "none"}})
SPOOLING = Guard({"grounding": {"model": "none"}, "audit": {"on_failure": "spool"}})


def occurrences(count: int, guard: Guard = GUARD) -> list[Occurrence]:
    """Verdicts on hours of opening, in both languages in turn."""
    texts = (
        ("When does bakery {n} open?", "It opens at {n} am."),
        ("Tiệm bánh {n} mở lúc mấy giờ?", "Mở lúc {n} giờ."),
    )
    asked = ((q.format(n=n), a.format(n=n)) for n in range(1, count + 1) for q, a in [texts[n % 2]])
    given = [{"query": q, "draft_answer": a, "retrieved_context": [{"source_id": "a", "text": a}]} for q, a in asked]
    return [guard.examine(each, record=False) for each in given]


async def kept(recording: Recording, groups: Sequence[Sequence[Occurrence]]) -> list[BaseException | None]:
    """For each of several requests that arrive at once, what kept its verdicts from being recorded."""
    found = await asyncio.gather(*map(recording.arecord, groups), return_exceptions=True)
    await recording.aclose()
    return found


def commits(store: AuditStore) -> int:
    """How many transactions wrote to the store: each ends with a seal."""
    return int(store.database.rows("SELECT count(seal) FROM stillme_audit_record")[0][0])


def test_what_arrives_together_is_one_commit_and_one_whole_chain(tmp_path: Path) -> None:
    """Every verdict is there, in the order of arrival, and the chain verifies."""
    given = occurrences(40)
    with AuditStore(tmp_path / "audit.db") as store:
        store.prepare()
        before = commits(store)

        assert asyncio.run(kept(Recording(store, Metrics()), [[each] for each in given])) == [None] * 40

        recorded = [record.entry.id for record in store.records(Filter(kind="verdict")) if record.entry]
        assert recorded == [each.verdict.validator_trace_id for each in given]
        assert commits(store) == before + 1
        assert verify_store(store).fault is None


def test_what_the_store_does_not_take_is_refused_alone(tmp_path: Path) -> None:
    """A trace that is there already concerns its own request; those beside it are kept, and counted."""
    first, second = occurrences(2)
    metrics = Metrics()
    with AuditStore(tmp_path / "audit.db") as store:
        found = asyncio.run(kept(Recording(store, metrics), [[first], [second], [first]]))

        assert [type(each) for each in found] == [type(None), type(None), RowsRefusedError]
        assert len(list(store.records(Filter(kind="verdict")))) == 2
    assert b"stillme_verification_seconds_count 2.0" in metrics.text()


def test_a_store_that_fails_fails_everybody_and_counts_nobody(tmp_path: Path) -> None:
    """Nothing is answered that is not kept: each request hears why."""
    metrics = Metrics()
    store = AuditStore(tmp_path / "audit.db")
    store.prepare()
    (tmp_path / "audit.db").rename(tmp_path / "gone.db")

    found = asyncio.run(kept(Recording(store, metrics), [[each] for each in occurrences(3)]))

    assert [type(each) for each in found] == [BackendError] * 3
    assert b"stillme_verification_seconds_count 0.0" in metrics.text()


def test_policies_that_keep_otherwise_are_not_mixed(tmp_path: Path) -> None:
    """Where the store is gone, a verdict whose policy has a journal goes there; the one beside it is refused."""
    store = AuditStore(tmp_path / "audit.db", journal=tmp_path / "journal")
    store.prepare()
    (tmp_path / "audit.db").rename(tmp_path / "gone.db")

    groups = [occurrences(1), occurrences(1, SPOOLING)]
    found = asyncio.run(kept(Recording(store, Metrics()), groups))

    assert [type(each) for each in found] == [BackendError, type(None)]
    assert list((tmp_path / "journal").iterdir())


def test_who_leaves_while_it_is_written_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """Its verdict may be kept all the same; nobody else notices."""
    first, second = occurrences(2)

    async def scenario(recording: Recording) -> None:
        leaving = asyncio.create_task(recording.arecord([first]))
        staying = asyncio.create_task(recording.arecord([second]))
        await asyncio.sleep(0)
        leaving.cancel()
        await staying
        await recording.aclose()

    with AuditStore(tmp_path / "audit.db") as store:
        asyncio.run(scenario(Recording(store, Metrics())))

        assert second.verdict.validator_trace_id in {r.entry.id for r in store.records() if r.entry}


def test_without_a_store_verdicts_are_counted_at_once() -> None:
    """There is nothing to wait for."""
    metrics = Metrics()
    given = [replace(each, caller="key:a") for each in occurrences(1)]

    assert asyncio.run(kept(Recording(None, metrics), [given])) == [None]
    assert b"stillme_verification_seconds_count 1.0" in metrics.text()
