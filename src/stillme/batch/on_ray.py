"""The same rows judged by actors of a Ray cluster, each with one guard, as stages of Ray Data.

The files are read where Ray sees fit, so every node must see them under the same names. Results come back in the order of the rows.
Where an actor dies Ray tries its rows again; a batch that Ray gives up goes on with the same command, on processes too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import pyarrow
import ray
from ray.data import ActorPoolStrategy, DataContext, ReadTask
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource
from ray.exceptions import RayError

from stillme.batch.inputs import InputFile
from stillme.batch.judging import Judged, Recipe, worker
from stillme.batch.rows import Row, chunks, read_rows
from stillme.batch.run import Engine
from stillme.errors import BackendError, shown
from stillme.models import bundle
from stillme.validators.chain import attempt

__all__ = ["connect", "on_ray"]

BLOCK: Final = 256
BLOCK_BYTES: Final = 64 * 1024
"""Rows that go to an actor together. Ray would join what is read to 128 MiB, and a file of that size would be one actor's."""
CHUNK: Final = 32
STARTS: Final = 5
PATIENCE: Final = {
    "RAY_gcs_server_port_wait_time_s": "120",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_worker_register_timeout_seconds": "300",
}
"""How long the parts of a cluster that is started here wait for each other; what the environment says comes first."""


def on_ray(jobs: int = 0, chunk: int = CHUNK) -> Engine:
    """The engine of a cluster: that of RAY_ADDRESS, else one on this machine; 0 jobs are as many actors as there are processors."""

    def lines(recipe: Recipe, files: Sequence[InputFile], done: int) -> Iterator[Judged]:
        connect()
        context = DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        context.target_max_block_size = BLOCK_BYTES
        actors = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        rows = ray.data.read_datasource(
            _Rows(files, done), override_num_blocks=len(files), num_cpus=0
        )  # the actors have every processor; reading hardly takes any
        judged = rows.map_batches(
            _Judge,
            fn_constructor_args=(recipe,),
            batch_size=chunk,
            batch_format="pyarrow",
            compute=ActorPoolStrategy(size=actors),
        )
        try:
            for each in judged.iter_batches(batch_size=chunk, batch_format="pyarrow"):
                for line, position in zip(each["line"].to_pylist(), each["position"].to_pylist(), strict=True):
                    yield Judged(line, position)
        except RayError as error:
            raise BackendError(f"Ray gave up: {shown(str(error), 200)}; the same command goes on from here") from None

    return lines


def connect(**more: Any) -> None:
    """Join the cluster of RAY_ADDRESS, or start one here: `more` is what ray.init takes.

    A part of a node that is not up within fifteen seconds ends it, and no setting of Ray's changes that. On a busy machine it comes up
    the next time, when everything has been read before, so a few starts are tried.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves this machine unasked
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS")
    for name, value in PATIENCE.items():
        os.environ.setdefault(name, value)
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error", **more}
    for _ in range(1 if address else STARTS):
        _, problem = attempt(lambda: ray.init(**quiet))
        if problem is None:
            return
        ray.shutdown()  # of what did come up
    where = f"the Ray cluster at {shown(address)}" if address else "a Ray cluster here"
    raise BackendError(f"{where} does not answer: {problem}")


class _Rows(Datasource):
    """The rows of each file, read by a task of its own."""

    def __init__(self, files: Sequence[InputFile], done: int) -> None:
        self._files, self._done = files, done

    def estimate_inmemory_data_size(self) -> int | None:
        return sum(file.size for file in self._files)

    def get_read_tasks(self, *_: Any, **__: Any) -> list[ReadTask]:
        """A task a file; what is done is counted off the first ones."""
        tasks, before, skip = [], 0, self._done
        for file in self._files:
            count = sum(1 for _ in islice(read_rows([file]), skip)) if skip else 0
            metadata = BlockMetadata(num_rows=None, size_bytes=file.size, input_files=[file.name], exec_stats=None)
            tasks.append(ReadTask(_reader(file, before, count), metadata))
            before, skip = before + file.size, skip - count
        return tasks


def _reader(file: InputFile, before: int, skip: int) -> Callable[[], Iterator[Any]]:
    return partial(_blocks, file, before, skip)


def _blocks(file: InputFile, before: int, skip: int) -> Iterator[Any]:
    rows = islice(read_rows([file]), skip, None)
    for chunk in chunks(rows, BLOCK):
        columns = list(zip(*chunk, strict=True))
        yield pyarrow.table(
            {
                "file": pyarrow.array(columns[0], pyarrow.string()),
                "number": pyarrow.array(columns[1], pyarrow.int64()),
                "text": pyarrow.array(columns[2], pyarrow.binary()),
                "position": pyarrow.array([before + position for position in columns[3]], pyarrow.int64()),
                "problem": pyarrow.array(columns[4], pyarrow.string()),
            }
        )


class _Judge:
    """An actor: one guard, and what it makes of rows."""

    def __init__(self, recipe: Recipe) -> None:
        bundle.threads = 1
        self._work = worker(recipe)

    def __call__(self, batch: Any) -> Any:
        rows = [Row(**row) for row in batch.to_pylist()]
        judged = self._work(rows)
        return pyarrow.table(
            {
                "line": pyarrow.array([each.line for each in judged], pyarrow.binary()),
                "position": pyarrow.array([each.position for each in judged], pyarrow.int64()),
            }
        )
