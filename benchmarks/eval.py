"""Speed and memory of an evaluation, end to end: cases from a file, records to a file, figures from the records.

    python -m benchmarks.eval [--quick] [--json FILE] [--jobs 1,2,4] [--cases N]

Speed: typical requests (three passages of 120 words, an answer of four claims, English and Vietnamese in turn) with the shipped model and
without one, by the number of processes; starting them is included. Memory: short cases without a model in a fresh process, files of
growing length, up to 100,000 cases: the peak should hardly grow. It is what the operating system counts as resident.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.core import Record, heading, machine
from benchmarks.texts import mixed
from stillme import Guard
from stillme.evaluation.runs.case_files import checked
from stillme.evaluation.runs.metrics import metrics_of
from stillme.evaluation.runs.run import run_to_file

SPEED_CASES: Final = 400
MOST_CASES: Final = 100_000
QUICK_SPEED: Final = 4
QUICK_MOST: Final = 100
WITHOUT_MODEL: Final = {"grounding": {"model": "none"}}
KILOBYTES: Final = 1024 if sys.platform != "darwin" else 1024 * 1024  # what ru_maxrss counts in, to MiB


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the sections; with --json also write the record."""
    options = _options(arguments)
    if options.child:
        print(json.dumps(_measured(Path(options.child), WITHOUT_MODEL, 1)))
        return 0
    record = machine(quick=options.quick)
    with tempfile.TemporaryDirectory() as folder:
        record["speed"] = _speed(Path(folder), options.jobs, QUICK_SPEED if options.quick else SPEED_CASES)
        record["memory"] = _memory(Path(folder), options.cases or (QUICK_MOST if options.quick else MOST_CASES))
    if options.json:
        Path(options.json).write_text(json.dumps(record, indent=1), encoding="utf-8")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="few cases, to see that it runs")
    parser.add_argument("--json", metavar="FILE", help="write the record there")
    parser.add_argument("--jobs", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2], metavar="N,N")
    parser.add_argument("--cases", type=int, metavar="N", help="the length of the longest file")
    parser.add_argument("--child", metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _speed(folder: Path, jobs: Sequence[int], count: int) -> list[Record]:
    heading(f"1. Cases a second, end to end, of {count} typical cases")
    path = _written(folder / "typical.jsonl", typical(count))
    rows = []
    for name, policy in (("shipped model", {}), ("no model", WITHOUT_MODEL)):
        for number in jobs:
            row = {"model": name, "jobs": number, **_measured(path, policy, number)}
            rows.append(row)
            print(f"  {name:<14} {number} process(es)  {row['cases_per_s']:>8.1f} cases/s")
    return rows


def _memory(folder: Path, most: int) -> list[Record]:
    heading(f"2. Peak memory by length of the file, up to {most:,} cases, no model, one process")
    rows = []
    for count in (most // 100, most // 10, most):
        path = _written(folder / f"short-{count}.jsonl", short(count))
        command = [sys.executable, "-m", "benchmarks.eval", "--child", str(path)]
        row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        rows.append({**row, "file_mb": round(path.stat().st_size / 2**20, 1)})
        print(
            f"  {count:>8,} cases, {rows[-1]['file_mb']:>6.1f} MiB file: peak {row['peak_mb']:>6.1f} MiB, "
            f"{row['cases_per_s']:>8.1f} cases/s, {row['run_mb']:.1f} MiB run file"
        )
        path.unlink()
    return rows


def _measured(path: Path, policy: dict[str, Any], jobs: int) -> Record:
    """One evaluation from a file to its figures: what the command does, without printing."""
    out = path.with_suffix(".run.jsonl")
    started = time.perf_counter()
    cases = checked(path)
    run = run_to_file(Guard(policy), cases, out, jobs=jobs)
    figures = metrics_of(run)
    seconds = time.perf_counter() - started
    size = out.stat().st_size
    out.unlink()
    return {
        "cases": figures.cases,
        "errors": figures.errors,
        "seconds": round(seconds, 3),
        "cases_per_s": round(figures.cases / seconds, 1),
        "peak_mb": round(_peak_mb(), 1),
        "run_mb": round(size / 2**20, 2),
    }


def _peak_mb() -> float:
    """The most memory that this process had resident."""
    status = Path("/proc/self/status")
    if status.is_file():  # a fresh process would else be charged with what the one that started it had
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILOBYTES


def typical(count: int) -> Iterator[dict[str, Any]]:
    """Cases as they are met: four claims against three passages."""
    for number, request in enumerate(mixed(count)):
        yield {"id": f"typical-{number}", "request": request, "expected": "answer"}


def short(count: int) -> Iterator[dict[str, Any]]:
    """Cases of one sentence and one passage, half of them wrong, each with its own figure."""
    for number in range(count):
        said = number if number % 2 else number + 1
        draft = f"Locker {number} holds {said} keys [1]."
        request = {
            "query": f"How many keys does locker {number} hold?",
            "draft_answer": draft,
            "retrieved_context": [
                {"source_id": "lockers", "text": f"Locker {number} holds {number} keys.", "similarity": 0.9}
            ],
            "metadata": {"language": "en", "domain": f"hall-{number % 7}"},
        }
        supported = said == number
        yield {
            "id": f"short-{number}",
            "request": request,
            "expected": "answer" if supported else "refuse",
            "claims": [{"text": draft, "supported": supported}],
            "tags": [f"t{number % 5}"],
        }


def _written(path: Path, cases: Iterable[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    return path


if __name__ == "__main__":
    sys.exit(main())
