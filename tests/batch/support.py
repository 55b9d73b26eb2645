"""Rows that tests of batches share, and how they are written in each form."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stillme.batch.heading import Batch
from stillme.batch.inputs import find_inputs
from stillme.batch.judging import Recipe, guard_of
from stillme.guard import grounder_for
from stillme.policy import Policy

__all__ = ["AS_OF", "PLAIN", "batch_of", "requests", "results", "write_rows"]

PLAIN: dict[str, Any] = {"grounding": {"model": "none"}}
AS_OF = datetime(2026, 2, 1, 9, tzinfo=UTC)


def requests(count: int) -> list[dict[str, Any]]:
    """Requests about lockers, half of them with a wrong figure, English and Vietnamese in turn."""
    made = []
    for n in range(count):
        said = n + n % 2
        query, text = (
            (f"How many keys does locker {n} hold?", "Locker {0} holds {1} keys.")
            if n % 4 < 2
            else (f"Tủ {n} có bao nhiêu chìa khóa?", "Tủ {0} có {1} chìa khóa.")
        )
        draft = text.format(n, said).rstrip(".") + " [1]."
        made.append({"query": query, "draft_answer": draft, "retrieved_context": [passage(text.format(n, n))]})
    return made


def passage(text: str) -> dict[str, Any]:
    """A passage that was found near the question."""
    return {"source_id": "lockers", "text": text, "similarity": 0.9}


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """The requests in the form that the name says."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, ["query", "draft_answer", "context"])
            writer.writeheader()
            writer.writerows(
                {
                    "query": row["query"],
                    "draft_answer": row["draft_answer"],
                    "context": json.dumps(row["retrieved_context"], ensure_ascii=False),
                }
                for row in rows
            )
    else:
        import pyarrow  # noqa: PLC0415  (heavy)
        from pyarrow.parquet import write_table  # noqa: PLC0415

        write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def batch_of(out: Path, *sources: Path | str, policy: dict[str, Any] = PLAIN, **how: Any) -> Batch:
    """The batch of these sources, at a fixed point in time."""
    loaded = Policy.load(policy)
    recipe = Recipe.of(loaded, AS_OF, how.pop("mapping", None), brief=how.pop("brief", False))
    model = (guard_of(recipe.policy).grounder or grounder_for(loaded)).id
    return Batch(find_inputs([str(source) for source in sources], out), out, recipe, model, **how)


def results(path: Path) -> list[dict[str, Any]]:
    """The lines of an output."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
