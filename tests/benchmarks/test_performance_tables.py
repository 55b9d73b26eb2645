"""The page of performance says what was missed before what was met, and nothing that no record has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.performance_tables import Aim, tables

MACHINE = {"version": "0.1.0", "python": "3.11", "machine": "x86_64, 2 cores", "loop": {"cpu_ms": 1.5}}
SERVICE: dict[str, Any] = {
    **MACHINE,
    "loads": [
        {"what": "verify, rules", "connections": 32, "per_s": 100.0, "p50_ms": 9.0, "p99_ms": 20.0, "processor_ms": 4.0}
    ],
    "held_up": {"alone": {"p50_ms": 3.0}, "beside": {"p50_ms": 12.5}},
    "share_of_echo_rules": 0.11,
    "processor_share_rules": 0.31,
    "overhead_rules_ms": 0.5,
}
WRITING = {"store, 32 callers": {"per_second": {"p50": 1700}, "cpu_us": 400.0, "of_raw_batches": 0.1}}


def test_aims_that_are_missed_stand_first(tmp_path: Path) -> None:
    """Each figure with its aim and whether it was reached."""
    (tmp_path / "service.json").write_text(json.dumps(SERVICE))
    (tmp_path / "audit.json").write_text(json.dumps({**MACHINE, "sqlite": {"writing": WRITING}, "postgres": None}))

    told = [row.rsplit("|", 2)[1].strip() for row in tables(tmp_path)["aims"].splitlines()[2:] if row.startswith("|")]

    assert told == ["missed", "missed", "met", "met"]


def test_what_is_not_recorded_says_how_to_record_it(tmp_path: Path) -> None:
    """No figure is made up for it."""
    found = tables(tmp_path)

    assert found["aims"].count("Not recorded yet: `make bench") == 3
    assert {name: text for name, text in found.items() if name != "aims"} == {
        "chain": "",
        "start": "",
        "service": "",
        "records": "",
    }


def test_waiting_beside_a_long_request_is_told(tmp_path: Path) -> None:
    """Alone and beside it."""
    (tmp_path / "service.json").write_text(json.dumps(SERVICE))

    assert "takes 3.0 ms (p50) alone, 12.5 ms while" in tables(tmp_path)["service"]


def test_an_aim_is_met_at_its_figure() -> None:
    """At most, or at least, that much."""
    assert Aim("a", 5.0, 5.0).is_met
    assert not Aim("a", 5.1, 5.0).is_met
    assert Aim("a", 0.2, 0.2, at_least=True).is_met
    assert not Aim("a", 0.19, 0.2, at_least=True).is_met
