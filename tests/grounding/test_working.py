"""How figures of a claim that a source does not write follow from it."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.statements import Statement
from stillme.grounding.working import Working, asked_figures, work_out

FARES = "Riders 20 to 39 minutes late get back 25 percent of the fare. For a delay of 40 minutes or more Tolvan pays the full fare."
LATE = "Overdue charges are 30 cents a day for a map and $2 a day for a globe, up to a maximum of $9."
VE = "Khách từ 6 đến 11 tuổi trả nửa giá vé. Khách dưới 6 tuổi được miễn vé. Hành lý trên 25 kg không được nhận."


def worked(query: str, draft: str, passage: str) -> tuple[Statement, Working]:
    """A claim of one sentence, and how its figures follow."""
    task = Evidence.of(query, draft, [passage]).grounding_task
    claim, (reading,) = task.draft.statements[0], task.library.readings
    near = sorted(reading.statements, key=lambda each: -len(claim.stems & each.stems))
    return claim, work_out(claim, reading, near, asked_figures(task.query))


@pytest.mark.parametrize(
    ("query", "draft", "passage", "inside"),
    [
        pytest.param("I came 25 minutes late?", "At 25 minutes late you get back 25 percent.", FARES, {"25 minutes": True}, id="its own rule"),
        pytest.param("I came 50 minutes late?", "At 50 minutes late you get back 25 percent.", FARES, {"50 minutes": False}, id="the rule of another range"),
        pytest.param("Cháu 4 tuổi?", "Cháu 4 tuổi được miễn vé.", VE, {"4 tuổi": True}, id="a rule in words"),
        pytest.param("Cháu 4 tuổi?", "Cháu 4 tuổi trả nửa giá vé.", VE, {"4 tuổi": False}, id="the words of another range"),
        pytest.param("Va li 30 kg?", "Va li 30 kg không được nhận.", VE, {"30 kg": True}, id="a denial"),
        pytest.param("How late?", "You must wait 25 minutes.", FARES, {}, id="a figure that nobody asked about is no case"),
    ],
)  # fmt: skip
def test_cases(query: str, draft: str, passage: str, inside: dict[str, bool]) -> None:
    """A figure of the case lies in the range whose rule the claim applies, or does not."""
    claim, working = worked(query, draft, passage)

    text = claim.reading.text
    figures = {q.first: text.slice(q.first, q.last) for q in claim.quantities}
    assert {figures[first]: case.is_inside for first, case in working.cases.items()} == inside


@pytest.mark.parametrize(
    ("query", "draft", "passage", "explained"),
    [
        pytest.param("?", "Four days late, a globe costs $8.", LATE, ["Four days", "$8"], id="the price of what is named"),
        pytest.param("?", "Four days late, a map costs $8.", LATE, [], id="the price of something else"),
        pytest.param("?", "Six days late, a globe costs $12.", LATE, [], id="beyond the most"),
        pytest.param("I paid £60?", "Of the fare you get back £15.", FARES, ["£15"], id="a percentage of what was paid"),
        pytest.param("?", "Ba khách đi hết 90.000 đồng.", "Vé 30.000 đồng một khách.", ["Ba", "90.000 đồng"], id="so many in Vietnamese"),
        pytest.param("?", "Ba khách đi hết 80.000 đồng.", "Vé 30.000 đồng một khách.", [], id="worked out wrong in Vietnamese"),
    ],
)  # fmt: skip
def test_steps(query: str, draft: str, passage: str, explained: list[str]) -> None:
    """What is worked out for the case, and what it was worked out from."""
    claim, working = worked(query, draft, passage)

    text = claim.reading.text
    assert [text.slice(q.first, q.last) for q in claim.quantities if working.explains(q.first)] == explained


@pytest.mark.parametrize(
    ("draft", "left_out"),
    [
        pytest.param("You get 25 percent back, so £15.", ", so £15", id="a sum"),
        pytest.param("You get 25 percent back, so £20.", "", id="a wrong sum"),
        pytest.param("You get 25 percent back, so the driver must personally bring £15 to your house.", "", id="more than a sum"),
    ],
)  # fmt: skip
def test_conclusions(draft: str, left_out: str) -> None:
    """A clause that only draws the right sum needs no other judge."""
    claim, working = worked("I paid £60 and came 25 minutes late?", draft, FARES)

    assert "".join(claim.reading.text.slice(*edges) for edges in working.conclusions) == left_out
