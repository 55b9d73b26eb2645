"""What a store promises its writers: one chain, on both engines, whoever writes."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import COLUMNS, Entry
from stillme.audit.chain.seals import Ed25519Key, HmacKey, key_from_file
from stillme.audit.content import entry_of, request_in
from stillme.audit.retention import prune
from stillme.errors import BackendError, InputError
from stillme.guard import Occurrence
from stillme.policy.sections import Retention
from stillme.storage.audit import database
from stillme.storage.audit.database import (
    ASSIGNMENT,
    BODY,
    POLICY,
    REASON,
    RECORD,
    SCHEMA_TABLE,
    SIGNATURE,
    RowsRefusedError,
    migrations,
)
from tests.audit.conftest import KEY, NewStore, occurrence, request

# The released steps of the schema: a store out there has taken them as they are, so none of them is ever changed.
RELEASED = {
    1: "cb8fd502c91fd1c09e468ffa04e2fd2adb2e240b95bc2ef2528b8e76d33e5dcb",
    2: "bf52a4db69aa56d8d71c8c10f248a0836fbf5cb7facf32a04d6d1ec1beeafcb3",
    3: "fbbc36e3663ec739d6907f83922e1e26b6ecb6f77f69839e0c6647d0aef736a8",
}


def anew(given: Occurrence) -> Occurrence:
    """The same verdict under a trace of its own."""
    return replace(given, verdict=given.verdict.model_copy(update={"validator_trace_id": f"trace-{uuid4()}"}))


def ids(store: AuditStore) -> list[str]:
    """The verdicts of a valid store, in order."""
    assert verify_store(store).fault is None
    return [record.entry.id for record in store.records(Filter(kind="verdict")) if record.entry]


def rows(store: AuditStore) -> list[tuple[Any, ...]]:
    """Everything that was written of each record but the first, without what depends on that one: hashes and seals."""
    names = ",".join(f"r.{name}" for name in ("seq", "digest", *COLUMNS))
    joined = f"{RECORD} r LEFT JOIN {BODY} b ON b.seq = r.seq WHERE r.seq > 1 ORDER BY r.seq"
    return [tuple(row) for row in store.database.rows(f"SELECT {names}, b.salt, b.text FROM {joined}")]  # noqa: S608


def new_schema(url: str) -> str:
    """An empty schema on the server."""
    name = f"store_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{url}&options=-csearch_path%3D{name}"


def at_once(*works: Callable[[], None]) -> None:
    """Run all of them in threads of their own, to the end."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_verdict_is_found_under_its_trace_and_its_request_id(store: AuditStore) -> None:
    """What a guard returned can be looked up by either name."""
    verdict = Guard(audit=store).verify(request(request_id="call-7"), caller="teller")

    by_trace, by_request = store.find(str(verdict.validator_trace_id)), store.find("call-7")

    assert by_trace == by_request
    assert by_trace.entry is not None
    assert (by_trace.entry.decision, by_trace.entry.caller, by_trace.entry.session) == ("answer", "teller", "session-1")


def test_writers_in_several_stores_and_threads_keep_one_chain(new_store: NewStore) -> None:
    """Two replicas with eight threads each append to one valid chain, and nothing is lost."""
    stores, given, said = [new_store(), new_store()], occurrence(), list[str]()

    def write(store: AuditStore) -> None:
        for _ in range(10):
            one = anew(given)
            store.record([one])
            said.append(str(one.verdict.validator_trace_id))

    at_once(*(lambda store=store: write(store) for store in stores for _ in range(8)))

    assert Counter(ids(stores[0])) == Counter(said)
    assert len(said) == 160


def test_asynchronous_callers_share_commits(store: AuditStore) -> None:
    """Callers of one event loop wait together, not one after the other, and each verdict is there."""
    guard = Guard(audit=store)

    async def call() -> list[str]:
        verdicts = await asyncio.gather(*(guard.averify(request()) for _ in range(24)))
        return [str(verdict.validator_trace_id) for verdict in verdicts]

    said = asyncio.run(call())

    assert Counter(ids(store)) == Counter(said)
    assert len(said) == 24


@pytest.mark.parametrize("durability", ["commit", "buffered"])
def test_what_was_recorded_is_there_after_closing(new_store: NewStore, durability: str) -> None:
    """Closing a store writes what was buffered."""
    with new_store() as store:
        verdict = Guard({"audit": {"durability": durability}}, audit=store).verify(request())

    assert new_store().find(str(verdict.validator_trace_id)).entry is not None


def test_a_closed_store_opens_again(store: AuditStore) -> None:
    """Closing lets go of everything and takes nothing away."""
    one, other = anew(occurrence()), anew(occurrence())
    store.record([one])
    store.close()
    store.close()
    store.record([other])

    assert ids(store) == [str(each.verdict.validator_trace_id) for each in (one, other)]


def test_nothing_to_record_is_no_record(store: AuditStore) -> None:
    """An empty batch is no error and leaves no trace."""
    store.record([])
    store.add([])

    assert Guard(audit=store).verify_batch([]) == []
    assert store.head().seq == 1


def test_a_trace_is_recorded_once(store: AuditStore) -> None:
    """The second attempt is refused, and harms neither the store nor others that write at the same time."""
    given, said = occurrence(), list[str]()
    store.record([given])

    def write() -> None:
        for _ in range(5):
            one = anew(given)
            store.record([one])
            said.append(str(one.verdict.validator_trace_id))

    def repeat() -> None:
        for _ in range(5):
            with pytest.raises(RowsRefusedError, match="does not take this record: "):
                store.record([given])

    at_once(write, repeat, write)

    assert Counter(ids(store)) == Counter([*said, given.verdict.validator_trace_id])
    assert len(said) == 10


def test_a_refused_record_is_not_spooled(store: AuditStore) -> None:
    """What the store will never take would stop the journal from being drained for ever."""
    given = occurrence({"audit": {"on_failure": "spool"}})
    store.record([given])

    with pytest.raises(RowsRefusedError):
        store.record([given])

    assert store.journal.pending() == 0


def test_a_record_that_no_database_takes_is_refused_before_it_is_spooled(tmp_path: Path) -> None:
    """The caller is told at once; the journal holds only what can be delivered."""
    unreachable = AuditStore(tmp_path / "none" / "audit.db", key=KEY, journal=tmp_path / "journal")
    entry = Entry("verdict", "trace-1", "2026-02-01T09:00:00.000000Z", "{}", caller="a\0b")

    with pytest.raises(InputError, match="caller of the record 'trace-1' holds a character that no database takes"):
        unreachable.add([entry], spools=True)

    assert unreachable.journal.pending() == 0


TEXTS = [
    pytest.param("a\0b", id="a zero"),
    pytest.param("a tab\t, \\N \\. \"quoted\" 'so' %s ? {x}", id="signs that mean something somewhere"),
    pytest.param("Được trả hàng 🙂 trong 30 ngày không?", id="Vietnamese"),
    pytest.param("\r\nline\u2028end\x85\ufeff", id="ends of lines"),
    pytest.param("e\u0301 ế", id="not normalized"),
    pytest.param("x" * 1_000_000, id="a megabyte"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_entries_are_the_same_rows_in_both_engines(tmp_path: Path, postgres_url: str, text: str) -> None:
    """Alone or in a large group, whatever the text: every column, digest and body is equal, character for character."""
    policy = {"limits": {"query_chars": 2_000_000}, "grounding": {"model": "none"}}
    entry = entry_of(occurrence(policy, query=text))
    entries = [replace(entry, id=f"trace-{number}") for number in range(3 if len(text) > 1000 else 30)]

    found = []
    for location in (str(tmp_path / "audit.db"), new_schema(postgres_url)):
        with AuditStore(location, key=KEY, journal=tmp_path / "journal") as store:
            store.add(entries[:1])
            store.add(entries[1:])
            found.append(rows(store))
            assert ids(store) == [entry.id for entry in entries]
            kept = [request_in(record.entry) for record in store.records(Filter(kind="verdict")) if record.entry]
            assert {asked["query"] for asked in kept if asked} == {text}

    assert found[0] == found[1]


# the schema


def declared() -> tuple[dict[str, list[str]], set[str]]:
    """The tables with their columns, and the indexes, that the migrations declare."""
    sql = "\n".join(text for _, text in migrations())
    tables = {
        name: re.findall(r"^  (\w+) ", columns, re.MULTILINE)
        for name, columns in re.findall(r"^CREATE TABLE (\w+) \(\n(.*?)\n\)", sql, re.MULTILINE | re.DOTALL)
    }
    return {**tables, SCHEMA_TABLE: ["step"]}, set(re.findall(r"^CREATE INDEX (\w+)", sql, re.MULTILINE))


def present(store: AuditStore) -> tuple[dict[str, list[str]], set[str]]:
    """The tables with their columns, and the indexes, that a database has."""
    tables: dict[str, list[str]] = {}
    if "://" not in store.where:
        columns = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY c.cid"
        indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    else:
        here = "= current_schema()"
        columns = f"SELECT table_name, column_name FROM information_schema.columns WHERE table_schema {here} ORDER BY ordinal_position"  # noqa: S608
        indexes = f"SELECT indexname FROM pg_indexes WHERE schemaname {here} AND indexname !~ '_(pkey|key)$'"  # noqa: S608
    for table, column in store.database.rows(columns):
        tables.setdefault(table, []).append(column)
    return tables, {row[0] for row in store.database.rows(indexes)}


def test_both_engines_have_the_schema_that_the_migrations_declare(store: AuditStore) -> None:
    """The same tables, columns in the same order, and indexes; and the columns are those of a record."""
    store.prepare()

    assert present(store) == declared()
    assert declared()[0][RECORD] == ["seq", "digest", "hash", "seal", *COLUMNS]
    assert set(declared()[0]) == {RECORD, BODY, POLICY, REASON, SIGNATURE, ASSIGNMENT, SCHEMA_TABLE}


def test_a_released_step_of_the_schema_is_never_changed() -> None:
    """A store has taken it as it was; what is to be different comes as a step of its own."""
    assert {number: hashlib.sha256(sql.encode()).hexdigest() for number, sql in migrations()} == RELEASED


@pytest.fixture
def second_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A version of this package with one more step."""
    folder = shutil.copytree(str(database.STEPS), tmp_path / "steps")
    sql = (
        f"-- one more\nALTER TABLE {RECORD} ADD COLUMN colour TEXT;\nCREATE INDEX {RECORD}_colour ON {RECORD} (colour)"
    )
    (folder / "0004.sql").write_text(sql)
    monkeypatch.setattr(database, "STEPS", folder)
    return sql


def test_an_old_store_is_brought_up_to_date_where_it_stands(
    new_store: NewStore, request: pytest.FixtureRequest
) -> None:
    """With its data in it, by the first write or read of the newer version; the older one goes on, new ones of it do not."""
    old, given = new_store(), occurrence()
    old.record([anew(given) for _ in range(3)])
    with pytest.MonkeyPatch.context():
        request.getfixturevalue("second_step")
        new = new_store()
        new.prepare()
        tables, indexes = present(new)
        new.record([anew(given)])
        old.record([anew(given)])
        assert len(ids(new)) == 5
    request.getfixturevalue("monkeypatch").undo()

    assert tables[RECORD][-1] == "colour"
    assert f"{RECORD}_colour" in indexes
    with pytest.raises(BackendError, match=r"written by a newer version \(schema step 4, this one knows up to 3\)"):
        new_store().record([anew(given)])


def test_a_step_that_fails_leaves_the_store_as_it_was(
    new_store: NewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a step is none."""
    store, given = new_store(), occurrence()
    store.record([anew(given)])
    before = present(store)
    folder = shutil.copytree(str(database.STEPS), tmp_path / "steps")
    (folder / "0004.sql").write_text(f"ALTER TABLE {RECORD} ADD COLUMN colour TEXT; CREATE NONSENSE")
    monkeypatch.setattr(database, "STEPS", folder)

    with pytest.raises(BackendError, match="syntax"):
        new_store().record([anew(given)])

    monkeypatch.undo()
    assert present(store) == before
    assert len(ids(store)) == 1


def test_several_that_come_first_take_the_steps_once(new_store: NewStore) -> None:
    """Eight stores made at the same moment agree on one schema and one first record."""
    stores, given = [new_store() for _ in range(8)], occurrence()

    at_once(*(lambda store=store: store.record([anew(given)]) for store in stores))

    assert len(ids(stores[0])) == 8
    assert [record.entry.kind for record in stores[0].records() if record.entry].count("store") == 1


# what is missing


def pruned(store: AuditStore) -> int:
    """How many records were cut off when everything is too old."""
    return prune(
        store, Retention.model_validate({"verdict": {"days": 1}}), datetime.now(UTC) + timedelta(days=2)
    ).cut_off


def test_a_writer_goes_on_after_another_removed_what_it_wrote(new_store: NewStore) -> None:
    """Retention may cut off the beginning of the chain with everything that this writer knows of."""
    one, other, given = new_store(), new_store(), occurrence()
    one.record([anew(given)])
    other.record([anew(given) for _ in range(3)])

    assert pruned(other) == 5
    one.record([last := anew(given)])

    assert ids(other) == [last.verdict.validator_trace_id]
    assert other.head().seq == 7


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(f"DELETE FROM {RECORD} WHERE seq > 1", id="cut off"),  # noqa: S608
        pytest.param(f"DELETE FROM {RECORD}", id="emptied"),  # noqa: S608
        pytest.param(f"UPDATE {RECORD} SET hash = '{'0' * 64}' WHERE seq = 2", id="changed"),  # noqa: S608
    ],
)
def test_a_writer_notices_that_what_it_wrote_is_gone(new_store: NewStore, sql: str) -> None:
    """It refuses to build on a chain that somebody shortened or changed behind its back."""
    one, other, given = new_store(), new_store(), occurrence()
    one.record([anew(given)])
    other.database.write(lambda writing: writing.rows(sql))

    with pytest.raises(BackendError, match="lost record 2, which was there before"):
        one.record([anew(given)])


# keys, and reading without writing


def test_a_store_is_read_with_a_key_that_cannot_seal(new_store: NewStore) -> None:
    """A public key checks; reading writes nothing, and recording says why it cannot."""
    private = Ed25519Key(bytes(range(32)))
    with new_store(key=private) as writer:
        writer.record([anew(occurrence())])
    reader = new_store(key=Ed25519Key(None, private.public_bytes))

    assert len(ids(reader)) == 1
    with pytest.raises(InputError, match="a public key checks seals, it cannot make them"):
        reader.record([anew(occurrence())])


def test_a_file_gets_a_key_beside_it(tmp_path: Path) -> None:
    """Made once, for its owner alone, and used from then on."""
    for _ in range(2):
        with AuditStore(tmp_path / "audit.db") as store:
            store.record([anew(occurrence())])

    path = tmp_path / "audit.db.key"
    assert (len(ids(store)), path.stat().st_mode & 0o777, key_from_file(path).id) == (2, 0o600, store.key.id)


def test_a_file_whose_key_is_gone_gets_no_new_one(tmp_path: Path) -> None:
    """A new key would hide that the old seals can no longer be checked."""
    with AuditStore(tmp_path / "audit.db") as store:
        store.record([anew(occurrence())])
    (tmp_path / "audit.db.key").unlink()

    with pytest.raises(InputError, match=r"the key file .* is gone: bring it back, or name it"):
        AuditStore(tmp_path / "audit.db")


def test_a_server_needs_a_key(postgres_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There is no place beside a URL; the key is named, or in the environment."""
    monkeypatch.delenv("STILLME_AUDIT_KEY_FILE", raising=False)
    with pytest.raises(InputError, match="needs a key to seal its records with"):
        AuditStore(postgres_url)

    (tmp_path / "key").write_text(f"hmac {bytes(32).hex()}\n")
    monkeypatch.setenv("STILLME_AUDIT_KEY_FILE", str(tmp_path / "key"))

    assert AuditStore(postgres_url, journal=tmp_path / "journal").key == HmacKey(bytes(32))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        pytest.param("mysql://host/audit", "sqlite:// or postgresql://, got the scheme 'mysql'", id="another database"),
        pytest.param(":memory:", "an audit store is a file that lasts", id="memory"),
        pytest.param("", "an audit store is a file that lasts", id="nothing"),
        pytest.param("a\0b", "an audit store is a file that lasts", id="a zero"),
    ],
)
def test_what_is_no_place_for_a_store(where: str, words: str) -> None:
    """The caller learns what would be one."""
    with pytest.raises(InputError, match=words):
        AuditStore(where, key=KEY)


def test_a_store_that_must_exist(tmp_path: Path) -> None:
    """With `create=False` a wrong name makes no new store."""
    with pytest.raises(InputError, match="does not exist: a guard with `audit` makes one"):
        AuditStore(tmp_path / "audit.db", create=False)

    assert list(tmp_path.iterdir()) == []


def test_what_a_store_is_called(tmp_path: Path) -> None:
    """By its path, or by host and name; never with a user or a password."""
    url = "postgresql://someone:hunter2@db.example:5433/audit?sslmode=require"

    assert repr(AuditStore("audit.db", key=KEY, journal=tmp_path)) == "<AuditStore: the audit store 'audit.db'>"
    assert (
        repr(AuditStore(url, key=KEY, journal=tmp_path))
        == "<AuditStore: the audit store postgresql://db.example/audit>"
    )


def test_reading_a_place_without_a_store_makes_none(location: str) -> None:
    """With `create=False` neither a database without our tables nor an empty file becomes a store."""
    if "://" not in location:
        Path(location).touch()

    with pytest.raises(InputError, match="does not exist"):
        AuditStore(location, key=KEY, create=False)


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    """The texts in a store and in its log are not readable by other users of the machine."""
    store = AuditStore(tmp_path / "audit.db", key=KEY)
    store.prepare()

    modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.glob("audit.db*") if path.is_file()}
    store.close()

    assert modes == dict.fromkeys(modes, 0)
    assert "audit.db" in modes
