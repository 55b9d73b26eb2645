"""Checkpoints are made by themselves, say where the chain ended, and find what was cut off or put back."""
# ruff: noqa: S608  (the names in the statements are ours)

from __future__ import annotations

import logging
import shutil
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore
from stillme.audit.chain.checking import check_store
from stillme.audit.chain.checkpoints import Checkpoints
from stillme.audit.chain.integrity import Checkpoint
from stillme.cli.commands import cli
from stillme.storage.audit.database import BODY, RECORD
from tests.audit.conftest import occurrence
from tests.audit.support import Tables

MANY = 1_000_000.0


def written(path: Path) -> list[Checkpoint]:
    return [Checkpoint.parse(line) for line in path.read_text("utf-8").splitlines()]


def cut(location: str, after: int) -> None:
    """Take the last records away, as somebody with the database would."""
    tables = Tables(location)
    for table in (BODY, RECORD):
        tables.run(f"DELETE FROM {table} WHERE seq > {after}")
    tables.close()


def verified(where: str, *options: str) -> tuple[int, str]:
    """Exit code and words of `stillme audit verify`."""
    done = CliRunner().invoke(cli, ["audit", "verify", "--store", where, *options], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_a_checkpoint_is_made_whenever_the_chain_has_grown(store: AuditStore, tmp_path: Path) -> None:
    """At the beginning and at each turn; a chain that stands still adds no line, and every line holds."""
    path, turns = tmp_path / "kept" / "elsewhere.checkpoints", [1, 0, 2, None]
    ends: list[int] = []

    def wait(seconds: float) -> bool:
        assert seconds == 60
        ends.append(store.head().seq)
        number = turns.pop(0)
        store.record([occurrence() for _ in range(number or 0)])
        return number is None

    Checkpoints(store, path, 60, wait).run()

    assert [line.seq for line in written(path)] == [1, 2, 4] == sorted(set(ends))
    assert check_store(store, store.keyring, written(path)).found.checkpoints == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_end_that_was_cut_off_is_found(store: AuditStore, location: str, tmp_path: Path) -> None:
    """On either engine: the chain alone would pass, the lines of the file do not let it."""
    path = tmp_path / "audit.checkpoints"
    for _ in range(3):  # each with a seal of its own
        store.record([occurrence()])
    Checkpoints(store, path, MANY).make()
    cut(location, 2)

    assert check_store(store, store.keyring).fault is None
    assert "cut off" in str(check_store(store, store.keyring, written(path)).fault)


def test_the_command_finds_the_file_beside_a_store(tmp_path: Path) -> None:
    """`stillme audit verify` compares what the service wrote beside a SQLite store, or where the environment says, unasked."""
    where = str(tmp_path / "audit.db")
    with AuditStore(where) as store:
        for _ in range(3):  # each with a seal of its own
            store.record([occurrence()])
        Checkpoints(store, Path(f"{where}.checkpoints"), MANY).make()
    whole = verified(where)
    cut(where, 2)
    beside = verified(where)
    away = tmp_path / "away"
    Path(f"{where}.checkpoints").rename(away)
    unseen = verified(where)
    told = CliRunner(env={"STILLME_AUDIT_CHECKPOINTS": str(away)}).invoke(cli, ["audit", "verify", "--store", where])

    assert (whole[0], "checkpoints  1 compared" in whole[1]) == (0, True)
    assert [beside[0], unseen[0], told.exit_code] == [6, 0, 6]
    assert beside[1].startswith("FAULT: record 3: cut off: the checkpoint of ")


def test_an_older_copy_is_told_at_the_start_and_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A store that was rolled back is a fault for good, also after it has grown again and further checkpoints were made."""
    where, copy = tmp_path / "audit.db", tmp_path / "copy.db"
    path = Path(f"{where}.checkpoints")
    with AuditStore(where) as store:
        store.record([occurrence()])
        store.database.backup(str(copy))
        store.record([occurrence()])
        Checkpoints(store, path, MANY).make()
    shutil.move(copy, where)
    for left in ("-wal", "-shm"):
        Path(f"{where}{left}").unlink(missing_ok=True)
    with AuditStore(where) as store:
        Checkpoints(store, path, MANY, lambda _: True).run()
        store.record([occurrence(), occurrence()])
        Checkpoints(store, path, MANY).make()

    assert "it was cut off, replaced or restored" in caplog.text
    assert verified(str(where))[0] == 6


def test_what_fails_is_told_and_tried_again(
    store: AuditStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A place that cannot be written costs a checkpoint, and nothing else; when it is there again one is made."""
    path = tmp_path / "audit.checkpoints"
    path.mkdir()
    turns = [False, True]

    def wait(_: float) -> bool:
        if path.is_dir():
            path.rmdir()
        return turns.pop(0)

    with caplog.at_level(logging.INFO, "stillme.audit"):
        Checkpoints(store, path, MANY, wait).run()

    assert "no checkpoint of the audit trail was made" in caplog.text
    assert [line.seq for line in written(path)] == [1]
    assert path.read_text("utf-8").strip() in caplog.text


def test_half_a_line_spoils_no_other(store: AuditStore, tmp_path: Path) -> None:
    """What a crash left behind stands on a line of its own."""
    path = tmp_path / "audit.checkpoints"
    path.write_bytes(b'{"store": "st')

    Checkpoints(store, path, MANY).make()

    torn, whole = path.read_text("utf-8").splitlines()
    assert (torn, Checkpoint.parse(whole).seq) == ('{"store": "st', 1)
