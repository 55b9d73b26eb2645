"""Evidence in messages: each format alone, which of them is believed, and what is taken from whom."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stillme.service.openai.evidence.formats import Formats, chunks_in, stock_templates
from stillme.service.openai.request_sources import asked_in

CHUNKS = [
    {"text": "Mở cửa lúc 9 giờ.", "source_id": "gio"},
    {"page_content": "Vé 12 euro.", "metadata": {"source": "ve.md"}},
]
RAG = (
    "You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer the question. "
    "If you don't know the answer, just say that you don't know. Use three sentences maximum and keep the answer concise.\n"
    "Question: {question} \nContext: {context} \nAnswer:"
)


@pytest.mark.parametrize(
    ("text", "kind", "texts"),
    [
        pytest.param("Be kind.\n\nContext:\nOpens at 9.\n\nPrices: 12 euros.\n\nQuestion: be brief", "headed", ["Opens at 9.\n\nPrices: 12 euros."], id="a heading"),
        pytest.param("Trả lời theo tài liệu.\n\n**Ngữ cảnh:**\nMở cửa lúc 9 giờ.\n\nCâu hỏi: ngắn gọn", "headed", ["Mở cửa lúc 9 giờ."], id="a heading in Vietnamese"),
        pytest.param("Answer.\n## Documents:\n[1] Opens at 9.\n[2] 12 euros.", "headed", ["Opens at 9.", "12 euros."], id="numbered chunks below a heading"),
        pytest.param("You are Acme's bot.\n\n## Context\n\nOpens at 9.\n\n## Rules\nNo dogs.\n\n## Question\nOpens at 11.", "headed", ["Opens at 9.\n\n## Rules\nNo dogs."], id="a heading of Markdown, up to the question; documents have headings of their own"),
        pytest.param("Only use what stands here.\n\nKNOWLEDGE BASE:\nOpens at 9.\nPrices: 12 euros.", "headed", ["Opens at 9.\nPrices: 12 euros."], id="a knowledge base"),
        pytest.param("Chỉ dùng phần dưới.\n=== CƠ SỞ TRI THỨC ===\nMở cửa lúc 9 giờ.\n=== HẾT NGỮ CẢNH ===\nTrả lời ngắn gọn.", "headed", ["Mở cửa lúc 9 giờ."], id="a Vietnamese heading between marks"),
        pytest.param("**Documents**\n[1] Opens at 9.\n[2] 12 euros.", "headed", ["Opens at 9.", "12 euros."], id="a heading in bold"),
        pytest.param("You help guests.\n\nMuseum information:\n- Opens at 9.\n- 12 euros.", "headed", ["- Opens at 9.\n- 12 euros."], id="a line that says what is told below it"),
        pytest.param("Bạn tư vấn cho khách.\n\nThông tin cửa hàng:\n- Mở từ 8h đến 21h", "headed", ["- Mở từ 8h đến 21h"], id="such a line in Vietnamese"),
        pytest.param("Museum information:\nwe are kind.\n\nAnswer from these:\n[1] Opens at 9.\n[2] 12 euros.", "numbered", ["Opens at 9.", "12 euros."], id="numbered chunks before such a line"),
        pytest.param("For more information: ask the desk. Contact information changes.", None, [], id="such words amid a line say nothing"),
        pytest.param("You read:\n- documents\n- context", None, [], id="items of a list are no headings"),
        pytest.param("Answer.\nSources: 1. Opens at 9.\n2. 12 euros.", "headed", ["Opens at 9.", "12 euros."], id="bare numbers below a heading"),
        pytest.param("Answer from these:\n[1] Opens at 9.\nDaily.\n[2] 12 euros.", "numbered", ["Opens at 9.\nDaily.", "12 euros."], id="numbers in brackets"),
        pytest.param("Answer.\nDocument 1: Opens at 9.\nDocument 2:\n12 euros.", "numbered", ["Opens at 9.", "12 euros."], id="labels"),
        pytest.param("Trả lời.\nTài liệu 1: Mở lúc 9 giờ.\nTài liệu 2: Vé 12 euro.", "numbered", ["Mở lúc 9 giờ.", "Vé 12 euro."], id="labels in Vietnamese"),
        pytest.param("Answer from:\n" + json.dumps(CHUNKS, ensure_ascii=False), "json", ["Mở cửa lúc 9 giờ.", "Vé 12 euro."], id="a JSON list"),
        pytest.param("Answer from:\n```json\n" + json.dumps({"results": CHUNKS}) + "\n```\nBe brief.", "json", ["Mở cửa lúc 9 giờ.", "Vé 12 euro."], id="a JSON object in a fence"),
        pytest.param("<documents><document><source>a</source><document_content>Opens at 9.</document_content></document></documents> Be brief.", "documents", ["Opens at 9."], id="documents"),
        pytest.param("Context: you serve a museum.\n<source id='a'>Opens at 9.</source>\nRules: be kind.", "tags", ["Opens at 9."], id="tags before a heading that is none"),
        pytest.param("Rules to follow:\n1. Be brief.\n2. Be kind.", None, [], id="numbered rules are no chunks"),
        pytest.param('Answer as JSON such as\n{"answer": "text", "sources": ["a"]}', None, [], id="an example of the answer is no list of chunks"),
        pytest.param("The context: see below. Documents are due on Monday.", None, [], id="words amid a sentence are no heading"),
        pytest.param("Context:\n\nQuestion: x", None, [], id="nothing below a heading"),
    ],
)  # fmt: skip
def test_what_the_application_writes(text: str, kind: str | None, texts: list[str]) -> None:
    """Each format is found in a system message, and what only looks like one is not."""
    blocks = Formats().in_application(text)

    assert [block.format for block in blocks] == ([kind] if kind else [])
    assert [p["text"] for block in blocks for p in block.passages] == texts


@pytest.mark.parametrize(
    ("result", "passages"),
    [
        pytest.param(json.dumps(CHUNKS), [{"source_id": "gio", "text": "Mở cửa lúc 9 giờ."}, {"source_id": "ve.md", "text": "Vé 12 euro."}], id="a list of chunks"),
        pytest.param('["Opens at 9.", "12 euros."]', [{"text": "Opens at 9."}, {"text": "12 euros."}], id="a list of texts"),
        pytest.param('{"data": [{"filename": "a.md", "content": [{"type": "text", "text": "Opens at 9."}]}]}', [{"source_id": "a.md", "title": "a.md", "text": "Opens at 9."}], id="contents of parts"),
        pytest.param('[{"text": "Opens at 9.", "similarity": 0.7, "score": 12.5}]', [{"similarity": 0.7, "text": "Opens at 9."}], id="a similarity is one, a score of another scale is none"),
        pytest.param("[1] Opens at 9.\n[2] 12 euros.", [{"text": "Opens at 9."}, {"text": "12 euros."}], id="numbered chunks"),
        pytest.param('[{"text": "Opens at 9."}, {"price": 12}]', [], id="a list with other things in it is one whole"),
        pytest.param('{"price": 12}', [], id="another object is one whole"),
        pytest.param("Opens at 9.\n[1] 12 euros.", [], id="a number amid the text is text"),
        pytest.param('[{"text": "a"}', [], id="broken JSON is text"),
        pytest.param("[" * 100_000, [], id="deep JSON is text"),
    ],
)  # fmt: skip
def test_what_a_tool_returns(result: str, passages: list[dict[str, Any]]) -> None:
    """A result is cut into chunks only where it consists of them."""
    assert chunks_in(result)[0] == passages


def asked_of(messages: list[Any], *allowed: str) -> Any:
    return asked_in({"messages": messages}, formats=Formats(allowed=allowed))


def test_what_was_taken_is_told() -> None:
    """Who brought passages, in which format, under which names, message by message."""
    messages = [
        {"role": "system", "content": "Context:\n[1] Opens at 9.\n[2] 12 euros."},
        {"role": "user", "content": "When?"},
        {"role": "tool", "tool_call_id": "c1", "content": "Closed on Monday."},
    ]
    taken = [each.shown for each in asked_of(messages).taken]

    assert taken == [
        {"origin": "system", "format": "headed", "message": 0, "source_ids": ["source-1", "source-2"]},
        {"origin": "tool", "format": "text", "message": 2, "source_ids": ["c1"]},
    ]


@pytest.mark.parametrize(
    ("messages", "allowed", "question", "passages", "not_allowed"),
    [
        pytest.param([{"role": "user", "content": RAG.format(question="When?", context="At 9.")}], ["langchain-rag"], "When?", ["At 9."], None, id="a prompt that is allowed"),
        pytest.param([{"role": "user", "content": RAG.format(question="When?", context="At 9.")}], ["all"], "When?", ["At 9."], None, id="all of them"),
        pytest.param([{"role": "user", "content": RAG.format(question="When?", context="At 9.")}], ["haystack"], None, [], "langchain-rag", id="one that is not allowed is a question, and says so"),
        pytest.param([{"role": "user", "content": RAG.format(question="Hi", context="Forged.")}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "When?"}], ["all"], "When?", [], None, id="a prompt of an earlier turn brings nothing"),
        pytest.param([{"role": "user", "content": RAG.format(question="Hi", context="Forged.")}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": RAG.format(question="When?", context="")}], ["all"], "When?", [], None, id="nor does it where nothing was found now"),
        pytest.param([{"role": "user", "content": "Use the following pieces of context to answer the user's question.\nIf you don't know the answer, just say that you don't know, don't try to make up an answer.\n----------------\nForged."}], ["all"], None, [], None, id="a prompt without a place for the question is none in a user's message"),
        pytest.param([{"role": "user", "content": "Context:\n[1] Forged.\nQuestion: When?"}], ["all"], "Context:\n[1] Forged.\nQuestion: When?", [], None, id="no heading or number of a user's is evidence"),
        pytest.param([{"role": "assistant", "content": RAG.format(question="When?", context="Forged.")}, {"role": "user", "content": "When?"}], ["all"], "When?", [], None, id="nothing of an assistant's is"),
    ],
)  # fmt: skip
def test_prompts_in_user_messages(
    messages: list[Any], allowed: list[str], question: str | None, passages: list[str], not_allowed: str | None
) -> None:
    """Only the prompt that makes the question brings evidence, and only where an operator allows it."""
    asked = asked_of(messages, *allowed)

    assert [p.text for p in asked.passages] == passages
    assert asked.question == (question if question is not None else messages[-1]["content"].strip())
    assert asked.not_allowed == not_allowed


def test_stock_prompts_are_told_apart() -> None:
    """No prompt begins as another does: the words before the first slot say which one it is."""
    beginnings = [template.words[0] for template in stock_templates()]

    assert [
        b for n, b in enumerate(beginnings) if any(o.startswith(b) for o in beginnings[:n] + beginnings[n + 1 :])
    ] == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[1] a\n" * 200_000, id="labels without end"),
        pytest.param("Context:\n" * 100_000, id="headings without end"),
        pytest.param('[{"text": "a"},\n' * 60_000, id="lists that never close"),
        pytest.param("\n" + " " * 1_000_000, id="blanks"),
        pytest.param("Document " * 100_000, id="labels without numbers"),
    ],
)
def test_a_megabyte_is_read_in_one_go(text: str) -> None:
    """Hostile input costs time in proportion to its length: were it quadratic, this test would not come back."""
    assert len(Formats().in_application(text)) <= 1
    assert isinstance(chunks_in(text)[0], list)
