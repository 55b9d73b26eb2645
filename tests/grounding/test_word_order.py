"""Whether a statement says a claim in its words and order."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder, Judgement


def judged(claim: str, source: str) -> Judgement:
    """What the rules say of one claim."""
    return ExactGrounder().judge([Evidence.of(draft=claim, passages=[source]).grounding_task])[0][0]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The run accepts 1,000 runners every year.", "The run is a half marathon that accepts 1000 runners every year."),
        ("The harbour café opens at 7:30 a.m.", "The harbour café opens daily at half past seven in the morning."),
        ("Giải chạy mỗi năm nhận 1 nghìn vận động viên.", "Giải chạy mỗi năm nhận 1.000 vận động viên."),
        ("Cảng Tiên Châu đón chuyến tàu đầu tiên vào ngày 12/8/2033.", "Cảng nước sâu Tiên Châu đón chuyến tàu đầu tiên vào ngày 12 tháng 8 năm 2033."),
    ],
    ids=["a figure otherwise written", "a time otherwise written", "a scale word", "a date otherwise written"],
)  # fmt: skip
def test_the_same_words_in_the_same_order(claim: str, source: str) -> None:
    """Figures count by value, and the source may say more."""
    found = judged(claim, source)

    assert (found.supported, found.in_order, found.objection) == (True, True, "")


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Members may borrow a bicycle.", "Members may borrow a bicycle if they have paid the deposit."),
        ("Owners must describe the object after it is shown.", "Owners must describe the object before it is shown, never after."),
        ("The library was designed by Queen Victoria.", "The library was designed by an engineer from Leeds and opened by Queen Victoria."),
        ("The R7 charges on the dock of the R5.", "The R5 charges on the dock of the R7."),
        ("Học sinh được dùng điện thoại trong giờ học.", "Học sinh được dùng điện thoại trong giờ học nếu giáo viên cho phép."),
        ("Phân bò bón sau mưa, phân hóa học bón trước mưa.", "Phân bò bón trước mưa, phân hóa học bón sau mưa."),
    ],
    ids=["a condition left out", "before and after", "a name of another clause", "roles exchanged", "a Vietnamese condition", "Vietnamese order"],
)  # fmt: skip
def test_what_turns_it_leaves_it_to_the_model(claim: str, source: str) -> None:
    """What is left out, or stands in another place, may decide."""
    found = judged(claim, source)

    assert not (found.supported and found.in_order)


def test_a_near_copy_with_one_thing_turned_is_refuted_in_order() -> None:
    """The source has every other word in its place."""
    found = judged("Guests may feed the swans.", "Guests may not feed the swans.")

    assert (found.status, found.objection, found.in_order) == ("contradicted", "negation", True)


def test_a_figure_in_the_place_of_another_is_not_excused_by_a_sum() -> None:
    """One and one make two, but the source says one."""
    assert not judged("Locker 1 holds 2 keys.", "Locker 1 holds 1 keys.").supported
