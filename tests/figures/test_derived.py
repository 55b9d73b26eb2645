"""Figures that follow from two others."""

from __future__ import annotations

import pytest

from stillme.figures.derived import step_to, steps_to
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
        pytest.param("30 days", "within 30 days", "en", False, id="a figure that is stated follows from nothing"),
        pytest.param("room 12", "room 4 and room 8", "en", False, id="names of things"),
    ],
)  # fmt: skip
def test_one_step(figure: str, source: str, language: str, expected: bool) -> None:
    """A sum, a difference, a product, a share or a time; nothing else."""
    (wanted,) = figures(figure, language)

    assert (step_to(wanted, figures(source, language)) is not None) is expected


@pytest.mark.parametrize(
    ("figure", "source", "case", "language", "expected"),
    [
        pytest.param("$18", "$2 a day", "nine days late", "en", "rate", id="a price a day"),
        pytest.param("$20", "$2 a day", "nine days late", "en", "", id="a price a day worked out wrong"),
        pytest.param("$40", "$2 a day, at most $24", "20 days late", "en", "", id="no more than the most"),
        pytest.param("840.000 đồng", "12.000 đồng một mét vuông", "căn hộ 70 mét vuông", "vi", "rate", id="a price a square metre"),
        pytest.param("90.000 đồng", "sau 17 giờ 30, 30.000 đồng mỗi nửa giờ", "đón lúc 18 giờ 50", "vi", "rate", id="half hours begun"),
        pytest.param("£20", "50 percent of the fare", "a fare of £40", "en", "share", id="a percentage of what was paid"),
        pytest.param("1 triệu đồng", "được hoàn 50%", "cọc 2 triệu", "vi", "share", id="a percentage of a sum that is only a number"),
        pytest.param("9:20", "40 minutes before departure", "departure at 10:00", "en", "clock", id="a time before that of the case"),
        pytest.param("£60", "a bus leaves", "20 seats at £3", "en", "", id="the case alone comes to nothing"),
    ],
)  # fmt: skip
def test_a_rule_applied_to_a_case(figure: str, source: str, case: str, language: str, expected: str) -> None:
    """A stated figure and one of the case come to a third in one step, of which the kind is told."""
    (wanted,) = figures(figure, language)

    step = step_to(wanted, figures(source, language), figures(case, language))

    assert (step.kind if step else "") == expected


def test_what_is_taken_off() -> None:
    """A percentage off leaves the rest, and is not what is to be paid."""
    source = figures("The card costs $60. Students get 40 percent off.", "en")
    off = [q for q in source if q.dimension == "percent"]

    paid = [next(steps_to(figures(sum_, "en")[0], source, (), off), None) for sum_ in ("$36", "$24")]

    assert [step.kind if step else "" for step in paid] == ["rest", ""]
