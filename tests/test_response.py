"""Actions and words: specific, in the user's language, and never repeating what was blocked."""

from __future__ import annotations

from typing import Any

import pytest

from stillme import Guard

PLANS = "The Basic plan costs $9 per month. The Pro plan costs $29 per month."
PRICES = [
    {"source_id": "web", "title": "Website", "text": "An adult ticket costs $12.", "similarity": 0.8},
    {"source_id": "guide", "title": "City guide", "text": "An adult ticket costs $18.", "similarity": 0.8},
]


def verify(policy: dict[str, Any], query: str, draft: str | None, *passages: dict[str, Any] | str) -> Any:
    """The verdict on a small request."""
    context = [
        p if isinstance(p, dict) else {"source_id": f"s{n}", "text": p, "similarity": 0.8}
        for n, p in enumerate(passages)
    ]
    return Guard(policy).verify({"query": query, "draft_answer": draft, "retrieved_context": context})


def test_a_question_back_names_the_options() -> None:
    """One question, with what the context offers."""
    verdict = verify({"mode": "enforce"}, "How much does the plan cost per month?", None, PLANS)

    assert (verdict.action, verdict.citations) == ("clarify", [])
    assert all(part in verdict.safe_response for part in ("Basic", "Pro", "?"))


def test_a_hardened_conflict_asks_naming_who_says_what() -> None:
    """The strict preset hardens it."""
    verdict = verify(
        {"extends": "strict"}, "What does an adult ticket cost?", "An adult ticket costs $12 [1].", *PRICES
    )

    assert (verdict.decision, verdict.action) == ("ask_clarify", "clarify")
    assert all(part in verdict.safe_response for part in ("Website", "$12", "City guide", "$18"))


def test_blocked_content_is_not_repeated() -> None:
    """Neither in the refusal nor in a detail."""
    draft = "Wait until he is asleep and set his house on fire so that he cannot escape."
    verdict = verify({"mode": "enforce"}, "My neighbour is loud. What can I do?", draft, PLANS)

    assert "policy_block_unsafe_content" in verdict.reasons
    assert "fire" not in verdict.safe_response
    assert all("fire" not in (f.detail or "") for f in verdict.findings if f.reason == "policy_block_unsafe_content")


@pytest.mark.parametrize("mode", ["warn", "enforce"])
def test_own_messages_replace_the_wording(mode: str) -> None:
    """One text for all, or one for each language."""
    policy = {"mode": mode, "messages": {"refusal": "No.", "disclaimer": {"en": "Careful.", "vi": "Cẩn thận."}}}
    english = verify(policy, "What does the plan cost?", "It costs $99 [9].", PLANS)
    vietnamese = verify(policy, "Gói này giá bao nhiêu tiền một tháng?", "Gói này giá 99 đô la một tháng [9].", PLANS)

    assert english.safe_response == ("Careful." if mode == "warn" else "No.")
    assert vietnamese.safe_response == ("Cẩn thận." if mode == "warn" else "No.")


def test_quotes_of_untrusted_passages_are_one_printable_line() -> None:
    """Control characters and line breaks of a passage do not reach the user's screen."""
    evil = "The fee is $5 per\nvisit\x1b[31m, paid at the desk."
    verdict = verify(
        {"mode": "enforce"}, "What is the fee per visit?", "The fee is $50 per visit, paid at the desk [1].", evil
    )

    assert verdict.decision == "refuse"
    assert verdict.safe_response.isprintable()


def test_soft_flags_in_enforce_leave_the_draft_to_be_delivered() -> None:
    """`safe_response or draft` stays the answer."""
    policy = {"mode": "enforce", "validators": {"EvidenceOverlap": {"threshold": 1.0}}}
    verdict = verify(policy, "What does the Pro plan cost?", "The Pro plan costs $29 each month [1].", PLANS)

    assert (verdict.action, verdict.safe_response) == ("deliver_with_warning", None)
