"""Context that a sentence of the application announces."""

from __future__ import annotations

import pytest

from stillme.service.openai.evidence.announced import announced
from stillme.service.openai.evidence.formats import Formats

CONTEXT = "The museum opens at 9 am.\n\nAdmission costs 12 euros."


@pytest.mark.parametrize("text", [
    pytest.param("You are a guide. Answer from the following context:\n\n{}", id="a colon"),
    pytest.param("Use the following context: {}", id="a colon in the same line"),
    pytest.param("Answer using only the context below.\nIf unsure, say so.\n\n{}", id="the next paragraph"),
    pytest.param("Be kind.\nUse the context information below to assist the user.\n----\n{}\n----\nBe brief.", id="rules"),
    pytest.param("Answer based on the following documents:\n```text\n{}\n```\nBe brief.", id="a fence of code"),
    pytest.param("Here are the relevant documents for the context:\n\n{}\n\nInstruction: be brief.", id="up to a heading"),
    pytest.param("Answer from these excerpts:\n{}", id="a word that announces only with its colon"),
    pytest.param("Chỉ trả lời dựa vào tài liệu sau:\n{}", id="Vietnamese, a colon"),
    pytest.param("Trả lời theo ngữ cảnh dưới đây. Nếu không có thì nói không biết.\n\n{}", id="Vietnamese, the next paragraph"),
    pytest.param("Dựa trên các thông tin được cung cấp dưới đây:\n---\n{}\n---\nNgắn gọn.", id="Vietnamese, rules"),
])  # fmt: skip
def test_context_is_found(text: str) -> None:
    """From where it is opened to where it is closed."""
    [block] = announced(text.format(CONTEXT))

    assert [passage["text"] for passage in block.passages] == [CONTEXT]
    assert block.format == "announced"


@pytest.mark.parametrize("text", [
    pytest.param("You are a guide. Cite your sources.\n\nNever say more than you know.", id="sources are named, not announced"),
    pytest.param("Always answer using the provided context information.\nSome rules to follow:\n1. Be brief.", id="another sentence's colon"),
    pytest.param("Follow these rules for sources:\n- cite them", id="rules are announced"),
    pytest.param("Use the context below.", id="nothing behind it"),
    pytest.param("Use the following context:\n\n", id="only blanks behind it"),
    pytest.param("Hãy ghi nguồn.\n\nTrả lời ngắn gọn.", id="Vietnamese, sources are named"),
    pytest.param("", id="no text"),
])  # fmt: skip
def test_other_sentences_announce_nothing(text: str) -> None:
    """Instructions are no evidence."""
    assert announced(text) == []


def test_chunks_of_an_announced_context_are_cut() -> None:
    """Numbered chunks and surer formats are believed before a sentence."""
    [block] = Formats().in_application("Use the documents below.\n\n1. Opens at 9.\n2. 12 euros.")
    [surer] = Formats().in_application("Use the documents below.\n\nBe kind.\n\n[1] Opens at 9.\n[2] 12 euros.")

    assert [passage["text"] for passage in block.passages] == ["Opens at 9.", "12 euros."]
    assert (surer.format, len(surer.passages)) == ("numbered", 2)


def test_a_long_text_of_announcements() -> None:
    """Takes no longer than its length says."""
    assert announced("use the following context below " * 20_000) == []
