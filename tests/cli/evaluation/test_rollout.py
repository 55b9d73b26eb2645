"""`stillme rollout`: what is missing for the next mode, and the step itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result

from stillme.audit import AuditStore
from stillme.audit.chain.record import Entry
from stillme.audit.query import Filter
from stillme.audit.review.listing import candidates
from stillme.audit.review.sampling import draw, week_bounds
from stillme.cli.commands import cli
from tests.audit.conftest import occurrence
from tests.audit.support import again

RULES = "rollout:\n  min_verdicts: 100\n  min_days: 6\n"
FILE = f"# ours\nmode: monitor  # for now\n{RULES}"


@pytest.fixture
def where(tmp_path: Path) -> str:
    """Two weeks of traffic in monitor, both reviewed without a fault."""
    path = str(tmp_path / "audit.db")
    good = occurrence()
    bad = occurrence(draft_answer="Unused gear can be returned within 45 days of delivery [1].")
    with AuditStore(path) as store:
        for week in ("2026-W06", "2026-W07"):
            start, end = week_bounds(week)
            for one, count in ((good, 40), (bad, 20)):
                store.record([again(one, at=start + n * (end - start) / count) for n in range(count)])
            rows = draw(candidates(store, Filter(since=str(start), until=str(end))), seed=week).rows
            store.add([review_of(row.candidate.trace) for row in rows])
    return path


def review_of(trace: str) -> Entry:
    return Entry(
        "review", f"review-{uuid4()}", "2026-02-16T09:00:00.000000Z", "{}", ref=trace, label="correct", caller="lan"
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The policy that is served."""
    made = tmp_path / "policy.yaml"
    made.write_text(FILE)
    return made


def run(*args: Any, as_of: str = "2026-02-17") -> Result:
    words = ["rollout", *map(str, args), "--as-of", as_of]
    env = {"STILLME_POLICY": "", "STILLME_AUDIT_STORE": "", "STILLME_AUDIT_KEY_FILE": ""}
    return CliRunner().invoke(cli, words, catch_exceptions=False, env=env)


def test_an_open_step_is_shown_and_ends_with_0(where: str, file: Path) -> None:
    """Mode, figures with their intervals, and every check with its value."""
    shown = run("status", "--store", where, "--policy", file, "--human")

    lines = shown.stdout.splitlines()
    assert shown.exit_code == 0
    assert lines[0].startswith(
        "monitor since 2026-02-02T00:00:00.000000Z: 13.8 days, 120 verdicts, the last at 2026-02-15T"
    )
    assert "baseline 2026-W06: 60 verdicts, 60 of the weekly sample reviewed" in lines
    assert "  refusal_precision          100.0% [83.2%, 100.0%], 20 of 20 reviews" in lines
    assert "warn: all 13 checks hold: `stillme rollout promote`" in lines
    assert "  ok      days                       13.82 days of verdicts in monitor, at least 6" in lines
    assert (
        "  FAILED  step                       the last verdict was made in monitor, enforce comes after warn" in lines
    )


def test_what_is_missing_ends_with_7_and_the_way_out(where: str, file: Path) -> None:
    """With the weeks too old, nothing was reviewed in the last seven days."""
    shown = run("status", "--store", where, "--policy", file, "--human", as_of="2026-03-17")

    assert shown.exit_code == 7
    assert "warn: 1 of 13 checks missing" in shown.stdout
    assert "→ label the weekly sample: `stillme audit sample`" in shown.stdout


def test_programs_read_the_whole_status(where: str) -> None:
    """Without a policy the one of the last verdict holds, which asks for a thousand verdicts."""
    done = run("status", "--store", where)

    found = json.loads(done.stdout)
    checks = {check["name"]: check for check in found["checks"]["warn"]}
    assert (done.exit_code, found["is_open"], found["run"]["mode"], found["step"]) == (7, False, "monitor", "warn")
    assert (checks["verdicts"]["state"], checks["verdicts"]["value"], checks["verdicts"]["threshold"]) == (
        "failed",
        120,
        1000,
    )
    assert found["baseline"]["weeks"] == ["2026-W06"]


def test_a_promotion_writes_one_line_and_a_record(where: str, file: Path) -> None:
    """The chain with that record is whole, and lists it."""
    done = run("promote", "--store", where, "--policy", file, "--by", "minh", "--human")

    assert done.exit_code == 0
    assert file.read_text() == FILE.replace("monitor", "warn")
    assert "is now in warn: every check holds, recorded as promotion-" in done.stdout
    environment = {"STILLME_AUDIT_STORE": where}
    assert CliRunner().invoke(cli, ["audit", "verify"], env=environment).exit_code == 0
    listed = CliRunner().invoke(cli, ["audit", "list", "--kind", "promotion", "--json"], env=environment)
    row = json.loads(listed.stdout)
    assert (row["kind"], row["label"], row["caller"], row["mode"]) == ("promotion", "gates held", "minh", "warn")
    again_at_once = run("promote", "--store", where, "--policy", file, "--by", "minh")
    assert again_at_once.exit_code == 7
    assert "policy_in_force" in [check["name"] for check in json.loads(again_at_once.stdout)["closed"]]


def test_a_closed_step_leaves_the_file_unless_it_is_overridden(where: str, file: Path) -> None:
    """Straight to enforce only somebody with a name and a reason can go."""
    refused = run("promote", "--store", where, "--policy", file, "--to", "enforce", "--human")

    assert (refused.exit_code, file.read_text()) == (7, FILE)
    assert "FAILED  step" in refused.stdout
    assert "is unchanged: 4 checks of enforce do not hold" in refused.stderr

    forced = run(
        "promote",
        "--store",
        where,
        "--policy",
        file,
        "--to",
        "enforce",
        "--override",
        "asked for",
        "--by",
        "minh",
        "--human",
    )
    assert (forced.exit_code, file.read_text()) == (0, FILE.replace("monitor", "enforce"))
    assert "4 checks overridden" in forced.stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        pytest.param(
            ["--override", "asked for"], 3, "an override needs a name: give --by NAME", id="nobody's override"
        ),
        pytest.param(["--override", " ", "--by", "minh"], 3, "an override its reason", id="no reason"),
        pytest.param(["--baseline", "2026-W02"], 3, "the baseline 2026-W02 has no verdicts", id="no such week"),
        pytest.param(["--baseline", "last"], 3, "a week is written as year and ISO week", id="no week"),
        pytest.param(["--policy", "lite"], 4, "there is no policy file", id="a preset is no file"),
        pytest.param(["--store", "nowhere.db"], 3, "there is no audit store", id="no store"),
    ],
)
def test_what_cannot_be_done_is_said_and_the_file_stays(
    where: str, file: Path, args: list[str], code: int, said: str
) -> None:
    done = run("promote", "--store", where, "--policy", file, *args)

    assert (done.exit_code, said in done.stderr, file.read_text()) == (code, True, FILE)


def test_a_status_without_a_store_says_how_to_name_one() -> None:
    done = run("status")

    assert (done.exit_code, "give --store PATH|URL" in done.stderr) == (3, True)


def test_an_empty_store_holds_nothing_back_but_the_step(tmp_path: Path) -> None:
    """It is said that nothing is recorded yet."""
    path = str(tmp_path / "new.db")
    with AuditStore(path) as store:
        store.prepare()

    shown = run("status", "--store", path, "--human")

    assert (shown.exit_code, shown.stdout.splitlines()[0]) == (7, "no verdict is recorded yet")
