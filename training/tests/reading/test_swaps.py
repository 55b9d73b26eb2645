"""Sentences with two things exchanged."""

from __future__ import annotations

import random

import pytest

from training.reading.swaps import swapped


@pytest.mark.parametrize(
    ("sentence", "others", "made"),
    [
        pytest.param(
            "A copy costs 2 pounds and a scan costs 5 pounds.", [], "A copy costs 5 pounds and a scan costs 2 pounds.",
            id="two figures",
        ),
        pytest.param(
            "Yesterday Hanna Weir met the nephew of Otto Brand.", [], "Yesterday Otto Brand met the nephew of Hanna Weir.",
            id="two names",
        ),
        pytest.param(
            "Hôm qua bà Lan đã trả tiền cho ông Phú.", [], "Hôm qua bà Phú đã trả tiền cho ông Lan.", id="two names in Vietnamese",
        ),
        pytest.param("The loan is for 21 days.", ["Maps: 28 days."], "The loan is for 28 days.", id="a figure of the same thing"),
        pytest.param("The loan is for 21 days.", ["Maps cost 28 pounds."], None, id="a figure of another thing"),
        pytest.param("Rooms 3 and 5 are closed.", [], None, id="a list is the same the other way round"),
        pytest.param("The gate stays shut at night.", ["Lamps burn all night."], None, id="nothing to exchange"),
    ],
)  # fmt: skip
def test_two_things_are_exchanged(sentence: str, others: list[str], made: str | None) -> None:
    """Figures and names of one sentence, or a figure of another one; what is wrong is marked."""
    found = swapped(sentence, others, random.Random(1))

    assert (found and found.text) == made
    assert not found or all(found.text[a:b] in f"{sentence} {others}" for a, b in found.spans)
