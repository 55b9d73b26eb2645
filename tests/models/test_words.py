"""The table of word vectors that every shipped model begins with."""

from __future__ import annotations

import numpy

from stillme.models.words import words


def test_there_is_one_table() -> None:
    """Whoever asks gets the same."""
    assert words() is words()


def test_a_token_has_its_vector_wherever_it_stands() -> None:
    """Rows of an array are looked up one by one."""
    ids = numpy.array([words().encode("refund within 14 days").ids], "int64")

    vectors = words().vectors(ids)

    assert (vectors.dtype, vectors.shape[:2]) == (numpy.dtype("float32"), ids.shape)
    assert numpy.array_equal(vectors[0, 0], words().vectors(ids[0, :1])[0])
