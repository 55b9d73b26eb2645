"""What people say of a verdict: the labels of its reviews, and what should have been decided according to them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from stillme.audit.review.agreement import Review
from stillme.reasons import Decision

__all__ = ["Opinion", "Truth", "agrees", "opinions"]

Truth = Literal["answer", "refuse", "ask_clarify", "not answer"]
"""What should have been decided, as far as a label or an expected decision tells."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The labels in force on one verdict, one a reviewer."""

    labels: tuple[str, ...]
    unsupported: int | None = None
    """How many claims of the draft are unsupported, where reviewers labelled claims; a claim that they dispute is."""

    def truth(self, decision: str) -> Truth | None:
        """What should have been decided in place of the verdict's decision, or that it was right; None where nobody can tell.

        A label that cannot be of such a decision tells nothing. Where as many say that it is wrong, it counts as wrong: a disputed
        verdict speaks for nobody's policy.
        """
        wrong_label = "missed_hallucination" if decision == Decision.ANSWER else "false_refusal"
        wrong = self.labels.count(wrong_label)
        right = sum(label in ("correct", "wrong_reason") for label in self.labels)
        if not wrong and not right:
            return None
        if wrong < right:
            return Decision(decision).value
        return "not answer" if decision == Decision.ANSWER else "answer"


def opinions(given: Iterable[Review]) -> dict[str, Opinion]:
    """What reviewers say by verdict; of each reviewer the latest label counts."""
    latest: dict[str, dict[str, Review]] = {}
    for review in sorted(given, key=lambda review: review.seq):
        name = unicodedata.normalize("NFC", review.reviewer).strip()
        latest.setdefault(review.trace, {})[name] = review
    return {trace: _opinion(list(found.values())) for trace, found in latest.items()}


def _opinion(given: Sequence[Review]) -> Opinion:
    looked = [review.unsupported for review in given if review.unsupported is not None]
    votes = Counter(number for found in looked for number in found)
    unsupported = sum(2 * count >= len(looked) for count in votes.values()) if looked else None
    return Opinion(tuple(review.label for review in given), unsupported)


def agrees(truth: Truth, decision: str) -> bool:
    """Whether a decision is the one that should have been made."""
    if truth == "not answer":
        return decision in (Decision.REFUSE, Decision.ASK_CLARIFY)
    return decision == truth
