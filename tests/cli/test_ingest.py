"""`stillme ingest` as a user calls it: what it prints where, where the store is, and the exit code."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import Commands
from stillme.cli.ingest import ingest
from stillme.cli.search import search
from stillme.storage.knowledge.engines import store_at

COMMANDS = Commands(commands=[ingest, search])
LEAVE = "# Leave\n\nAnnual leave is 12 days.\n"


@pytest.fixture(autouse=True)
def handbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one document, in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("STILLME_KNOWLEDGE", "STILLME_DATA"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    return folder


def run(*args: str, **env: str) -> Result:
    """The result of a command in this process."""
    return CliRunner().invoke(COMMANDS, list(args), catch_exceptions=False, env=env)


def test_a_folder_is_ingested_and_told_of(handbook: Path) -> None:
    """What was done, what was passed over, what the store holds now."""
    (handbook / "plan.docx").write_bytes(b"PK")

    first, second = run("ingest", "handbook"), run("ingest", "handbook")

    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.splitlines() == [
        "1 added, 0 replaced, 0 unchanged, 0 removed, 0 failed",
        "passed over, for they cannot be read: 1 .docx",
        "the store holds 1 document in 1 chunk",
    ]
    assert second.stdout.splitlines()[0] == "0 added, 0 replaced, 1 unchanged, 0 removed, 0 failed"


def test_a_program_gets_one_json_object(handbook: Path) -> None:
    """With every name, and the failures too."""
    (handbook / "bad.txt").write_bytes(b"\xff")

    result = run("ingest", "handbook", "--json")

    assert result.exit_code == 3
    assert json.loads(result.stdout) == {
        "added": ["handbook/leave.md"],
        "replaced": [],
        "unchanged": [],
        "removed": [],
        "failed": [{"path": "handbook/bad.txt", "reason": "it is not UTF-8 (byte 0): save it as UTF-8"}],
        "noted": [],
        "unsupported": {},
        "chunks": 1,
        "documents_in_store": 1,
        "chunks_in_store": 1,
    }


def test_a_file_that_cannot_be_read_is_named_on_stderr(handbook: Path) -> None:
    """In characters that do nothing to a terminal; the others are ingested, and the exit code tells."""
    (handbook / "b\x1b[31mad.txt").write_bytes(b"\xff")

    result = run("ingest", "handbook")

    assert result.exit_code == 3
    assert result.stderr == "error: handbook/b [31mad.txt: it is not UTF-8 (byte 0): save it as UTF-8\n"
    assert result.stdout.splitlines()[0] == "1 added, 0 replaced, 0 unchanged, 0 removed, 1 failed"


def test_a_note_is_told(handbook: Path) -> None:
    """What was read, but not all of it."""
    (handbook / "page.html").write_text("<p>Hello.</p><nav>x", encoding="utf-8")

    result = run("ingest", "handbook")

    assert result.exit_code == 0
    assert "note: handbook/page.html: <nav> has no end tag: what follows it was" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "environment", "place"),
    [
        pytest.param([], {}, "stillme-data/knowledge.db", id="by default in the working folder"),
        pytest.param([], {"STILLME_DATA": "kept/here"}, "kept/here/knowledge.db", id="in the folder for data"),
        pytest.param([], {"STILLME_KNOWLEDGE": "k.db", "STILLME_DATA": "x"}, "k.db", id="where the environment says"),
        pytest.param(["--store", "s.db"], {"STILLME_KNOWLEDGE": "k.db"}, "s.db", id="where the option says"),
    ],
)
def test_the_store_is_where_it_is_said_to_be(
    arguments: list[str], environment: dict[str, str], place: str, tmp_path: Path
) -> None:
    """Option, then environment, then the folder for data."""
    result = run("ingest", "handbook", *arguments, **environment)

    assert result.exit_code == 0
    assert [str(found.relative_to(tmp_path)) for found in tmp_path.rglob("*.db")] == [place]
    with closing(store_at(place)) as store:
        assert store.counts("knowledge") == (1, 1)


def test_files_that_are_gone_are_removed_when_asked(handbook: Path) -> None:
    """And only then."""
    (handbook / "old.md").write_text("Old.", encoding="utf-8")
    run("ingest", "handbook")
    (handbook / "old.md").unlink()

    kept, removed = run("ingest", "handbook"), run("ingest", "handbook", "--remove-missing")

    assert kept.stdout.splitlines()[-1] == "the store holds 2 documents in 2 chunks"
    assert removed.stdout.splitlines() == [
        "0 added, 0 replaced, 1 unchanged, 1 removed, 0 failed",
        "the store holds 1 document in 1 chunk",
    ]


def test_two_folders_of_one_name_need_another(tmp_path: Path) -> None:
    """Which is given by --name."""
    other = tmp_path / "old" / "handbook"
    other.mkdir(parents=True)
    (other / "leave.md").write_text("Leave was 10 days.", encoding="utf-8")

    refused = run("ingest", "handbook", "old/handbook")
    taken = run("ingest", "handbook", "old/handbook", "--name", "old/handbook=old", "--json")

    assert refused.exit_code == 3
    assert refused.stderr == (
        "error: 'handbook' and 'old/handbook' are both called 'handbook': give one of them another name\n"
    )
    assert json.loads(taken.stdout)["added"] == ["handbook/leave.md", "old/leave.md"]


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        pytest.param([], 2, "Missing argument 'PATH…'", id="no path"),
        pytest.param(["handbook", "--name", "x"], 3, "--name must be PATH=NAME, got 'x'", id="a name of nothing"),
        pytest.param(["handbook", "--store", "mysql://x"], 3, "a store is a file or a URL of", id="another database"),
        pytest.param(["nowhere"], 3, "nowhere: there is no such file or folder", id="no such folder"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], code: int, problem: str) -> None:
    """On stderr, with an exit code that is not 0."""
    result = run("ingest", *arguments)

    assert result.exit_code == code
    assert problem in result.stderr


def test_a_terminal_shows_a_bar_that_goes_away(handbook: Path) -> None:
    """On stderr, with the document that is being read; what is printed stays apart from it."""
    (handbook / "long.txt").write_text("The office opens at 8 every day. " * 300, encoding="utf-8")
    ours, theirs = pty.openpty()
    code = "from tests.cli.test_ingest import COMMANDS; COMMANDS(['ingest', 'handbook'])"
    root = str(Path(__file__).parents[2])

    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": root}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True
    ) as process:
        os.close(theirs)
        drawn = bytearray()
        while part := _read(ours):
            drawn += part
        printed = process.stdout.read() if process.stdout else ""
    os.close(ours)

    assert process.returncode == 0
    assert printed.splitlines()[0] == "2 added, 0 replaced, 0 unchanged, 0 removed, 0 failed"
    assert "handbook/long.txt" in drawn.decode()
    assert "100%" in drawn.decode()


def _read(terminal: int) -> bytes:
    """What was written to the terminal; nothing once nobody can write any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
