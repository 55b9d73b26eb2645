"""Sums are worked out exactly, and only what is nothing but a sum is one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Guard
from stillme.figures.arithmetic import gives, sum_of
from stillme.text.tokens import Text
from tests.soak import examples


@pytest.mark.parametrize(
    ("question", "value"),
    [
        pytest.param("What is 2+2?", 4, id="a sum"),
        pytest.param("What's 17 - 5 * 3?", 2, id="products bind before sums"),
        pytest.param("Please calculate (17 - 5) * 3", 36, id="brackets"),
        pytest.param("How much is 1,250 divided by 5?", 250, id="English thousands"),
        pytest.param("What is 2.5 times 4?", 10, id="an English decimal"),
        pytest.param("What is 20% of 85?", 17, id="a percentage"),
        pytest.param("what is seven plus eight", 15, id="in words"),
        pytest.param("What is 12 squared?", 144, id="a square"),
        pytest.param("What is -3 × -4?", 12, id="signs"),
        pytest.param("15% của 200 là bao nhiêu?", 30, id="a percentage in Vietnamese"),
        pytest.param("8 phần trăm của 1.500 bằng bao nhiêu?", 120, id="Vietnamese thousands"),
        pytest.param("2,5 nhân với 4 bằng mấy?", 10, id="a Vietnamese decimal"),
        pytest.param("Tính giúp tôi 144 chia cho 12 nhé", 12, id="a request in Vietnamese"),
        pytest.param("ba cộng năm bằng mấy?", 8, id="in words in Vietnamese"),
        pytest.param("What is 15% of the refund limit?", None, id="of what nobody gave"),
        pytest.param("Calculate how much tax I owe on 2000", None, id="a question for a rule"),
        pytest.param("What is 7?", None, id="a figure alone"),
        pytest.param("What is 5 / 0?", None, id="a division by nothing"),
        pytest.param("What is 2024-11-17?", None, id="a date"),
        pytest.param("Is 24/7 support included?", None, id="a figure of speech"),
        pytest.param("2 + + 2", None, id="no sum at all"),
        pytest.param("((((((2", None, id="brackets that stay open"),
        pytest.param("What is 123456789012345678901234567890 + 1?", None, id="more digits than anybody asks for"),
        pytest.param("", None, id="nothing"),
    ],
)  # fmt: skip
def test_the_value_of_a_question(question: str, value: int | None) -> None:
    """Signs and words of both languages, and None for what is no sum."""
    assert sum_of(Text(question)) == value


@settings(max_examples=examples(200), deadline=None)
@given(st.recursive(st.integers(0, 99).map(str), lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"), max_leaves=6))  # fmt: skip
def test_what_is_worked_out_is_what_arithmetic_says(expression: str) -> None:
    """Against Python's own, in exact fractions."""
    text = Text(f"What is {expression} + 0?")
    numbers = "".join(f"Fraction({part})" if part.isdigit() else part for part in _cut(expression))
    try:
        expected = eval(numbers, {"Fraction": Fraction})  # noqa: S307  (an expression made here)
    except ZeroDivisionError:
        expected = None

    assert sum_of(text) == (expected if len(text.words) <= 60 else None)


def _cut(expression: str) -> list[str]:
    parts: list[str] = []
    for c in expression:
        if c.isdigit() and parts and parts[-1].isdigit():
            parts[-1] += c
        else:
            parts.append(c)
    return parts


@given(st.text("0123456789+-*/%().,= xof của cộng", max_size=80))
def test_any_row_of_signs_is_read_or_not(question: str) -> None:
    """Nothing breaks it."""
    assert isinstance(sum_of(Text(question)), Fraction | None)


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        pytest.param("2 + 2 = 4.", True, id="the sum and its result"),
        pytest.param("The answer is 4.", True, id="the result alone"),
        pytest.param("4", True, id="the bare figure"),
        pytest.param("2 + 2 = 1 + 3 = 4", True, id="a right step between"),
        pytest.param("2 + 2 = 5.", False, id="a wrong result"),
        pytest.param("2 + 2 = 5 - 2 = 4", False, id="a wrong step between"),
        pytest.param("It is 4, and Lima is in Peru.", False, id="something else beside it"),
        pytest.param("4 is my favourite number.", False, id="something else about it"),
        pytest.param("The answer is the sum.", False, id="no figure"),
    ],
)  # fmt: skip
def test_whether_a_sentence_gives_the_result(sentence: str, right: bool) -> None:
    """Each side has to come to it."""
    text = Text(sentence)

    assert gives(text, 0, len(text.words), Fraction(4)) is right


@pytest.mark.parametrize(
    ("sentence", "right"), [("It is about 3.33.", True), ("It is 3.34.", False), ("It is 3.", False)]
)
def test_a_result_without_end_may_be_rounded(sentence: str, right: bool) -> None:
    """As the last figure that is written says, and right."""
    text = Text(sentence)

    assert gives(text, 0, len(text.words), Fraction(10, 3)) is right


@pytest.mark.parametrize(
    ("query", "draft", "decision"),
    [
        pytest.param("What is 18 * 5?", "18 * 5 = 90.", "answer", id="right"),
        pytest.param("What is 18 * 5?", "18 * 5 = 80.", "refuse", id="wrong"),
        pytest.param("What is 18 * 5?", "It is 90. Lima is the capital of Chile.", "refuse", id="right, with a fact beside it"),
        pytest.param("Hi! What is 18 * 5?", "The answer is 90.", "answer", id="right behind a greeting"),
        pytest.param("25% của 1.200 là bao nhiêu?", "25% của 1.200 là 300.", "answer", id="right in Vietnamese"),
        pytest.param("25% của 1.200 là bao nhiêu?", "Kết quả là 3.000.", "refuse", id="wrong in Vietnamese"),
        pytest.param("What is 25% of the fee?", "25% of the fee is 300.", "refuse", id="no sum but a fact"),
    ],
)  # fmt: skip
def test_an_answer_to_a_sum_needs_no_document_and_is_checked(query: str, draft: str, decision: str) -> None:
    """In enforce, without any passage: the right result is answered, anything else is not."""
    verdict = Guard({"mode": "enforce"}).verify({"query": query, "draft_answer": draft})

    assert verdict.decision == decision
    assert [c.detail for c in verdict.claims if c.status == "not_factual"] == (
        ["computed"] if "90." in draft or "là 300." in draft else []
    )
