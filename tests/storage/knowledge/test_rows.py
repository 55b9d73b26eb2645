"""What both knowledge stores refuse and how they order what is near, without either of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest

from stillme.errors import InputError
from stillme.storage.knowledge.rows import check_maker, check_place, maker_of, nearest_first, ready_vector, shelved
from stillme.storage.knowledge.store import Chunk, Document

DOCUMENT = Document("leave.md", "New staff get 14 days.", "digest")
CHUNK = Chunk("leave.md#1", "leave.md", 0, "New staff get 14 days.", 0, 22)
UNIT = [1.0, 0.0]


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        pytest.param([[1.0]], "one row of finite numbers, got the shape", id="a table"),
        pytest.param([], "one row of finite numbers", id="nothing"),
        pytest.param([float("nan"), 1.0], "one row of finite numbers", id="no number"),
        pytest.param([1.0, 1.0], "must have the length 1: divide it", id="too long"),
        pytest.param([1.0], "must have 2 numbers as those in the store, got 1", id="another width"),
    ],
)
def test_a_vector_that_cannot_be_compared_is_refused(vector: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ready_vector(vector, 2)


def test_the_nearest_come_first_and_ties_by_id() -> None:
    query = ready_vector([1.0, 0.0])
    held = {"c": [0.0, 1.0], "b": [1.0, 0.0], "a": [1.0, 0.0], "d": [-0.0, -1.0]}

    found = nearest_first(query, [(key, ready_vector(row)) for key, row in held.items()], 3)

    assert found == [("a", 1.0), ("b", 1.0), ("c", 0.0)]
    assert str(nearest_first(query, [("d", ready_vector(held["d"]))], 1)[0][1]) == "0.0"


@pytest.mark.parametrize(
    ("collection", "session", "message"),
    [
        pytest.param("shelf", "", "collection must be 'knowledge' or 'conversation', got 'shelf'", id="no such collection"),
        pytest.param("knowledge", "s", "has no sessions: leave session empty", id="a session of all"),
        pytest.param("conversation", "", "must name the session", id="a conversation of nobody"),
        pytest.param("conversation", "s" * 301, "session has 301 characters, more than 300", id="a long name"),
        pytest.param("conversation", "a\0b", "a session holds a NUL character", id="a character that one engine cannot keep"),
    ],
)  # fmt: skip
def test_a_place_that_there_is_not_is_refused(collection: Any, session: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_place(collection, session)


@pytest.mark.parametrize(
    ("chunks", "vectors", "message"),
    [
        pytest.param([CHUNK], [], "has 1 chunks and 0 vectors", id="fewer vectors"),
        pytest.param([CHUNK, CHUNK], [UNIT, UNIT], "has two chunks of one id", id="an id twice"),
        pytest.param([replace(CHUNK, document="other.md")], [UNIT], "is of 'other.md', not of 'leave.md'", id="of another document"),
        pytest.param([replace(CHUNK, text="a" * 64_001)], [UNIT], "64001 characters, more than 64000: cut it", id="too long"),
        pytest.param([replace(CHUNK, text="\ud800")], [UNIT], "a lone surrogate at character 0", id="half a character"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(chunks: list[Chunk], vectors: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shelved(DOCUMENT, chunks, vectors)


def test_a_chunk_is_kept_with_its_vector_and_its_words() -> None:
    (row,) = shelved(DOCUMENT, [CHUNK], numpy.array([UNIT]))

    assert (row.chunk, row.vector) == (CHUNK, ready_vector(UNIT))
    assert {"new", "14"} <= set(row.words)


def test_vectors_of_another_embedder_or_width_are_refused() -> None:
    about = check_maker("the store", {}, maker_of("one/1"), 2)

    assert check_maker("the store", about, maker_of("one/1"), 2) == about
    for maker, width in (("other/1", 2), ("one/1", 3)):
        with pytest.raises(InputError, match=r"holds vectors of one/1 \(2 numbers each\), these are of"):
            check_maker("the store", about, maker_of(maker), width)
