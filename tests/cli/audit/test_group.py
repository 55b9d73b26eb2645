"""What all audit commands share: recording, errors that are a line, both engines, terminals."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import psycopg
import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore, Filter
from stillme.audit.review.agreement import Label
from stillme.cli.commands import cli
from stillme.cli.options import LABELS
from tests.cli.conftest import Trail, rows
from tests.cli.test_commands import ANSWERED, REFUSED, lines, on_terminal


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# recording from the command line


def test_verify_records_each_verdict(tmp_path: Path) -> None:
    """`stillme verify --store` makes the store, and what it prints is found again."""
    where = str(tmp_path / "audit.db")

    result = CliRunner().invoke(cli, ["verify", "-", "--store", where], input=lines(ANSWERED, REFUSED))
    named = CliRunner().invoke(
        cli, ["verify", "-", "--caller", "nightly"], input=lines(ANSWERED), env={"STILLME_AUDIT_STORE": where}
    )

    with AuditStore(where, create=False) as store:
        found = [record.entry for record in store.records(Filter(kind="verdict"))]
    printed = [json.loads(line)["validator_trace_id"] for line in (result.stdout + named.stdout).splitlines()]
    assert (result.exit_code, named.exit_code) == (10, 0)
    assert [entry.id for entry in found if entry] == printed
    assert [str(entry.caller).partition(":")[0] for entry in found if entry] == ["cli", "cli", "nightly"]


def test_a_verdict_that_cannot_be_recorded_is_not_given(tmp_path: Path) -> None:
    """A store that cannot be written is an error, and nothing is printed as verified."""
    result = CliRunner().invoke(
        cli, ["verify", "-", "--store", str(tmp_path / "no" / "audit.db")], input=lines(ANSWERED)
    )

    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr.startswith("error: ")


# errors


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        pytest.param(
            ["verify", "--store", "none.db"], 3, "there is no audit store 'none.db': check", id="no such store"
        ),
        pytest.param(["list", "--store", ""], 3, "no audit store is named: give --store PATH|URL", id="no store named"),
        pytest.param(
            ["list", "--store", "mysql://x/y"], 3, "a URL of sqlite:// or postgresql://", id="an unknown engine"
        ),
        pytest.param(["stats", "--store", "not-a-store.db"], 3, "there is no audit store", id="another SQLite file"),
        pytest.param(["stats", "--store", "text.db"], 5, "is not a database", id="a file that is no database"),
        pytest.param(["list", "--since", "monday"], 3, "'monday' is no point in time: write it like", id="a bad date"),
        pytest.param(["show", "trace-ffff"], 3, "no record begins with 'trace-ffff'", id="no such record"),
        pytest.param(["show", "tra"], 3, "give at least its first four characters", id="too short"),
        pytest.param(["show", "trace-"], 3, "several records begin with 'trace-'", id="ambiguous"),
        pytest.param(["verify", "--key", "none.key"], 3, "there is no key file 'none.key'", id="no such key"),
        pytest.param(["verify", "--key", "text.db"], 3, "is not a key file", id="a file that is no key"),
        pytest.param(["verify", "none.jsonl"], 3, "'none.jsonl' cannot be read: No such file", id="no such export"),
        pytest.param(["verify", "text.db"], 3, "is no audit export", id="a file that is no export"),
        pytest.param(["verify", "--checkpoint", "text.db"], 3, "is no checkpoint", id="a file that is no checkpoint"),
        pytest.param(["verify", "--checkpoint", "none"], 3, "'none' cannot be read: No such file", id="no checkpoints"),
        pytest.param(["export", "all.xlsx"], 3, "end it with .jsonl, .csv or .parquet", id="an unknown format"),
        pytest.param(["export", "no/all.jsonl"], 3, "No such file or directory", id="no such folder"),
        pytest.param(["replay"], 3, "say what to replay: trace ids, or --all", id="nothing to replay"),
        pytest.param(["replay", "--all", "--session", "x"], 3, "no verdict matches", id="nothing matches"),
        pytest.param(["replay", "trace-", "--session", "x"], 3, "filters go with --all", id="both"),
        pytest.param(["erase", "--by", "a", "--why", "b"], 3, "say whose texts to erase", id="nothing to erase"),
        pytest.param(["erase", "call-bad", "--by", " ", "--why", "b", "--yes"], 3, "needs who asks", id="nobody asks"),
        pytest.param(["key", "text.db"], 3, "exists: a key is never overwritten", id="a key over a file"),
        pytest.param(["key", "--public", "text.db"], 3, "is not a key file", id="no key to publish"),
        pytest.param(["prune", "--policy", "none.yaml"], 4, "there is no policy file 'none.yaml'", id="no such policy"),
        pytest.param(["restore", "none.jsonl", "--store", "new.db"], 3, "give the key file with --key", id="no key"),
        pytest.param(["list", "--label", "wrong"], 2, "'wrong' is not one of", id="an unknown label"),
        pytest.param(["list", "--decision", "maybe"], 2, "'maybe' is not one of", id="an unknown decision"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_and_leaves_nothing_behind(
    trail: Trail, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, args: list[str], code: int, message: str
) -> None:
    """The message says what is wrong and the way out; reading makes no file."""
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text(
        "only a text, and a long one at that, so that nobody takes it for an empty database\n" * 9
    )
    with sqlite3.connect("not-a-store.db") as connection:
        connection.execute("CREATE TABLE other (a)")
    connection.close()
    before, other = files_in(tmp_path), Path("not-a-store.db").read_bytes()

    result = trail.run(*args)

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1
    assert (files_in(tmp_path), Path("not-a-store.db").read_bytes()) == (before, other)


def test_a_server_that_is_down_is_said_in_a_line(trail: Trail) -> None:
    """No password in the message, no traceback, and no waiting for long."""
    result = trail.run("stats", "--store", "postgresql://me:secret@127.0.0.1:1/audit")

    assert (result.exit_code, result.stdout) == (5, "")
    assert "postgresql://127.0.0.1" in result.stderr
    assert "secret" not in result.stderr


def test_the_choices_of_the_options_are_those_of_the_library() -> None:
    """The command line does not import the library to print its help, so it has its own list of labels."""

    assert get_args(Label) == LABELS


# on PostgreSQL


def test_the_main_commands_on_postgresql(postgres_url: str, new_trail: Any, tmp_path: Path) -> None:
    """From an empty schema to a restored copy, with a key of its own."""

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for name in ("cli_empty", "cli_used", "cli_copy"):
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
            connection.execute(f"CREATE SCHEMA {name}")
    empty, used, copy = (f"{postgres_url}&options=-csearch_path%3Dcli_{name}" for name in ("empty", "used", "copy"))
    key, file = tmp_path / "audit.key", tmp_path / "all.jsonl"
    CliRunner().invoke(cli, ["audit", "key", str(key)])
    trail = new_trail(used, str(key))

    absent = trail.run("verify", "--store", empty)
    codes = {
        name: trail.run(name, *args).exit_code  # type: ignore[misc]
        for name, args in {
            "verify": [],
            "list": [],
            "show": ["call-vi"],
            "stats": [],
            "replay": ["call-vi", "call-bad"],
            "checkpoint": [],
            "erase": ["--session", "session-2", "--by", "a", "--why", "b", "--yes"],
            "export": [file],
            "drain": ["--journal", tmp_path / "journal"],
            "vacuum": [],
        }.items()
    }
    backup, restored = trail.run("backup", tmp_path / "copy.db"), trail.run("restore", file, "--store", copy)

    assert (absent.exit_code, "there is no audit store" in absent.stderr) == (3, True)
    with psycopg.connect(empty) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'cli_empty'").fetchone() == (0,)
    assert set(codes.values()) == {0}, codes
    assert [row["id"] for row in rows(trail.run("list", "--text", "45 days").stdout)] == [trail.traces["bad"]]
    assert (backup.exit_code, "use pg_dump" in backup.stderr) == (3, True)
    assert restored.exit_code == 0
    assert trail.run("verify", "--store", copy).exit_code == 0


# on a terminal


def test_a_terminal_gets_a_table_that_fits(trail: Trail) -> None:
    """Without an option, a person gets a table and a pipe gets JSON."""
    code, screen = on_terminal("audit", "list", columns=80, STILLME_AUDIT_STORE=trail.where)

    bare = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    assert (code, bare.splitlines()[0].split()[:2]) == (0, ["time", "(UTC)"])
    assert max(len(line) for line in bare.splitlines()) <= 80


def test_a_bar_does_not_stay_on_the_terminal(trail: Trail) -> None:
    """While it works it counts; the last line is what was found."""
    code, screen = on_terminal(
        "audit", "replay", "--all", "--text", "delivery", columns=80, STILLME_AUDIT_STORE=trail.where
    )

    assert code == 0
    assert "replayed" in screen
    assert screen.rstrip().endswith("2 verdicts: 2 same, 0 different, 0 not replayable")


def test_help_of_the_audit_commands_needs_no_store_and_no_rich() -> None:
    """Help is instant: neither the guard nor a driver is loaded for it."""
    code = (
        "import sys; from stillme.cli.commands import cli; cli(['audit', '--help'], standalone_mode=False);"
        "print(sorted({'rich', 'pydantic', 'yaml', 'stillme.guard', 'psycopg'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)

    assert done.stdout.splitlines()[-1] == "[]"
