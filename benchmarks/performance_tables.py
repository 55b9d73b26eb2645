"""The page of performance from run records: what is measured, beside what was aimed at, the aims that are missed first.

    tables(Path("benchmarks/records"))  →  {"aims": "| …", "chain": …, "start": …, "service": …, "records": …}

A part that nothing is recorded for says how to record it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["tables"]

Record = dict[str, Any]
COMMANDS: Final = {
    "speed": "make bench RECORD=benchmarks/records/speed.json",
    "service": "make bench-service RECORD=benchmarks/records/service.json",
    "audit": "make bench-audit RECORD=benchmarks/records/audit.json",
}


@dataclass(frozen=True, slots=True)
class Aim:
    """One figure and what it was to be."""

    what: str
    measured: float
    aim: float
    unit: str = ""
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure is as good as it was to be."""
        return self.measured >= self.aim if self.at_least else self.measured <= self.aim

    @property
    def row(self) -> list[str]:
        """A row of the table."""
        sign = "≥" if self.at_least else "≤"
        told = "met" if self.is_met else "missed"
        return [self.what, f"{self.measured:,.2f}{self.unit}", f"{sign} {self.aim:,g}{self.unit}", told]


def tables(folder: Path) -> dict[str, str]:
    """Every part of the page, by name."""
    records = {name: _read(folder / f"{name}.json") for name in COMMANDS}
    found = {
        "chain": _chain(records["speed"]),
        "start": _start(records["speed"]),
        "service": _service(records["service"]),
        "records": _records(records["audit"]),
    }
    aims = sorted(_aims(**records), key=lambda aim: aim.is_met)
    yours = _table(("figure", "measured", "aim", ""), [aim.row for aim in aims])
    missing = [f"Not recorded yet: `{COMMANDS[name]}`." for name, record in records.items() if not record]
    return {"aims": "\n".join([*yours, *missing]), **{name: "\n".join(lines) for name, lines in found.items()}}


def _read(path: Path) -> Record:
    found: Record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _aims(speed: Record, service: Record, audit: Record) -> Iterator[Aim]:
    for row in _floor(speed):
        most = 5 if row["request"] == "typical" else 4
        what = f"rules, {row['request']} request, {row['language']}: times the cost of reading its text"
        yield Aim(what, row["chain_ratio"], most, "×")
    for name, part in speed.get("start", {}).get("parts", {}).items():
        if name.startswith("import + Guard()"):
            seconds = 0.2 if ", rules, " in name else 0.9
            yield Aim(f"{name}: processor time", part["best_cpu_ms"] / 1000, seconds, " s")
    if "processor_share_rules" in service:
        share = "of a bare FastAPI echo, 32 connections, rules, record durable"
        yield Aim(f"`/v1/verify`, {share}", service["share_of_echo_rules"], 0.2, at_least=True)
        yield Aim(f"`/v1/verify` by processor time, {share}", service["processor_share_rules"], 0.2, at_least=True)
        yield Aim("HTTP on top of the call in process, p50", service["overhead_rules_ms"], 0.8, " ms")
    for engine in ("sqlite", "postgres"):
        writing = (audit.get(engine) or {}).get("writing")
        if writing:
            rate = writing["store, 32 callers"]["per_second"]["p50"]
            yield Aim(f"durable records from 32 callers, {engine}", rate, 6000, "/s", at_least=True)


def _floor(speed: Record) -> Iterator[Record]:
    return (row for row in speed.get("floor", ()) if row["reading"] == "Text()")


def _where(record: Record) -> str:
    where = f"Version {record['version']}, Python {record['python']}, {record['machine']}"
    load = f", load average {record['load']} before it began" if "load" in record else ""
    return f"{where}{load}; one loop took {record['loop']['cpu_ms']:.2f} ms of processor time.\n"


def _chain(speed: Record) -> Iterator[str]:
    if not speed:
        return
    yield _where(speed)
    rows = [
        [row["request"], row["language"], row["answer"]]
        + [f"{row[key]:.1f}" for key in ("p50_ms", "p95_ms", "cpu_ms", "loops")]
        for row in speed["chain"]
    ]
    yield from _table(("request", "language", "answer", "p50 ms", "p95 ms", "processor ms", "loops"), rows)


def _start(speed: Record) -> Iterator[str]:
    parts = speed.get("start", {}).get("parts", {})
    rows = [[name, f"{part['best_ms']:.0f}", f"{part['best_cpu_ms']:.0f}"] for name, part in parts.items()]
    yield from _table(("", "best ms", "best processor ms"), rows)


def _service(service: Record) -> Iterator[str]:
    if "held_up" not in service:
        return
    yield _where(service)
    rows = [
        [row["what"], str(row["connections"]), f"{row['per_s']:,.0f}"]
        + [_shown(row[key]) for key in ("p50_ms", "p99_ms", "processor_ms")]
        for row in service["loads"]
    ]
    yield from _table(("", "connections", "a second", "p50 ms", "p99 ms", "processor ms a request"), rows)
    alone, beside = (service["held_up"][name]["p50_ms"] for name in ("alone", "beside"))
    yield f"\nA short request takes {_shown(alone)} ms (p50) alone, {_shown(beside)} ms while one near the limit of work is verified."


def _records(audit: Record) -> Iterator[str]:
    if not audit:
        return
    yield _where(audit)
    for engine in ("sqlite", "postgres"):
        writing = (audit.get(engine) or {}).get("writing", {})
        rows = [
            [name, f"{way['per_second']['p50']:,}", f"{way['cpu_us']:.0f}", f"{way['of_raw_batches']:.2f}"]
            for name, way in writing.items()
        ]
        yield from _table((engine, "a second", "processor µs", "of raw batches"), rows)
        yield ""


def _shown(value: float | None) -> str:
    """A figure, or a dash where nothing came that could be measured."""
    return "-" if value is None else f"{value:,.1f}"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table; nothing where there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        yield f"| {' | '.join(titles)} |"
        yield f"|---|{'---:|' * (len(titles) - 1)}"
        yield from lines
