"""The SQLite engine: what is on disk when, what is left of what was erased, and who may go on meanwhile."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.retention import erase
from stillme.errors import BackendError
from tests.audit.conftest import KEY, request

ROOT = Path(__file__).parents[3]
WORDS = "a sentence that nobody else would write"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "kho lưu trữ #1.db"


@pytest.fixture
def store(path: Path) -> Iterator[AuditStore]:
    """A store in a file with a name that a URL would have to escape."""
    with AuditStore(path, key=KEY, timeout_s=0.5) as made:
        yield made


def record(store: AuditStore, text: str = "Where?", times: int = 1) -> None:
    """Verdicts on that question."""
    Guard(audit=store).verify_batch([request(query=text)] * times)


@contextmanager
def read_in_the_middle(path: Path) -> Iterator[None]:
    """Somebody reads, and holds on to what the store was at that moment."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM stillme_audit_record").fetchall()
        yield


def test_the_settings_that_durability_stands_on(store: AuditStore, path: Path) -> None:
    """The log is written ahead and synced with every commit, and what is deleted is overwritten."""
    record(store)
    names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys")

    found = store.database.write(lambda writing: [writing.rows(f"PRAGMA {name}")[0][0] for name in names])

    assert found[:3] == ["wal", 2, 1]
    assert Path(f"{path}-wal").stat().st_size > 0


TRACED = """
import os, sys
from stillme.audit import AuditStore
from tests.audit.conftest import KEY, occurrence
from tests.audit.test_store import anew
store = AuditStore(sys.argv[1], key=KEY, journal=sys.argv[2])
given = occurrence({"audit": {"on_failure": "spool"}})
store.record([anew(given)])
for _ in range(5):
    store.record([anew(given)])
    os.write(1, b"returned from the store\\n")
os.rename(sys.argv[1], sys.argv[1] + ".away")
store.record([anew(given)])
for _ in range(5):
    store.record([anew(given)])
    os.write(1, b"returned from the journal\\n")
"""


def test_the_disk_has_it_before_the_caller(path: Path, tmp_path: Path) -> None:
    """By the calls that the system sees: between two verdicts that are returned, a file is synced."""
    traced, script = tmp_path / "calls", [sys.executable, "-c", TRACED, str(path), str(tmp_path / "journal")]
    command = ["strace", "-f", "-qq", "-o", str(traced), "-e", "trace=fsync,fdatasync,write", "-s", "40", *script]
    if (
        not shutil.which("strace")
        or subprocess.run(["strace", "-qq", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("strace cannot be used here")

    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=600)
    calls = re.findall(r"(f(?:data)?sync\(|returned from the \w+)", traced.read_text())
    before = [(name, calls[at - 1]) for at, name in enumerate(calls) if name.startswith("returned")]

    assert [name for name, _ in before] == ["returned from the store"] * 5 + ["returned from the journal"] * 5
    assert {name.endswith("sync(") for _, name in before} == {True}


def test_an_erased_text_is_in_no_file_any_more(store: AuditStore, path: Path) -> None:
    """Neither in the file nor in its log nor beside them."""
    record(store, WORDS)
    record(store)
    assert any(WORDS.encode() in file.read_bytes() for file in path.parent.iterdir())

    erase(store, Filter(text=WORDS), who="a person", why="a request")

    assert not any(WORDS.encode() in file.read_bytes() for file in path.parent.iterdir())
    assert (verify_store(store).fault, verify_store(store).erased) == (None, 1)


def test_an_erased_text_that_a_reader_keeps_in_the_log_is_told(store: AuditStore, path: Path) -> None:
    """The text is erased, and whoever asked for it learns that the log could not be cut off yet."""
    record(store, WORDS)

    with read_in_the_middle(path), pytest.raises(BackendError, match="may still stand in its log; let the readers end"):
        erase(store, Filter(text=WORDS), who="a person", why="a request")
    store.database.vacuum()

    assert not any(WORDS.encode() in file.read_bytes() for file in path.parent.iterdir())
    assert verify_store(store).erased == 1


def test_reading_waits_for_no_writer_and_writing_for_no_reader(store: AuditStore, path: Path) -> None:
    """Each sees the store as of one moment, at once."""
    record(store)
    with read_in_the_middle(path):
        record(store)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert len(list(store.records(Filter(kind="verdict")))) == 2


def test_vacuum_gives_space_back_while_others_write(store: AuditStore) -> None:
    """Writers are served before and after it, or are told that the file is locked; the chain stays whole."""
    record(store, WORDS * 200, 60)
    erase(store, Filter(session="session-1"), who="a person", why="a request")
    before, outcomes = store.database.bytes_used(), list[str]()

    def write() -> None:
        for _ in range(10):
            try:
                record(store)
                outcomes.append("recorded")
            except BackendError as error:
                outcomes.append("locked" if "holds its lock" in str(error) else str(error))

    thread = threading.Thread(target=write)
    thread.start()
    store.database.vacuum()
    thread.join()
    store.database.forget()  # what they wrote meanwhile stands in the log

    assert store.database.bytes_used() < before / 2
    assert set(outcomes) <= {"recorded", "locked"}
    assert verify_store(store).records == 62 + outcomes.count("recorded")


def test_a_backup_of_a_store_in_use_is_a_whole_store(store: AuditStore, tmp_path: Path) -> None:
    """Taken while others write, it is valid as of one moment, and can be gone on with."""
    record(store)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            record(store)

    thread = threading.Thread(target=write)
    thread.start()
    store.database.backup(str(tmp_path / "copy.db"))  # type: ignore[attr-defined]
    is_over.set()
    thread.join()

    with AuditStore(tmp_path / "copy.db", key=KEY) as copy:
        found = verify_store(copy)
        record(copy)
        assert (found.fault, found.records >= 2, verify_store(copy).records) == (None, True, found.records + 1)
    with pytest.raises(BackendError, match="a backup never overwrites, choose another name"):
        store.database.backup(str(tmp_path / "copy.db"))  # type: ignore[attr-defined]


def test_the_working_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is taken from where the program was when it made the store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    store = AuditStore("audit.db", key=KEY)

    monkeypatch.chdir(tmp_path / "elsewhere")
    record(store)
    store.close()

    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["audit.db"]
    assert list((tmp_path / "elsewhere").iterdir()) == []
