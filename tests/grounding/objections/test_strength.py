"""A claim that says more, or says it more surely, than the source objects as a whole."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.strength import (
    all_for_most,
    all_for_some,
    only_for_also,
    other_period,
    sure_for_unsure,
)
from tests.grounding.objections.support import Check, laid, raised

ROWS = [
    pytest.param(all_for_some, "All rooms have a bath.", "Some rooms have a bath.", "quantifier", id="all for some"),
    pytest.param(all_for_some, "Some rooms have a bath.", "All rooms have a bath.", "", id="some for all"),
    pytest.param(
        all_for_some, "Tất cả phòng có bồn tắm.", "Một số phòng có bồn tắm.", "quantifier", id="vi, all for some"
    ),
    pytest.param(sure_for_unsure, "The dam leaks.", "Perhaps the dam leaks.", "certainty", id="a doubt dropped"),
    pytest.param(sure_for_unsure, "Perhaps the dam leaks.", "Perhaps the dam leaks.", "", id="a doubt kept"),
    pytest.param(sure_for_unsure, "Con đập rò rỉ.", "Có lẽ con đập rò rỉ.", "certainty", id="vi, a doubt dropped"),
    pytest.param(
        all_for_most, "All rooms have a bath.", "Rooms have a bath except the attic.", "quantifier", id="an exception"
    ),
    pytest.param(all_for_most, "Rooms have a bath.", "Rooms have a bath except the attic.", "", id="no word for all"),
    pytest.param(
        all_for_most, "Tất cả phòng có bồn tắm.", "Phòng có bồn tắm trừ gác mái.", "quantifier", id="vi, an exception"
    ),
    pytest.param(other_period, "It costs nine euros a month.", "It costs nine euros a year.", "figure", id="a period"),
    pytest.param(
        other_period, "It costs nine euros a year.", "It costs nine euros per year.", "", id="the same period"
    ),
    pytest.param(other_period, "Phí chín euro mỗi tháng.", "Phí chín euro mỗi năm.", "figure", id="vi, a period"),
    pytest.param(only_for_also, "Only members may row.", "Members may row.", "exclusivity", id="only added"),
    pytest.param(only_for_also, "Members may row.", "Only members may row.", "", id="only dropped"),
    pytest.param(
        only_for_also,
        "Chỉ hội viên được chèo thuyền.",
        "Hội viên được chèo thuyền.",
        "exclusivity",
        id="vi, only added",
    ),
]


@pytest.mark.parametrize(("check", "claim", "source", "kind"), ROWS)
def test_strength(check: Check, claim: str, source: str, kind: str) -> None:
    """One check, one reason."""
    assert [raised_kind for raised_kind, _ in raised(check, laid(claim, source))] == [kind] * bool(kind)
