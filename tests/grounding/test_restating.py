"""Measures of a claim in the words of the sources, for the model."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.restating import restated
from stillme.grounding.statements import Statement
from stillme.grounding.working import asked_figures


@pytest.mark.parametrize(
    ("draft", "passage", "read"),
    [
        pytest.param("A tool may be kept for 21 days.", "Tools are lent for three weeks.", ["three weeks"], id="days and weeks"),
        pytest.param("Phim chiếu trong 120 phút.", "Phim dài hai tiếng.", ["hai tiếng"], id="minutes and hours in Vietnamese"),
        pytest.param("Được mượn 28 ngày.", "Books are lent for four weeks.", ["four weeks"], id="a source in the other language"),
        pytest.param("It runs 24 months.", "It runs for 24 months, that is two years.", [], id="a source that has it so"),
        pytest.param("It runs 25 months.", "It runs for two years.", [], id="another length"),
        pytest.param("Three tools are lent.", "3 tools are lent.", [], id="a number without a unit"),
        pytest.param("It lasts a week.", "It lasts 7 days.", [], id="an article is no number"),
        pytest.param("It weighs about 2,000 g.", "It weighs 2 kg.", ["2 kg"], id="a rough measure"),
        pytest.param("The mole is about 0.4 km long.", "The mole is 412 metres long.", ["412 metres"], id="a rounded measure"),
        pytest.param("The mole is about 0.6 km long.", "The mole is 412 metres long.", [], id="a measure rounded wrong"),
        pytest.param("The kiln is lit at 4.45 pm.", "The kiln is lit at 16:45.", ["16:45"], id="a clock of twelve hours"),
        pytest.param("Lò nung mở lúc 5 giờ chiều.", "Lò nung mở lúc 17:00.", ["17:00"], id="a Vietnamese clock"),
        pytest.param("It was cast on 1911-08-02.", "It was cast on 2 August 1911.", ["2 August 1911"], id="a date in another form"),
        pytest.param("Đúc ngày 2/8/1911.", "Chuông được đúc ngày 2 tháng 8 năm 1911.", ["ngày 2 tháng 8 năm 1911"], id="a Vietnamese date"),
        pytest.param("It was cast in 1911.", "It was cast on 2 August 1911.", [], id="a coarser date stays"),
        pytest.param("Giá là 1,2 triệu đồng.", "Giá là 1.200.000 đồng.", [], id="money stays as it is"),
        pytest.param("Nothing is measured.", "It weighs 2 kg.", [], id="no measure"),
    ],
)  # fmt: skip
def test_measures(draft: str, passage: str, read: list[str]) -> None:
    """A measure is read as a source writes it where every source has it in another unit, and stays as it is otherwise."""
    task = Evidence.of("What holds?", draft, [passage]).grounding_task

    found = restated(task.draft.statements[0], task.library)

    assert [each.text for each in found.values()] == read


def test_the_statement_that_shares_most_gives_the_words() -> None:
    """Of several that say the same, the nearest is quoted."""
    passage = "The barge sails for three weeks. A tool may be kept for half of six weeks, or three whole weeks."
    task = Evidence.of("How long?", "The barge sails for 21 days.", [passage]).grounding_task

    found = restated(task.draft.statements[0], task.library)

    assert [each.text for each in found.values()] == ["three weeks"]


@pytest.mark.parametrize(
    ("query", "draft", "passage", "read"),
    [
        pytest.param(
            "My kayak is 50 minutes late?", "After 50 minutes you pay $6.", "Kayaks that are 30 to 90 minutes late cost $6.",
            {"50 minutes": "30 to 90 minutes"}, id="a case as its range",
        ),
        pytest.param(
            "Bé 9 tuổi?", "Bé 9 tuổi trả nửa giá.", "Trẻ từ 6 đến dưới 12 tuổi trả nửa giá. Người lớn trả đủ.",
            {"9 tuổi": "từ 6 đến dưới 12 tuổi"}, id="a Vietnamese case as its range",
        ),
        pytest.param(
            "What do five days cost?", "Five days of delay cost $15.", "Each day of delay costs $3.",
            {"Five days": "one", "$15": "$3"}, id="so many times a price as the price of one",
        ),
        pytest.param(
            "Thuê sân 4 giờ?", "Thuê sân 4 giờ hết 480.000 đồng.", "Thuê sân 120.000 đồng mỗi giờ.",
            {"4 giờ": "một", "480.000 đồng": "120.000 đồng"}, id="so many times a Vietnamese price",
        ),
        pytest.param(
            "I paid £80.", "Half of the price is paid back, so £40.", "50 percent of the price is paid back.",
            {"Half": "50 percent", ", so £40": ""}, id="what only draws a sum is left out",
        ),
        pytest.param(
            "I paid £80.", "Half of the price is paid back, so £30.", "50 percent of the price is paid back.",
            {"Half": "50 percent"}, id="a sum worked out wrong stays",
        ),
    ],
)  # fmt: skip
def test_what_follows(query: str, draft: str, passage: str, read: dict[str, str]) -> None:
    """A case is read as the range that it lies in, what was worked out as what it was worked out from."""
    task = Evidence.of(query, draft, [passage]).grounding_task
    claim = task.draft.statements[0]

    found = restated(claim, task.library, asked_figures(task.query))

    text = claim.reading.text
    assert {text.slice(first, _end(claim, first, each.last)): each.text for first, each in found.items()} == read


def _end(claim: Statement, first: int, last: int) -> int:
    """Where the figure at a token ends, of which only the number may be replaced."""
    return next((q.last for q in claim.quantities if q.first == first), last)
