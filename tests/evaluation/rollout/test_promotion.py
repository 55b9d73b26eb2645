"""A policy file changes by one line or not at all, and never without a record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import Entry
from stillme.errors import BackendError, InputError, PolicyError
from stillme.evaluation.rollout.promotion import promote
from stillme.policy import Policy
from tests.evaluation.support import CHECKS, NOW, QUOTAS

FILE = "# ours\nmode: monitor  # since January\nrollout:\n  min_verdicts: 100\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The policy file that is served."""
    made = tmp_path / "policy.yaml"
    made.write_text(FILE)
    return made


def go(store: AuditStore, file: Path, **how: Any) -> Any:
    return promote(store, file, **{"by": "minh", "as_of": NOW, **QUOTAS, **how})


def recorded(store: AuditStore) -> list[tuple[Entry, dict[str, Any]]]:
    entries = [r.entry for r in store.records(Filter(kind="promotion")) if r.entry]
    return [(entry, json.loads(entry.meta)) for entry in entries]


def test_a_promotion_changes_the_line_and_is_recorded_with_its_evidence(ready: AuditStore, file: Path) -> None:
    """Owner and permissions stay, nothing is left beside it, and the chain is whole."""
    file.chmod(0o640)

    done = go(ready, file)

    assert file.read_text() == FILE.replace("monitor", "warn")
    assert (file.stat().st_mode & 0o777, sorted(p.name for p in file.parent.glob("*policy*"))) == (
        0o640,
        ["policy.yaml"],
    )
    assert (done.to, done.closed, done.overridden) == ("warn", (), False)
    ((entry, meta),) = recorded(ready)
    assert (entry.id, entry.label, entry.caller, entry.mode) == (done.record, "gates held", "minh", "warn")
    assert (meta["from"], meta["to"], meta["why"], meta["promoted"]) == (
        "monitor",
        "warn",
        None,
        Policy.load(file).hash,
    )
    assert [(c["name"], c["state"]) for c in meta["checks"]] == [(name, "passed") for name in CHECKS]
    assert verify_store(ready).fault is None


def test_closed_gates_leave_the_file_and_the_store_as_they_were(store: AuditStore, file: Path) -> None:
    """Without verdicts nothing opens."""
    done = go(store, file)

    assert (done.record, file.read_text(), recorded(store)) == (None, FILE, [])
    assert [c.name for c in done.closed] == [*CHECKS]


def test_from_monitor_straight_to_enforce_needs_an_override(ready: AuditStore, file: Path) -> None:
    """It is refused, and with a name and a reason recorded as what it is."""
    assert "step" in [c.name for c in go(ready, file, to="enforce").closed]
    assert file.read_text() == FILE

    done = go(ready, file, to="enforce", override="  the regulator asks for it ")

    assert file.read_text() == FILE.replace("monitor", "enforce")
    assert done.overridden
    ((entry, meta),) = recorded(ready)
    assert (entry.label, entry.caller, meta["why"]) == ("override", "minh", "the regulator asks for it")
    assert [c["name"] for c in meta["checks"] if c["state"] != "passed"] == [c.name for c in done.closed]


def test_an_override_that_nobody_needs_is_none(ready: AuditStore, file: Path) -> None:
    """The gates held: that is what the record says."""
    assert not go(ready, file, override="to be sure").overridden
    assert [(e.label, meta["why"]) for e, meta in recorded(ready)] == [("gates held", None)]


@pytest.mark.parametrize(
    ("how", "text", "problem"),
    [
        pytest.param({"by": " "}, FILE, "needs a name", id="no name"),
        pytest.param({"override": " "}, FILE, "its reason", id="no reason"),
        pytest.param({"to": "warn"}, "mode: warn\n", "in warn already: to go back", id="already there"),
        pytest.param({"to": "warn"}, "mode: enforce\n", "in enforce already, beyond warn", id="backwards"),
        pytest.param({}, "mode: enforce\n", "in enforce already", id="no mode beyond"),
        pytest.param({}, "mode: &m monitor\nmessages: {refusal: *m}\n", "by hand", id="an anchor that others use"),
        pytest.param({}, "mode: observe\n", "mode", id="a file that is no policy"),
    ],
)
def test_what_cannot_be_promoted_is_said_and_nothing_changes(
    ready: AuditStore, file: Path, how: dict[str, Any], text: str, problem: str
) -> None:
    file.write_text(text)

    with pytest.raises((InputError, PolicyError), match=problem):
        go(ready, file, **{"override": "because", **how})

    assert (file.read_text(), recorded(ready)) == (text, [])


def test_a_store_that_cannot_be_written_leaves_the_file_as_it_was(ready: AuditStore, file: Path) -> None:
    """Nothing is done that is not recorded."""
    rows = ready.database.rows("SELECT max(seq) FROM stillme_audit_record")
    ready.database.write(lambda writing: writing.rows("DELETE FROM stillme_audit_record WHERE seq = ?", [rows[0][0]]))

    with pytest.raises(BackendError, match="lost record"):
        go(ready, file, override="because")

    assert (file.read_text(), sorted(p.name for p in file.parent.glob("*policy*"))) == (FILE, ["policy.yaml"])


def test_a_link_stays_a_link(ready: AuditStore, file: Path) -> None:
    """What it points at is replaced."""
    link = file.with_name("served.yaml")
    os.symlink(file, link)  # noqa: PTH211

    go(ready, link)

    assert link.is_symlink()
    assert file.read_text() == FILE.replace("monitor", "warn")
