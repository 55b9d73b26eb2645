"""The commands that prove: verify, checkpoint, replay, key."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore
from stillme.audit.content import entry_of
from stillme.cli.commands import cli
from tests.audit.conftest import occurrence
from tests.cli.conftest import Trail, rows, tampered

# verify


def test_a_whole_store_is_checked_and_said_in_words(trail: Trail) -> None:
    """Zero only where chain, seals and policies were all checked."""
    result = trail.run("verify")

    assert result.exit_code == 0
    assert result.stdout.startswith("ok: 6 records, each as it was written, in one unbroken chain\n")
    assert re.search(r"seals +5 checked, of the key hmac:[0-9a-f]{16}\n", result.stdout)
    assert "checkpoints  none given: a cut-off end would not be noticed" in result.stdout
    assert result.stderr == ""


def test_the_result_for_programs_holds_every_figure(trail: Trail) -> None:
    """What people read in words is there as JSON too."""
    found = json.loads(trail.run("verify", "--json").stdout)

    assert (found["ok"], found["subject"], found["records"], found["policies"]) == (True, "store", 6, 4)
    assert (found["erased"], found["removed"], found["fault"]) == (0, 0, None)
    assert list(found["seals"]["checked"].values()) == [5]
    assert found["checkpoints"] == {"compared": 0, "not_compared": 0}


@pytest.mark.parametrize(
    ("sql", "place", "problem"),
    [
        pytest.param("UPDATE stillme_audit_record SET decision = 'answer' WHERE seq = 3", 3, "content", id="an edit"),
        pytest.param("DELETE FROM stillme_audit_record WHERE seq = 4", 4, "missing", id="a deletion"),
        pytest.param("DELETE FROM stillme_audit_body WHERE seq = 3", 3, "texts are missing", id="texts taken away"),
        pytest.param(
            "UPDATE stillme_audit_body SET text = replace(text, '45', '30') WHERE seq = 3",
            3,
            "texts",
            id="texts edited",
        ),
        pytest.param("DELETE FROM stillme_audit_record", 0, "no record", id="everything gone"),
    ],
)
def test_the_first_bad_record_is_named(trail: Trail, sql: str, place: int, problem: str) -> None:
    """A fault is exit code 6, in words and as JSON."""
    tampered(trail, sql)

    said, found = trail.run("verify"), trail.run("verify", "--json")

    fault = json.loads(found.stdout)["fault"]
    assert (said.exit_code, found.exit_code, fault["seq"]) == (6, 6, place)
    assert said.stdout.startswith(f"FAULT: record {place}" if place else "FAULT: ")
    assert problem in fault["problem"]


def test_without_the_key_not_everything_is_checked(trail: Trail, tmp_path: Path) -> None:
    """A missing or wrong key is 5, unless the chain alone is asked for; the right one among several is enough."""
    right = Path(trail.where + ".key").rename(tmp_path / "moved.key")
    wrong = tmp_path / "wrong.key"
    trail.run("key", wrong)

    codes = [
        trail.run("verify", *options).exit_code
        for options in ([], ["--key", wrong], ["--chain-only"], ["--key", wrong, "--key", right], ["--key", right])
    ]

    assert codes == [5, 5, 0, 0, 0]
    assert "NOT CHECKED: 5 seals could not be checked: made with a key that was not given" in trail.run("verify").stdout
    assert trail.run("verify", STILLME_AUDIT_KEY_FILE=f"{wrong}:{right}").exit_code == 0


def test_a_checkpoint_kept_elsewhere_finds_a_cut_off_end(trail: Trail, tmp_path: Path) -> None:
    """The same store passes without the checkpoint and fails with it."""
    anchor = tmp_path / "anchors.jsonl"
    anchor.write_text(trail.run("checkpoint").stdout + "\n", encoding="utf-8")
    whole = trail.run("verify", "--checkpoint", anchor)
    tampered(
        trail,
        "DELETE FROM stillme_audit_policy WHERE digest = (SELECT policy FROM stillme_audit_record WHERE seq = 6);"
        "DELETE FROM stillme_audit_record WHERE seq = 6",
    )

    cut, unseen = trail.run("verify", "--checkpoint", anchor), trail.run("verify")

    assert (whole.exit_code, cut.exit_code, unseen.exit_code) == (0, 6, 0)
    assert "checkpoints  1 compared" in whole.stdout
    assert cut.stdout.startswith("FAULT: record 6: cut off: the checkpoint of ")


def test_a_checkpoint_is_one_line_of_json(trail: Trail) -> None:
    """It names store, place, hash, time and seal."""
    found = json.loads(trail.run("checkpoint").stdout)

    assert sorted(found) == ["at", "hash", "seal", "seq", "store"]
    assert (found["seq"], found["seal"].partition(":")[0]) == (6, "hmac")


# replay


def test_replay_says_that_a_verdict_is_the_same(trail: Trail) -> None:
    """By trace id, its beginning, or request id."""
    trace = trail.traces["vi"]

    results = [trail.run("replay", name) for name in (trace, trace[:14], "call-vi")]

    assert [(r.exit_code, r.stdout) for r in results] == [(0, f"{trace}: the same verdict\n")] * 3


def test_replay_of_many_sums_up_and_tells_why_some_cannot_be_replayed(trail: Trail) -> None:
    """Those whose texts were not kept make it 5; a filter that leaves them out makes it 0."""
    everything, whole = trail.run("replay", "--all"), trail.run("replay", "--all", "--text", "delivery")
    as_json = trail.run("replay", "--all", "--json")

    assert everything.exit_code == 5
    assert everything.stdout.splitlines() == [
        f"{trail.traces['hashed']}: cannot be replayed: only hashes of its texts were kept",
        f"{trail.traces['bare']}: cannot be replayed: its texts were not kept",
        "5 verdicts: 3 same, 0 different, 2 not replayable",
    ]
    assert (whole.exit_code, whole.stdout) == (0, "2 verdicts: 2 same, 0 different, 0 not replayable\n")
    assert [row["outcome"] for row in rows(as_json.stdout)] == ["same"] * 3 + ["not replayable"] * 2
    assert as_json.stderr == "5 verdicts: 3 same, 0 different, 2 not replayable\n"


def test_a_different_verdict_is_shown_with_its_places_and_causes(tmp_path: Path, new_trail: Any) -> None:
    """Recorded by another version and model, with another outcome: each difference has its path, and the causes stand below."""

    trail = new_trail(str(tmp_path / "audit.db"))
    made = occurrence()
    changed = made.verdict.model_copy(update={"confidence_band": "low", "version": "0.0.9"})
    with AuditStore(trail.where) as store:
        store.add([entry_of(replace(made, verdict=changed))])

    result, as_json = (trail.run("replay", changed.validator_trace_id, *form) for form in ([], ["--json"]))

    assert (result.exit_code, as_json.exit_code) == (7, 7)
    assert result.stdout.splitlines()[1:4] == ["  confidence_band", '    recorded  "low"', '    replayed  "medium"']
    assert "  cause: version: recorded by 0.0.9" in result.stdout
    assert json.loads(as_json.stdout)["differences"][0] == {
        "path": "confidence_band",
        "recorded": "low",
        "replayed": "medium",
    }


def test_a_changed_record_is_not_replayed(trail: Trail) -> None:
    """What was changed says nothing about what was decided."""
    tampered(trail, "UPDATE stillme_audit_body SET text = replace(text, '45 days', '30 days') WHERE seq = 3")

    result = trail.run("replay", "--all", "--decision", "refuse", "--mode", "enforce")

    assert (result.exit_code, result.stdout) == (6, "1 verdict: 0 same, 0 different, 0 not replayable, 1 altered\n")
    assert result.stderr.startswith(f"error: record 3 ({trail.traces['bad']}): its texts are not what they were; run")


# keys


def test_an_ed25519_key_has_a_public_half_that_checks_and_cannot_write(tmp_path: Path, new_trail: Any) -> None:
    """An auditor with the public key verifies; whoever has only that cannot export or erase."""
    private, public = tmp_path / "private.key", tmp_path / "public.key"
    runner = CliRunner()
    made = runner.invoke(cli, ["audit", "key", str(private), "--kind", "ed25519"])
    public.write_text(runner.invoke(cli, ["audit", "key", "--public", str(private)]).stdout)
    trail = new_trail(str(tmp_path / "signed.db"), str(private))

    verified = trail.run("verify", "--key", public)
    refused = trail.run("export", tmp_path / "all.jsonl", "--key", public)

    assert made.stdout.startswith("ed25519:")
    assert private.stat().st_mode & 0o077 == 0
    assert (verified.exit_code, refused.exit_code) == (0, 3)
    assert "a public key checks seals, it cannot make them" in refused.stderr
    assert not (tmp_path / "all.jsonl").exists()
