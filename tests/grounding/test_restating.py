"""Measures of a claim in the words of the sources, for the model."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.restating import restated


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
        pytest.param("It weighs about 2,000 g.", "It weighs 2 kg.", [], id="a rough measure is not made exact"),
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
