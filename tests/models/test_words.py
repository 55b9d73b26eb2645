"""The vectors of tokens: one table for the process, of unit rows as wide as the encoder reads."""

from __future__ import annotations

import threading

import numpy
import pytest

from stillme.models.words import END, PAD, START, Words, words


def test_threads_that_ask_at_once_get_one_table() -> None:
    found: list[Words] = []
    threads = [threading.Thread(target=lambda: found.append(words())) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {id(table) for table in found} == {id(words())}


@pytest.mark.parametrize("text", ["The ferry leaves at nine.", "Phà rời bến lúc chín giờ.", ""])
def test_a_token_has_the_same_vector_wherever_it_stands(text: str) -> None:
    table = words()
    ids = numpy.array(table.encode(text).ids, dtype=int)

    together = table.vectors(ids)

    assert together.dtype == numpy.float32
    assert together.shape == (len(ids), table.vectors(numpy.array([PAD])).shape[1])
    for vector, token in zip(together, ids, strict=True):
        assert numpy.array_equal(vector, table.vectors(numpy.array([token]))[0])


def test_many_texts_are_encoded_as_each_alone_and_marks_are_none_of_their_tokens() -> None:
    texts = ["A ticket costs 8 euros.", "Vé giá 8 euro.", "…"]

    together = words().encode_all(texts)

    assert [one.ids for one in together] == [words().encode(text).ids for text in texts]
    assert {START, END, PAD}.isdisjoint(token for one in together for token in one.ids)
    assert words().gap == together[2].ids
