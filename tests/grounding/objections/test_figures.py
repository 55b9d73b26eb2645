"""A figure of the claim objects where the source has another in its place, and only there."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.figures import only_denied, other_figures
from tests.grounding.objections.support import laid, raised

ROWS = [
    pytest.param("The ferry carries 80 cars.", "The ferry carries 90 cars.", [("figure", "80")], id="another figure"),
    pytest.param("The ferry carries 80 cars.", "The ferry carries eighty cars.", [], id="the same figure in words"),
    pytest.param(
        "The ferry carries 80 cars.",
        "The ferry is white. Its cabin seats 80 cars' worth of people. The ferry carries 90 cars.",
        [("figure", "80")],
        id="the figure of another thing",
    ),
    pytest.param(
        "The ferry carries 80 cars.", "The ferry carries cars.", [("figure missing", "80")], id="a figure in no source"
    ),
    pytest.param(
        "The ferry carries at least 80 cars.",
        "The ferry carries 90 cars.",
        [("figure apart", "80")],
        id="a bound beside a figure",
    ),
    pytest.param(
        "The ferry does not carry 80 cars.",
        "The ferry carries 90 cars.",
        [("figure apart", "80")],
        id="a figure denied",
    ),
    pytest.param(
        "You may stay for 80 days.",
        "You may stay for up to 60 days.",
        [("figure", "80 days")],
        id="a bound overstepped",
    ),
    pytest.param(
        "Bạn được ở lại 80 ngày.",
        "Bạn được ở lại tối đa 60 ngày.",
        [("figure", "80 ngày")],
        id="a Vietnamese bound overstepped",
    ),
    pytest.param(
        "Phà chở được 80 ô tô.", "Phà chở được 90 ô tô.", [("figure", "80")], id="another figure in Vietnamese"
    ),
    pytest.param("Phà chở được 80 ô tô.", "Phà chở được tám mươi ô tô.", [], id="the same figure in Vietnamese words"),
]


@pytest.mark.parametrize(("claim", "source", "expected"), ROWS)
def test_other_figures(claim: str, source: str, expected: list[tuple[str, str]]) -> None:
    """Each figure of the claim is looked for in the statements."""
    assert raised(other_figures, laid(claim, source)) == expected


def test_a_figure_of_the_title_is_context() -> None:
    """What the title says counts as said by the source, and is no objection."""
    alignment = laid(
        "The 2019 timetable has a night ferry.", "The timetable has a night ferry.", title="Timetable 2019"
    )

    assert (raised(other_figures, alignment), alignment.claim.first + 1 in alignment.context) == ([], True)


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("The course takes twelve years, not thirteen years.", ["thirteen years"]),
        ("The course does not take twelve years.", []),
        ("Khóa học kéo dài mười hai năm, không phải mười ba năm.", ["mười ba năm"]),
    ],
)
def test_a_figure_that_is_only_set_against_another_needs_no_source(claim: str, denied: list[str]) -> None:
    """It is the negation before it that says so, and a figure of its kind beside it."""
    alignment = laid(claim, claim)
    tokens = only_denied(alignment.claim)
    figures = [q for q in alignment.claim.quantities if q.first in tokens]

    assert [alignment.claim.reading.text.slice(q.first, q.last) for q in figures] == denied
