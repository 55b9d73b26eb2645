"""Figures that follow from two others."""

from __future__ import annotations

import pytest

from stillme.figures.derived import is_derived
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


def figures(text: str, language: str) -> list[Quantity]:
    """The figures of a text."""
    read = Text(text)
    return find_quantities(read, language, 0, len(read))


@pytest.mark.parametrize(
    ("figure", "source", "language", "expected"),
    [
        pytest.param("270 forms", "1,450 forms were given out and 1,180 came back", "en", True, id="a difference"),
        pytest.param("€1,880", "a rent of €940, a deposit of two months' rent", "en", True, id="so many times"),
        pytest.param("7:15 p.m.", "it closes at 20:00, the last admission is 45 minutes before", "en", True, id="a time before another"),
        pytest.param("130 tấn", "bán 320 tấn rau, trong đó cải mèo 190 tấn", "vi", True, id="a Vietnamese rest"),
        pytest.param("$30", "a fee of $200, of which 15% are due now", "en", True, id="a percentage"),
        pytest.param("271 forms", "1,450 forms were given out and 1,180 came back", "en", False, id="worked out wrong"),
        pytest.param("€90", "The course costs €45.", "en", False, id="one figure alone"),
        pytest.param("room 12", "room 4 and room 8", "en", False, id="names of things"),
    ],
)  # fmt: skip
def test_one_step(figure: str, source: str, language: str, expected: bool) -> None:
    """A sum, a difference, a product, a share or a time; nothing else."""
    (wanted,) = figures(figure, language)

    assert is_derived(wanted, figures(source, language)) is expected
