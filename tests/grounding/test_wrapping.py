"""What of a sentence only wraps what it says."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence

SOURCES = ["The ferry sails at 7 a.m. Bicycles travel free of charge.", "Đò chạy lúc 6 giờ. Xe đạp được chở miễn phí."]


def said(draft: str, query: str = "When does the ferry sail?") -> list[tuple[str, str]]:
    """The kind of each sentence, and what is judged of those that state something."""
    evidence = Evidence.of(query, draft, SOURCES)
    return [
        (c.kind, evidence.draft.slice(c.first, c.last).rstrip(" .,!?") if c.factual else "") for c in evidence.claims
    ]


@pytest.mark.parametrize(
    ("draft", "core"),
    [
        pytest.param("Well, to answer your question: note that bicycles pay.", "bicycles pay", id="several lead-ins"),
        pytest.param("I'm happy to help with your question: bicycles pay.", "bicycles pay", id="a courtesy that goes on to a colon"),
        pytest.param("Bicycles pay, as far as I know, right?", "Bicycles pay", id="several tags"),
        pytest.param("I could not find the price, but bicycles pay a lot.", "bicycles pay a lot", id="what follows a refusal"),
        pytest.param("$5.", "$5", id="a sign belongs to its figure"),
        pytest.param("Answer: -5 degrees.", "-5 degrees", id="so does a minus"),
        pytest.param("Notice periods are long.", "Notice periods are long", id="a noun that looks like a lead-in"),
        pytest.param("From Monday on, bicycles pay.", "From Monday on, bicycles pay", id="when something holds is said"),
        pytest.param("For children, bicycles are free.", "For children, bicycles are free", id="for whom something holds is said"),
        pytest.param("According to the captain, bicycles pay.", "According to the captain, bicycles pay", id="who says it is said"),
        pytest.param("You do not need to consult a doctor.", "You do not need to consult a doctor", id="a disclaimer denied"),
        pytest.param("Dạ, theo tài liệu được cung cấp thì xe đạp phải trả tiền ạ.", "xe đạp phải trả tiền", id="Vietnamese, both ends"),
        pytest.param("Mình xin trả lời câu hỏi của bạn: xe đạp phải trả tiền nhé!", "xe đạp phải trả tiền", id="Vietnamese, to a colon"),
    ],
)  # fmt: skip
def test_what_is_left_is_judged(draft: str, core: str) -> None:
    """Only the words of the wrapping are taken away."""
    assert said(draft) == [("fact", core)]


@pytest.mark.parametrize(
    ("draft", "kind"),
    [
        pytest.param("I hope this answers your question!", "courtesy", id="a courtesy"),
        pytest.param("Thank you for asking about the ferry!", "courtesy", id="a courtesy that names what was asked"),
        pytest.param("I can help you with bicycles.", "courtesy", id="an offer"),
        pytest.param("I could not find anything about the ferry in the documents.", "refusal", id="a refusal"),
        pytest.param("I cannot confirm that the ferry sails at 7.", "refusal", id="a refusal that names a figure of the sources"),
        pytest.param("The documents do not say when the ferry sails.", "refusal", id="what the documents lack"),
        pytest.param("Which ferry do you mean?", "question", id="a question back"),
        pytest.param("Bạn muốn hỏi đò nào ạ?", "question", id="a question back in Vietnamese"),
        pytest.param("Errors are always possible, so please double check everything.", "disclaimer", id="a disclaimer"),
        pytest.param("I am the ferry company's virtual assistant.", "self", id="who speaks"),
        pytest.param("Here are the sailing times:", "announcement", id="an announcement"),
        pytest.param("**Sailing times**", "heading", id="the name of what follows"),
        pytest.param("Tôi không tìm thấy thông tin này nên không thể trả lời.", "refusal", id="a refusal in Vietnamese"),
        pytest.param("Nếu bạn cần thêm thông tin, cứ hỏi mình nhé!", "courtesy", id="a courtesy in Vietnamese"),
    ],
)  # fmt: skip
def test_where_nothing_is_left_nothing_is_judged(draft: str, kind: str) -> None:
    """A sentence that only greets, offers, refuses, asks or announces."""
    assert said(draft) == [(kind, "")]


@pytest.mark.parametrize(
    "draft",
    [
        "I waived the fare for bicycles.",
        "Why do bicycles pay?",
        "Isn't the ferry free?",
        "Thank you for asking about the ferry that sinks every spring!",
        "**The captain owns the ferry**",
        "## Bicycles never travel free",
        "The ferry never sails:",
        "I could not find it, and bicycles pay double.",
        "If you have questions, the ferry office charges 5 dollars for an answer.",
        "Bạn có biết xe đạp phải trả tiền không?",
        "Cảm ơn bạn đã hỏi, xe đạp phải trả tiền.",
    ],
)
def test_what_says_more_is_judged(draft: str) -> None:
    """Whatever it opens or ends with."""
    assert [kind for kind, _ in said(draft)] == ["fact"]
