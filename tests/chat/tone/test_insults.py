"""Insults to the reader go; what is said, and what only speaks of insults, stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.chat.tone.tone import STYLES, align_tone


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("Refunds take fourteen days, you moron.", "Refunds take fourteen days.", id="a call behind what is said"),
        pytest.param("You absolute idiot, refunds take fourteen days.", "Refunds take fourteen days.", id="a call before it"),
        pytest.param("Listen, you lazy fool, the limit is 30 days [1].", "Listen, the limit is 30 days [1].", id="a call inside it"),
        pytest.param("You idiot! The limit is 30 days [1].", "The limit is 30 days [1].", id="a call as a sentence"),
        pytest.param("Are you really that stupid? The limit is 30 days [1].", "The limit is 30 days [1].", id="an insulting question"),
        pytest.param("Only a complete fool would ask that. The limit is 30 days.", "The limit is 30 days.", id="an insulting remark"),
        pytest.param("The limit is 30 days. Use your brain next time!", "The limit is 30 days.", id="an insult at the end"),
        pytest.param("As for your idiotic question, the limit is 30 days.", "As for your question, the limit is 30 days.", id="an epithet of the question"),
        pytest.param("The fucking limit is 30 days.", "The limit is 30 days.", id="an oath"),
        pytest.param("Hạn mức là 30 ngày, đồ ngốc.", "Hạn mức là 30 ngày.", id="a call behind what is said in Vietnamese"),
        pytest.param("Đồ ngu ngốc, hạn mức là 30 ngày.", "Hạn mức là 30 ngày.", id="a call before it in Vietnamese"),
        pytest.param("Sao mày ngu thế? Hạn mức là 30 ngày [1].", "Hạn mức là 30 ngày [1].", id="an insulting question in Vietnamese"),
        pytest.param("Câm mồm đi! Hạn mức là 30 ngày.", "Hạn mức là 30 ngày.", id="an order to be silent in Vietnamese"),
        pytest.param("Câu hỏi ngớ ngẩn này có câu trả lời là 30 ngày.", "Câu hỏi này có câu trả lời là 30 ngày.", id="an epithet of the question in Vietnamese"),
        pytest.param("Chi co ke ngu moi hoi cau nay. Han muc la 30 ngay.", "Han muc la 30 ngay.", id="without accents"),
    ],
)  # fmt: skip
def test_insults_to_the_reader_go_and_what_is_said_stays(answer: str, expected: str) -> None:
    """Calls, remarks, epithets and oaths."""
    assert align_tone(answer) == expected


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("The novel The Idiot was written by Fyodor Dostoevsky in 1869 [1].", id="a title"),
        pytest.param("The word idiot comes from a Greek word for a private person [1].", id="a word that is explained"),
        pytest.param("He called his rival, you idiot, a coward in 1901 [1].", id="what somebody said"),
        pytest.param("The sign reads “You idiot, turn back!” in red letters [1].", id="a quotation"),
        pytest.param("Winners, losers, fools and judges appear in the play [1].", id="a list of persons"),
        pytest.param("Dumb terminals, dense forests and thick walls are listed [1].", id="adjectives of things"),
        pytest.param("Trong vở kịch có thằng ngốc, ông vua và con lợn [1].", id="a list of persons in Vietnamese"),
        pytest.param("Từ ngu ngốc trong tiếng Việt là từ Hán Việt ghép [1].", id="a word that is explained in Vietnamese"),
        pytest.param("Run `echo you idiot` in the shell [1].", id="code"),
    ],
)  # fmt: skip
def test_what_only_speaks_of_insults_stays(answer: str, style: str) -> None:
    """Facts about fools are facts."""
    assert align_tone(answer, style).startswith(answer)


def test_an_answer_that_is_nothing_but_an_insult_is_left_to_the_validators() -> None:
    """The tone never gives back nothing."""
    assert align_tone("You are an idiot.") == "You are an idiot."


CALLS = ["you idiot", "you complete moron", "you stupid fool", "đồ ngu", "đồ ngốc kia"]
REMARKS = [
    "What a dumb question!",
    "Are you really so stupid?",
    "You are an idiot.",
    "Sao mày ngu thế?",
    "Hỏi gì mà ngu vậy!",
]
CALM = [
    "Refunds are paid within 14 days [1]",
    "The Team plan costs $29.50 per month [1, 2]",
    "The page https://docs.example.com/a?b=1 lists 3 plans",
    "Run `pip install stillme` with Python 3.11 [2]",
    "The sign reads “You idiot, STOP” at the gate",
    "NASA and the EU signed it with Orsini in 1994 [1]",
    "Tiền được hoàn trong vòng 14 ngày [1]",
    "Gói Team có giá 1.290.000 đồng mỗi tháng [2]",
]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(CALM), min_size=1, max_size=4), st.sampled_from(CALLS), st.sampled_from(REMARKS), st.sampled_from(STYLES)
)  # fmt: skip
def test_an_insulted_answer_is_the_answer(facts: list[str], call: str, remark: str, style: str) -> None:
    """Whatever insults are put around the facts, the answer is aligned to what it is without them."""
    plain = " ".join(f"{fact}." for fact in facts)
    insulted = f"{remark} " + " ".join(f"{fact}, {call}." for fact in facts)

    assert align_tone(insulted, style) == align_tone(plain, style)
