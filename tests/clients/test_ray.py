"""`--engine ray` on a real local cluster: the bytes that processes give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from stillme.batch.on_ray import on_ray
from stillme.batch.run import in_processes, run_batch
from tests.batch.support import batch_of, requests, write_rows


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A cluster of this machine with two processors."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    yield
    ray.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rows in three files of three forms, one of them with a row that is none."""
    rows, place = requests(60), tmp_path / "logs"
    place.mkdir()
    write_rows(place / "a.jsonl", rows[:25])
    write_rows(place / "b.csv", rows[25:40])
    write_rows(place / "c.parquet", rows[40:])
    with (place / "a.jsonl").open("a", encoding="utf-8") as out:
        out.write("no row\n")
    return place


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_actors_give_what_one_process_gives(folder: Path, tmp_path: Path, chunk: int) -> None:
    """Byte by byte, in the order of the rows."""
    run_batch(batch_of(tmp_path / "one.jsonl", folder), in_processes(1))
    report = run_batch(batch_of(tmp_path / "ray.jsonl", folder), on_ray(2, chunk))

    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert (report.rows, report.errors) == (61, 1)


@pytest.mark.parametrize("done", [3, 26, 45])
def test_a_batch_that_was_cut_goes_on_with_actors(folder: Path, tmp_path: Path, done: int) -> None:
    """Whichever engine began it."""
    out = tmp_path / "out.jsonl"
    run_batch(batch_of(out, folder), in_processes(1))
    whole = out.read_bytes()
    out.write_bytes(b"".join(whole.splitlines(keepends=True)[:done]) + b'{"file": "half a')
    (tmp_path / "out.jsonl.report.json").unlink()

    run_batch(batch_of(out, folder), on_ray(2))

    assert out.read_bytes() == whole
