"""What a question leaves open, and what its passages or the turns before it settle."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.questions.ambiguity import find_ambiguity
from stillme.text.tokens import Text

PLANS = ["The Starter plan costs £5 a month.", "The Family plan costs £12 a month."]


@pytest.mark.parametrize(
    ("query", "passages", "labels"),
    [
        pytest.param("How much does the plan cost?", PLANS, ["Starter plan", "Family plan"], id="one of two plans"),
        pytest.param("How much does the Family plan cost?", PLANS, None, id="the plan is named"),
        pytest.param(
            "Gói cước giá bao nhiêu?", ["Gói cước giá 50.000 đồng mỗi tháng."], None, id="only one, in Vietnamese"
        ),
    ],
)
def test_options_of_the_passages(query: str, passages: list[str], labels: list[str] | None) -> None:
    """A question about a kind of which the passages have several is ambiguous."""
    found = find_ambiguity(Text(query), [], Evidence.of(query, passages=passages).library)

    assert (sorted(option.label for option in found.options) if found else None) == (labels and sorted(labels))
