"""`--engine ray` on a real local cluster: the bytes that processes give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from stillme.batch.on_ray import STARTS, connect, on_ray
from stillme.batch.run import in_processes, run_batch
from stillme.errors import BackendError
from tests.batch.support import batch_of, requests, write_rows

STORE = 128 * 1024 * 1024


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster of this machine with two processors."""
    connect(num_cpus=2, object_store_memory=STORE, _node_ip_address="127.0.0.1")
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


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_actors_give_what_one_process_gives(folder: Path, tmp_path: Path, chunk: int) -> None:
    """Byte by byte, in the order of the rows."""
    run_batch(batch_of(tmp_path / "one.jsonl", folder), in_processes(1))
    report = run_batch(batch_of(tmp_path / "ray.jsonl", folder), on_ray(2, chunk))

    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert (report.rows, report.errors) == (61, 1)


@pytest.mark.usefixtures("cluster")
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


def test_a_cluster_that_comes_up_late_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that was too slow is no reason to give up."""
    ray.shutdown()
    started: list[dict[str, Any]] = []

    def slow(**settings: Any) -> None:
        started.append(settings)
        if len(started) < STARTS:
            raise TimeoutError("the node timed out during startup")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", slow)

    connect(num_cpus=2)

    assert [settings["num_cpus"] for settings in started] == [2] * STARTS


@pytest.mark.parametrize(
    ("address", "starts", "said"),
    [
        pytest.param(None, STARTS, "a Ray cluster here does not answer", id="one of this machine, after every start"),
        pytest.param("ray.example:6379", 1, "the Ray cluster at .ray.example:6379. does not answer", id="another one, at once"),
    ],
)  # fmt: skip
def test_a_cluster_that_never_comes_up(
    monkeypatch: pytest.MonkeyPatch, address: str | None, starts: int, said: str
) -> None:
    """It is said which, and what Ray said."""
    ray.shutdown()
    started: list[int] = []

    def never(**_: Any) -> None:
        started.append(1)
        raise TimeoutError("the node timed out during startup")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if address:
        monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setattr(ray, "init", never)

    with pytest.raises(BackendError, match=f"{said}: TimeoutError: .the node timed out"):
        connect()
    assert len(started) == starts
