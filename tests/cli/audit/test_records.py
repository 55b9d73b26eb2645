"""The commands that read: list, show, export, stats."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stillme import Guard
from stillme.audit import AuditStore
from tests.audit.conftest import request
from tests.cli.conftest import VERDICTS, Trail, rows, tampered

NAMES = list(VERDICTS)

# list and show


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param([], ["bare", "hashed", "vi", "bad", "good"], id="all verdicts, the newest first"),
        pytest.param(["--limit", 2], ["bare", "hashed"], id="at most so many"),
        pytest.param(["--decision", "refuse"], ["hashed", "vi", "bad"], id="by decision"),
        pytest.param(["--reason", "contradicted_claim", "--language", "vi"], ["vi"], id="by reason and language"),
        pytest.param(["--mode", "enforce"], ["bad"], id="by mode"),
        pytest.param(["--action", "block"], ["bad"], id="by action"),
        pytest.param(["--band", "low", "--domain", "school"], ["vi"], id="by confidence and domain"),
        pytest.param(["--session", "session-2"], ["vi"], id="by session"),
        pytest.param(["--caller", "tests", "--limit", 1], ["bare"], id="by caller"),
        pytest.param(["--text", "THU DO"], ["vi"], id="by a text without accents"),
        pytest.param(
            ["--since", f"{datetime.now(UTC) - timedelta(days=15):%Y-%m-%d}"],
            ["bare", "hashed", "vi"],
            id="since a day",
        ),
        pytest.param(
            ["--until", f"{datetime.now(UTC) - timedelta(days=15):%Y-%m-%d}"], ["bad", "good"], id="until a day"
        ),
        pytest.param(["--unreviewed", "--decision", "answer"], ["bare", "good"], id="not reviewed by anybody"),
    ],
)
def test_records_are_found_by_filters(trail: Trail, options: list[object], names: list[str]) -> None:
    """Each filter takes what it says, and several take what all of them do."""
    found = rows(trail.run("list", *options).stdout)

    assert [row["id"] for row in found] == [trail.traces[name] for name in names]


def test_a_row_says_what_is_kept_of_the_texts(trail: Trail) -> None:
    """The question is there where it is kept, and is never a hash."""
    found = rows(trail.run("list").stdout)

    assert [(row["texts"], row["query"] is not None) for row in found] == [
        ("not kept", False),
        ("hashed", False),
        ("kept", True),
        ("kept", True),
        ("kept", True),
    ]
    assert found[2]["query"] == "Thủ đô của Việt Nam là thành phố nào?"


def test_a_table_shows_short_ids_that_the_other_commands_take(trail: Trail) -> None:
    """What the table prints can be typed again."""
    table = trail.run("list", "--human", "--session", "session-2").stdout

    short = re.search(r"trace-[0-9a-f]{8}", table)

    assert short is not None
    assert "Thủ đô của Việt Nam" in " ".join(table.split())
    assert trail.run("show", short[0]).exit_code == 0


def test_nothing_found_is_said_with_a_guess(trail: Trail) -> None:
    """An empty result is no error, and a misspelt reason is noticed."""
    result = trail.run("list", "--reason", "contradicted_claims")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "error: no record matches: did you mean --reason contradicted_claim?\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(
            "bad", ["Unused gear can be returned within 45 days", "contradicted", "seal checked  good"], id="whole"
        ),
        pytest.param("vi", ["Thủ đô của Việt Nam là Huế [1].", "Bản nháp mâu thuẫn với tài liệu."], id="Vietnamese"),
        pytest.param(
            "hashed", ["Only salted hashes of the texts were kept", "(not here; its claims: "], id="hashes only"
        ),
        pytest.param(
            "bare", ["The texts were not kept: audit.content was none.", "none: only the question"], id="no texts"
        ),
    ],
)
def test_show_renders_a_verdict_as_far_as_it_is_kept(trail: Trail, name: str, words: list[str]) -> None:
    """The page, what is missing and why, and the place in the chain."""
    result = trail.run("show", f"call-{name}")

    said = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert [word for word in words if " ".join(word.split()) not in said] == []
    assert trail.traces[name] in said
    assert "sha256:" not in said


def test_show_for_programs_holds_record_verdict_request_and_reviews(trail: Trail) -> None:
    """One object with everything that is kept."""
    found = json.loads(trail.run("show", "call-vi", "--json").stdout)

    assert found["record"]["id"] == found["verdict"]["validator_trace_id"] == trail.traces["vi"]
    assert found["request"]["draft_answer"] == "Thủ đô của Việt Nam là Huế [1]."
    assert (found["facts"]["seq"], found["facts"]["seal checked"], found["notice"], found["reviews"]) == (
        "4",
        "good",
        None,
        [],
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_has_an_evidence_packet(trail: Trail, tmp_path: Path, name: str) -> None:
    """One HTML page, in the language of the verdict, whatever is kept of the texts."""
    file = tmp_path / "packet.html"

    result = trail.run("show", f"call-{name}", "--html", file)

    page = file.read_text("utf-8")
    assert (result.exit_code, file.stat().st_mode & 0o077) == (0, 0)
    assert page.startswith(f'<!DOCTYPE html>\n<html lang="{"vi" if name == "vi" else "en"}">')
    assert trail.traces[name] in page
    assert "sha256:" not in page


def test_show_does_not_show_what_was_changed(trail: Trail) -> None:
    """A record that is not as it was written is a fault, not a page."""
    tampered(trail, "UPDATE stillme_audit_record SET action = 'deliver' WHERE seq = 3")

    result = trail.run("show", "call-bad")

    assert (result.exit_code, result.stdout) == (6, "")
    assert "its content is not what its digest says; run `stillme audit verify`" in result.stderr


def test_what_people_wrote_does_nothing_to_a_terminal(trail: Trail) -> None:
    """Escape sequences in recorded texts are shown as escapes, in a page, a table and a review."""

    nasty = "How long\x1b[2J do I have to return\u202e unused gear?"
    with AuditStore(trail.where) as store:
        Guard(audit=store).verify(request(request_id="nasty", query=nasty), caller="a\x1b[31mb")

    printed = [trail.run(*args).stdout for args in (["show", "nasty"], ["list", "--human"], ["list", "--kind", "all"])]

    assert not any("\x1b" in text or "\u202e" in text for text in printed[:2])
    assert "\\x1b[2J" in " ".join(printed[0].split())
    assert json.loads(printed[2].splitlines()[0])["query"] == nasty


# exports


@pytest.mark.parametrize("name", ["all.jsonl", "all.csv", "all.parquet"])
def test_an_export_is_verified_without_its_database(trail: Trail, tmp_path: Path, name: str) -> None:
    """Whole it is good; with one byte changed it is a fault; without the key it is not checked to the end."""
    file, key = tmp_path / name, Path(trail.where + ".key").read_bytes()
    written = trail.run("export", file)
    for path in tmp_path.glob("audit.db*"):
        path.unlink()
    Path(tmp_path / "kept.key").write_bytes(key)
    alone = {"STILLME_AUDIT_STORE": ""}

    good = trail.run("verify", file, "--key", tmp_path / "kept.key", **alone)
    unsealed = trail.run("verify", file, **alone)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    bad = trail.run("verify", file, "--key", tmp_path / "kept.key", **alone)

    assert written.stdout.startswith(f"6 records written to {file}, the whole store\n")
    assert (good.exit_code, unsealed.exit_code, bad.exit_code) == (0, 5, 6)
    assert good.stdout.startswith("ok: ")
    assert bad.stdout.startswith("FAULT: ")


def test_chosen_records_are_verified_one_by_one(trail: Trail, tmp_path: Path) -> None:
    """An export with a filter says what it cannot tell."""
    file = tmp_path / "refusals.jsonl"
    trail.run("export", file, "--decision", "refuse")

    result = trail.run("verify", file)

    assert result.exit_code == 0
    assert result.stdout.startswith("ok: 3 records, each as it was written, and no byte of the file was changed; what")


def test_an_export_goes_to_stdout_as_it_goes_to_a_file(trail: Trail, tmp_path: Path) -> None:
    """JSON lines and CSV; Vietnamese is UTF-8 in both."""
    file = tmp_path / "all.csv"
    trail.run("export", file)

    as_csv, as_lines = trail.run("export", "-", "--format", "csv"), trail.run("export", "-")

    assert as_csv.stdout_bytes == file.read_bytes()
    assert "Huế" in as_csv.stdout
    assert [row["seq"] for row in rows(as_lines.stdout)[1:7]] == [1, 2, 3, 4, 5, 6]
    assert trail.run("export", "-", "--format", "parquet").exit_code == 3


def test_a_file_is_never_overwritten_unless_asked(trail: Trail, tmp_path: Path) -> None:
    """Exports and packets leave what is there alone, and nothing half-written behind."""
    for command in (["export"], ["show", "call-bad", "--html"]):
        file = tmp_path / f"{command[0]}.jsonl"
        file.write_text("mine")
        refused = trail.run(*command, file)
        kept = file.read_text()
        forced = trail.run(*command, file, "--force")

        assert (refused.exit_code, kept, forced.exit_code) == (3, "mine", 0)
        assert "exists: choose another name, or give --force" in refused.stderr
        assert file.read_text() != "mine"
    assert not list(tmp_path.glob("*.part"))
