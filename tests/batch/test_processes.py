"""Work in several processes: how far ahead they read, and whose memory the weights are in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Any

import pytest

from stillme.batch.processes import AHEAD, Workers
from stillme.models import bundle, grounding

pytestmark = pytest.mark.slow


def make_double() -> Callable[[Sequence[int]], list[int]]:
    """Work that needs nothing."""
    return lambda items: [2 * item for item in items]


def make_state() -> Callable[[Sequence[int]], list[tuple[bool, int, int, int]]]:
    """Work that tells whether this process came with the models read, and on how many threads they work."""
    came_with = (
        "stillme.batch.shared_weights" in sys.modules,
        grounding.grounding_model.__wrapped__.cache_info().currsize,
    )
    return lambda items: [(*came_with, bundle.threads, os.getpid()) for _ in items]


def lost(item: int) -> Any:
    """What stands for an item whose process ended."""
    return -item


def test_an_endless_input_is_read_only_a_little_ahead() -> None:
    """So memory does not grow with the input."""
    taken: list[int] = []

    def endless() -> Iterator[int]:
        for item in count():
            taken.append(item)
            yield item

    results = Workers(make_double, 2, lost, chunk=5).results(endless())
    found = list(islice(results, 12))
    results.close()  # type: ignore[attr-defined]

    assert found == [2 * item for item in range(12)]
    assert len(taken) <= 12 + 2 * AHEAD * 5 + 5


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot copy a process")
def test_workers_come_with_the_models_that_one_process_has_read() -> None:
    """They are copies of it, each with one thread; the weights are in memory once."""
    found = list(Workers(make_state, 2, lost, chunk=1, shares_weights=True).results(range(8)))

    assert {each[:3] for each in found} == {(True, 1, 1)}
    assert os.getpid() not in {each[3] for each in found}
