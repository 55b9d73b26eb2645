"""Frames of pandas in, frames of results out: what Spark's `mapInPandas` takes, and anything else that hands out frames.

    from stillme.batch.frames import SCHEMA, verified_frames
    results = answers.mapInPandas(verified_frames("policy.yaml", as_of="2026-02-01"), schema=SCHEMA)

A frame has the columns that a file has (docs/batch.md). A result has those of SCHEMA: `request_id` tells which row it is of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from stillme.batch.forms import COLUMNS, DDL, cells
from stillme.batch.judging import Recipe, worker
from stillme.batch.rows import Row, as_json
from stillme.models import bundle
from stillme.policy import Policy

__all__ = ["SCHEMA", "verified_frames"]

SCHEMA: Final = DDL
PLACE: Final = ("file", "row", "sha256")


def verified_frames(
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    *,
    as_of: str | datetime | None = None,
    mapping: Mapping[str, str] | None = None,
    brief: bool = False,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What makes results of frames, one a row and in their order; it can be sent to other processes, and makes one guard in each.

    `mapping` says in which columns fields stand that go by other names. Rows without `as_of` are judged at the one given here, else now.
    """
    moment = datetime.fromisoformat(as_of) if isinstance(as_of, str) else as_of or datetime.now(UTC)
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    recipe = json.dumps(asdict(Recipe.of(Policy.load(policy), aware, mapping, brief=brief)))
    return _Verified(recipe)


class _Verified:
    def __init__(self, recipe: str) -> None:
        self._recipe = recipe

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        work = _worker(self._recipe)
        for frame in frames:
            rows = [Row("", n, as_json(values), 0) for n, values in enumerate(frame.to_dict("records"), 1)]
            results = [cells(json.loads(each.line)) for each in work(rows)]
            columns = [column for column in COLUMNS if column not in PLACE]
            yield type(frame)({column: [result[column] for result in results] for column in columns})


@cache
def _worker(recipe: str) -> Any:
    """The one guard of this process for a recipe."""
    bundle.threads = 1
    return worker(Recipe(**json.loads(recipe)))
