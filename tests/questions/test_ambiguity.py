"""What a question leaves open, and what its passages or the turns before it settle."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
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


POOLS = [
    ("Hartwell Pool (Northside)", "The pool is open Monday to Friday from 7 am to 8 pm. Lockers take a coin."),
    ("Hartwell Pool (Old Docks)", "The pool is open Tuesday to Sunday from 10 am to 6 pm. Towels can be rented."),
]
CLINICS = [
    ("Phòng khám An Bình (Gia Lâm)", "Phòng khám nhận bệnh từ 7 giờ, thứ Hai đến thứ Bảy. Có bãi gửi xe."),
    ("Phòng khám An Bình (Long Biên)", "Phòng khám nhận bệnh từ 8 giờ, thứ Hai đến thứ Sáu. Có thang máy."),
]
TEACHERS = [
    ("Physics", "Physics is taught by Ingrid Lindqvist. Lindqvist holds office hours on Mondays."),
    ("Drama", "Drama is taught by Tomas Lindqvist. Lindqvist holds office hours on Fridays."),
]
DOCTORS = [
    ("Khoa nội", "Trưởng khoa là bác sĩ Lê Quốc Tuấn. Bác sĩ Tuấn trực vào thứ Ba."),
    ("Khoa mắt", "Trưởng khoa là bác sĩ Đỗ Minh Tuấn. Bác sĩ Tuấn trực vào thứ Năm."),
]
ONE_MAN = [
    ("Visit", "The bridge was opened by President Okafor. Okafor spoke for an hour on Monday."),
    ("Guests", "Among the guests was Chidi Okafor. Okafor spoke for an hour on Monday."),
]
FANS = [("Fans", "The Breeze fan is sold for £30. The Gale fan is yours for £55.")]
QUAT = [("Quạt", "Quạt Gió Nhẹ bán 300 nghìn đồng. Quạt Gió Lốc bán 550 nghìn đồng.")]
ONE_FAN = [("Fans", "The Breeze fan is sold for £30. It has three speeds.")]
Titled = list[tuple[str, str]]


@pytest.mark.parametrize(
    ("query", "sources", "labels"),
    [
        pytest.param("When does Hartwell Pool open on Thursdays?", POOLS, [title for title, _ in POOLS], id="a day that both take in"),
        pytest.param("When does Hartwell Pool open on Sundays?", POOLS, None, id="a day that one takes in"),
        pytest.param("When does Hartwell Pool at the Old Docks open?", POOLS, None, id="the branch is named"),
        pytest.param("Phòng khám An Bình nhận bệnh từ mấy giờ?", CLINICS, [title for title, _ in CLINICS], id="two Vietnamese branches"),
        pytest.param("Phòng khám An Bình ở Long Biên nhận bệnh từ mấy giờ?", CLINICS, None, id="the Vietnamese branch is named"),
        pytest.param("On which days does Lindqvist hold office hours?", TEACHERS, ["Ingrid Lindqvist", "Tomas Lindqvist"], id="two people of one surname"),
        pytest.param("On which days does Ingrid Lindqvist hold office hours?", TEACHERS, None, id="the first name is said"),
        pytest.param("Bác sĩ Tuấn trực ngày nào?", DOCTORS, ["Lê Quốc Tuấn", "Đỗ Minh Tuấn"], id="two doctors called alike"),
        pytest.param("Bác sĩ Tuấn khoa mắt trực ngày nào?", DOCTORS, None, id="the ward is said"),
        pytest.param("On which day did Okafor speak?", ONE_MAN, None, id="a title is no first name"),
        pytest.param("How much is this one?", FANS, ["Breeze", "Gale"], id="this one, of two"),
        pytest.param("Cái này giá bao nhiêu?", QUAT, ["Quạt Gió Nhẹ", "Quạt Gió Lốc"], id="this one, of two, in Vietnamese"),
        pytest.param("How much is this one?", ONE_FAN, None, id="this one, of one"),
    ],
)  # fmt: skip
def test_things_of_one_name(query: str, sources: Titled, labels: list[str] | None) -> None:
    """Two branches, two people, two things of a kind: the options are what they are called, and none is asked for where one is said."""
    passages = [RetrievedPassage(source_id=title, title=title, text=text) for title, text in sources]

    found = find_ambiguity(Text(query), [], Evidence.of(query, passages=passages).library)

    assert (sorted(option.label for option in found.options) if found else None) == (labels and sorted(labels))
