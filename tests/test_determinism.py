"""Same request, policy and version: the same verdict, byte for byte, apart from ids and times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from stillme import Guard
from tests.test_guard import NGUON, SOURCE, steady

REQUESTS = [
    {"query": "How long can I return unused gear?", "draft_answer": "Within 90 days [1]. Gift cards never expire.", "retrieved_context": [SOURCE, NGUON], "as_of": "2026-02-01"},
    {"query": "Đổi trả hàng trong bao nhiêu ngày?", "draft_answer": "Khách hàng được đổi trả trong 15 ngày [2].", "retrieved_context": [SOURCE, NGUON], "as_of": "2026-02-01"},
    {"query": "When does it open?", "draft_answer": "It opens on 3 May 2031 at 9 a.m. [1][7]. See https://x.example.", "retrieved_context": [{"source_id": "a", "text": "The pool opens at 9 a.m."}, {"source_id": "b", "text": "The pool opens at 10 a.m."}], "as_of": "2026-02-01"},
    {"query": "Hello!", "draft_answer": "Hello! How can I help?", "as_of": "2026-02-01"},
]  # fmt: skip

SCRIPT = """
import json, sys
sys.path.insert(0, {root!r})
from stillme import Guard
from tests.test_determinism import REQUESTS, steady
guard = Guard({{"mode": "enforce"}})
print(json.dumps([steady(guard.verify(r)) for r in REQUESTS], sort_keys=True))
"""


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONHASHSEED": "1"}, id="one hash seed"),
        pytest.param({"PYTHONHASHSEED": "4242"}, id="another hash seed"),
        pytest.param({"PYTHONHASHSEED": "7", "TZ": "Pacific/Kiritimati"}, id="another time zone"),
        pytest.param({"PYTHONHASHSEED": "8", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, id="another locale"),
        pytest.param({"PYTHONHASHSEED": "9", "PYTHONOPTIMIZE": "1"}, id="without assertions"),
    ],
)
def test_the_same_in_another_process(environment: dict[str, str]) -> None:
    """Hash seed, time zone, locale and optimisation change nothing."""
    guard = Guard({"mode": "enforce"})
    here = json.dumps([steady(guard.verify(r)) for r in REQUESTS], sort_keys=True)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

    there = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(root=root)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout.strip()

    assert there == here


def test_the_same_in_threads() -> None:
    """One guard shared by threads gives each caller the verdict it would get alone."""
    guard = Guard()
    alone = [steady(guard.verify(r)) for r in REQUESTS]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda k: steady(guard.verify(REQUESTS[k % len(REQUESTS)])), range(64)))

    assert together == [alone[k % len(REQUESTS)] for k in range(64)]


def test_the_same_in_any_batch() -> None:
    """A request's verdict does not depend on its neighbours."""
    guard = Guard()
    alone = [steady(guard.verify(r)) for r in REQUESTS]

    assert [steady(v) for v in guard.verify_batch(REQUESTS[::-1])] == alone[::-1]
    assert [steady(v) for v in guard.verify_batch(REQUESTS * 2)] == alone * 2


def test_the_clock_is_recorded() -> None:
    """Without `as_of` the verdict says which now it used, and repeating the request with it repeats the verdict."""
    request = {k: v for k, v in REQUESTS[2].items() if k != "as_of"}
    guard = Guard()

    first = guard.verify(request)
    again = guard.verify({**request, "as_of": first.as_of.isoformat()})

    assert steady(first) == steady(again)
