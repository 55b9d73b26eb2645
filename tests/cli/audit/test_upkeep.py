"""The commands that keep a store within bounds and bring it back: erase, prune, vacuum, backup, restore, drain."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Trail, rows

# erase, prune, vacuum, backup, drain


def test_an_erasure_takes_the_texts_and_is_recorded(trail: Trail, tmp_path: Path) -> None:
    """The chain stays valid, the texts are off the disk, and the record says who asked and why."""
    result = trail.run("erase", "--session", "session-2", "--by", "the data officer", "--why", "yêu cầu 17", "--yes")

    shown, found = trail.run("show", "call-vi").stdout, json.loads(trail.run("verify", "--json").stdout)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == ["erased the texts of 1 record:", f"  {trail.traces['vi']}"]
    assert "asked for by the data officer: yêu cầu 17." in " ".join(shown.split())
    assert (found["ok"], found["erased"]) == (True, 1)
    assert not any("Huế".encode() in path.read_bytes() for path in tmp_path.glob("audit.db*"))
    assert trail.run("replay", "call-vi").exit_code == 5


@pytest.mark.parametrize(
    ("stdin", "code", "erased"),
    [
        pytest.param("y\n", 0, 1, id="yes"),
        pytest.param("n\n", 1, 0, id="no"),
        pytest.param("", 3, 0, id="nobody there to ask"),
    ],
)
def test_an_erasure_asks_first(trail: Trail, stdin: str, code: int, erased: int) -> None:
    """Without --yes nothing goes unless somebody says so."""
    result = trail.run("erase", trail.traces["bad"], "--by", "a", "--why", "b", stdin=stdin)

    assert result.exit_code == code
    assert "Erase the texts of 1 record for good, and the notes of reviews on them? [y/N]" in result.stderr
    assert json.loads(trail.run("verify", "--json").stdout)["erased"] == erased


def test_an_erasure_of_nothing_leaves_no_record(trail: Trail) -> None:
    """Texts that were never kept need not be erased."""
    result = trail.run("erase", "call-bare", "--by", "a", "--why", "b", "--yes")

    assert (result.exit_code, result.stdout) == (0, "nothing to erase: no texts are kept of what was named\n")
    assert rows(trail.run("list", "--kind", "erasure").stdout) == []


def test_prune_applies_the_retention_of_a_policy(trail: Trail, tmp_path: Path) -> None:
    """A dry run counts, a run removes, a tombstone accounts for it, and a second run finds nothing."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("audit:\n  retention:\n    verdict: {text_days: 15, days: 30}\n", encoding="utf-8")

    dry, done, again = (trail.run("prune", "--policy", policy, *form) for form in (["--dry-run"], ["--yes"], ["--yes"]))

    found = json.loads(trail.run("verify", "--json").stdout)
    assert dry.stdout == "would remove 1 record, and the texts of 2 records\n"
    assert done.stdout.startswith("removed 1 record, and the texts of 2 records; tombstone-")
    assert again.stdout == "nothing to remove: everything is within the retention of the policy\n"
    assert (found["ok"], found["erased"], found["removed"]) == (True, 1, 2)
    assert "removed by retention on" in " ".join(trail.run("show", "call-bad").stdout.split())
    assert trail.run("prune", "--yes").exit_code == 0


def test_a_backup_is_a_store_of_its_own(trail: Trail, tmp_path: Path) -> None:
    """The copy verifies with the key of the original, and is never made over a file that is there."""
    copy = tmp_path / "copy.db"

    done, again = trail.run("backup", copy), trail.run("backup", copy)

    checked = trail.run("verify", "--store", copy, "--key", trail.where + ".key")
    assert (done.exit_code, checked.exit_code) == (0, 0)
    assert done.stdout.startswith(f"6 records copied to {copy}, up to hash ")
    assert copy.stat().st_mode & 0o077 == 0
    assert (again.exit_code, "never overwrites" in again.stderr) == (3, True)


def test_drain_moves_what_a_dead_process_spooled(trail: Trail, tmp_path: Path) -> None:
    """What waits in a journal is counted, moved once, and verified with the rest."""
    script = (
        "import sys; from stillme import Guard; from stillme.audit import AuditStore;"
        "store = AuditStore(sys.argv[1], key=sys.argv[2], journal=sys.argv[3], timeout_s=0.1);"
        "Guard({'grounding': {'model': 'none'}, 'audit': {'on_failure': 'spool'}}, audit=store).verify({'query': 'How long is it?'})"
    )
    unreachable, key, journal = tmp_path / "no folder" / "audit.db", trail.where + ".key", trail.where + ".journal"
    subprocess.run([sys.executable, "-c", script, unreachable, key, journal], timeout=600, check=True)
    waiting = json.loads(trail.run("stats", "--json").stdout)["journal_pending"]

    done = trail.run("drain")

    assert (waiting, done.exit_code, done.stdout) == (1, 0, "1 moved into the store, 0 still waiting\n")
    assert json.loads(trail.run("verify", "--json").stdout)["records"] == 7


def test_a_damaged_journal_is_named(trail: Trail) -> None:
    """What cannot be delivered is set aside, said, and no success."""
    folder = Path(trail.where + ".journal")
    folder.mkdir()
    (folder / "1.000000-aaaa.db").write_bytes(b"not a journal\n" * 99)

    result = trail.run("drain")

    assert result.exit_code == 5
    assert "is damaged from entry 1 on" in result.stderr
    assert "1 file DAMAGED" in trail.run("stats").stdout


def test_a_journal_of_an_earlier_version_is_told(trail: Trail) -> None:
    """What this version does not read is neither forgotten nor a success."""
    folder = Path(trail.where + ".journal")
    folder.mkdir()
    (folder / "1.000000-1-aaaa.journal").write_bytes(b"0" * 64 + b' {"stillme_journal":1}\n')

    result = trail.run("drain")

    assert result.exit_code != 0
    assert "drain them with that version (`stillme audit drain`), then upgrade again" in result.stderr


def test_vacuum_says_what_it_gave_back(trail: Trail) -> None:
    """Before and after, in megabytes; the store verifies as before."""
    assert re.fullmatch(r"\d+\.\d MB before, \d+\.\d MB now\n", trail.run("vacuum").stdout)
    assert trail.run("verify").exit_code == 0


def test_stats_in_words_and_for_programs(trail: Trail) -> None:
    """The same figures, either way."""
    said, found = trail.run("stats").stdout, json.loads(trail.run("stats", "--json").stdout)

    assert (found["records"], found["kinds"], found["texts"]) == (6, {"store": 1, "verdict": 5}, 4)
    assert re.match(r"6 records in 0\.\d MB, ", said)
    assert "by decision\n         3 refuse\n" in said


# restore


def test_an_export_restores_to_the_same_chain(trail: Trail, tmp_path: Path) -> None:
    """The restored store verifies, has the same end, replays, and goes on under the same key."""
    file, key = tmp_path / "all.jsonl", trail.where + ".key"
    trail.run("export", file)
    other = {"STILLME_AUDIT_STORE": str(tmp_path / "other.db"), "STILLME_AUDIT_KEY_FILE": key}

    restored = trail.run("restore", file, **other)
    again = trail.run("restore", file, **other)

    ends = [json.loads(trail.run("checkpoint", **env).stdout)["hash"] for env in ({}, other)]
    assert (restored.exit_code, again.exit_code) == (0, 3)
    assert restored.stdout.startswith(f"6 records restored into {tmp_path / 'other.db'}, up to hash {ends[0]}\n")
    assert "is not empty: restore into a new store" in again.stderr
    assert ends[0] == ends[1]
    assert trail.run("verify", **other).exit_code == 0
    assert trail.run("replay", trail.traces["vi"], **other).exit_code == 0
    assert trail.run("erase", trail.traces["vi"], "--by", "a", "--why", "b", "--yes", **other).exit_code == 0
    assert trail.run("verify", **other).exit_code == 0


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        pytest.param(lambda text: text.replace("45 days", "46 days"), 6, "its texts are not what they", id="edited"),
        pytest.param(lambda text: text[: len(text) // 2], 6, "was not restored: ", id="cut"),
        pytest.param(lambda _: "{}", 3, "is no audit export", id="something else"),
    ],
)
def test_a_bad_export_is_not_restored(
    trail: Trail, tmp_path: Path, change: Callable[[str], str], code: int, message: str
) -> None:
    """The export is verified before the store is made."""
    file = tmp_path / "all.jsonl"
    trail.run("export", file)
    file.write_text(change(file.read_text("utf-8")), encoding="utf-8")
    new = tmp_path / "new.db"

    result = trail.run("restore", file, "--store", new, "--key", trail.where + ".key")

    assert (result.exit_code, new.exists()) == (code, False)
    assert message in result.stderr


def test_a_filtered_export_and_one_without_its_key_are_not_restored(trail: Trail, tmp_path: Path) -> None:
    """Neither can be a store that goes on."""
    file, other, new = tmp_path / "some.jsonl", tmp_path / "other.key", tmp_path / "new.db"
    trail.run("key", other)
    trail.run("export", file, "--decision", "refuse")
    filtered = trail.run("restore", file, "--store", new, "--key", trail.where + ".key")
    trail.run("export", file, "--force")

    keyless, wrong = (
        trail.run("restore", file, "--store", new),
        trail.run("restore", file, "--store", new, "--key", other),
    )

    assert (filtered.exit_code, keyless.exit_code, wrong.exit_code, new.exists()) == (3, 3, 5, False)
    assert "give the key file with --key" in keyless.stderr
