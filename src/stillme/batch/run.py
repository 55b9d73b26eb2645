"""A batch from its first row to its report; one that was cut goes on after its last whole row.

Lines are written in the order of the rows. Where OUT is CSV or Parquet they are written beside it, and OUT is made of them at the end,
whole or not at all. Going on reads the rows that are done once more, to see that they are still the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from stillme.batch.forms import write_form, written_whole
from stillme.batch.heading import Batch, held
from stillme.batch.inputs import InputFile
from stillme.batch.judging import Judged, Recipe, guard_of, judged, lost, worker
from stillme.batch.processes import Workers
from stillme.batch.report import Report
from stillme.batch.rows import Row, chunks, read_rows
from stillme.errors import InputError, shown

__all__ = ["Engine", "Following", "in_processes", "run_batch"]

CHUNK: Final = 32
MOST_LINE: Final = 256 * 1024 * 1024


class Engine(Protocol):
    """Judges the rows of files, in order, without the first `done` of them."""

    def __call__(self, recipe: Recipe, files: Sequence[InputFile], done: int) -> Iterator[Judged]:
        """One line a row."""


Following = Callable[[int, int], None]
"""Is told the number of rows that are done and the bytes of the input that they took."""


def run_batch(batch: Batch, engine: Engine, on_progress: Following = lambda *_: None, *, anew: bool = False) -> Report:
    """The report on a batch that is then complete: made anew, gone on with where it was cut, or complete already."""
    form = batch.form  # what is wrong with the name is said before anything is written
    with held(batch, anew=anew) as heading:
        if batch.report_file.is_file():
            return Report.from_dict(json.loads(batch.report_file.read_text(encoding="utf-8")))
        report = _resumed(batch, on_progress)
        with batch.lines.open("ab") as out:
            for line, position in engine(replace(batch.recipe, as_of=heading.as_of), batch.files, report.rows):
                out.write(line)
                report.add(line)
                if report.rows % CHUNK == 0:
                    out.flush()
                on_progress(report.rows, position)
        if form != "jsonl":
            write_form(batch.lines, batch.out, form)
            batch.lines.unlink()
        with written_whole(batch.report_file) as new:
            new.write_text(json.dumps(report.to_dict(), indent=1, ensure_ascii=False), encoding="utf-8")
        return report


def in_processes(jobs: int, chunk: int = CHUNK) -> Engine:
    """The engine of one machine: this process, or so many of them."""

    def lines(recipe: Recipe, files: Sequence[InputFile], done: int) -> Iterator[Judged]:
        rows = islice(read_rows(files), done, None)
        if jobs > 1:
            has_model = recipe.policy.get("grounding", {}).get("model") != "none"
            workers = Workers(partial(worker, recipe), jobs, lost, chunk, shares_weights=has_model)
            return workers.results(rows)
        guard = guard_of(recipe.policy)
        return (line for each in chunks(rows, chunk) for line in judged(guard, recipe, each))

    return lines


def _resumed(batch: Batch, on_progress: Following) -> Report:
    """The report on the rows that are done; what a cut left of a line is removed."""
    report = Report()
    if not batch.lines.is_file():
        return report
    with batch.lines.open("r+b") as stream:
        end = 0
        for row in read_rows(batch.files):
            line = stream.readline(MOST_LINE)
            if not line.endswith(b"\n"):
                break
            _check_row(row, line, batch.lines)
            report.add(line)
            end = stream.tell()
            on_progress(report.rows, row.position)
        stream.truncate(end)
    return report


def _check_row(row: Row, line: bytes, path: Path) -> None:
    result = json.loads(line)
    if (result["file"], result["row"], result["sha256"]) != (row.file, row.number, row.digest):
        raise InputError(
            f"{row.file} row {row.number} is not what it was when {shown(str(path))} was begun: name another output, or give --anew"
        )
