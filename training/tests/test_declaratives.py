"""Questions with answers become statements, the answer's place known."""

from __future__ import annotations

import random

import pytest

from training.synthesis.declaratives import premise, statement


@pytest.mark.parametrize(
    ("lang", "question", "answer", "expected"),
    [
        pytest.param(
            "vi",
            "Ai được xem là nhà địa chất hiện đại đầu tiên?",
            "James Hutton",
            "James Hutton được xem là nhà địa chất hiện đại đầu tiên.",
            id="vi, who",
        ),
        pytest.param(
            "vi",
            "Tên của Đồng bằng ở Hà Lan là gì?",
            "Rhine-Meuse",
            "Tên của Đồng bằng ở Hà Lan là Rhine-Meuse.",
            id="vi, what",
        ),
        pytest.param("vi", "Ông qua đời năm nào?", "2013", "Ông qua đời vào năm 2013.", id="vi, year"),
        pytest.param("vi", "Victoria đã sống ở đâu?", "Kronberg", "Victoria đã sống ở Kronberg.", id="vi, where"),
        pytest.param(
            "vi", "Có bao nhiêu loài chưa được đặt tên?", "25", "Có 25 loài chưa được đặt tên.", id="vi, how many"
        ),
        pytest.param(
            "vi",
            "Có bao nhiêu hành khách mỗi năm?",
            "37 triệu hành khách",
            "Có 37 triệu hành khách mỗi năm.",
            id="vi, the counted thing is not said twice",
        ),
        pytest.param(
            "vi", "Nữ diễn viên nào đã dịch bài hát?", "Marlee Matlin", "Marlee Matlin đã dịch bài hát.", id="vi, which"
        ),
        pytest.param(
            "vi",
            "Họ đánh bại đội nào để vào chung kết?",
            "Steelers",
            "Họ đánh bại đội Steelers để vào chung kết.",
            id="vi, which inside",
        ),
        pytest.param("en", "Who directed the film?", "Bryan Singer", "Bryan Singer directed the film.", id="en, who"),
        pytest.param(
            "en", "When was Guillotin born?", "28 May 1738", "On 28 May 1738, Guillotin was born.", id="en, when"
        ),
        pytest.param(
            "en", "What is the name of the feast?", "Carnival", "The name of the feast is Carnival.", id="en, what is"
        ),
        pytest.param("en", "Which team won the cup?", "Ajax", "Ajax won the cup.", id="en, which"),
    ],
)
def test_statement(lang: str, question: str, answer: str, expected: str) -> None:
    """The statement reads as a sentence and its span holds the answer."""
    text, (start, end) = statement(question, answer, lang, random.Random(0))

    assert text == expected
    assert text[start:end].casefold() == answer.casefold()


@pytest.mark.parametrize("lang", ["en", "vi"])
@pytest.mark.parametrize("seed", range(4))
def test_a_question_of_another_form_is_answered_in_a_frame(lang: str, seed: int) -> None:
    """Where no rule fits, question and answer stand side by side."""
    text, (start, end) = statement("Why so, tại sao?", "because", lang, random.Random(seed))

    assert "Why so, tại sao?" in text
    assert text[start:end] == "because"


def test_punctuation_at_the_answers_end_goes() -> None:
    """An answer cut with its comma does not leave two marks."""
    assert (
        statement("Ông của anh ấy là ai?", "vua George II,", "vi", random.Random(0))[0]
        == "Ông của anh ấy là vua George II."
    )


@pytest.mark.parametrize(
    ("lang", "question", "expected"),
    [
        pytest.param("en", "Who founded the Tern Institute?", "Someone founded the Tern Institute.", id="who"),
        pytest.param("en", "When was Guillotin born?", "At some time, Guillotin was born.", id="when"),
        pytest.param("vi", "Ai thành lập Viện Sao Mai?", "Một người thành lập Viện Sao Mai.", id="ai"),
        pytest.param("vi", "Viện đóng cửa khi nào?", "Viện đóng cửa vào một thời điểm nhất định.", id="khi nào"),
        pytest.param("en", "Why did it close?", None, id="a reason cannot be left open"),
    ],
)
def test_premise_says_what_a_question_takes_for_granted(lang: str, question: str, expected: str | None) -> None:
    """The asking words become something unnamed."""
    assert premise(question, lang) == expected
