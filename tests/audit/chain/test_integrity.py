"""Whatever is done to a store without its key is found, and the first record that it was done to is named."""
# ruff: noqa: S608  (the names in the statements are ours)

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import Checkpoint, Fault, Verification, verify_store
from stillme.audit.chain.record import COLUMNS, ZERO, Entry, Record, chained, compact, instant, sha256
from stillme.audit.chain.seals import Keyring
from stillme.audit.query import PAGE
from stillme.audit.retention import erase, prune
from stillme.audit.review.reviews import review
from stillme.errors import BackendError, InputError
from stillme.policy.sections import Retention
from stillme.storage.audit.database import BODY, POLICY, RECORD, SCHEMA_TABLE
from tests.audit.conftest import KEY, NewStore
from tests.audit.support import (
    COLUMNS_OF,
    OTHER_KEY,
    Ground,
    Rows,
    Tables,
    again,
    cut_ground,
    ground,
    ground_at,
    places,
    trace,
    verdicts,
)
from tests.soak import examples

__all__ = ["cut_ground", "ground", "places"]  # fixtures

SLOW = settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# The records of `fill` that stand under one seal.
GROUPS = [(1, 1), (2, 4), *((n, n) for n in range(5, 10)), (10, 11), *((n, n) for n in range(12, 16)), (16, 17)]


def begins(seq: int) -> int:
    """The first record of the commit that the record was written with: a seal proves all of it or nothing."""
    return next((first for first, last in GROUPS if first <= seq <= last), seq)


def found_in(ground: Ground, *checkpoints: Checkpoint) -> Verification:
    return verify_store(ground.store, checkpoints=checkpoints)


def test_a_store_that_nobody_touched_is_whole(ground: Ground) -> None:
    """Everything is counted: records, seals, erased texts, removed records."""
    found = found_in(ground)

    assert (found.fault, found.ok) == (None, True)
    assert (found.records, found.head.seq, found.sealed_upto) == (17, 17, 17)
    assert (found.seals, found.erased, found.removed) == (13, 2, 2)
    assert found.keys == (f"hmac:{KEY.id}",)


def test_a_store_whose_beginning_was_cut_off_is_whole(cut_ground: Ground) -> None:
    """The tombstone stands for what was cut off, and names the store."""
    found = found_in(cut_ground)

    assert (found.fault, found.records, found.removed, found.erased) == (None, 6, 7, 2)
    assert found.store is not None
    assert found.store.startswith("store-")


def test_without_a_key_nothing_counts_as_proven(ground: Ground) -> None:
    """The chain can be followed without a key, but that is not called good."""
    found = verify_store(ground.store, Keyring())

    assert (found.fault, found.seals_checked, found.ok) == (None, False, False)


# every cell


def edits(value: Any) -> list[Any]:
    """What somebody might put instead of a value."""
    if value is None:
        return ["", "x"]
    if isinstance(value, int):
        return [value + 1, -value]
    return [None, "", value + " ", value.swapcase(), value[:-1] + ("1" if value[-1:] != "1" else "2")]


def may_be_named(ground: Ground, table: str, key: Any, column: str, new: Any) -> set[int]:
    """The records that may be named where one cell was edited."""
    if table == POLICY:
        place = COLUMNS_OF[RECORD].index("policy")
        return {min((row[0] for row in ground.whole[RECORD] if row[place] == key), default=0)}
    if table == SCHEMA_TABLE:
        return {0}
    # A seal speaks for a whole commit, and whoever moves the end of a commit takes its seal away. Where the first record
    # is moved behind the last, the gap there is certain; the one at the beginning might have been accounted for in it.
    places = {key, begins(key)} if column in ("seal", "seq") else {key}
    return places | {new, len(ground.places()) + 1} if column == "seq" else places


@pytest.mark.parametrize("turn", range(3))
def test_an_edit_of_any_cell_is_found_and_named(ground: Ground, turn: int) -> None:
    """Every column of every row of every table, edited in one way or another."""
    cells = [
        (table, row[0], column, new)
        for table, columns in COLUMNS_OF.items()
        for row in ground.whole[table]
        for number, (column, value) in enumerate(zip(columns, row, strict=True))
        for new in [edits(value)[(number + turn) % len(edits(value))]]
    ]
    wrong = []
    for table, key, column, new in cells[turn :: 3 if ground.tables.is_sqlite else 9]:  # a third is enough of a server
        if _edit(ground.tables, table, key, column, new):
            fault = found_in(ground).fault
            if fault is None or fault.seq not in may_be_named(ground, table, key, column, new):
                wrong.append((table, key, column, new, fault))
            ground.tables.put_back({table: ground.whole[table]})

    assert wrong == []


REFUSALS = ("IntegrityError", "NotNullViolation", "UniqueViolation", "InvalidTextRepresentation")


def _edit(tables: Tables, table: str, key: Any, column: str, new: Any) -> bool:
    """Edit one cell; False where the database does not let it be, or makes the same of it."""
    before = tables.rows(table)
    try:
        tables.run(f"UPDATE {table} SET {column} = ? WHERE {COLUMNS_OF[table][0]} = ?", new, key)
    except Exception as refused:
        if type(refused).__name__ not in REFUSALS:
            raise
        return False
    return tables.rows(table) != before


ANY_PLACE = st.integers(0, 2**24)
ANY_SIGN = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=1)


@SLOW
@given(cell=ANY_PLACE, place=ANY_PLACE, sign=ANY_SIGN, width=st.integers(0, 1))
def test_any_single_character_of_any_cell(ground: Ground, cell: int, place: int, sign: str, width: int) -> None:
    """One character replaced, added or taken away, anywhere."""
    cells = [
        (table, row[0], column, value)
        for table, columns in COLUMNS_OF.items()
        for row in ground.whole[table]
        for column, value in zip(columns, row, strict=True)
        if value not in (None, "")
    ]
    table, key, column, value = cells[cell % len(cells)]
    text = str(value)
    at = place % len(text)
    changed = text[:at] + (sign if isinstance(value, str) else str(place % 10)) + text[at + width :]
    assume(changed != text)
    new: Any = int(changed) if isinstance(value, int) else changed

    with ground.tampered() as tables:
        assume(_edit(tables, table, key, column, new))
        fault = found_in(ground).fault

    assert fault is not None
    assert fault.seq in may_be_named(ground, table, key, column, new)


@pytest.mark.parametrize("column", [*COLUMNS, "digest", "hash", "seal"])
def test_a_value_of_another_type_is_found(ground: Ground, column: str) -> None:
    """SQLite lets bytes stand where a text stood, and text that is not UTF-8."""
    if not ground.tables.is_sqlite:
        pytest.skip("PostgreSQL has types")
    same_as_bytes = [f"CAST({column} AS BLOB)"] * (ground.tables.record(5)[column] is not None)
    for expression in (*same_as_bytes, "X'00'", "CAST(X'ff' AS TEXT)"):
        with ground.tampered() as tables:
            tables.run(f"UPDATE {RECORD} SET {column} = {expression} WHERE seq = 5")
            fault = found_in(ground).fault

        assert fault is not None, expression
        assert fault.seq == 5, (expression, fault)


# whole records


def entry_in(tables: Tables, seq: int) -> Entry:
    row = tables.record(seq)
    return Entry(**{name: row[name] for name in COLUMNS})


def rehash(tables: Tables, start: int, seal: Callable[[str | None, str], str | None]) -> None:
    """Make the chain follow again from a record on, as anybody can; `seal` gives the seal for an old one and a hash."""
    places = [row[0] for row in tables.run(f"SELECT seq FROM {RECORD} ORDER BY seq")]
    before = tables.record(start - 1)["hash"] if start - 1 in places else ZERO
    for seq in (place for place in places if place >= start):
        row = tables.record(seq)
        digest = entry_in(tables, seq).digest if row["kind"] is not None else row["digest"]
        keeps = seal(row["seal"], ZERO) is not None
        before = chained(seq, before, digest, sealed=keeps)
        mark = seal(row["seal"], before)
        tables.run(f"UPDATE {RECORD} SET digest = ?, hash = ?, seal = ? WHERE seq = ?", digest, before, mark, seq)


def kept(old: str | None, _: str) -> str | None:
    return old


def removed(_: str | None, __: str) -> str | None:
    return None


def foreign(old: str | None, hash_: str) -> str | None:
    return OTHER_KEY.seal(hash_) if old else None


def every_one_foreign(_: str | None, hash_: str) -> str | None:
    return OTHER_KEY.seal(hash_)


def renamed(old: str | None, hash_: str) -> str | None:
    """A seal of another key that says it is of ours."""
    return OTHER_KEY.seal(hash_).replace(OTHER_KEY.id, KEY.id) if old else None


def insert(tables: Tables, seq: int, seal: str | None = None, **columns: Any) -> None:
    """A record that follows from the one before it, as anybody can make one."""
    entry = Entry(**{"kind": "verdict", "id": "trace-forged", "at": instant(), "meta": "{}", **columns})
    before = tables.record(seq - 1)["hash"]
    hash_ = chained(seq, before, entry.digest, sealed=seal is not None)
    row = {name: getattr(entry, name) for name in COLUMNS}
    tables.insert(RECORD, {"seq": seq, "digest": entry.digest, "hash": hash_, "seal": seal, **row})


def move(tables: Tables, table: str, start: int, by: int) -> None:
    """Give all records from one on another place."""
    places = [row[0] for row in tables.run(f"SELECT seq FROM {table} WHERE seq >= ? ORDER BY seq", start)]
    for seq in sorted(places, reverse=by > 0):
        tables.run(f"UPDATE {table} SET seq = ? WHERE seq = ?", seq + by, seq)


def swap(tables: Tables, table: str, one: int, other: int) -> None:
    for old, new in ((one, 1000), (other, one), (1000, other)):
        tables.run(f"UPDATE {table} SET seq = ? WHERE seq = ?", new, old)


def blank(tables: Tables, seq: int) -> None:
    """What retention does to a record that it removes."""
    tables.run(f"UPDATE {RECORD} SET {','.join(f'{name} = NULL' for name in COLUMNS)} WHERE seq = ?", seq)
    tables.run(f"DELETE FROM {BODY} WHERE seq = ?", seq)


def forged_erasure(tables: Tables, seal: str | None = None) -> None:
    tables.run(f"DELETE FROM {BODY} WHERE seq = 2")
    insert(tables, 18, seal, kind="erasure", id="erasure-forged", meta=compact({"records": [2], "why": "none"}))


def forged_tombstone(tables: Tables, **said: Any) -> None:
    meta = {"store": "store-x", "texts": [], "contents": [], "prefix": None, "policies": [], **said}
    insert(tables, 18, None, kind="tombstone", id="tombstone-forged", meta=compact(meta))


def cut_beginning(tables: Tables) -> None:
    hash_ = tables.record(4)["hash"]
    for table in (RECORD, BODY):
        tables.run(f"DELETE FROM {table} WHERE seq <= 4")
    forged_tombstone(tables, prefix={"seq": 4, "hash": hash_})


def edited_and_rehashed(start: int, seal: Callable[[str | None, str], str | None]) -> Callable[[Tables], None]:
    def tamper(tables: Tables) -> None:
        tables.run(f"UPDATE {RECORD} SET caller = 'somebody else' WHERE seq = ?", start)
        rehash(tables, start, seal)

    return tamper


def inserted_in_the_middle(tables: Tables) -> None:
    for table in (RECORD, BODY):
        move(tables, table, 6, 1)
    insert(tables, 6)


def inserted_inside_a_commit(tables: Tables) -> None:
    for table in (RECORD, BODY):
        move(tables, table, 3, 1)
    insert(tables, 3)


def deleted_and_renumbered(tables: Tables) -> None:
    for table in (RECORD, BODY):
        tables.run(f"DELETE FROM {table} WHERE seq = 7")
        move(tables, table, 8, -1)


def copied(tables: Tables) -> None:
    tables.insert(RECORD, {**tables.record(15), "seq": 18, "id": "trace-copied"})


def statement(sql: str) -> Callable[[Tables], object]:
    return lambda tables: [tables.run(part) for part in sql.split(";")]


def body_of(seq: int, place: int) -> Callable[[Tables], object]:
    """The texts of one record given to another as well."""
    return statement(f"INSERT INTO {BODY} (seq, salt, text) SELECT {place}, salt, text FROM {BODY} WHERE seq = {seq}")


def policy_used_by(seq: int) -> str:
    return f"(SELECT policy FROM {RECORD} WHERE seq = {seq})"


FORGED_POLICY = "mode: monitor"
MISSING_TEXTS = "its texts are missing and no record says that they were erased"
NOT_SEALED = "it is not sealed; without them, of record"

TAMPERINGS = [
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 7"), 7, "it is missing", id="a record deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq BETWEEN 2 AND 4"), 2, "records 2 to 4 are missing", id="a whole commit deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 1"), 1, "it is missing and no tombstone", id="the first record deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq <= 6"), 1, "records 1 to 6 are missing and no tombstone", id="the beginning deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD}; DELETE FROM {BODY}; DELETE FROM {POLICY}"), 0, "there is no record at all", id="everything deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 17; DELETE FROM {BODY} WHERE seq = 17"), 16, "it is not sealed", id="the end cut off inside a commit"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 14"), 14, "it is missing", id="the tombstone deleted"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 13"), 13, "it is missing", id="the erasure deleted"),
    pytest.param(deleted_and_renumbered, 7, "its hash does not follow", id="a record deleted and the rest renumbered"),
    pytest.param(lambda t: swap(t, RECORD, 5, 15), 5, "its hash does not follow", id="two records swapped"),
    pytest.param(lambda t: swap(t, RECORD, 2, 3), 2, "its hash does not follow", id="two records of one commit swapped"),
    pytest.param(lambda t: swap(t, BODY, 2, 4), 2, "its texts are not what they were", id="the texts of two records swapped"),
    pytest.param(copied, 18, "its hash does not follow", id="a record copied to the end"),
    pytest.param(lambda t: insert(t, 18), 18, "it is not sealed", id="a record added"),
    pytest.param(lambda t: insert(t, 18, t.record(17)["seal"]), 18, "its seal is false", id="a record added with the seal of another"),
    pytest.param(lambda t: insert(t, 18, "hmac:x:y"), 18, "is of the key 'hmac:x', which was not given", id="a record added with a seal that is none"),
    pytest.param(lambda t: insert(t, 18, ""), 18, "is of the key '', which was not given", id="a record added with an empty seal"),
    pytest.param(inserted_in_the_middle, 6, "records were inserted here", id="a record inserted between two commits"),
    pytest.param(inserted_inside_a_commit, 3, "records were inserted here", id="a record inserted inside a commit"),
    pytest.param(lambda t: t.insert(RECORD, {**t.record(15), "seq": -3, "id": None}), 0, "a record has the place -3", id="a record before the first"),
    pytest.param(lambda t: t.insert(RECORD, {**t.record(15), "seq": 0, "id": None}), 0, "a record has the place 0", id="a record at the place 0"),
    pytest.param(lambda t: t.insert(RECORD, {**t.record(15), "seq": 2**63 - 1, "id": None}), 18, "records 18 to 9223372036854775806 are missing", id="a record at the last place there is"),
    pytest.param(statement(f"UPDATE {RECORD} SET seal = NULL WHERE seq = 17"), 17, "its hash does not follow", id="the last seal removed"),
    pytest.param(statement(f"UPDATE {RECORD} SET seal = NULL WHERE seq = 5"), 5, "its hash does not follow", id="a seal removed"),
    pytest.param(statement(f"UPDATE {RECORD} SET seal = NULL"), 1, "its hash does not follow", id="all seals removed"),
    pytest.param(lambda t: rehash(t, 1, removed), 1, "records 1 to 17 are not sealed", id="the whole chain written anew without seals"),
    pytest.param(lambda t: rehash(t, 1, every_one_foreign), 1, "which was not given", id="the whole chain sealed with another key"),
    pytest.param(edited_and_rehashed(5, kept), 5, "its seal is false", id="edited and hashed anew under the old seals"),
    pytest.param(edited_and_rehashed(5, removed), 5, "records 5 to 17 are not sealed", id="edited and hashed anew without seals"),
    pytest.param(edited_and_rehashed(5, foreign), 5, f"is of the key 'hmac:{OTHER_KEY.id}'", id="edited and sealed with another key"),
    pytest.param(edited_and_rehashed(5, renamed), 5, "its seal is false", id="edited and sealed with another key under the name of ours"),
    pytest.param(edited_and_rehashed(3, kept), 2, "the seal of record 4 is false, and no other proves records 2 to 4", id="edited inside a commit and hashed anew"),
    pytest.param(edited_and_rehashed(17, kept), 16, "the seal of record 17 is false", id="the last record edited and hashed anew"),
    pytest.param(lambda t: blank(t, 5), 5, "its content is missing and no tombstone accounts for it", id="emptied as if retention had done it"),
    pytest.param(lambda t: blank(t, 13), 3, f"{MISSING_TEXTS}; record 13, which was emptied, may have", id="an erasure emptied as if retention had done it"),
    pytest.param(lambda t: blank(t, 1), 1, "its content is missing", id="the first record emptied as if retention had done it"),
    pytest.param(statement(f"DELETE FROM {BODY} WHERE seq = 2"), 2, MISSING_TEXTS, id="texts deleted"),
    pytest.param(statement(f"DELETE FROM {BODY}"), 2, MISSING_TEXTS, id="all texts deleted"),
    pytest.param(statement(f"DELETE FROM {BODY} WHERE seq = 8"), 8, MISSING_TEXTS, id="the note of a review deleted"),
    pytest.param(body_of(2, 7), 7, "its texts are not what they were", id="texts given to a record that kept none"),
    pytest.param(body_of(2, 10), 10, "its content is not what its digest says", id="texts given to a record that was removed"),
    pytest.param(body_of(2, 3), 3, "its texts are not what they were", id="other texts given to a record whose own were erased"),
    pytest.param(body_of(2, 99), 99, "there are texts at the place 99, and no record", id="texts of no record"),
    pytest.param(body_of(2, -1), 0, "there are texts at the place -1", id="texts before the first record"),
    pytest.param(statement(f"UPDATE {RECORD} SET decision = 'answer' WHERE seq = 10"), 10, "its content is not what its digest says", id="something written into a removed record"),
    pytest.param(forged_erasure, 18, f"{NOT_SEALED} 2, {MISSING_TEXTS}", id="texts deleted and an erasure forged"),
    pytest.param(lambda t: forged_erasure(t, t.record(13)["seal"]), 18, "its seal is false", id="an erasure forged with the seal of another"),
    pytest.param(lambda t: (blank(t, 5), forged_tombstone(t, contents=[[5, 5]])), 18, f"{NOT_SEALED} 5, its content is missing", id="a record emptied and a tombstone forged"),
    pytest.param(cut_beginning, 18, f"{NOT_SEALED} 1, records 1 to 4 are missing", id="the beginning cut off and a tombstone forged"),
    pytest.param(lambda t: forged_tombstone(t, contents=[[1, 10**15]]), 18, "it does not say what it accounts for", id="a tombstone for more than there ever was"),
    pytest.param(lambda t: insert(t, 18, kind="tombstone", meta="[" * 100_000), 18, "it does not say what it accounts for", id="a tombstone that is no JSON that can be read"),
    pytest.param(lambda t: insert(t, 18, kind="erasure", meta='{"records": 3}'), 18, "it does not say what it accounts for", id="an erasure that names no records"),
    pytest.param(lambda t: insert(t, 18, kind="unheard of"), 18, "it does not say what it accounts for", id="a record of an unknown kind"),
    pytest.param(statement(f"UPDATE {POLICY} SET text = '{FORGED_POLICY}' WHERE digest = {policy_used_by(5)}"), 5, "is not what its digest says", id="a policy edited"),
    pytest.param(statement(f"DELETE FROM {POLICY} WHERE digest = {policy_used_by(6)}"), 6, "is missing", id="a policy deleted"),
    pytest.param(statement(f"UPDATE {POLICY} SET digest = '{sha256(FORGED_POLICY)}', text = '{FORGED_POLICY}' WHERE digest = {policy_used_by(5)}"), 5, "is missing", id="a policy replaced"),
    pytest.param(lambda t: t.insert(POLICY, {"digest": sha256(FORGED_POLICY), "text": FORGED_POLICY}), 0, "no record was judged by it", id="a policy added"),
    pytest.param(statement(f"INSERT INTO {SCHEMA_TABLE} VALUES (99)"), 0, "was edited", id="a schema step added"),
    pytest.param(statement(f"DELETE FROM {SCHEMA_TABLE}"), 0, "was edited", id="the schema steps deleted"),
]  # fmt: skip


@pytest.mark.parametrize(("tamper", "seq", "problem"), TAMPERINGS)
def test_tampering_is_found_and_named(ground: Ground, tamper: Callable[[Tables], Any], seq: int, problem: str) -> None:
    """Whoever has the database and not the key cannot change it unnoticed."""
    with ground.tampered() as tables:
        tamper(tables)
        found = found_in(ground)

    assert found.fault is not None
    assert (found.ok, found.fault.seq) == (False, seq), found.fault
    assert problem in found.fault.problem


CUT_TAMPERINGS = [
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 8"), 8, "it is missing and no tombstone", id="the first record deleted"),
    pytest.param(statement(f"UPDATE {RECORD} SET hash = '{ZERO}' WHERE seq = 8"), 8, "its hash does not follow from the one that the tombstone names", id="the hash of the first record edited"),
    pytest.param(lambda t: rehash(t, 8, kept), 8, "its hash does not follow from the one that the tombstone names", id="all hashed anew"),
    pytest.param(statement(f"DELETE FROM {RECORD} WHERE seq = 10"), 10, "it is missing", id="the tombstone deleted"),
    pytest.param(lambda t: t.insert(RECORD, {**t.record(8), "seq": 7, "id": None}), 7, "its content is not what its digest says", id="a record put before the first"),
    pytest.param(body_of(8, 7), 7, "there are texts at the place 7, and no record", id="texts of a record that was cut off"),
]  # fmt: skip


@pytest.mark.parametrize(("tamper", "seq", "problem"), CUT_TAMPERINGS)
def test_tampering_with_a_cut_chain_is_found_and_named(
    cut_ground: Ground, tamper: Callable[[Tables], Any], seq: int, problem: str
) -> None:
    """A beginning that retention cut off leaves no room for another one."""
    with cut_ground.tampered() as tables:
        tamper(tables)
        fault = found_in(cut_ground).fault

    assert fault is not None
    assert fault.seq == seq, fault
    assert problem in fault.problem


def test_of_several_faults_the_first_is_named(ground: Ground) -> None:
    """The record named is the first that is certainly not as it was written."""
    with ground.tampered() as tables:
        tables.run(f"UPDATE {RECORD} SET caller = 'x' WHERE seq IN (9, 12, 16)")
        tables.run(f"UPDATE {POLICY} SET text = '' WHERE digest = {policy_used_by(5)}")
        fault = found_in(ground).fault

    assert fault is not None
    assert fault.seq == 5


# what comes back


def test_erased_texts_that_come_back_are_found(ground: Ground) -> None:
    """Even the true texts, put back where they were, are a fault."""
    place, tables = len(ground.places()) + 1, ground.tables
    with ground.written() as store:
        store.record(verdicts())
        texts = tables.run(f"SELECT seq, salt, text FROM {BODY} WHERE seq = ?", place)[0]
        erase(store, Filter(id=tables.record(place)["id"]), who="a customer", why="asked")
        assert found_in(ground).fault is None

        tables.insert(BODY, dict(zip(("seq", "salt", "text"), texts, strict=True)))
        fault = found_in(ground).fault

    assert fault == Fault(place, fault.id if fault else None, "its texts were erased, and they are there")


def test_removed_records_that_come_back_are_found(new_store: NewStore, location: str) -> None:
    """So is a record that retention has removed, in its place and as it was."""
    store, tables = new_store(), Tables(location)
    store.record(verdicts())
    store.record(verdicts(days_ago=400))
    row = tables.record(3)
    prune(store, Retention.model_validate({"verdict": {"days": 365}}))
    assert verify_store(store).fault is None

    tables.run(
        f"UPDATE {RECORD} SET {','.join(f'{name} = ?' for name in COLUMNS)} WHERE seq = 3",
        *(row[name] for name in COLUMNS),
    )
    fault = verify_store(store).fault
    tables.close()

    assert fault == Fault(3, row["id"], "a tombstone says that it was removed, and it is there")


def test_a_beginning_that_comes_back_is_found(new_store: NewStore, location: str) -> None:
    """So is the beginning of the chain, although it fits."""
    store, tables = new_store(), Tables(location)
    store.record(verdicts(days_ago=400))
    rows = [tables.record(1), tables.record(2)]
    prune(store, Retention.model_validate({"verdict": {"days": 365}}))
    assert verify_store(store).fault is None

    for row in rows:
        tables.insert(RECORD, row)
    fault = verify_store(store).fault
    tables.close()

    assert fault == Fault(1, rows[0]["id"], "a tombstone says that it was removed, and it is there")


# checkpoints


def checkpoint(store: AuditStore) -> Checkpoint:
    """The end of the chain as it is now."""
    head = store.head()
    found = verify_store(store)
    rows = store.database.rows(f"SELECT seal FROM {RECORD} WHERE seq = ?", [head.seq])
    return Checkpoint(str(found.store), head.seq, head.hash, instant(), rows[0][0])


def test_a_cut_off_end_is_found_with_a_checkpoint(ground: Ground) -> None:
    """Without one nothing can be said but where the chain ends now."""
    known = checkpoint(ground.store)
    with ground.tampered() as tables:
        tables.run(f"DELETE FROM {RECORD} WHERE seq >= 15")
        tables.run(f"DELETE FROM {BODY} WHERE seq >= 15")
        without, with_it = found_in(ground), found_in(ground, known)

    assert (without.fault, without.head.seq, without.checkpoints) == (None, 14, 0)
    assert with_it.fault == Fault(15, None, f"cut off: the checkpoint of {known.at} knows records up to 17")
    assert (with_it.checkpoints, with_it.uncompared) == (0, 1)


def test_a_checkpoint_that_holds_is_counted(ground: Ground) -> None:
    """It holds as long as the chain goes on."""
    known = checkpoint(ground.store)
    with ground.written() as store:
        store.record(verdicts())
        found = found_in(ground, known)

    assert (found.fault, found.checkpoints, found.uncompared, found.records) == (None, 1, 0, 18)


def test_another_store_in_its_place_is_found_with_a_checkpoint(ground: Ground, places: Any, tmp_path: Path) -> None:
    """A store that is whole in itself is not the one that the checkpoint is of, whatever its length."""
    known = checkpoint(ground.store)
    other = ground_at(places(f"other{id(tmp_path)}"), tmp_path)

    found = verify_store(other.store, checkpoints=[known])
    other.tables.close()
    other.store.close()

    assert found.fault is not None
    assert (found.fault.seq, found.ok) == (1, False)
    assert f"is of another store, '{known.store}'" in found.fault.problem


def test_a_chain_written_anew_with_the_key_is_found_with_a_checkpoint(ground: Ground) -> None:
    """Even whoever has the key cannot change what a checkpoint elsewhere remembers."""
    known = checkpoint(ground.store)
    with ground.tampered() as tables:
        tables.run(f"UPDATE {RECORD} SET caller = 'somebody else' WHERE seq = 5")
        rehash(tables, 5, lambda old, hash_: KEY.seal(hash_) if old else None)
        without, with_it = found_in(ground), found_in(ground, known)

    assert without.fault is None
    assert with_it.fault is not None
    assert (with_it.fault.seq, "the checkpoint" in with_it.fault.problem) == (17, True)


def test_a_checkpoint_older_than_the_beginning_is_not_compared(new_store: NewStore) -> None:
    """It is counted as not compared, not as good; the last record that was cut off can still be compared."""
    store = new_store()
    store.record(verdicts(days_ago=400))
    early = checkpoint(store)
    store.record(verdicts(days_ago=400))
    last = checkpoint(store)
    prune(store, Retention.model_validate({"verdict": {"days": 365}}))

    both = verify_store(store, checkpoints=[early, last])
    false = verify_store(store, checkpoints=[replace(last, hash=early.hash, seal=early.seal)])

    assert (both.fault, both.checkpoints, both.uncompared) == (None, 1, 1)
    assert false.fault is not None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"hash": ZERO}, "has a false seal", id="another hash"),
        pytest.param({"seal": OTHER_KEY.seal(ZERO)}, "is sealed with a key that was not given", id="an unknown key"),
        pytest.param({"seal": "\ud800"}, "has a false seal", id="a seal that is no text"),
        pytest.param({"store": "store-other"}, "is of another store", id="another store"),
        pytest.param({"seq": 16}, "is not the one that the checkpoint", id="another place"),
        pytest.param({"seq": 10**20}, "cut off", id="a place beyond the end"),
    ],
)
def test_a_checkpoint_that_is_not_right_is_told(ground: Ground, change: dict[str, Any], problem: str) -> None:
    """A checkpoint that does not fit is never passed over."""
    fault = found_in(ground, replace(checkpoint(ground.store), **change)).fault

    assert fault is not None
    assert problem in fault.problem


def test_two_checkpoints_of_one_place_are_both_compared(ground: Ground) -> None:
    """The right one does not hide the false one."""
    known = checkpoint(ground.store)
    false = replace(known, hash=ZERO, seal=KEY.seal(ZERO))

    for order in ([known, false], [false, known]):
        fault = found_in(ground, *order).fault
        assert fault is not None
        assert fault.seq == known.seq


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", '{"store":"s","seq":"1","hash":"h","at":"a","seal":"s"}', "[" * 10_000, "\ud800", '{"store":null,"seq":1,"hash":"h","at":"a","seal":"s"}'],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused(line: str) -> None:
    """It says what to give instead."""
    with pytest.raises(InputError, match="is no checkpoint: give a line of `stillme audit checkpoint`"):
        Checkpoint.parse(line)


# an empty store, and one that is written meanwhile


def test_checking_writes_nothing(ground: Ground) -> None:
    """A store that somebody emptied stays empty: a check does not begin a new chain in it."""
    with ground.tampered() as tables:
        for table in (RECORD, BODY, POLICY):
            tables.run(f"DELETE FROM {table}")

        assert found_in(ground).fault == Fault(0, None, "there is no record at all")
        assert tables.run(f"SELECT count(*) FROM {RECORD}") == [(0,)]


def test_a_store_that_is_written_and_erased_from_meanwhile_is_whole(new_store: NewStore) -> None:
    """A record that is added, erased or removed while the store is being read is no fault."""
    store, old, new = new_store(), verdicts(days_ago=400)[0], verdicts()[0]
    store.record([again(old) for _ in range(20)])
    store.record([again(new) for _ in range(PAGE + 20)])
    looked: list[int] = []

    def interfere(record: Record) -> None:
        looked.append(record.seq)
        if len(looked) == 5:
            store.record(verdicts({"thresholds": {"min_similarity_for_factual": 0.3}}))
            erase(store, Filter(session="session-1", since=instant(new.at)), who="a customer", why="asked")
            prune(store, Retention.model_validate({"verdict": {"days": 365}}))

    found = verify_store(store, follow=interfere)

    assert (found.fault, found.head.seq, found.removed, found.erased) == (None, PAGE + 44, 21, PAGE + 21)
    assert len(looked) > PAGE + 41  # read twice


# writers together

STEPS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["one", "three", "review", "erase", "prune texts", "prune", "reopen"])
    ),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS)
def test_any_interleaving_of_writers_verifies(ground: Ground, steps: list[tuple[int, str]], tmp_path: Path) -> None:
    """Three stores at one place write, review, erase and prune in any order, and the chain is whole after each step."""
    one, old = verdicts()[0], verdicts(days_ago=400)[0]
    with ground.tampered():
        stores = [AuditStore(ground.store.where, key=KEY, journal=tmp_path) for _ in range(3)]
        for number, step in steps:
            store = stores[number]
            if step == "one":
                store.record([again(one)])
            elif step == "three":
                store.record([again(old), again(one), again(old)])
            elif step == "review":
                store.record([one := again(one)])
                review(store, trace(one), "correct", "minh", "a note")
            elif step == "erase":
                erase(store, Filter(session="session-1"), who="a customer", why="asked")
            elif step.startswith("prune"):
                rules = {"text_days": 30} if step == "prune texts" else {"days": 365}
                prune(store, Retention.model_validate({"verdict": rules, "review": rules}))
            else:
                store.close()
            assert verify_store(store).fault is None
        for store in stores:
            store.close()


# the file itself


@dataclass(frozen=True, slots=True, repr=False)
class StoreFile:
    """A closed store, all in one file, and what is in it."""

    path: Path
    rows: Rows

    def __repr__(self) -> str:
        return "a store in a file"


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> StoreFile:
    """A store that nobody has open."""
    folder = tmp_path_factory.mktemp("file")
    made = ground_at(str(folder / "audit.db"), folder)
    made.tables.close()
    made.store.close()
    assert not Path(folder / "audit.db-wal").exists()
    return StoreFile(folder / "audit.db", made.whole)


def content_of(file: Path) -> Rows | None:
    """Every row of every table, read without any index; None where that is not possible."""
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(file)) as connection:
        return {
            name: connection.execute(f"SELECT {','.join(c)} FROM {name} NOT INDEXED ORDER BY {c[0]}").fetchall()
            for name, c in COLUMNS_OF.items()
        }
    return None


@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(place=ANY_PLACE, flip=st.integers(1, 255))
def test_a_flipped_byte_in_the_file_is_found_or_changes_nothing(
    sqlite_file: StoreFile, tmp_path: Path, place: int, flip: int
) -> None:
    """A damaged file is a fault or an error of ours that says so, unless every row still reads as before."""
    content = bytearray(sqlite_file.path.read_bytes())
    content[place % len(content)] ^= flip
    copy = tmp_path / "copy.db"
    for leftover in tmp_path.glob("copy.db*"):
        leftover.unlink()
    copy.write_bytes(content)

    with AuditStore(copy, key=KEY, journal=tmp_path / "journal") as store:
        try:
            fault = verify_store(store).fault
        except BackendError:
            return

    shutil.copy(copy, tmp_path / "read.db")
    assert fault is not None or content_of(tmp_path / "read.db") == sqlite_file.rows


def test_a_damaged_index_is_found_although_every_row_is_whole(sqlite_file: StoreFile, tmp_path: Path) -> None:
    """Erasing by session would miss a record; rebuilding the indexes mends it."""
    content = sqlite_file.path.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    pages = [content[start : start + size] for start in range(0, len(content), size)]
    index_leaf = b"\x0a"
    damaged = [page.replace(b"session-", b"sessioN-") if page.startswith(index_leaf) else page for page in pages]
    assert damaged != pages
    (tmp_path / "copy.db").write_bytes(b"".join(damaged))

    with AuditStore(tmp_path / "copy.db", key=KEY, journal=tmp_path / "journal") as store:
        before = verify_store(store).fault
        store.database.vacuum()
        after = verify_store(store).fault

    assert before is not None
    assert "the file is damaged" in before.problem
    assert after is None
