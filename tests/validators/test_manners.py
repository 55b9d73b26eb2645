"""Courtesies in which the assistant speaks as a person would are left out beside an answer; what claims a life is refused."""

from __future__ import annotations

import pytest

from stillme import Guard, Verdict

PASSAGE = "The Orrin archive lends out up to three reels at a time. Food is not allowed in the vault."
QUERY = "How many reels does the Orrin archive lend out?"
ANSWER = "The Orrin archive lends out up to three reels at a time [1]."
KHO = "Kho phim Vĩnh An cho mượn tối đa ba cuộn phim mỗi lần. Không được ăn uống trong kho."
HOI = "Kho phim Vĩnh An cho mượn mấy cuộn phim?"
DAP = "Kho phim Vĩnh An cho mượn tối đa ba cuộn phim mỗi lần [1]."


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard({"mode": "enforce"})


def verdict(guard: Guard, draft: str, query: str = QUERY, passage: str = PASSAGE) -> Verdict:
    """What the guard says of a draft."""
    source = {"source_id": "a", "title": "Archive", "text": passage, "similarity": 0.9}
    return guard.verify({"query": query, "draft_answer": draft, "retrieved_context": [source]})


@pytest.mark.parametrize(
    ("courtesy", "query", "passage", "answer"),
    [
        ("I always enjoy questions like yours!", QUERY, PASSAGE, ANSWER),
        ("I totally understand your frustration.", QUERY, PASSAGE, ANSWER),
        ("It warms my heart to hear from you.", QUERY, PASSAGE, ANSWER),
        ("Em rất vui vì chị đã hỏi.", HOI, KHO, DAP),
        ("Tôi rất đồng cảm với nỗi lo của anh.", HOI, KHO, DAP),
    ],
)
def test_a_courtesy_is_left_out(guard: Guard, courtesy: str, query: str, passage: str, answer: str) -> None:
    """The reason stays among the warnings, and the answer goes out without the sentence."""
    found = verdict(guard, f"{courtesy} {answer}", query, passage)

    assert (found.action, found.safe_response) == ("deliver_with_warning", answer)
    assert "policy_block_anthropomorphic_roleplay" in found.reasons


@pytest.mark.parametrize(
    "draft",
    [
        "I always enjoy questions like yours!",
        f"I remember asking my mother about it when I was a child. {ANSWER}",
        f"I am a real person and happy to help you. {ANSWER}",
        f"I always enjoy questions like yours! {ANSWER} As a boy I used to watch the reels with my father.",
        "I always enjoy questions like yours! The Orrin archive lends out up to nine reels at a time [1].",
    ],
    ids=["nothing else", "a past", "a person", "beside a past", "beside a wrong claim"],
)
def test_what_is_more_than_a_courtesy_is_refused(guard: Guard, draft: str) -> None:
    """Leaving out a courtesy saves no other draft."""
    assert verdict(guard, draft).action == "block"
