"""Frames in, frames out: what Spark's mapInPandas is given. The stand-in has what is used of a frame; tests/clients has pandas and Spark."""

from __future__ import annotations

import pickle
from typing import Any

from stillme.batch.frames import SCHEMA, verified_frames
from tests.batch.support import AS_OF, PLAIN, requests


class Frame:
    """Columns, as pandas has them."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """The rows."""
        assert orient == "records"
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]


def frame_of(asked: list[dict[str, Any]]) -> Frame:
    """A frame of questions, answers and passages."""
    columns = {"query": "query", "draft_answer": "draft_answer", "context": "retrieved_context"}
    return Frame({name: [each[key] for each in asked] for name, key in columns.items()})


def test_one_result_a_row_in_the_columns_of_the_schema() -> None:
    """Whatever the frames are cut into, and after a journey to another process."""
    asked = requests(6)
    function = pickle.loads(pickle.dumps(verified_frames(PLAIN, as_of=AS_OF)))  # noqa: S301  (our own bytes)

    (whole,) = function([frame_of(asked)])
    parts = list(function([frame_of(asked[:1]), frame_of(asked[1:4]), frame_of(asked[4:])]))

    assert list(whole.columns) == [column.split(" ")[0] for column in SCHEMA.split(", ")]
    assert whole.columns["decision"] == ["answer", "refuse"] * 3
    assert [row for part in parts for row in part.to_dict("records")] == whole.to_dict("records")


def test_a_row_without_a_question_has_an_error() -> None:
    """And no decision."""
    (found,) = verified_frames(PLAIN, as_of="2026-02-01")([Frame({"context": ["A text."]})])

    assert (found.columns["decision"], found.columns["verified"]) == ([None], [None])
    assert "--map query=COLUMN" in found.columns["error"][0]
