"""Speed and memory of `stillme batch`: rows a second by processes and by Ray actors, and the memory of a long batch.

    python -m benchmarks.batch [--quick] [--json FILE] [--long N]

Speed: typical requests with the shipped model and without, by the number of workers, interleaved (1 2 1 2), each worker with one thread;
the best of all rounds. A rate is the slope of the results over time in the middle four fifths of the rows: neither starting nor what is
under way at the first result is counted. Efficiency at N workers is their rate over N times the rate of one; where other programs take
the processors it says little, so processor seconds a row, of all processes together, stand beside it.

Memory: --long N short rows without a model, half of them wrong, through two processes; the peak of the whole family of processes, seen
every thousand rows, each page counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy
import psutil

from benchmarks.core import Record, heading, machine
from benchmarks.texts import mixed
from stillme.batch.heading import Batch
from stillme.batch.inputs import find_inputs
from stillme.batch.judging import Recipe
from stillme.batch.run import Engine, in_processes, run_batch
from stillme.guard import grounder_for
from stillme.models import bundle
from stillme.policy import Policy

KINDS: Final[tuple[tuple[str, dict[str, Any], int], ...]] = (
    ("shipped model", {}, 600),
    ("no model", {"grounding": {"model": "none"}}, 3000),
)
"""What is measured, by which policy, on how many rows."""
QUICK: Final = 20
ROUNDS: Final = 2
LOOK: Final = 1000
MIB: Final = 2**20


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the sections; with --json also write the record."""
    options = _options(arguments)
    bundle.threads = 1  # a worker has one, so the one process has one too
    load = {"load": os.getloadavg()[0]}
    record = machine(quick=options.quick)
    with tempfile.TemporaryDirectory() as folder:
        if options.long:
            record["long"] = load | _long(Path(folder), options.long)
        else:
            record["speed"] = load | {"ways": list(_speed(Path(folder), quick=options.quick))}
    if options.json:
        _merge(Path(options.json), record)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="few rows, to see that it runs")
    parser.add_argument("--json", metavar="FILE", help="write the record there; parts that were not run stay")
    parser.add_argument("--long", type=int, metavar="N", help="instead, the memory of a batch of so many short rows")
    return parser.parse_args(arguments)


def _merge(path: Path, record: Record) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    path.write_text(json.dumps({**known, **record}, indent=1), encoding="utf-8")


# speed


def _speed(folder: Path, *, quick: bool) -> Iterator[Record]:
    heading("1. Rows a second, typical rows")
    for name, policy, rows in KINDS:
        count = QUICK if quick else rows
        written = _written(folder / "rows.jsonl", mixed(count))
        yield from _compared(name, policy, written, count, 1 if quick else ROUNDS)


def _compared(name: str, policy: dict[str, Any], rows: Path, count: int, rounds: int) -> Iterator[Record]:
    measured: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for (engine, workers), make in _engines().items():
            measured.setdefault((engine, workers), []).append(_measured(rows, count, policy, make()))
    for (engine, workers), found in measured.items():
        rate, work = _best(found)
        one_rate, one_work = _best(measured[engine, 1])
        row = {
            "model": name,
            "engine": engine,
            "workers": workers,
            "rows": count,
            "rows_per_s": round(rate, 2),
            "efficiency": round(rate / workers / one_rate, 3),
            "processor_ms_a_row": round(work * 1000, 2),
            "processor_ratio": round(one_work / work, 3) if work else None,
        }
        print(
            f"  {name:<14} {engine:<9} {workers}  {row['rows_per_s']:>8.1f} rows/s  efficiency {row['efficiency']:.2f}  "
            f"{row['processor_ms_a_row']:>7.1f} ms of processor a row"
        )
        yield row


def _best(found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The highest rate and the least work of all rounds: other programs only ever make a round worse."""
    return max(rate for rate, _ in found), min(work for _, work in found)


def _engines() -> dict[tuple[str, int], Callable[[], Engine]]:
    found: dict[tuple[str, int], Callable[[], Engine]] = {
        ("processes", 1): lambda: in_processes(1, 8),
        ("processes", 2): lambda: in_processes(2, 8),
    }
    try:
        from stillme.batch.on_ray import on_ray  # noqa: PLC0415  (an extra)
    except ImportError:
        return found
    return found | {("ray", 1): lambda: on_ray(1, 8), ("ray", 2): lambda: on_ray(2, 8)}


def _measured(rows: Path, count: int, policy: dict[str, Any], engine: Engine) -> tuple[float, float]:
    """Rows a second in the middle of a batch, and processor seconds a row of all processes meanwhile."""
    first, last = count // 10, count - count // 10
    times: list[float] = []
    worked: list[float] = []

    def mark(done: int, _: int) -> None:
        times.append(time.perf_counter())
        if done in (first, last):  # looking at every process takes as long as a row
            worked.append(_worked())

    out = rows.with_name("out.jsonl")
    run_batch(_batch(rows, out, policy), engine, mark, anew=True)
    slope = float(numpy.polyfit(times[first:last], range(first, last), 1)[0])
    return slope, (worked[1] - worked[0]) / (last - first)


def _worked() -> float:
    """Processor seconds of this process and those below it."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


# memory


def _long(folder: Path, count: int) -> Record:
    heading(f"2. Peak memory of {count:,} short rows, no model, two processes")
    rows = _written(folder / "short.jsonl", _short(count))
    looks: list[tuple[int, float]] = []
    started = time.perf_counter()

    def look(done: int, _: int) -> None:
        if done % LOOK == 0 or done == count:
            looks.append((done, _family_mb()))

    without_model = KINDS[1][1]
    report = run_batch(_batch(rows, folder / "long.jsonl", without_model, brief=True), in_processes(2, 64), look)
    seconds = time.perf_counter() - started
    tenth = max(peak for done, peak in looks if done <= max(count // 10, looks[0][0]))
    record = {
        "rows": report.rows,
        "errors": report.errors,
        "decisions": dict(report.decisions),
        "seconds": round(seconds, 1),
        "rows_per_s": round(report.rows / seconds, 1),
        "input_mb": round(rows.stat().st_size / MIB, 1),
        "peak_mb": round(max(peak for _, peak in looks), 1),
        "peak_mb_first_tenth": round(tenth, 1),
    }
    print(f"  {record}")
    return record


def _family_mb() -> float:
    """Memory of this process and those below it; what they share is shared out among them."""
    total = 0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            total += process.memory_full_info().pss if sys.platform == "linux" else process.memory_info().rss
        except psutil.Error:
            continue
    return total / MIB


def _short(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        text = f"Locker {number} holds {number} keys."
        yield {
            "query": f"How many keys does locker {number} hold?",
            "draft_answer": f"Locker {number} holds {number + number % 2} keys [1].",
            "retrieved_context": [{"source_id": "lockers", "text": text, "similarity": 0.9}],
        }


def _batch(rows: Path, out: Path, settings: dict[str, Any], *, brief: bool = False) -> Batch:
    policy = Policy.load(settings)
    recipe = Recipe.of(policy, datetime(2026, 2, 1, 9, tzinfo=UTC), brief=brief)
    return Batch(find_inputs([str(rows)], out), out, recipe, grounder_for(policy).id, is_dated=True)


def _written(path: Path, requests: Iterable[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(request, ensure_ascii=False) + "\n" for request in requests)
    return path


if __name__ == "__main__":
    sys.exit(main())
