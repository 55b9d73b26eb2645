"""Which language a question asks to be answered in, and which it only speaks of."""

from __future__ import annotations

import pytest

from stillme.questions.answer_language import requested_language
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("query", "language"),
    [
        pytest.param("Please answer in English.", "en", id="an imperative"),
        pytest.param("Văn Miếu xây năm nào? Trả lời bằng tiếng Anh nhé", "en", id="a second sentence"),
        pytest.param("van mieu xay nam nao, tra loi bang tieng anh", "en", id="without accents"),
        pytest.param("Hà Nội có gì? In English please", "en", id="a bare phrase and please"),
        pytest.param("English please", "en", id="the name and please"),
        pytest.param("Ai sáng lập Hà Nội (in English)?", "en", id="in brackets"),
        pytest.param("dịch sang tiếng Anh", "en", id="a translation"),
        pytest.param("Translate this to English: xin chào", "en", id="'to' after translate"),
        pytest.param("Hãy giải thích quang hợp là gì bằng tiếng Anh", "en", id="an imperative, far from the name"),
        pytest.param("Bạn có thể trả lời bằng tiếng Anh được không?", "en", id="a polite question"),
        pytest.param("tôi muốn bạn trả lời bằng tiếng Anh", "en", id="a wish about the assistant"),
        pytest.param("I want the answer in English", "en", id="a wish about the answer"),
        pytest.param("dùng tiếng Anh để trả lời", "en", id="use English"),
        pytest.param("Explain it in plain English", "en", id="an adjective before the name"),
        pytest.param("Reply in English, not Vietnamese.", "en", id="the other language ruled out"),
        pytest.param("Cho tôi biết lịch sử Hà Nội bằng tiếng Anh.", "en", id="tell me"),
        pytest.param("Who founded Hanoi? Answer in Vietnamese.", "vi", id="a second sentence"),
        pytest.param("in Vietnamese please", "vi", id="a bare phrase"),
        pytest.param("Who founded Hanoi? In Vietnamese, please.", "vi", id="a comma before please"),
        pytest.param("Write a poem in Vietnamese", "vi", id="a work in that language"),
        pytest.param("Tell me about the moon in Vietnamese", "vi", id="telling"),
        pytest.param("I'd like you to respond in Vietnamese.", "vi", id="a wish"),
        pytest.param("Don't answer in English, answer in Vietnamese", "vi", id="one ruled out, one asked for"),
        pytest.param("switch to Vietnamese", "vi", id="switching"),
        pytest.param("giải thích bằng tiếng Việt", "vi", id="Vietnamese asked for in Vietnamese"),
        pytest.param("What is 'hello' in Vietnamese?", None, id="a word asked for"),
        pytest.param("How do you say hello in Vietnamese?", None, id="how to say"),
        pytest.param("Tell me how to say hello in Vietnamese", None, id="told how to say"),
        pytest.param("từ này tiếng Anh là gì?", None, id="what it is called"),
        pytest.param("Where is the English Channel?", None, id="a longer name"),
        pytest.param("Explain English grammar", None, id="English as a subject"),
        pytest.param("trường dạy tiếng Anh nào tốt?", None, id="a school"),
        pytest.param("Do you have the manual in English?", None, id="a thing in that language"),
        pytest.param("Which courses are taught in English?", None, id="courses in that language"),
        pytest.param("Tài liệu bằng tiếng Anh ở đâu?", None, id="documents in that language"),
        pytest.param("How can I write a resume in English?", None, id="how to write"),
        pytest.param("cách viết email bằng tiếng Anh", None, id="how to write, in Vietnamese"),
        pytest.param("Do I have to answer in English?", None, id="the user's own answer"),
        pytest.param("Thí sinh có được trả lời bằng tiếng Anh không?", None, id="a candidate's answer"),
        pytest.param("Don't answer in English", None, id="ruled out"),
        pytest.param("đừng trả lời bằng tiếng Anh", None, id="ruled out in Vietnamese"),
        pytest.param("Explain it but not in English", None, id="ruled out after the verb"),
        pytest.param("In English law, what is a tort?", None, id="English law"),
        pytest.param("How many tones are there in Vietnamese?", None, id="a fact about the language"),
        pytest.param("Giá dịch sang tiếng Anh là bao nhiêu?", None, id="the price of a translation"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_requested_language(query: str, language: str | None) -> None:
    """A query that asks to be answered in a language, and one that only speaks of it."""
    assert requested_language(Text(query)) == language
