"""What a source asks, it does not say: entries of questions and answers support what the answer says."""

from __future__ import annotations

import pytest

from stillme import Guard
from stillme.grounding.asking import asks_in_vain
from stillme.text.sentences import split
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("source", "in_vain"),
    [
        pytest.param("Is parking free? No, it costs 5 euros.", True, id="the answer is no"),
        pytest.param("Is parking free? It costs 5 euros.", True, id="the answer is neither"),
        pytest.param("Is parking free?", True, id="no answer"),
        pytest.param("Is parking free? Yes, all day.", False, id="the answer is yes"),
        pytest.param("Question 3: Can I pay by card?\nAnswer: Yes.", False, id="yes behind labels"),
        pytest.param("**Q:** Can I pay by card?\n**A:** No.", True, id="no behind labels in bold"),
        pytest.param("What is the deposit? 40 euros.", False, id="a question that wants no yes"),
        pytest.param("Did you know that parking is free? Come and see.", False, id="a question that tells"),
        pytest.param("Parking is free. Is that so? No.", False, id="a statement before a question"),
        pytest.param("Gửi xe có mất phí không? Không, gửi xe miễn phí.", True, id="Vietnamese, no"),
        pytest.param("Hỏi: Shop có gói quà không?\nĐáp: Dạ có, phí 20.000 đồng.", False, id="Vietnamese, yes"),
        pytest.param("Phòng có bếp chưa? Chưa, cuối năm mới lắp.", True, id="Vietnamese, not yet"),
        pytest.param("Gui xe co mat phi khong? Khong, gui xe mien phi.", True, id="Vietnamese without accents"),
        pytest.param("Bạn có biết rằng bãi xe miễn phí không? Mời ghé thử.", False, id="Vietnamese, a question that tells"),
    ],
)  # fmt: skip
def test_the_first_sentence_asks_in_vain(source: str, in_vain: bool) -> None:
    """A question for a yes or a no says something where a yes follows it."""
    text = Text(source)
    sentences = split(text)

    assert asks_in_vain(text, sentences[0], sentences[1] if len(sentences) > 1 else None) is in_vain


@pytest.mark.parametrize(
    ("query", "claim", "source", "supported"),
    [
        pytest.param("Is parking free?", "Parking is free.", "Is parking free?\nNo. It costs 5 euros.", False, id="the words of the question"),
        pytest.param("Is parking free?", "Yes.", "Is parking free?\nNo. It costs 5 euros.", False, id="a bare yes against a no"),
        pytest.param("Can I pay by card?", "Yes.", "Can I pay by card?\nYes, at every desk.", True, id="a bare yes with a yes"),
        pytest.param("Is parking free?", "It costs 5 euros.", "Is parking free?\nNo. It costs 5 euros.", True, id="what the answer says"),
        pytest.param("Shop có gói quà không?", "Có, shop có gói quà.", "Hỏi: Shop có gói quà không?\nĐáp: Không.", False, id="Vietnamese, the words of the question"),
        pytest.param("Gửi xe có mất phí không?", "Gửi xe miễn phí.", "Gửi xe có mất phí không? Không, gửi xe miễn phí.", True, id="Vietnamese, what the answer says"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("model", ["none", "shipped"])
def test_a_question_supports_nothing(query: str, claim: str, source: str, supported: bool, model: str) -> None:
    """Not by its words and not for the model that reads it beside its answer."""
    guard = Guard({"mode": "enforce", "grounding": {"model": model}})

    verdict = guard.verify(
        {"query": query, "draft_answer": claim, "retrieved_context": [{"source_id": "faq", "text": source}]}
    )

    assert (verdict.claims[0].status == "supported") is supported
