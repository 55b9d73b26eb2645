"""The largest request that is accepted: over a limit is an error that names it, before any work starts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stillme import Guard, InputError
from stillme.contract import parse_request
from stillme.limits import Amount, work_of
from stillme.text.sentences import split
from stillme.text.tokens import Text


class Untouched:
    """A grounder that must not be asked."""

    id = "untouched"

    def judge(self, tasks: Any) -> Any:
        raise AssertionError("work was begun")


def passages(*texts: str, **more: Any) -> list[dict[str, Any]]:
    return [{"source_id": str(n), "text": text, **more} for n, text in enumerate(texts)]


def nested(depth: int) -> Any:
    """Lists in lists."""
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


LOOP: list[Any] = []
LOOP.append(LOOP)
SENTENCE = "The tower has 12 floors. "
CAU = "Tòa tháp có 12 tầng. "


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        pytest.param({"retrieved_context": passages(*["x" * 60_000] * 20)}, "context_chars", id="passages that are large together"),
        pytest.param({"retrieved_context": passages("x", title="t" * 1_200_000)}, "context_chars", id="a title as long as a book"),
        pytest.param({"retrieved_context": passages("x", url="u" * 1_200_000)}, "context_chars", id="an address as long as a book"),
        pytest.param({"draft_answer": SENTENCE * 2000, "retrieved_context": passages(SENTENCE * 2000)}, "work", id="many claims by many sentences"),
        pytest.param({"draft_answer": CAU * 2000, "retrieved_context": passages(CAU * 2000)}, "work", id="the same in Vietnamese"),
        pytest.param({"draft_answer": "A\n\n" * 9_000, "retrieved_context": passages("B; " * 9_000)}, "work", id="lines by semicolons"),
        pytest.param({"draft_answer": "7 " * 9_000, "retrieved_context": passages("8 " * 9_000)}, "work", id="one sentence of figures by another"),
        pytest.param({"metadata": {"x": nested(40)}}, "metadata_depth", id="metadata nested deeply"),
        pytest.param({"metadata": {"x": LOOP}}, "metadata_depth", id="metadata that holds itself"),
        pytest.param({"metadata": {"x": [[]] * 5_000}}, "metadata_items", id="metadata of many empty lists"),
        pytest.param({"metadata": {"x": "y" * 100_000}}, "metadata_chars", id="metadata of one long text"),
        pytest.param({"metadata": {"session_id": "y" * 100_000}}, "metadata_chars", id="a long session id"),
        pytest.param({"retrieved_context": passages("x", page=[[]] * 5_000)}, "metadata_items", id="a passage with many extra values"),
        pytest.param({"conversation": [{"role": "user", "content": "x", "tool": nested(40)}]}, "metadata_depth", id="a turn nested deeply"),
        pytest.param({"conversation": [{"role": "r" * 100_000, "content": "x"}]}, "conversation_chars", id="a role as long as a book"),
    ],
)  # fmt: skip
def test_too_much_is_an_input_error_that_names_the_limit(change: dict[str, Any], limit: str) -> None:
    """Alone and in a batch, before anything is judged."""
    guard = Guard({"grounding": {"model": "none"}}, grounder=Untouched())
    request = {"query": "How many floors?", "draft_answer": "It has 12 floors.", **change}

    with pytest.raises(InputError, match=rf"limits\.{limit}"):
        guard.verify(request)
    with pytest.raises(InputError, match=rf"limits\.{limit}"):
        guard.verify_batch([request])


def test_the_limit_on_work_is_the_operators() -> None:
    """What one policy refuses, another takes on."""
    request = {"query": "How high?", "draft_answer": SENTENCE * 3, "retrieved_context": passages(SENTENCE * 3)}
    policy = {"grounding": {"model": "none"}}

    with pytest.raises(InputError, match="ask for 9 units of work"):
        Guard(policy | {"limits": {"work": 8}}).verify(request)
    assert Guard(policy | {"limits": {"work": 9}}).verify(request).claims


def test_a_question_without_a_draft_asks_for_no_work() -> None:
    """Pattern B reads the passages once."""
    assert work_of(parse_request({"query": "q", "retrieved_context": passages(SENTENCE * 9_000)})) == 0


TEXTS = st.lists(
    st.sampled_from([*".!?…。！？;:,\n\n\"”’)]*'`【】[|-#", " ", " ", "A", "b", "Ông", "3.5", "7", "Dr", "e.g", "\u200b", "\u0301", "(1)"]),
    max_size=60,
).map("".join)  # fmt: skip


@given(TEXTS)
@example("A.\u200b B.")
@example('He said "no." Then "yes."[1] B')
def test_never_fewer_sentences_are_counted_than_are_read(text: str) -> None:
    """A text cannot be split into more than was counted."""
    assert Amount.of(text).sentences >= len(split(Text(text)))


@given(st.lists(st.sampled_from([SENTENCE, CAU, "Yes! ", "One; two.\n"]), max_size=12), st.integers(0, 12))
def test_the_parts_of_a_text_count_as_much_as_the_whole(sentences: list[str], at: int) -> None:
    """What is counted claim by claim comes to the same."""
    whole, first, rest = ("".join(part) for part in (sentences, sentences[:at], sentences[at:]))

    assert Amount.of(first) + Amount.of(rest) == Amount.of(whole)
