"""Files that only their owner reads, and the same words for what goes wrong whichever driver met it."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from stillme.storage.sqlite import advice, error_code, identity, make_private, write_ahead


def connected(driver: str, path: Path) -> Any:
    """A connection of either driver that waits for nobody."""
    return sqlite3.connect(path, timeout=0, isolation_level=None) if driver == "sqlite3" else apsw.Connection(str(path))


@pytest.mark.parametrize("driver", ["sqlite3", "apsw"])
def test_both_drivers_get_the_same_words(driver: str, tmp_path: Path) -> None:
    """A file that is no database, and one that another holds."""
    (tmp_path / "other.db").write_bytes(b"not a database" * 99)
    with closing(connected(driver, tmp_path / "other.db")) as connection, pytest.raises(Exception) as not_one:  # noqa: PT011
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    path = tmp_path / "held.db"
    with closing(connected(driver, path)) as first, closing(connected(driver, path)) as second:
        first.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Exception) as held:  # noqa: PT011
            second.execute("BEGIN EXCLUSIVE")

    assert [error_code(not_one.value), error_code(held.value)] == [26, 5]
    assert advice(not_one.value).startswith("the file is not a database; choose another path, or restore a backup (")
    assert advice(held.value).startswith("another process holds its lock; let that end, or raise the timeout (")


def test_a_new_file_is_private_and_stays_the_one_it_is(tmp_path: Path) -> None:
    """Its log too; another file under the same name is another file."""
    path = tmp_path / "a.db"
    assert identity(path) is None
    make_private(path)
    first = identity(path)
    with closing(connected("sqlite3", path)) as connection:
        write_ahead(connection, 0)
        connection.execute("CREATE TABLE a (b)")
        modes = {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
        path.rename(tmp_path / "b.db")
        make_private(path)

    assert modes == {0o600}
    assert first != identity(path)
    assert first == identity(tmp_path / "b.db")
