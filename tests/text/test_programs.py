"""Lines as programs write them: what only names a text is hidden, the text is read."""

from __future__ import annotations

import pytest

from stillme.text.programs import find_program_lines


def read(draft: str) -> tuple[list[str], list[str]]:
    """What is hidden, and the texts."""
    lines = list(find_program_lines(draft))
    hidden, apart = ([draft[a:b] for line in lines for a, b in line[part]] for part in (0, 1))
    return hidden, apart


@pytest.mark.parametrize(
    ("draft", "hidden", "apart"),
    [
        pytest.param("It is free.", [], [], id="prose"),
        pytest.param('He said "it is free"', [], [], id="a quotation"),
        pytest.param('reply = "it is free"', ['reply = "', '"'], ["it is free"], id="a setting"),
        pytest.param('const replyText = "it is free";', ['const replyText = "', '";'], ["it is free"], id="a constant"),
        pytest.param("loi_dap = 'miễn phí'", ["loi_dap = '", "'"], ["miễn phí"], id="a Vietnamese setting"),
        pytest.param('print("it is free")', ['print("', '")'], ["it is free"], id="a call"),
        pytest.param("console.log(`it is free`);", ["console.log(`", "`);"], ["it is free"], id="a call of a member"),
        pytest.param('return "it is free";', ['return "', '";'], ["it is free"], id="what is returned"),
        pytest.param("'reply' => 'it is free',", ["'reply' => '", "',"], ["it is free"], id="a pair"),
        pytest.param('dogs_allowed = "on the lower deck"', [], [], id="a name that says something is text"),
        pytest.param('no_answer = "it is free"', [], [], id="a name that turns is text"),
        pytest.param('stop_medicine("it is free")', [], [], id="a call that advises is text"),
        pytest.param("[INFO] it is free", ["[INFO] "], [], id="a level"),
        pytest.param("[THÔNG TIN] miễn phí", ["[THÔNG TIN] "], [], id="a Vietnamese level"),
        pytest.param("2031-05-06 07:08:09 INFO bot - it is free", ["2031-05-06 07:08:09 INFO bot - "], [], id="a line of a log"),
        pytest.param("2031-05-06 it is free", [], [], id="a date alone is text"),
        pytest.param("INFO desks are free", [], [], id="a level without its mark is text"),
        pytest.param("[FREE] dogs and cats", [], [], id="no level"),
        pytest.param('DEBUG: text="it is free"', ["DEBUG: ", 'text="', '"'], ["it is free"], id="a setting in a log"),
        pytest.param('level=info msg="it is free" lang=en', ['level=info msg="', '" lang=en'], ["it is free"], id="pairs"),
        pytest.param('level=info fee=90 msg="it is free"', [], [], id="a pair that says something is text"),
        pytest.param("id,answer\n1,\"it's free, all of it\"", ["id,answer", '1,"', '"'], ["it's free, all of it"], id="rows"),
        pytest.param("stt;tra_loi\n1;miễn phí", ["stt;tra_loi", "1;"], ["miễn phí"], id="Vietnamese rows"),
        pytest.param("id,answer\n7,it is free", ["id,answer", "7,"], ["it is free"], id="a number of its own"),
        pytest.param("text,answer\n7,it is free", ["text,answer", ","], ["7", "it is free"], id="a number that may say something"),
        pytest.param("fee,answer\n7,it is free", [], [], id="a column that says something"),
        pytest.param("answer, text\nit is free", [], [], id="no row"),
    ],
)  # fmt: skip
def test_lines(draft: str, hidden: list[str], apart: list[str]) -> None:
    """Exactly these characters."""
    assert read(draft) == (hidden, apart)


@pytest.mark.parametrize(
    "draft",
    ['a=(' * 20_000, '"' * 50_000, "a b " * 20_000 + '"', "[INFO] " * 10_000, 'a="b" ' * 10_000, "id,answer\n" + ',"' * 20_000, "id,answer\n" * 10_000],
    ids=range(7),
)  # fmt: skip
def test_no_text_stalls_it(draft: str) -> None:
    """Patterns are bounded: this returns."""
    assert len(list(find_program_lines(draft))) <= len(draft)
