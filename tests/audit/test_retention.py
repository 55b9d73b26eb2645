"""What leaves a store leaves it for good, is accounted for, and leaves the chain valid."""
# ruff: noqa: S608  (the names in the statements are ours)

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import Verification, verify_store
from stillme.audit.chain.record import instant, sha256
from stillme.audit.chain.seals import Keyring
from stillme.audit.retention import CHUNK, ROW_BYTES, Pruned, erase, prune
from stillme.audit.review.reviews import review
from stillme.errors import BackendError, InputError
from stillme.guard import Occurrence
from stillme.policy.sections import Retention
from stillme.storage.audit.database import BODY, POLICY, RECORD
from tests.audit.conftest import KEY, NewStore
from tests.audit.support import OTHER_KEY, Ground, Tables, again, ground, places, trace, verdicts
from tests.soak import examples

__all__ = ["ground", "places"]  # fixtures

PERSON = "Nguyễn Thị Minh Khai, 0912 345 678"
WHO = {"who": "a customer", "why": "asked for it"}


def rules(**classes: Any) -> Retention:
    return Retention.model_validate(classes)


def checked(store: AuditStore) -> Verification:
    found = verify_store(store)
    assert found.fault is None
    return found


def kinds(store: AuditStore) -> dict[int, str | None]:
    """What stands at each place."""
    return {record.seq: record.entry.kind if record.entry else None for record in store.records()}


def with_texts(store: AuditStore) -> list[int]:
    return [record.seq for record in store.records() if record.entry and record.entry.body]


def last_meta(store: AuditStore) -> dict[str, Any]:
    entry = list(store.records())[-1].entry
    assert entry is not None
    return dict(json.loads(entry.meta))


# erasing


def test_an_erasure_says_what_who_and_why(store: AuditStore) -> None:
    """The texts of the verdict and of its reviews go, the rest stays, and the chain is valid and says so."""
    one, other = verdicts(count=2)
    store.record([one, other])
    note = review(store, trace(one), "correct", "lan", "a note")
    review(store, trace(other), "correct", "lan", "another note")
    before = store.find(trace(one)).entry

    erased = erase(store, Filter(id=trace(one)), who=" a customer ", why=" asked\nfor it ")

    assert erased == [trace(one), note.id]
    assert with_texts(store) == [3, 5]
    record = list(store.records())[-1].entry
    assert record is not None
    assert (record.kind, record.caller, json.loads(record.meta)) == (
        "erasure",
        "a customer",
        {"records": [2, 4], "why": "asked\nfor it"},
    )
    after = store.find(trace(one)).entry
    assert before is not None
    assert after is not None
    assert (after.values, after.body) == (before.values, None)
    assert (checked(store).erased, checked(store).ok) == (2, True)


def raw(path: Path) -> bytes:
    """Every byte of a store in a file, with what belongs to it."""
    return b"".join(
        file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")) if not file.name.endswith(".key")
    )


def verdicts_on_a_person(count: int) -> list[Occurrence]:
    person = {"source_id": "crm", "text": f"The customer is {PERSON}.", "title": PERSON}
    return verdicts(
        count=count, query=f"Who is {PERSON}?", draft_answer=f"It is {PERSON} [1].", retrieved_context=[person]
    )


@pytest.mark.parametrize("closed", [True, False], ids=["after closing", "while open"])
@pytest.mark.parametrize("around", [0, 1, 30])
def test_erased_texts_are_gone_from_the_disk(tmp_path: Path, around: int, closed: bool) -> None:
    """No byte of them is left in the file, nor in its log, nor of the notes of reviews."""
    path, filler = tmp_path / "audit.db", verdicts()[0]
    store = AuditStore(path, key=KEY, journal=tmp_path / "elsewhere")
    person = verdicts_on_a_person(2)
    for _ in range(around):
        store.record([again(filler)])
    store.record(person[:1])
    store.record([again(filler) for _ in range(around)])
    store.record(person[1:])
    review(store, trace(person[0]), "correct", "lan", f"known as {PERSON}")
    for _ in range(around):
        store.record([again(filler)])
    parts = [PERSON.encode(), b"345 678", "Thị Minh".encode()]
    assert all(part in raw(path) for part in parts)

    erase(store, Filter(text=PERSON), **WHO)
    if closed:
        store.close()

    assert not [part for part in parts if part in raw(path)]
    assert checked(store).erased == 3
    store.close()


def test_texts_that_a_reader_holds_on_the_disk_are_told(tmp_path: Path) -> None:
    """They are erased, but still in the log that the reader needs: that is said, and what to do."""
    path = tmp_path / "audit.db"
    with AuditStore(path, key=KEY, journal=tmp_path / "elsewhere", timeout_s=0.1) as store:
        store.record(verdicts_on_a_person(1))
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute(f"SELECT count(*) FROM {BODY}").fetchall()

        with pytest.raises(BackendError, match="what was deleted may still stand in its log"):
            erase(store, Filter(text=PERSON), **WHO)
        assert (with_texts(store), checked(store).erased) == ([], 1)
        reader.close()
        store.database.forget()

        assert PERSON.encode() not in raw(path)


def test_removed_texts_are_gone_from_the_disk(tmp_path: Path) -> None:
    """Retention takes them as thoroughly."""
    path = tmp_path / "audit.db"
    with AuditStore(path, key=KEY, journal=tmp_path / "elsewhere") as store:
        store.record(verdicts())
        store.record([again(one, at=datetime.now(UTC) - timedelta(days=40)) for one in verdicts_on_a_person(2)])
        assert PERSON.encode() in raw(path)

        prune(store, rules(verdict={"text_days": 30}))

        assert PERSON.encode() not in raw(path)


@pytest.mark.parametrize(
    "wanted",
    [Filter(session="session-1"), Filter(text="unused gear"), Filter(kind="verdict"), Filter(since="2000-01-01")],
)
def test_erasing_by_a_filter(store: AuditStore, wanted: Filter) -> None:
    """All that the filter takes, and the reviews on it, in one record."""
    made = verdicts(count=3)
    store.record(made)
    store.record(
        verdicts(metadata={"session_id": "other"}, query="Where?", retrieved_context=[], draft_answer="There.")
    )
    note = review(store, trace(made[1]), "unclear", "lan", "a note on gear")

    erased = erase(store, wanted, **WHO)

    assert set(map(trace, made)) | {note.id} <= set(erased)
    assert checked(store).erased == len(erased)


def test_more_than_a_chunk_can_be_erased_at_once(store: AuditStore) -> None:
    """A person with many requests is one erasure."""
    one = verdicts()[0]
    store.record([again(one) for _ in range(CHUNK + 3)])

    erased = erase(store, Filter(session="session-1"), **WHO)

    assert (len(erased), len(set(erased)), checked(store).erased) == (CHUNK + 3, CHUNK + 3, CHUNK + 3)


def test_erasing_twice_or_nothing_leaves_no_trace(store: AuditStore) -> None:
    """What is not there is not erased, and no record says that it was."""
    one = verdicts()[0]
    store.record([one, *verdicts({"audit": {"content": "none"}})])
    erase(store, Filter(id=trace(one)), **WHO)
    head = store.head()

    again_ = [
        erase(store, wanted, **WHO)
        for wanted in (
            Filter(id=trace(one)),
            Filter(id="trace-none"),
            Filter(session="nobody"),
            Filter(session="session-1"),
        )
    ]

    assert (again_, store.head()) == ([[], [], [], []], head)


def test_a_note_can_be_erased_alone(store: AuditStore) -> None:
    """Naming a review takes its note and leaves the verdict."""
    one = verdicts()[0]
    store.record([one])
    note = review(store, trace(one), "correct", "lan", "a name")

    assert erase(store, Filter(id=note.id), **WHO) == [note.id]
    assert with_texts(store) == [2]
    checked(store)


def test_a_review_after_an_erasure_can_be_erased_too(store: AuditStore) -> None:
    """The verdict has no texts any more, the note on it has."""
    one = verdicts()[0]
    store.record([one])
    erase(store, Filter(id=trace(one)), **WHO)
    note = review(store, trace(one), "correct", "lan", "a name")

    assert erase(store, Filter(id=trace(one)), **WHO) == [note.id]
    assert checked(store).erased == 2


def test_salted_hashes_are_erased_like_texts(store: AuditStore) -> None:
    """With the hashes goes their salt: what is left cannot be compared with anything."""
    one = verdicts({"audit": {"content": "hashed"}})[0]
    store.record([one])

    assert erase(store, Filter(id=trace(one)), **WHO) == [trace(one)]
    assert with_texts(store) == []
    checked(store)


@pytest.mark.parametrize(
    ("wanted", "who", "why", "problem"),
    [
        (Filter(id="x"), " ", "why", "needs who asks for it and why"),
        (Filter(id="x"), "who", "", "needs who asks for it and why"),
        (Filter(), "who", "why", "needs to know whose texts"),
    ],
)
def test_an_erasure_without_a_reason_is_refused(
    store: AuditStore, wanted: Filter, who: str, why: str, problem: str
) -> None:
    """Nobody erases a whole store by leaving something out."""
    store.record(verdicts())

    with pytest.raises(InputError, match=problem):
        erase(store, wanted, who=who, why=why)

    assert with_texts(store) == [2]


# removing by age


def test_texts_go_by_age_and_records_stay(store: AuditStore) -> None:
    """`text_days`: what was decided is kept, what people wrote is not."""
    store.record([*verdicts(days_ago=31), *verdicts(days_ago=29)])

    done = prune(store, rules(verdict={"text_days": 30}))

    assert (done.texts, done.records, done.cut_off) == (1, 0, 0)
    assert (kinds(store)[2], with_texts(store)) == ("verdict", [3])
    assert (checked(store).erased, checked(store).removed) == (1, 0)


def test_records_go_by_age_and_keep_their_place(store: AuditStore) -> None:
    """`days`: a removed record keeps its hashes as long as something stands before it."""
    store.record([*verdicts(), *verdicts(days_ago=366, count=2), *verdicts()])

    done = prune(store, rules(verdict={"days": 365}))

    assert done == Pruned(texts=2, records=2, cut_off=0, tombstone=done.tombstone)
    assert kinds(store) == {1: "store", 2: "verdict", 3: None, 4: None, 5: "verdict", 6: "tombstone"}
    assert (checked(store).removed, checked(store).records) == (2, 6)


def test_the_beginning_is_cut_off_when_all_before_is_gone(store: AuditStore) -> None:
    """Also what accounted for it alone; the tombstone names the hash that it ended with."""
    old = verdicts(days_ago=400, count=3)
    store.record(old)
    erase(store, Filter(id=trace(old[0])), **WHO)
    store.record(verdicts(days_ago=390))
    store.record(verdicts())
    before = store.database.rows(f"SELECT hash FROM {RECORD} WHERE seq = 6")[0][0]

    done = prune(store, rules(verdict={"days": 365}))

    assert (done.records, done.cut_off) == (4, 6)
    assert kinds(store) == {7: "verdict", 8: "tombstone"}
    assert last_meta(store)["prefix"] == {"seq": 6, "hash": before}
    assert (checked(store).removed, checked(store).records) == (6, 2)


def test_a_review_that_is_kept_longer_holds_its_place(store: AuditStore) -> None:
    """The verdict it is on goes, the review stays with its label, and only what is before it is cut off."""
    old = verdicts(days_ago=400, count=2)
    store.record(old)
    review(store, trace(old[0]), "false_refusal", "lan", "kept")
    store.record(verdicts(days_ago=400))

    done = prune(store, rules(verdict={"days": 365}, review={"days": 3650}))

    assert (done.records, done.cut_off) == (3, 3)
    assert kinds(store) == {4: "review", 5: None, 6: "tombstone"}
    kept = next(record.entry for record in store.records(Filter(kind="review")) if record.entry)
    assert (kept.ref, kept.label, kept.body is None) == (trace(old[0]), "false_refusal", False)
    checked(store)


def test_everything_may_go(store: AuditStore) -> None:
    """Then the chain begins with the tombstone, and goes on."""
    store.record(verdicts(days_ago=400, count=3))

    prune(store, rules(verdict={"days": 365}))
    left = kinds(store)
    store.record(verdicts())

    assert left == {5: "tombstone"}
    assert kinds(store) == {5: "tombstone", 6: "verdict"}
    assert (checked(store).removed, checked(store).store is None) == (4, False)


def test_pruning_again_later(store: AuditStore) -> None:
    """Each removal takes what became due since, and the older tombstone once nothing needs it."""
    start, what = datetime.now(UTC), rules(verdict={"days": 150, "text_days": 50})
    store.prepare()
    identity, seen = checked(store).store, []
    for number in range(5):
        store.record(verdicts("strict" if number % 2 else None, days_ago=-100 * number))
        prune(store, what, start + timedelta(days=100 * number))
        assert checked(store).store == identity
        seen.append(kinds(store))

    assert seen == [
        {1: "store", 2: "verdict"},
        {1: "store", 2: "verdict", 3: "verdict", 4: "tombstone"},
        {3: "verdict", 4: "tombstone", 5: "verdict", 6: "tombstone"},
        {4: "tombstone", 5: "verdict", 6: "tombstone", 7: "verdict", 8: "tombstone"},
        {6: "tombstone", 7: "verdict", 8: "tombstone", 9: "verdict", 10: "tombstone"},
    ]


def test_nothing_to_remove_leaves_no_trace(store: AuditStore) -> None:
    """Without rules, with rules that nothing meets, and a second time."""
    store.record(verdicts(days_ago=40))
    prune(store, rules(verdict={"text_days": 30}))
    head = store.head()

    for nothing in (
        rules(),
        rules(verdict={"days": 365}, review={"days": 1}),
        rules(verdict={"text_days": 30}),
        rules(verdict={"max_mb": 1}),
    ):
        assert prune(store, nothing) == Pruned()

    assert store.head() == head


def test_a_dry_run_only_counts(store: AuditStore) -> None:
    """It counts what the removal then takes, and writes nothing."""
    store.record([*verdicts(days_ago=400, count=2), *verdicts()])
    head, what = store.head(), rules(verdict={"days": 365})

    counted = prune(store, what, dry_run=True)

    assert (store.head(), counted.tombstone) == (head, None)
    done = prune(store, what)
    assert (done.texts, done.records, done.cut_off) == (counted.texts, counted.records, counted.cut_off) == (2, 2, 3)


def test_the_tombstone_accounts_for_everything(store: AuditStore) -> None:
    """It names the places, the rules, the moment, and what went of each class."""
    store.record([*verdicts(), *verdicts(days_ago=400), *verdicts(days_ago=40, count=2)])
    what = rules(verdict={"days": 365, "text_days": 30})
    moment = datetime.now(UTC)

    prune(store, what, moment)
    said = last_meta(store)

    assert (said["texts"], said["contents"], said["prefix"]) == ([[3, 5]], [[3, 3]], None)
    assert (said["counts"], said["as_of"]) == ({"verdict": {"texts": 3, "records": 1}}, instant(moment))
    assert (said["rules"], said["store"]) == (what.model_dump(mode="json"), checked(store).store)
    assert list(store.records())[-1].seal is not None


@pytest.mark.parametrize("days", [10**6, 10**9, 10**12])
def test_an_age_before_all_time_removes_nothing(store: AuditStore, days: int) -> None:
    """A number of days that no calendar has is a long time."""
    store.record(verdicts(days_ago=4000))

    assert prune(store, rules(verdict={"days": days, "text_days": days})) == Pruned()


def test_a_late_record_of_an_early_verdict_goes_by_its_own_age(store: AuditStore) -> None:
    """What was spooled is written later than it was made: what counts is when it was made."""
    store.record([*verdicts(), *verdicts(days_ago=400), *verdicts()])

    assert prune(store, rules(verdict={"days": 365})).records == 1
    assert kinds(store)[3] is None


# removing by size


def sizes(store: AuditStore) -> list[int]:
    rows = store.database.rows(
        f"SELECT length(r.meta), length(b.text) FROM {RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq WHERE r.kind = 'verdict' ORDER BY r.seq"
    )
    return [ROW_BYTES + meta + (text or 0) for meta, text in rows]


RULES = {"grounding": {"model": "none"}}
"""Large texts are kept here, not read by a model."""


def test_the_oldest_go_until_the_rest_fits(store: AuditStore) -> None:
    """`max_mb`: as few as need be, the first first."""
    big = verdicts(
        RULES, query="Q" * 7000, retrieved_context=[{"source_id": f"s{n}", "text": "x " * 30_000} for n in range(6)]
    )[0]
    store.record([again(big) for _ in range(5)])
    assert sum(sizes(store)) > 1_800_000

    done = prune(store, rules(verdict={"max_mb": 1}))

    kept = sizes(store)
    assert sum(kept) <= 1_000_000 < sum(kept) + 360_000
    assert done.records == 5 - len(kept) == 3
    assert kinds(store) == {5: "verdict", 6: "verdict", 7: "tombstone"}
    checked(store)


def test_what_goes_by_age_makes_room_first(store: AuditStore) -> None:
    """A record is not removed for its size where texts that go anyway make enough room."""
    big = verdicts(RULES, retrieved_context=[{"source_id": f"s{n}", "text": "x " * 30_000} for n in range(6)])[0]
    old = datetime.now(UTC) - timedelta(days=40)
    store.record([again(big), again(big), again(big, at=old), again(big, at=old)])

    done = prune(store, rules(verdict={"max_mb": 1, "text_days": 30}))

    assert (done.records, done.texts) == (0, 2)
    checked(store)


def test_each_class_has_its_own_size(store: AuditStore) -> None:
    """Notes do not push verdicts out."""
    one = verdicts()[0]
    store.record([one])
    for _ in range(3):
        review(store, trace(one), "correct", "lan", "ờ" * 10_000)

    assert prune(store, rules(verdict={"max_mb": 1}, review={"max_mb": 1})) == Pruned()


# many, mixed, and tampered with


def test_five_thousand_records(new_store: NewStore) -> None:
    """A large removal is one transaction and one tombstone."""
    store, one = new_store(), verdicts()[0]
    old = datetime.now(UTC) - timedelta(days=400)
    store.record([again(one)])
    for _ in range(5):
        store.record([again(one, at=old) for _ in range(1000)])
    store.record([again(one)])

    done = prune(store, rules(verdict={"days": 365}))

    assert (done.records, done.cut_off) == (5000, 0)
    assert last_meta(store)["contents"] == [[3, 5002]]
    assert (checked(store).removed, checked(store).records) == (5000, 5004)
    assert prune(store, rules(verdict={"days": 1}), datetime.now(UTC) + timedelta(days=5)).cut_off == 5003
    assert kinds(store) == {5004: "tombstone", 5005: "tombstone"}
    assert checked(store).removed == 5003


ACTS = st.lists(st.sampled_from(["old", "older", "new", "hashed", "review old", "review", "erase", "texts", "days", "reviews", "all"]), min_size=3, max_size=14)  # fmt: skip


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(acts=ACTS)
def test_any_mixture_of_erasures_removals_and_reviews_is_whole(ground: Ground, acts: Sequence[str]) -> None:
    """After each of them."""
    now = datetime.now(UTC)
    made = {
        "old": again(OLD, at=now - timedelta(days=40)),
        "older": again(OLD, at=now - timedelta(days=400)),
        "new": again(OLD),
        "hashed": again(HASHED),
    }
    removals = {
        "texts": rules(verdict={"text_days": 30}, review={"text_days": 30}),
        "days": rules(verdict={"days": 365}),
        "reviews": rules(review={"days": 30}),
        "all": rules(verdict={"days": 1}, review={"days": 1}),
    }
    with ground.written() as store:
        last = made["new"]
        store.record([last])
        for act in acts:
            if act in made:
                last = again(made[act])
                store.record([last, again(made[act])])
            elif act.startswith("review"):
                last = again(made["old"] if act.endswith("old") else made["new"])
                store.record([last])
                review(store, trace(last), "correct", "lan", "a note")
            elif act == "erase":
                erase(store, Filter(id=trace(last)), **WHO)
            else:
                prune(store, removals[act], now + timedelta(days=2 if act == "all" else 0))
            checked(store)


OLD, HASHED = verdicts()[0], verdicts({"audit": {"content": "hashed"}})[0]

TAMPERINGS = [
    pytest.param(f"DELETE FROM {BODY} WHERE seq = 5", 5, id="texts deleted"),
    pytest.param(f"DELETE FROM {RECORD} WHERE seq = 5", 5, id="a record deleted"),
    pytest.param(f"DELETE FROM {RECORD} WHERE seq = 3", 3, id="a record deleted that is due anyway"),
    pytest.param(f"UPDATE {RECORD} SET at = '2001-01-01T00:00:00.000000Z' WHERE seq = 5", 5, id="a record made older"),
    pytest.param(f"UPDATE {RECORD} SET kind = NULL WHERE seq = 5", 5, id="a record emptied"),
]


@pytest.mark.parametrize(("sql", "seq"), TAMPERINGS)
def test_a_removal_does_not_cover_up_a_deletion(new_store: NewStore, location: str, sql: str, seq: int) -> None:
    """A store that is not whole is not pruned: what somebody took would be counted as removed."""
    store, tables = new_store(), Tables(location)
    old = verdicts(days_ago=400, count=3)
    store.record(old)
    review(store, trace(old[0]), "correct", "lan", "kept for ten years")
    what = rules(verdict={"days": 365}, review={"days": 3650})
    tables.run(sql)
    tables.close()
    head = store.head()

    with pytest.raises(BackendError, match=rf"is not whole, so nothing is removed from it: record {seq}\b"):
        prune(store, what)

    assert store.head() == head
    fault = verify_store(store).fault
    assert fault is not None
    assert fault.seq == seq


def test_a_deletion_after_removals_is_found(new_store: NewStore, location: str) -> None:
    """Tombstones account for what they name and for nothing else."""
    store, tables = new_store(), Tables(location)
    store.record([*verdicts(), *verdicts(days_ago=400), *verdicts(days_ago=40), *verdicts()])
    prune(store, rules(verdict={"days": 365, "text_days": 30}))
    store.record(verdicts(count=2))
    for table, seq in ((BODY, 2), (BODY, 5), (BODY, 8)):
        row = tables.run(f"SELECT seq, salt, text FROM {table} WHERE seq = ?", seq)[0]
        tables.run(f"DELETE FROM {table} WHERE seq = ?", seq)
        fault = verify_store(store).fault
        tables.insert(BODY, dict(zip(("seq", "salt", "text"), row, strict=True)))

        assert fault is not None
        assert (fault.seq, "its texts are missing" in fault.problem) == (seq, True)
    tables.close()
    checked(store)


def test_a_store_that_changed_its_key_is_pruned_with_both(new_store: NewStore) -> None:
    """Seals that cannot be checked prove nothing, so nothing is removed without their key."""
    with new_store(key=OTHER_KEY) as store:
        store.record(verdicts(days_ago=400))
    store = new_store()
    store.record(verdicts())

    with pytest.raises(BackendError, match="which was not given"):
        prune(store, rules(verdict={"days": 365}))
    done = prune(store, rules(verdict={"days": 365}), keys=Keyring((KEY, OTHER_KEY)))

    assert done.cut_off == 2
    assert verify_store(store, Keyring((KEY,))).ok  # the other key sealed only what is gone


def test_the_policies_of_removed_records_are_accounted_for(store: AuditStore, location: str) -> None:
    """They stay, since other writers may count on them, and are no fault; an added one still is."""
    store.record(verdicts({"mode": "warn"}, days_ago=400))
    store.record(verdicts("strict", days_ago=400))
    prune(store, rules(verdict={"days": 365}))
    store.record(verdicts(days_ago=400))
    prune(store, rules(verdict={"days": 365}))

    assert len(last_meta(store)["policies"]) == 3
    checked(store)
    store.record(verdicts("strict"))
    checked(store)
    tables = Tables(location)
    tables.insert(POLICY, {"digest": sha256("x"), "text": "x"})
    tables.close()
    fault = verify_store(store).fault
    assert fault is not None
    assert "no record was judged by it" in fault.problem


def test_two_removals_at_once_are_whole(new_store: NewStore) -> None:
    """A removal that was decided before another one cut off more does not hide that."""
    first, second = new_store(), new_store()
    first.record([*verdicts(days_ago=400), *verdicts(days_ago=300), *verdicts()])
    change = second.change

    def late(*given: Any) -> Any:
        prune(first, rules(verdict={"days": 250}))
        return change(*given)

    second.change = late  # type: ignore[assignment, method-assign]
    prune(second, rules(verdict={"days": 365}))

    assert kinds(first) == {4: "verdict", 5: "tombstone", 6: "tombstone"}
    assert checked(first).removed == 3


def test_two_erasures_at_once_are_whole(new_store: NewStore) -> None:
    """Both say the same, and it is gone."""
    first, second = new_store(), new_store()
    one = verdicts()[0]
    first.record([one])
    change = second.change

    def late(*given: Any) -> Any:
        erase(first, Filter(id=trace(one)), **WHO)
        return change(*given)

    second.change = late  # type: ignore[assignment, method-assign]
    erase(second, Filter(id=trace(one)), **WHO)

    assert checked(first).erased == 1


def test_a_writer_goes_on_after_another_cut_off_what_it_wrote(new_store: NewStore) -> None:
    """A writer whose last record retention has removed meanwhile is not told that its store lost something."""
    writer, keeper = new_store(), new_store()
    writer.record(verdicts(days_ago=400))
    prune(keeper, rules(verdict={"days": 365}))

    writer.record(verdicts())

    assert kinds(writer) == {3: "tombstone", 4: "verdict"}
    checked(writer)
