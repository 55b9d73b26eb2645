"""A schema is brought up to date step by step, once, and one of a newer version is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from stillme.errors import BackendError
from stillme.storage.schema import Rows, steps_taken, upgrade

TABLE_QUERY = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
NAMES = {"name": "the store", "table": "steps", "key_type": "INTEGER PRIMARY KEY", "table_query": TABLE_QUERY}
STEPS = {1: ["CREATE TABLE one (a)", "CREATE TABLE two (a)"], 2: ["INSERT INTO one VALUES (7)"]}


@pytest.fixture
def rows() -> Iterator[Rows]:
    """An empty database."""
    with closing(sqlite3.connect(":memory:")) as connection:

        def run(sql: str, values: Sequence[Any] = ()) -> list[Any]:
            return connection.execute(sql, values).fetchall()

        yield run


def test_each_step_is_taken_once(rows: Rows) -> None:
    """Those that an earlier version took are not taken again."""
    assert steps_taken(rows, "steps", TABLE_QUERY) is None

    upgrade(rows, {1: STEPS[1]}, **NAMES)
    for _ in range(2):
        upgrade(rows, STEPS, **NAMES)

    assert (steps_taken(rows, "steps", TABLE_QUERY), rows("SELECT a FROM one")) == ({1, 2}, [(7,)])


def test_a_newer_schema_is_refused(rows: Rows) -> None:
    """Nothing is done to it, and the message says what to do."""
    upgrade(rows, {**STEPS, 3: ["CREATE TABLE three (a)"]}, **NAMES)

    with pytest.raises(
        BackendError, match=r"the store was written by a newer version \(schema step 3, .* 2\): upgrade"
    ):
        upgrade(rows, STEPS, **NAMES)
