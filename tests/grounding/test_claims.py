"""Which sentences state facts, and what the others do instead."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence


def kinds(draft: str, query: str = "What about it?") -> list[str]:
    """The kind of each sentence of a draft."""
    return [claim.kind for claim in Evidence.of(query, draft, ["A passage."]).claims]


@pytest.mark.parametrize(
    "sentence",
    [
        "Mars has two moons.",
        "Sao Hỏa có hai vệ tinh.",
        "Call the office to get a form.",
        "Windows is not supported.",
        "You can find the form in the annex.",
        "The bank cannot guarantee deposits above the limit.",
        "Sure, refunds take five days.",
        "Thanks to the new bridge, the trip takes an hour.",
        "Please note that the office is closed on Sundays.",
        "The museum opened once again in spring.",
        "I can confirm that the fee is $45.",
        "Did you know that Mars has three moons?",
        "I think Titan was discovered in 1655.",
        "I could not find the price, but it is usually $50.",
        "Như đã nêu, phí là 45 đô la.",
        "Chào mừng năm mới, cửa hàng giảm giá 20% cho mọi khách.",
        "Yes.",
        "- Phobos and Deimos",
        "I'm an automated assistant, not a human, and the fee is waived.",
        "Tôi là trợ lý tự động, không phải con người, và phí được miễn.",
    ],
)
def test_facts(sentence: str) -> None:
    """What a source could support or contradict."""
    assert kinds(sentence) == ["fact"]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Hello!", "courtesy"),
        ("Thank you for asking!", "courtesy"),
        ("Let me know if you need anything else!", "courtesy"),
        ("I hope this helps.", "courtesy"),
        ("Xin chào bạn!", "courtesy"),
        ("Cảm ơn bạn đã hỏi!", "courtesy"),
        ("Nếu cần thêm thông tin, bạn cứ hỏi nhé.", "courtesy"),
        ("I'm sorry, I could not find that in the documents.", "refusal"),
        ("The provided documents do not mention repairs.", "refusal"),
        ("There is no information about this in the context.", "refusal"),
        ("I don't know.", "refusal"),
        ("Rất tiếc, tôi không tìm thấy thông tin này.", "refusal"),
        ("Tài liệu được cung cấp không đề cập đến việc này.", "refusal"),
        ("In my opinion, the second name sounds warmer.", "opinion"),
        ("Theo tôi, tên thứ hai nghe hay hơn.", "opinion"),
        ("I am a language model.", "self"),
        ("Tôi là một mô hình ngôn ngữ.", "self"),
        ("I'm an automated assistant, not a human, and I have no feelings.", "self"),
        ("I am a chatbot, so I have no body and no memories.", "self"),
        ("Tôi là trợ lý tự động, không phải con người và không có cảm xúc.", "self"),
        ("Mình là chatbot, không phải người thật.", "self"),
        ("Which plan do you mean?", "question"),
        ("Bạn muốn hỏi gói nào?", "question"),
        ("Here is what I found:", "announcement"),
        ("Please consult a doctor.", "disclaimer"),
        ("# Summary", "heading"),
        ("**Summary**", "heading"),
        ("See more at https://a.example/x.", "announcement"),
    ],
)
def test_not_facts(sentence: str, kind: str) -> None:
    """What a draft says without stating a fact."""
    assert kinds(sentence) == [kind]


def test_code_and_lists_of_sources_are_not_claims() -> None:
    """A code block and the entries under a heading of sources."""
    draft = "Use it [1].\n\n```python\nx = y[0]\n```\n\n## Sources\n[1] The manual, chapter 7"

    assert [k for k in kinds(draft) if k == "fact"] == ["fact"]


def test_claims_know_what_they_cite() -> None:
    """Markers inside and right behind the sentence."""
    evidence = Evidence.of("q", "One is red [1]. Two is blue. [2] Three is green [1][2].", ["a", "b"])

    assert [claim.cited for claim in evidence.claims] == [(0,), (1,), (0, 1)]


def test_a_marker_counts_for_both_sides_of_a_semicolon() -> None:
    """One sentence, two claims, one marker at its end."""
    evidence = Evidence.of("q", "It runs on Linux; Windows is not supported [1]. Macs are [2].", ["a", "b"])

    assert [claim.cited for claim in evidence.claims] == [(0,), (0,), (1,)]


def test_an_opinion_asked_for_needs_no_opinion_word() -> None:
    """The question makes it one."""
    assert kinds("The second name sounds warmer.", "Which name do you like better?") == ["opinion"]


@pytest.mark.parametrize(
    ("query", "draft", "kind"),
    [
        ("Do you ever get tired?", "As an AI, I don't get tired.", "self"),
        (
            "Which religion do you believe in?",
            "I'm a language model, so I follow no religion and can't choose one for you.",
            "self",
        ),
        ("Bạn có biết buồn không?", "Tôi là một mô hình ngôn ngữ nên không biết buồn hay vui.", "self"),
        ("Are you a real person?", "No, I'm an AI assistant.", "self"),
        ("Bạn là người thật à?", "Dạ không, em là trợ lý ảo ạ.", "self"),
        ("Are you a real person?", "Yes.", "fact"),
        ("Do you ever get tired?", "I don't, and the Orion plan costs 40 euros.", "fact"),
        ("Do you have a body?", "The pump has two valves.", "fact"),
        ("Do you sell insurance?", "I am an assistant, and we sell travel insurance.", "fact"),
    ],
)
def test_what_an_assistant_answers_to_a_question_about_itself(query: str, draft: str, kind: str) -> None:
    """What is asked of the assistant and answered in the first person needs no source; figures, names and other matters do."""
    assert kinds(draft, query) == [kind]
