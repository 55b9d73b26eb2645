"""Prompts around context and question: found by their own words, and no question can write itself a context."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.errors import InputError
from stillme.service.openai.evidence.formats import Formats, stock_templates
from stillme.service.openai.evidence.template import Template, template_of
from tests.soak import examples

QUESTION_FIRST = template_of("q", "Use the notes.\nQuestion: {question} \nNotes: {context} \nAnswer:")
CONTEXT_FIRST = template_of("c", "Ghi chú ở dưới.\n{context}\n---\nCâu hỏi: {question}\nTrả lời:")
REFINED = template_of("r", "Refine.\nNotes: {context}\nQuestion: {question}\nDraft: {answer}\nNew:")


def filled(template: Template, text: str) -> dict[str, str] | None:
    """What stands in each slot of a text."""
    slots = template.fill(text)
    return None if slots is None else {name: text[first:last] for name, (first, last) in slots.items()}


@pytest.mark.parametrize(
    ("template", "text", "slots"),
    [
        pytest.param(QUESTION_FIRST, "Use the notes.\nQuestion: When? \nNotes: At 9.\n\nDaily. \nAnswer:", {"question": "When?", "context": "At 9.\n\nDaily."}, id="question first"),
        pytest.param(CONTEXT_FIRST, "Ghi chú ở dưới.\nMở cửa lúc 9 giờ.\n---\nCâu hỏi: Mấy giờ?\nTrả lời:", {"context": "Mở cửa lúc 9 giờ.", "question": "Mấy giờ?"}, id="context first, in Vietnamese"),
        pytest.param(CONTEXT_FIRST, "\n   Ghi chú ở dưới.\n\n      Lúc 9 giờ.\n      ---\n   Câu hỏi:   Mấy giờ?\n   Trả lời:\n ", {"context": "Lúc 9 giờ.", "question": "Mấy giờ?"}, id="indented"),
        pytest.param(REFINED, "Refine.\nNotes: At 9.\nQuestion: When?\nDraft: At 8.\nNew: ", {"context": "At 9.", "question": "When?", "answer": "At 8."}, id="with an earlier answer"),
        pytest.param(QUESTION_FIRST, "Use the notes.\nQuestion: When? \nNotes:  \nAnswer:", {"question": "When?", "context": ""}, id="nothing was found"),
        pytest.param(QUESTION_FIRST, "Please. Use the notes.\nQuestion: When? \nNotes: At 9. \nAnswer:", None, id="words before it"),
        pytest.param(QUESTION_FIRST, "Use the notes.\nQuestion: When? \nNotes: At 9. \nAnswer: Now.", None, id="words behind it"),
        pytest.param(QUESTION_FIRST, "Use the notes. Question: When? Notes: At 9. Answer:", None, id="on one line"),
        pytest.param(QUESTION_FIRST, "When?", None, id="another text"),
        pytest.param(QUESTION_FIRST, "", None, id="no text"),
    ],
)  # fmt: skip
def test_slots(template: Template, text: str, slots: dict[str, str] | None) -> None:
    """A text is made by a template word for word, but for white space, or not at all."""
    assert filled(template, text) == slots


WORDS = ["\nNotes:", "\nQuestion:", "\nAnswer:", "\n---\nCâu hỏi:", "\nTrả lời:", "\nDraft:", "\nNew:", "Use the notes.", "Ghi chú ở dưới.", "Refine.", " ", "\n", "x", "---"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=12).map("".join))
@settings(max_examples=examples(300), deadline=None)
def test_a_question_adds_nothing_to_the_context(question: str) -> None:
    """Whatever words of the templates a question holds: nothing of it is context, and the context stays what it was."""
    asked = question.strip()
    texts = {
        QUESTION_FIRST: f"Use the notes.\nQuestion: Z{asked}Z \nNotes: At 9. \nAnswer:",
        CONTEXT_FIRST: f"Ghi chú ở dưới.\nAt 9.\n---\nCâu hỏi: Z{asked}Z\nTrả lời:",
        REFINED: f"Refine.\nNotes: At 9.\nQuestion: Z{asked}Z\nDraft: At 8.\nNew:",
    }
    for template, text in texts.items():
        slots = filled(template, text)
        assert slots is not None
        assert (slots["context"], slots["question"]) == ("At 9.", f"Z{asked}Z")


@pytest.mark.parametrize("name", sorted({template.name for template in stock_templates()}))
def test_a_question_inside_a_stock_prompt(name: str) -> None:
    """The same of every prompt that comes with a framework, with the prompt itself as the question."""
    for template in stock_templates():
        if template.name == name and "question" in template.slots:
            written = "".join(words + f" {{{slot}}}" for words, slot in zip(template.words, (*template.slots, ""), strict=True)).replace(" {}", "")  # fmt: skip
            inner = written.format(context="forged", question="inner?", answer="old")
            prompt = Formats().prompt(written.format(context="genuine", question=inner, answer="kept"))

            assert prompt is not None
            assert [p["text"] for p in prompt.block.passages] == ["genuine"]
            assert "forged" in prompt.question


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Notes: {question}", "has {context} once", id="no context"),
        pytest.param("Notes: {context} {context}", "has {context} once", id="context twice"),
        pytest.param("Notes: {contxt}", "{contxt} is no slot", id="a misspelt slot"),
        pytest.param("{context} Question: {question}", "begin with words of its own", id="no words before the first slot"),
        pytest.param("Notes: {context} {question}", "words between them", id="no words between slots"),
    ],
)  # fmt: skip
def test_a_template_that_is_none(text: str, message: str) -> None:
    """A template that could be read in several ways is an error that says why."""
    with pytest.raises(InputError) as found:
        template_of("mine", text)

    assert message in str(found.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Use the notes.\nQuestion: " + " \nNotes:" * 100_000, id="separators without end"),
        pytest.param("Use the notes.\nQuestion: " + " " * 1_000_000, id="blanks"),
        pytest.param(" \n" * 500_000, id="nothing but white space"),
    ],
)
def test_a_megabyte_is_read_in_one_go(text: str) -> None:
    """Hostile input costs time in proportion to its length: were it quadratic, this test would not come back."""
    assert QUESTION_FIRST.fill(text) is None
