"""Keys of JSON and YAML that only name what follows, in the spelling of programs."""

from __future__ import annotations

import pytest

from stillme.text.keyed import find_keys, find_lines


@pytest.mark.parametrize(
    ("draft", "silent"),
    [
        pytest.param('{"answer": "It is free."}', ["answer"], id="one word"),
        pytest.param('{"quickReplies": ["It is free."]}', ["quickReplies"], id="humps"),
        pytest.param('{"cau_tra_loi": "Miễn phí."}', ["cau_tra_loi"], id="Vietnamese without accents"),
        pytest.param('{"câu trả lời": "Miễn phí."}', ["câu trả lời"], id="Vietnamese with accents"),
        pytest.param('{"confidence": "high", "text": "x"}', ["confidence", "high", "text"], id="a state"),
        pytest.param('{"doTinCay": "cao"}', ["doTinCay", "cao"], id="a Vietnamese state"),
        pytest.param('{"confidence": "stop it"}', ["confidence"], id="a state that is none is text"),
        pytest.param('{"answer": "high"}', ["answer"], id="an answer is text"),
        pytest.param('{"stop_your_medicine": "high"}', [], id="a key that says something is text"),
        pytest.param('{"wrong_answer": "It is free."}', [], id="a key that turns is text"),
        pytest.param('{"khong_tra_loi": "Miễn phí."}', [], id="a Vietnamese key that turns is text"),
        pytest.param(
            '{"handover": false, "ok": true}', ["handover", "false", "ok", "true"], id="literals behind states"
        ),
        pytest.param('{"answer": true}', ["answer"], id="a literal that answers is text"),
        pytest.param('{"refundable": true}', [], id="a literal behind a key that says something is text"),
        pytest.param('{"status": "no"}', ["status"], id="a state that may be a no is text"),
        pytest.param('{"id": 12, "confidence": 0.93}', ["id", "12", "confidence", "0.93"], id="numbers behind codes"),
        pytest.param('{"fee": 90, "text": 90}', ["text"], id="a number behind anything else is text"),
        pytest.param('{"intent": "faq.lookup"}', ["intent", "faq.lookup"], id="a state of several words"),
    ],
)
def test_keys_of_json(draft: str, silent: list[str]) -> None:
    """Exactly these characters."""
    assert [draft[a:b] for a, b in find_keys(draft)] == silent


@pytest.mark.parametrize(
    ("draft", "lines"),
    [
        pytest.param("tra_loi: Miễn phí\ngiong: lich_su", [["tra_loi"], ["giong", "lich_su"]], id="lines"),
        pytest.param("- answer_text: It is free", [["answer_text"]], id="an item"),
        pytest.param("Answer: It is free", [], id="a word before a colon is prose"),
        pytest.param("answer: It is free\nlang: en", [["answer"], ["lang", "en"]], id="small keys in several lines"),
        pytest.param("answer: It is free", [], id="one small word before a colon is prose"),
        pytest.param('[reply]\nbody = "It is free"', [["reply"], ["body", "="]], id="TOML"),
        pytest.param("fee = 90", [], id="a setting that says something is text"),
        pytest.param("dung_thuoc: ngay", [], id="a key that says something is text"),
    ],
)
def test_lines_of_yaml(draft: str, lines: list[list[str]]) -> None:
    """What of each line says nothing."""
    assert [[draft[a:b] for a, b in spans] for _, spans in find_lines(draft)] == lines


@pytest.mark.parametrize(
    "draft",
    ['{"' * 20_000, '{"a' * 20_000, "a_b:\n" * 20_000, "a" * 100_000, " - " * 40_000, "[a" * 20_000, "a = " * 20_000],
)
def test_no_text_stalls_it(draft: str) -> None:
    """Patterns are possessive and bounded: this returns."""
    assert len([*find_keys(draft), *find_lines(draft)]) <= len(draft)
