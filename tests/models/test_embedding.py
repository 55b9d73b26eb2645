"""Texts as vectors: near in meaning is near, in both languages and across, and no text touches the vector of another."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.errors import InputError
from stillme.models.bundle import manifest
from stillme.models.embedding import MOST_REMEMBERED, Kind, embed, embedder
from tests.soak import examples

MARS = "Mars takes about 687 Earth days to orbit the Sun and has two small moons."
SCHOOL = "Pupils wear the school uniform from Monday to Thursday."
MUSEUM = "Giá vé người lớn của bảo tàng là 40.000 đồng, trẻ em được vào cửa miễn phí."
LIBRARY = "Thư viện mở cửa lúc tám giờ sáng."
FERRY = "The ferry to the island leaves at nine in the morning."


def afresh(texts: Sequence[str], kind: Kind = "passage") -> Any:
    """What an embedder that remembers nothing says."""
    embedder().recent.clear()
    return embedder().embed(texts, kind)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        pytest.param("How long is a year on Mars?", MARS, FERRY, id="English"),
        pytest.param("Vào bảo tàng mất bao nhiêu tiền?", MUSEUM, LIBRARY, id="Vietnamese"),
        pytest.param("What does it cost to enter the museum?", MUSEUM, LIBRARY, id="English and Vietnamese"),
        pytest.param("Mấy giờ tàu ra đảo khởi hành?", FERRY, SCHOOL, id="Vietnamese and English"),
    ],
)
def test_a_question_is_nearer_to_what_answers_it(question: str, near: str, far: str) -> None:
    """Of two passages in one language, the one that answers has the higher cosine."""
    close, distant = embed([near, far], "passage") @ embed([question], "query")[0]

    assert close > distant + 0.01


def test_vectors_are_rows_of_unit_length() -> None:
    """One float32 row a text, of length one; no text, no row."""
    found, none = embed([MARS, MUSEUM]), embed([])

    assert (found.shape, found.dtype) == ((2, 384), numpy.dtype("float32"))
    assert numpy.allclose(numpy.linalg.norm(found, axis=1), 1, atol=1e-4)
    assert none.shape == (0, 384)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(
        st.sampled_from([MARS, SCHOOL, MUSEUM, "9", FERRY * 3, "đ", "\N{CJK UNIFIED IDEOGRAPH-6C34}"]),
        min_size=2,
        max_size=4,
    )
)
def test_a_vector_does_not_depend_on_what_else_is_asked(texts: list[str]) -> None:
    """In company and alone, to the last bit."""
    together = afresh(texts)

    alone = [afresh([text])[0] for text in texts]

    assert together.tolist() == [row.tolist() for row in alone]


def test_threads_share_one_embedder() -> None:
    """Many threads at once get the vectors that one gets alone."""
    texts = [MARS, SCHOOL, MUSEUM, FERRY]
    expected = [afresh([text], "query")[0].tolist() for text in texts]
    embedder().recent.clear()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: (id(embedder()), embed([text], "query")[0].tolist()), texts * 3))

    assert found == [(id(embedder()), vector) for vector in expected * 3]


def test_a_question_and_a_passage_are_read_differently() -> None:
    """The same words as a query and as a passage are two vectors, remembered apart."""
    first = afresh([MARS], "query")

    second = embed([MARS], "passage")

    assert first.tolist() != second.tolist()
    assert second.tolist() == afresh([MARS], "passage").tolist()


def test_composed_and_decomposed_accents_are_one() -> None:
    """The same letters in another encoding of Unicode have the same vector."""
    decomposed = unicodedata.normalize("NFD", MUSEUM)

    assert decomposed != MUSEUM
    assert afresh([decomposed]).tolist() == afresh([MUSEUM]).tolist()


def test_a_long_text_is_read_to_its_end() -> None:
    """What stands behind the first window turns the vector towards itself."""
    long = "Pupils wear the school uniform. " * 62
    asked = embed(["How long is a year on Mars?"], "query")[0]

    without, with_end = embed([long, long + MARS * 4]) @ asked

    assert with_end > without + 0.01


def test_what_was_read_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest vectors make room; a vector that is given away cannot be changed by whoever got it."""
    monkeypatch.setattr(embedder().recent, "_most", 2)
    embedder().recent.clear()

    embed(["one", "two", "three"])[0][:] = 0

    assert embedder().recent.counts.entries == 2 < MOST_REMEMBERED
    assert embed(["three"]).tolist() == afresh(["three"]).tolist()


def test_the_id_tells_the_weights() -> None:
    """Name, version and the beginning of the hash."""
    assert embedder().id.endswith(f"+{manifest()['files']['embedder.onnx'][:12]}")


@pytest.mark.parametrize(
    ("texts", "kind", "message"),
    [
        pytest.param([MARS, ""], "passage", "texts[1] must be a text with something in it, got ''", id="an empty text"),
        pytest.param([" \n"], "query", "texts[0] must be a text with something in it, got ' \\n'", id="white space"),
        pytest.param([None], "query", "texts[0] must be a text with something in it, got None", id="no text at all"),
        pytest.param(
            MARS[:4], "query", "texts must be a list of texts, got the text 'Mars': put it into a list", id="one text"
        ),
        pytest.param([MARS], "answer", "kind must be 'query' or 'passage', got 'answer'", id="an unknown kind"),
        pytest.param(
            ["a\ud800"],
            "query",
            "texts[0] has a lone surrogate at character 1: send well-formed Unicode text",
            id="half a character",
        ),
    ],
)
def test_what_cannot_be_embedded_is_refused(texts: Any, kind: Any, message: str) -> None:
    """The message says which text, what is wrong with it, and what to do."""
    with pytest.raises(InputError) as caught:
        embed(texts, kind)

    assert str(caught.value) == message
