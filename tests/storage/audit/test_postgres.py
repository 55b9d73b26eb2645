"""The PostgreSQL engine: settings of its own that end with each transaction, rights no larger than needed, one lock."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.retention import erase
from stillme.storage.audit.database import BODY, POLICY, RECORD, SCHEMA_TABLE
from stillme.storage.audit.postgres import COPY_FROM, PostgresDatabase
from tests.audit.conftest import KEY, NewStore, request

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
SETTINGS = ("synchronous_commit", "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")


def settings(reading: Any, *names: str) -> list[str]:
    return [str(reading.rows(f"SHOW {name}")[0][0]) for name in names]


def record(store: AuditStore, times: int = 1) -> None:
    Guard(audit=store).verify_batch([request()] * times)


def test_settings_hold_inside_a_transaction_and_end_with_it(new_store: NewStore) -> None:
    """Commits are synced and waits are bounded, and a connection that comes from a pool goes back as it was."""
    database = new_store(timeout_s=2.0).database
    seen: list[Any] = []

    database.write(lambda writing: seen.append(settings(writing, *SETTINGS, "transaction_isolation")))
    database.write(lambda writing: seen.append(settings(writing, *SETTINGS)), is_long=True)
    assert isinstance(database, PostgresDatabase)
    connection = database._writer.connection
    after = [connection.execute(f"SHOW {name}").fetchone()[0] for name in SETTINGS]

    assert seen[0] == ["on", "2s", "4min", "4min", "read committed"]  # the first one brings the schema up to date
    assert seen[1] == ["on", "2s", "4min", "4min"]
    assert after == ["on", "0", "0", "0"]
    database.write(lambda writing: seen.append(settings(writing, *SETTINGS)))
    assert seen[2] == ["on", "2s", "4s", "4s"]


@pytest.mark.parametrize(
    "setting",
    [
        "default_transaction_isolation = 'serializable'",
        "default_transaction_read_only = on",
        "synchronous_commit = off",
    ],
)
def test_defaults_of_the_database_do_not_change_what_is_promised(
    new_store: NewStore, location: str, setting: str
) -> None:
    """Whatever a role is set to, writers of several stores read the end of the chain that the last one left."""
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE postgres SET {setting}")
    try:
        stores = [new_store(), new_store()]
        for store in (*stores, *stores):
            record(store)
        seen = stores[0].database.write(lambda writing: settings(writing, "synchronous_commit"))
    finally:
        with psycopg.connect(location, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER ROLE postgres RESET {setting.partition(' ')[0]}")

    assert (verify_store(stores[0]).fault, stores[1].head().seq, seen) == (None, 5, ["on"])


def test_a_writer_needs_no_right_to_create(new_store: NewStore, location: str) -> None:
    """A role that may read and insert into a schema that is there writes to it, and cannot change what is written."""
    with new_store() as owner:
        record(owner)
    name = f"writer_{uuid4().hex}"
    schema = location.rpartition("%3D")[2]
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}")
        for table in (RECORD, BODY, POLICY, SCHEMA_TABLE):
            connection.execute(f"GRANT SELECT{'' if table == SCHEMA_TABLE else ', INSERT'} ON {table} TO {name}")

    with AuditStore(location.replace("postgres:", f"{name}:"), key=KEY, journal="unused") as writer:
        record(writer, 3)
        with pytest.raises(Exception, match=r"permission denied .*\[42501\]; give its user the right to it"):
            erase(writer, Filter(session="session-1"), who="a person", why="a request")

    assert (verify_store(owner).fault, owner.head().seq) == (None, 5)


@pytest.mark.parametrize("count", [1, COPY_FROM - 1, COPY_FROM, 3 * COPY_FROM])
def test_rows_are_the_same_however_many_come_at_once(new_store: NewStore, count: int) -> None:
    """A few by INSERT, more by COPY: signs that either would read otherwise come back as they were."""
    store = new_store()
    store.prepare()
    texts = ["\\N", "\\.", "a\tb\nc\rd\\", "%s %% ?", "'\"{}", "Được 🙂", "", "\x7f\x01"]
    given = [(number + 10, f"salt {number}", texts[number % len(texts)]) for number in range(count)]

    store.database.write(lambda writing: writing.insert(BODY, ("seq", "salt", "text"), given))

    assert store.database.rows(f"SELECT seq, salt, text FROM {BODY} ORDER BY seq") == given  # noqa: S608


def test_an_erased_text_leaves_the_disk_with_the_next_vacuum(new_store: NewStore) -> None:
    """Until then no query finds it; the page says so where it is erased."""
    store = new_store()
    record(store, 30)
    before = store.database.bytes_used()
    erase(store, Filter(session="session-1"), who="a person", why="a request")

    store.database.vacuum()

    assert store.database.bytes_used() < before
    assert (verify_store(store).fault, verify_store(store).erased) == (None, 30)


def test_a_transaction_that_fails_leaves_nothing_and_the_connection_goes_on(new_store: NewStore) -> None:
    """Neither rows nor the lock stay behind."""
    store, other = new_store(timeout_s=1.0), new_store(timeout_s=1.0)
    record(store)

    def fail(writing: Any) -> None:
        writing.rows(f"DELETE FROM {BODY}")  # noqa: S608
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.database.write(fail)
    record(other)
    record(store)

    assert (verify_store(store).fault, verify_store(store).erased, store.head().seq) == (None, 0, 4)
