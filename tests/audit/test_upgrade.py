"""A store that an earlier version of the package wrote is read, upgraded, verified and written on.

`store_of_schema_1.json` holds the rows of a store, table by table, as the version wrote them that knew the first step of the schema only.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stillme.audit import AuditStore
from stillme.audit.chain.checking import check_store
from stillme.audit.search import Search, search
from stillme.storage.audit import database
from stillme.storage.audit.database import Writing
from tests.audit.conftest import NewStore, occurrence

ROWS = json.loads(Path(__file__).with_name("store_of_schema_1.json").read_text(encoding="utf-8"))["tables"]


def _put(writing: Writing) -> None:
    for table, rows in ROWS.items():
        if table != "stillme_audit_schema":
            writing.rows(f"DELETE FROM {table}")  # noqa: S608  (names of ours)
            writing.insert(table, tuple(rows[0]), [tuple(row.values()) for row in rows])


@pytest.fixture
def earlier(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> NewStore:
    """Opens a store with the tables of the first step and the rows of the earlier version."""
    first = [step for step in database.migrations() if step[0] == 1]
    with monkeypatch.context() as patch:
        patch.setattr(database, "migrations", lambda: first)
        made = new_store()
        made.prepare()
        made.database.write(_put)
        made.close()
    return new_store


def ids(store: AuditStore, **wanted: Any) -> list[str]:
    """The request ids of the verdicts that a search finds, newest first."""
    return [str(record.entry.request_id) for record in search(store, Search(**wanted)).records]


def test_records_of_an_earlier_version_are_read_and_verified(earlier: NewStore) -> None:
    """Under the key that sealed them, before anything is written."""
    store = earlier()

    assert [r.entry.request_id for r in store.records() if r.entry and r.entry.kind == "verdict"] == [
        "old-1",
        "old-2",
        "old-3",
    ]
    assert check_store(store, store.keyring).is_complete


def test_an_earlier_store_is_upgraded_by_its_first_write(earlier: NewStore) -> None:
    """The chain goes on, and old records are found by the indexes that they were written without."""
    store = earlier()

    store.record([occurrence()])

    assert database.is_current(store.database)
    assert ids(store, reason="contradicted_claim") == ["old-2"]
    assert ids(store, language="vi") == ["old-3"]
    assert ids(store, caller="desk") == ["old-2", "old-1"]
    checked = check_store(store, store.keyring)
    assert (checked.fault, checked.is_complete) == (None, True)
