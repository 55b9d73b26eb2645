"""A path is SQLite, a URL of a server PostgreSQL, and neither is opened by being named."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.errors import InputError
from stillme.storage.audit.engines import database_at
from stillme.storage.audit.postgres import PostgresDatabase
from stillme.storage.audit.sqlite import SqliteDatabase


@pytest.mark.parametrize("scheme", ["", "sqlite:///"], ids=["a path", "a URL of a file"])
def test_a_file_is_sqlite_and_is_not_made_by_being_named(tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "audit.db"

    database = database_at(f"{scheme}{file}")

    assert isinstance(database, SqliteDatabase)
    assert not file.exists()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_server_is_postgresql_and_its_password_is_not_in_its_name(scheme: str) -> None:
    database = database_at(f"{scheme}://me:hunter2@127.0.0.1:1/audit", timeout_s=1.0)

    assert isinstance(database, PostgresDatabase)
    assert "hunter2" not in database.name


def test_another_kind_of_url_is_refused_with_those_that_are_taken() -> None:
    with pytest.raises(InputError, match="sqlite:// or postgresql://"):
        database_at("mysql://127.0.0.1/audit")
