"""Figures side by side, of which a draft states one."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.statements import Reading
from stillme.questions.side_by_side import picked_cells
from stillme.text.tokens import Sentence, Text

FARES = "A single fare costs £4, a return fare £7 and a weekly fare £19."


@pytest.mark.parametrize(
    ("query", "draft", "labels"),
    [
        pytest.param("How much is a fare?", "It is £7.", ["cost singl", "return", "week"], id="none is named"),
        pytest.param("How much is a weekly fare?", "It is £19.", [], id="one is named"),
        pytest.param("How much is a fare?", "It is £4, £7 or £19.", [], id="all are stated"),
        pytest.param("How much is a fare?", "It is £5.", [], id="a figure of no source"),
    ],
)
def test_what_tells_figures_apart(query: str, draft: str, labels: list[str]) -> None:
    """The words that each of them has alone."""
    text = Text(draft)
    said = Reading(text, [Sentence(0, len(text), 0, len(text.raw))], "en", frozenset()).statements[0]

    found = picked_cells(Text(query), [], said, Evidence.of(query, passages=[FARES]).library)

    assert [" ".join(sorted(label.words)) for _, label in found] == labels
