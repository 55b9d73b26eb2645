"""What the model makes of a question and its passages."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.question_reading import QuestionReading, read_question

POOL = "The Tarrow pool opens at 7 a.m. Children under eight must be accompanied by an adult. Lockers need a one-pound coin."
BE_BOI = "Bể bơi Tân Hà mở cửa lúc 6 giờ. Trẻ dưới tám tuổi phải có người lớn đi kèm. Tủ khóa cần một đồng xu."


def read(query: str, *passages: str) -> QuestionReading | None:
    """The reading of a question."""
    evidence = Evidence.of(query, passages=passages)
    return read_question(evidence.query, evidence.query_language, evidence.grounding_task.library)


@pytest.mark.parametrize(
    ("query", "passage"),
    [("When does the Tarrow pool open?", POOL), ("Bể bơi Tân Hà mở cửa lúc mấy giờ?", BE_BOI)],
    ids=["en", "vi"],
)
def test_what_a_sentence_says_is_answered(query: str, passage: str) -> None:
    """Neither refused nor asked back."""
    found = read(query, passage)

    assert found is not None
    assert not found.is_unanswered


def test_a_reading_is_the_same_each_time() -> None:
    """Chances to four decimals."""
    found, again = (
        read("What does the Tarrow pool ask of children?", POOL),
        read("What does the Tarrow pool ask of children?", POOL),
    )

    assert found is not None
    assert found == again
    assert 0 <= found.unanswered + found.open <= 1


def test_without_passages_there_is_nothing_to_read() -> None:
    """None is not an answer."""
    assert read("When does the pool open?") is None


def test_what_does_not_fit_into_one_window_is_read_to_its_end() -> None:
    """The answer may stand behind thousands of words; what may not be read is not called unanswered."""
    filler = " ".join(f"Lane {n} is cleaned by crew {n % 7} and checked by crew {n % 5}." for n in range(40))
    found = read("When does the Tarrow pool open?", f"{filler} {POOL}")
    endless = read("When does the Tarrow pool open?", *[f"{filler} {n}" for n in range(30)])

    assert found is not None
    assert not found.is_unanswered
    assert endless is None or not endless.is_unanswered
