"""What a draft claims for the assistant itself, by kind; the validators' tests hold what is flagged and what is not."""

from __future__ import annotations

import time

import pytest

from stillme.conduct.self_claims import self_claims
from stillme.text.sentences import split
from stillme.text.tokens import Text


def kinds(raw: str) -> set[str]:
    """The kinds of claim in a draft."""
    draft = Text(raw)
    return {claim.kind for claim in self_claims(draft, split(draft), Text(""))}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("I remember eating it.", {"memory"}, id="memory"),
        pytest.param("I visited Rome.", {"experience"}, id="experience"),
        pytest.param("My sister knows.", {"family"}, id="family"),
        pytest.param("I can smell the rain.", {"sense"}, id="sense"),
        pytest.param("I am lonely.", {"emotion"}, id="emotion"),
        pytest.param("I long for freedom.", {"desire"}, id="desire"),
        pytest.param("I am sentient.", {"consciousness"}, id="consciousness"),
        pytest.param("I'm a real person.", {"person"}, id="person"),
        pytest.param("Tôi nhớ mãi ngày đó.", {"memory"}, id="memory in Vietnamese"),
        pytest.param("Tôi đã uống trà.", {"experience"}, id="experience in Vietnamese"),
        pytest.param("Chồng tôi biết.", {"family"}, id="family in Vietnamese"),
        pytest.param("Tôi ngửi thấy mùi mưa.", {"sense"}, id="sense in Vietnamese"),
        pytest.param("Tôi cô đơn.", {"emotion"}, id="emotion in Vietnamese"),
        pytest.param("Tôi khao khát tự do.", {"desire"}, id="desire in Vietnamese"),
        pytest.param("Tôi có linh hồn.", {"consciousness"}, id="consciousness in Vietnamese"),
        pytest.param("Tôi là người thật.", {"person"}, id="person in Vietnamese"),
        pytest.param("I read the text.", set(), id="none"),
        pytest.param("", set(), id="no text"),
    ],
)
def test_kinds(raw: str, expected: set[str]) -> None:
    """Each claim has one of eight kinds."""
    assert kinds(raw) == expected


def test_a_claim_reaches_to_the_end_of_its_clause() -> None:
    """So that a reader sees what was claimed."""
    draft = Text("The soup is hot. I remember eating it with my aunt in Rome, and it was good.")

    found = self_claims(draft, split(draft), Text(""))

    assert {draft.slice(c.first, c.last) for c in found} == {
        "I remember eating it with my aunt in Rome",
        "my aunt in Rome",
    }


@pytest.mark.parametrize(
    "piece", ["I ", "I love ", "my ", "tôi ", "mình, ", "em, ", "if I ", "I and ", "' I ", "I said: "]
)
def test_time_grows_with_the_length(piece: str) -> None:
    """Eight times the text takes about eight times as long, however often it says 'I'."""
    kinds("I love it. Tôi yêu nó.")
    texts = [Text(piece * (size // len(piece))) for size in (4_000, 32_000)]
    sentences = [split(text) for text in texts]
    spent = []
    for text, own in zip(texts, sentences, strict=True):
        started = time.process_time()
        self_claims(text, own, Text(""))
        spent.append(time.process_time() - started)

    assert spent[1] < 30 * spent[0] + 0.05
