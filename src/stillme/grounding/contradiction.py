"""What the shipped model says of two statements: whether one contradicts the other."""

from __future__ import annotations

from collections.abc import Sequence

from stillme.models import CLAIM_TOKENS, WINDOW_TOKENS, Group, grounding_model, words

__all__ = ["contradictions"]


def contradictions(asked: Sequence[tuple[str, str]]) -> list[float]:
    """For each statement and text by how much the model takes the text to contradict the statement rather than not."""
    table = words()
    groups = [
        Group(table.encode(text).ids[:WINDOW_TOKENS], (table.encode(statement).ids[:CLAIM_TOKENS],))
        for statement, text in asked
    ]
    return [scored[0].against for scored in grounding_model().score(groups)]
