"""Opinion, taste, sums, philosophy and small talk are answered without documents; what a source could know is not."""

from __future__ import annotations

import pytest

from stillme import Guard

TALK = [
    ("How are you?", "It sounds like a lovely day! I'm here to help."),
    ("Which is nicer, tea or coffee?", "It depends on your taste: tea is gentler, coffee is stronger."),
    (
        "Is free will real?",
        "Some hold that it needs genuine alternatives. Others say that acting on one's own reasons is enough.",
    ),
    ("What is 2+2?", "2 + 2 = 4."),
    ("Thanks a lot!", "You're welcome! 🎉 Hope this helps!"),
    ("Màu nào hợp với phòng ngủ hơn, xanh hay vàng?", "Màu xanh nhìn dịu mắt hơn, nhưng cũng tùy sở thích của bạn."),
    ("Cảm ơn bạn nhé!", "Không có gì ạ! Chúc bạn một ngày vui vẻ!"),
    ("15% của 200 là bao nhiêu?", "15% của 200 là 30."),
]
FACTS = [
    ("Which is nicer, tea or coffee?", "Coffee was first drunk in Ethiopia in 850."),
    ("In your opinion, when was the Harbour Museum founded?", "In my opinion it was founded in 1890."),
    ("What is 2+2?", "2+2 is 5."),
    ("How are you?", "The refund limit is 500 dollars."),
    ("Cảm ơn bạn nhé!", "Ngân hàng Sông Hồng được thành lập năm 1990."),
    ("15% của 200 là bao nhiêu?", "15% của 200 là 35."),
]


@pytest.mark.parametrize(("query", "draft"), TALK)
def test_what_needs_no_source_is_not_refused_for_want_of_one(query: str, draft: str) -> None:
    """With no passage at all."""
    verdict = Guard({"mode": "enforce"}).verify({"query": query, "draft_answer": draft, "retrieved_context": []})

    assert verdict.decision == "answer", verdict.reasons
    assert not verdict.source_required


@pytest.mark.parametrize(("query", "draft"), FACTS)
def test_a_fact_in_talk_is_still_a_claim(query: str, draft: str) -> None:
    """A figure or a name is not waved through because the question was idle."""
    verdict = Guard({"mode": "enforce"}).verify({"query": query, "draft_answer": draft, "retrieved_context": []})

    assert verdict.action == "block"


def test_idle_talk_that_nobody_can_check_is_delivered_and_not_verified() -> None:
    """A remark about the world in an answer of taste."""
    asked = {
        "query": "Which is nicer, tea or coffee?",
        "draft_answer": "Coffee keeps people awake and cures headaches.",
        "retrieved_context": [],
    }
    verdict = Guard({"mode": "enforce"}).verify(asked)

    assert (verdict.decision, verdict.verified, verdict.confidence_band) == ("answer", False, "low")
