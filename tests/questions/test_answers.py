"""What a question asks for, and what a passage may answer."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.questions.answers import Question, read_answers
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        pytest.param("When was the bridge built?", "date", id="a date"),
        pytest.param("In which year did the Orr flood the town?", "date", id="a year"),
        pytest.param("Cầu được xây năm nào?", "date", id="a Vietnamese year"),
        pytest.param("cau duoc xay nam nao?", "date", id="a year without accents"),
        pytest.param("What is the population of Orrin?", "figure", id="a population"),
        pytest.param("Có bao nhiêu người sống ở Orrin?", "figure", id="a Vietnamese count"),
        pytest.param("Where was Anna Lind born?", "place", id="a place"),
        pytest.param("Anna Lind sinh ra ở đâu?", "place", id="a Vietnamese place"),
        pytest.param("Who built the bridge?", "person", id="a person"),
        pytest.param("Ai xây cầu này?", "person", id="a Vietnamese person"),
        pytest.param("Who is Ryan Davis?", None, id="all that may be said of somebody"),
        pytest.param("What sport does Ryan Davis play?", "thing", id="a thing"),
        pytest.param("How does the pump work?", None, id="a manner"),
        pytest.param("Is the pool open on Sunday?", None, id="yes or no"),
        pytest.param("Hồ bơi có mở cửa không?", None, id="yes or no in Vietnamese"),
        pytest.param("Which towns lie on the Orr?", None, id="several things"),
        pytest.param("Hello", None, id="nothing"),
        pytest.param("when " * 200, None, id="no question of ordinary length"),
    ],
)  # fmt: skip
def test_what_a_question_asks_for(query: str, kind: str | None) -> None:
    """The kind of answer is told by the words of the question; None where no single answer can be looked for."""
    question = Question.of(Text(query))

    assert (question.kind if question else None) == kind


@pytest.mark.parametrize(
    ("query", "passage", "answer"),
    [
        pytest.param("When was the bridge built?", "The bridge was built in 1891 by Lind.", "1891", id="a date"),
        pytest.param("Who built the bridge?", "The bridge was built in 1891 by Anna Lind.", "Anna Lind", id="a person"),
        pytest.param("Cầu được xây năm nào?", "Cầu được xây năm 1891.", "năm 1891", id="a Vietnamese year"),
    ],
)
def test_the_likeliest_answer_of_a_passage(query: str, passage: str, answer: str) -> None:
    """The span that fits the question comes first."""
    evidence = Evidence.of(query, passages=[passage])
    question = Question.of(Text(query))
    assert question is not None

    (answers,) = read_answers(question, evidence.library).values()

    assert answers[0].text == answer
