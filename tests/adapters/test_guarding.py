"""What adapters share: whole answers and streams, in each mode, with a guard that works and with one that fails."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.adapters.guarding import GuardedStream, ajudged, judged, passage_of
from tests.clients.support import BROKEN, FALSE, PASSAGE, QUESTION, TRUE, broken_guard, guard

PASSAGES = [passage_of(PASSAGE, 1, score=0.9)]
CAU_HOI = "Đồ chưa dùng được đổi trả trong bao lâu?"
NGU_CANH = [passage_of("Đồ chưa dùng được đổi trả trong 30 ngày.", 1, "đổi trả", 0.9)]
SAI = "Đồ chưa dùng được đổi trả trong 90 ngày [1]."


@pytest.mark.parametrize(
    ("mode", "draft", "goes_out", "blocked"),
    [
        pytest.param("enforce", TRUE, True, False, id="enforce delivers what is supported"),
        pytest.param("enforce", FALSE, False, True, id="enforce blocks what is contradicted"),
        pytest.param("warn", FALSE, True, False, id="warn delivers it with a warning"),
        pytest.param("monitor", FALSE, True, False, id="monitor delivers it"),
    ],
)
def test_a_whole_answer(mode: str, draft: str, goes_out: bool, blocked: bool) -> None:
    """What the mode says."""
    found = judged(guard(mode), QUESTION, draft, PASSAGES)

    assert (draft in found.text, found.is_blocked) == (goes_out, blocked)
    assert found.record["decision"] == ("answer" if draft is TRUE else "refuse")
    assert asyncio.run(ajudged(guard(mode), QUESTION, draft, PASSAGES)).text == found.text


@pytest.mark.parametrize(("mode", "goes_out"), [("enforce", False), ("warn", True), ("monitor", True)])
def test_a_guard_that_fails_blocks_in_enforce_and_says_so_everywhere(mode: str, goes_out: bool) -> None:
    """Even where the answer is right."""
    found = judged(broken_guard(mode), QUESTION, TRUE, PASSAGES)

    assert (TRUE in found.text, found.is_blocked) == (goes_out, not goes_out)
    assert found.record == {"verified": False, "problem": f"BackendError: '{BROKEN}'"}


@pytest.mark.parametrize(
    ("question", "words"),
    [(QUESTION, "One of the checks could not be completed."), (CAU_HOI, "kiểm tra")],
    ids=["in English", "in Vietnamese"],
)
def test_what_is_said_instead_is_in_the_users_language(question: str, words: str) -> None:
    """The failure itself is for the operator."""
    found = judged(broken_guard(), question, TRUE, PASSAGES)

    assert words in found.text
    assert BROKEN not in found.text


def streamed(stream: GuardedStream, text: str, size: int = 7) -> str:
    """What comes out of a stream of small pieces."""
    out = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*out, stream.close()])


@given(size=st.integers(1, 80))
def test_a_stream_lets_out_what_the_guard_delivers(size: int) -> None:
    """However it is cut: what is right goes out whole, what is wrong does not, and the verdict is that on the whole."""
    right = GuardedStream(guard(), QUESTION, PASSAGES)
    wrong = GuardedStream(guard(), QUESTION, PASSAGES)

    assert streamed(right, TRUE, size) == TRUE
    assert FALSE not in streamed(wrong, f"{TRUE} {FALSE}", size)
    assert (right.judged.is_blocked, wrong.judged.is_blocked) == (False, True)
    assert wrong.judged.record["decision"] == "refuse"
    assert wrong.judged.text.startswith(TRUE)


def test_a_claim_goes_out_before_the_answer_is_complete() -> None:
    """As soon as the next one has begun."""
    stream = GuardedStream(guard(), QUESTION, PASSAGES)

    early = stream.feed(f"{TRUE} Gear that ")

    assert early.strip() == TRUE


@pytest.mark.parametrize("mode", ["monitor", "warn"])
def test_a_stream_in_a_mode_that_delivers(mode: str) -> None:
    """The draft goes out; warn says below it what is wrong."""
    stream = GuardedStream(guard(mode), CAU_HOI, NGU_CANH)

    out = streamed(stream, SAI)

    assert out.startswith(SAI)
    assert (out == SAI) is (mode == "monitor")
    assert stream.judged.record["decision"] == "refuse"


@pytest.mark.parametrize("mode", ["enforce", "warn", "monitor"])
def test_a_stream_whose_guard_fails(mode: str) -> None:
    """In enforce the end says so; elsewhere the text is whole and nothing vouches for it."""
    stream = GuardedStream(broken_guard(mode), QUESTION, PASSAGES)

    out = streamed(stream, TRUE)

    assert (out == TRUE) is (mode != "enforce")
    assert stream.judged.verdict is None
    assert BROKEN in str(stream.judged.problem)
    assert stream.judged.is_blocked is (mode == "enforce")


def test_a_stream_over_the_limits_is_blocked() -> None:
    """Nothing is cut in silence."""
    stream = GuardedStream(guard(limits={"draft_chars": 40}), QUESTION, PASSAGES)

    out = streamed(stream, TRUE)

    assert TRUE not in out
    assert "draft_chars" in str(stream.judged.problem)
    assert stream.judged.is_blocked


def test_a_stream_without_text_is_not_judged() -> None:
    """As where a model only calls a tool."""
    stream = GuardedStream(guard(), QUESTION, PASSAGES)

    assert (stream.close(), stream.judged.record) == ("", {"verified": False, "problem": None})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(("A.", 3), {"source_id": "3", "text": "A."}, id="no id: its number"),
        pytest.param(("A.", 3, "faq", 0.5), {"source_id": "faq", "text": "A.", "similarity": 0.5}, id="with a score"),
        pytest.param(("A.", 3, "faq", 17.2), {"source_id": "faq", "text": "A."}, id="a score on another scale is none"),
    ],
)
def test_a_passage_from_what_a_framework_knows(given: tuple[str, int, str, float], expected: dict[str, object]) -> None:
    """What is not known is left out."""
    assert passage_of(*given) == expected
