"""A batch from its rows to its report: the same results however it is done, cut and gone on with."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.batch.judging import Judged, Recipe, judged, lost, worker
from stillme.batch.processes import Workers
from stillme.batch.rows import Row, read_rows
from stillme.batch.run import in_processes, run_batch
from stillme.errors import InputError
from stillme.guard import Guard
from tests.batch.support import AS_OF, PLAIN, batch_of, requests, results, write_rows
from tests.soak import rounds
from tests.waiting import eventually

GUARD = Guard(PLAIN)
ALONE = Recipe.of(GUARD.policy, AS_OF)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Forty rows, two of which are none."""
    path = write_rows(tmp_path / "rows.jsonl", requests(38))
    with path.open("a", encoding="utf-8") as out:
        out.write('{"query": "cut\n{"query": "Why?", "qeury": 1}\n')
    return path


def test_a_result_has_the_guards_verdict_and_where_its_row_stands(tmp_path: Path) -> None:
    """What `Guard.verify` gives, without times and drawn ids."""
    (request,) = requests(1)
    rows = write_rows(tmp_path / "rows.jsonl", [request])

    run_batch(batch_of(tmp_path / "out.jsonl", rows), in_processes(1))

    (found,) = results(tmp_path / "out.jsonl")
    verdict = (
        Guard(PLAIN).verify({**request, "as_of": AS_OF, "request_id": f"row-{found['sha256']}"}).model_dump(mode="json")
    )
    del verdict["validator_trace_id"], verdict["metrics"]["elapsed_ms"]
    for finding in verdict["findings"]:
        del finding["elapsed_ms"]
    assert found["verdict"] == verdict
    assert (found["file"], found["row"], found["decision"], found["error"]) == (str(rows), 1, "answer", None)


def test_a_row_without_a_verdict_stands_beside_the_results_with_its_error(rows: Path, tmp_path: Path) -> None:
    """It is in its place, vouches for nothing, and the report counts it."""
    report = run_batch(batch_of(tmp_path / "out.jsonl", rows), in_processes(1))

    *_, cut, unknown = results(tmp_path / "out.jsonl")
    assert (cut["row"], cut["decision"], cut["verified"], cut["verdict"]) == (39, None, None, None)
    assert cut["error"].startswith("not valid JSON")
    assert unknown["error"] == "unknown key 'qeury': did you mean 'query'?"
    assert (report.rows, report.errors, report.decisions) == (40, 2, {"answer": 19, "refuse": 19})
    assert report.first_errors[1] == f"{rows} row 40: {unknown['error']}"
    assert json.loads((tmp_path / "out.jsonl.report.json").read_text(encoding="utf-8")) == report.to_dict()


@pytest.mark.slow
def test_processes_give_what_one_gives(rows: Path, tmp_path: Path) -> None:
    """Byte by byte, whatever the size of a chunk."""
    run_batch(batch_of(tmp_path / "one.jsonl", rows), in_processes(1))
    run_batch(batch_of(tmp_path / "two.jsonl", rows), in_processes(2, chunk=3))

    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


@pytest.mark.slow
def test_processes_that_share_the_weights_give_what_one_gives(tmp_path: Path) -> None:
    """With the shipped model, whose sessions are copied into the workers."""
    reworded = [
        {
            "query": "Khi nào cửa hàng mở cửa?",
            "draft_answer": "Cửa hàng bắt đầu phục vụ khách từ tám giờ sáng [1].",
            "retrieved_context": [{"source_id": "gio", "text": "Mỗi ngày cửa hàng mở cửa đón khách lúc 8 giờ sáng."}],
        },
        {
            "query": "Who looks after the boats?",
            "draft_answer": "The harbour crew keeps the boats in good repair [1].",
            "retrieved_context": [{"source_id": "boats", "text": "Boats are maintained by the crew of the harbour."}],
        },
    ]
    rows = write_rows(tmp_path / "rows.jsonl", [*reworded, *requests(4)])

    run_batch(batch_of(tmp_path / "one.jsonl", rows, policy={}), in_processes(1))
    run_batch(batch_of(tmp_path / "two.jsonl", rows, policy={}), in_processes(2, chunk=1))

    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()


@settings(max_examples=rounds(60, 12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.permutations(range(12)),
    chunk=st.integers(1, 13),
    cuts=st.lists(st.integers(1, 11), max_size=2, unique=True),
    form=st.sampled_from(["jsonl", "csv", "parquet"]),
)
def test_results_do_not_depend_on_order_size_of_chunks_or_form(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], chunk: int, cuts: list[int], form: str
) -> None:
    """Rows in another order, in other files and in other chunks have the same verdicts."""
    folder, asked = tmp_path_factory.mktemp("any"), requests(12)
    shuffled, edges = [asked[n] for n in order], [0, *sorted(cuts), 12]
    for number, (start, end) in enumerate(pairwise(edges)):
        write_rows(folder / f"{number}.{form}", shuffled[start:end])

    run_batch(batch_of(folder / "out.jsonl", folder), in_processes(1, chunk))

    found = results(folder / "out.jsonl")
    for n, each in zip(order, found, strict=True):
        alone = json.loads(judged(GUARD, ALONE, [Row("", 1, json.dumps(asked[n]).encode(), 0)])[0].line)
        assert {**each["verdict"], "request_id": ""} == {**alone["verdict"], "request_id": ""}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_results_as_a_table(rows: Path, tmp_path: Path, form: str) -> None:
    """The same columns; the lines that it was made of are gone once it is whole."""
    run_batch(batch_of(tmp_path / "out.jsonl", rows), in_processes(1))
    run_batch(batch_of(tmp_path / f"out.{form}", rows), in_processes(1))

    wanted = results(tmp_path / "out.jsonl")
    found = table(tmp_path / f"out.{form}")
    assert [(each["row"], each["decision"], each["error"]) for each in found] == [
        (each["row"], each["decision"], each["error"]) for each in wanted
    ]
    assert [each["verdict"] and json.loads(each["verdict"]) for each in found] == [each["verdict"] for each in wanted]
    assert sorted(path.name for path in tmp_path.glob(f"out.{form}*")) == [
        f"out.{form}",
        f"out.{form}.report.json",
        f"out.{form}.run.json",
    ]


def table(path: Path) -> list[dict[str, Any]]:
    """The rows of a table, what is empty as None."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as text:
            return [{k: int(v) if k == "row" else v or None for k, v in row.items()} for row in csv.DictReader(text)]
    from pyarrow.parquet import read_table  # noqa: PLC0415  (heavy)

    found: list[dict[str, Any]] = read_table(path).to_pylist()
    return found


def test_brief_results_have_no_whole_verdict(rows: Path, tmp_path: Path) -> None:
    """Decision and figures stay."""
    run_batch(batch_of(tmp_path / "out.jsonl", rows, brief=True), in_processes(1))

    first = results(tmp_path / "out.jsonl")[0]
    assert (first["verdict"], first["decision"], first["claims_total"]) == (None, "answer", 1)


# cut, and gone on with


@pytest.mark.parametrize("keep", [pytest.param(n, id=f"{n} bytes of it left") for n in (0, 1, 900, 20_000, 33_333)])
def test_a_batch_that_was_cut_anywhere_goes_on_to_the_same_bytes(rows: Path, tmp_path: Path, keep: int) -> None:
    """What is whole is not verified again, half a line is dropped."""
    out = tmp_path / "out.jsonl"
    report = run_batch(batch_of(out, rows), in_processes(1))
    whole = out.read_bytes()
    out.write_bytes(whole[:keep])
    (tmp_path / "out.jsonl.report.json").unlink()
    begun: list[int] = []

    def counting(recipe: Any, files: Any, done: int) -> Any:
        begun.append(done)
        return in_processes(1)(recipe, files, done)

    again = run_batch(batch_of(out, rows), counting)

    assert out.read_bytes() == whole
    assert again == report
    assert begun == [whole[:keep].count(b"\n")]


def test_a_complete_batch_is_not_done_again(rows: Path, tmp_path: Path) -> None:
    """It gives its report."""

    def never(*_: Any) -> Any:
        raise AssertionError

    report = run_batch(batch_of(tmp_path / "out.csv", rows), in_processes(1))

    assert run_batch(batch_of(tmp_path / "out.csv", rows), never) == report


def killed_in_the_middle(rows: Path, out: Path, policy: Path, jobs: int) -> list[psutil.Process]:
    """A batch that was killed with no chance to tidy up, once it had written something; the processes that it had started."""
    command = [
        sys.executable,
        "-m",
        "stillme",
        "batch",
        str(rows),
        str(out),
        "--policy",
        str(policy),
        "--jobs",
        str(jobs),
    ]
    process = subprocess.Popen([*command, "--as-of", "2026-02-01T09:00:00Z"], stderr=subprocess.DEVNULL)
    assert eventually(lambda: out.is_file() and out.stat().st_size > 0)
    started: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return started


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_batch_goes_on_to_the_row(tmp_path: Path, jobs: int) -> None:
    """After kill -9 the same command ends with the bytes of a batch that nobody disturbed, and no process is left behind."""
    rows, policy = write_rows(tmp_path / "rows.jsonl", requests(400)), tmp_path / "policy.yaml"
    policy.write_text("grounding: {model: none}\n", encoding="utf-8")
    run_batch(batch_of(tmp_path / "calm.jsonl", rows), in_processes(1))
    out = tmp_path / "out.jsonl"

    started = killed_in_the_middle(rows, out, policy, jobs)
    cut = out.read_bytes()
    report = run_batch(batch_of(out, rows), in_processes(jobs))

    assert len(cut) < out.stat().st_size
    assert out.read_bytes() == (tmp_path / "calm.jsonl").read_bytes()
    assert report.rows == 400
    assert eventually(lambda: not any(each.is_running() and each.status() != "zombie" for each in started))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(lambda _: {"policy": {**PLAIN, "mode": "enforce"}}, "another policy", id="another policy"),
        pytest.param(lambda _: {"brief": True}, "another --brief", id="less detail"),
        pytest.param(lambda _: {"mapping": {"query": "q"}}, "another --map", id="other columns"),
        pytest.param(lambda rows: rows.write_bytes(rows.read_bytes().replace(b"locker 4", b"locker 5")) and {}, "row 5 is not what it was", id="a changed row"),
    ],
)  # fmt: skip
def test_a_batch_goes_on_as_it_was_begun_or_not_at_all(
    rows: Path, tmp_path: Path, change: Callable[[Path], dict[str, Any]], words: str
) -> None:
    """Results of two makes never stand in one file; --anew begins again."""
    out = tmp_path / "out.jsonl"
    run_batch(batch_of(out, rows), in_processes(1))
    (tmp_path / "out.jsonl.report.json").unlink()
    other = batch_of(out, rows, **change(rows))

    with pytest.raises(InputError, match=words):
        run_batch(other, in_processes(1))

    assert run_batch(other, in_processes(1), anew=True).rows == 40


def test_what_is_not_ours_is_not_overwritten(rows: Path, tmp_path: Path) -> None:
    """Unless --anew says so."""
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n", encoding="utf-8")

    with pytest.raises(InputError, match="no batch of ours"):
        run_batch(batch_of(out, rows), in_processes(1))

    assert out.read_text(encoding="utf-8") == "mine\n"
    assert not (tmp_path / "out.jsonl.run.json").exists()


def test_a_folder_that_is_not_there_is_said(rows: Path, tmp_path: Path) -> None:
    """It is not made: it may be a slip."""
    with pytest.raises(InputError, match="is no folder: make it first"):
        run_batch(batch_of(tmp_path / "nowhere" / "out.jsonl", rows), in_processes(1))


def test_two_batches_do_not_write_one_output(rows: Path, tmp_path: Path) -> None:
    """The second is told, while the first runs on."""
    out = tmp_path / "out.jsonl"

    def meanwhile(recipe: Any, files: Any, done: int) -> Any:
        with pytest.raises(InputError, match="written by another batch"):
            run_batch(batch_of(out, rows), in_processes(1))
        return in_processes(1)(recipe, files, done)

    assert run_batch(batch_of(out, rows), meanwhile).rows == 40


# one process ends


@pytest.mark.slow
def test_a_row_that_ends_its_process_is_an_error_of_its_own(tmp_path: Path) -> None:
    """The rows beside it have their verdicts."""
    asked = requests(9)
    asked[4]["query"] = "deadly?"
    rows = write_rows(tmp_path / "rows.jsonl", asked)
    batch = batch_of(tmp_path / "out.jsonl", rows)

    def engine(recipe: Any, files: Any, _: int) -> Any:
        return Workers(partial(make_deadly, recipe), 2, lost, 3).results(read_rows(files))

    report = run_batch(batch, engine)

    assert (report.rows, report.errors) == (9, 1)
    assert results(tmp_path / "out.jsonl")[4]["error"] == "the process that verified it ended without a result"


def make_deadly(recipe: Any) -> Callable[[Any], list[Judged]]:
    """A worker that one row ends."""
    work = worker(recipe)

    def run(rows: Any) -> list[Judged]:
        if any(b"deadly" in row.text for row in rows):
            os._exit(9)
        return work(rows)

    return run
