"""Figures are compared by value."""

from __future__ import annotations

import pytest

from stillme.figures.comparing import agrees, rivals
from tests.figures.support import figure, language_of

AGREE = [
    ("1,000 runners", "1000 runners", "a separator"),
    ("1,000 runners", "1.000 vận động viên", "the other language's separator"),
    ("1 nghìn người", "1.000 người", "a scale word"),
    ("twelve stations", "mười hai trạm", "words in both languages"),
    ("21,100 m", "21,1 km", "another unit of length"),
    ("13.1 miles", "21.1 km", "a customary unit, rounded to what is written"),
    ("0.621 miles", "1 km", "a mile in decimals"),
    ("55 lb", "25 kg", "pounds for kilograms"),
    ("356 °F", "180 °C", "Fahrenheit by formula"),
    ("4.2 K", "-268.95 °C", "kelvin by formula"),
    ("480 phút", "8 giờ", "minutes for hours"),
    ("2000 GB", "2 TB", "data by thousands"),
    ("2048 GB", "2 TB", "data by two to the tenth"),
    ("1000 Mbps", "1 Gbps", "a data rate"),
    ("24 months", "2 năm", "months for years"),
    ("14 days", "2 tuần", "days for weeks"),
    ("90 minutes", "1.5 hours", "a decimal hour"),
    ("5 percent", "5%", "percent in words"),
    ("half of it", "50%", "half is fifty percent"),
    ("450k", "450.000 đồng", "a bare number against money"),
    ("300", "300 m", "a bare number against a length"),
    ("about 90 people", "87 people", "a rough figure"),
    ("khoảng 13.000 người", "13.200 người", "a rough figure in Vietnamese"),
    ("about 5%", "5.2%", "a dropped decimal"),
    ("1.2 million people", "1,234,567 people", "a scale word that rounds right"),
    ("3.14", "3.14159", "decimals that round right"),
    ("more than 13,000 houses", "13,200 houses", "a bound below the figure"),
    ("13,000 houses", "about 13,000 houses", "a hedge that the claim drops"),
    ("up to 3 devices", "tối đa 3 thiết bị", "the same bound"),
    ("12 pounds", "£12", "pounds of money"),
    ("12 pounds", "5.443 kg", "pounds of mass"),
    ("180 độ", "180 °C", "degrees of what is not said"),
    ("Line 3", "Tuyến số 3", "a line in both languages"),
    ("phiên bản 4.2", "Brindle Backup 4.2", "a version by its number"),
    ("the third floor", "floor 3", "an ordinal and its label"),
    ("trường đầu tiên", "the first school", "first"),
    ("1000 runners", "1000", "a noun against a bare number"),
    ("nhà 3 tầng", "3 tầng", "what a label noun counts"),
    ("more than 1.2 million people", "1,234,567 people", "a bound in a scale word"),
    ("fewer than 48,000 people", "dưới 48.000 người", "the same strict bound"),
    ("at least 48,000 people", "48,000 people", "a bound that includes the value"),
    ("tối đa 48.000 người", "48.000 người", "a bound that includes the value, in Vietnamese"),
    ("up to 48,000 people", "48,000 people", "up to"),
    ("48,000 people", "at least 48,000 people", "the value of a bound that includes it"),
    ("they beat the Rovers 3–1", "City won 3-1", "a score behind other words"),
    ("they won 2:1", "thắng 2-1", "a score with a colon"),
    ("they scored 3 goals", "they won 3–1", "one side of a score"),
    ("three months' notice", "3 tháng", "a possessive unit"),
    ("about one month", "one month's notice", "a possessive unit in the source"),
    ("1 triệu 2 trăm nghìn đồng", "1,2 triệu đồng", "two scale words"),
    ("1 triệu rưỡi đồng", "1,5 triệu đồng", "a half behind a scale word"),
    ("một nửa số dân", "50% of them", "half in Vietnamese"),
    ("more than half of them", "52%", "more than half"),
]


DISAGREE = [
    ("90 people", "87 people", "rounded without saying so"),
    ("30 days", "28 days", "a month for four weeks"),
    ("£9", "£8.90", "rounded money"),
    ("about 90 people", "112 people", "too far for about"),
    ("2 million people", "1,600,000 people", "too rough without a hedge"),
    ("3.15", "3.14159", "wrong in its last digit"),
    ("10.000 người", "1.000 người", "ten times too many"),
    ("8 phút", "8 giờ", "another unit"),
    ("180 °F", "180 °C", "another scale"),
    ("21.1 miles", "21.1 km", "miles for kilometres"),
    ("15 users", "15 GB", "a count against data"),
    ("5 users", "5%", "a count against a share"),
    ("$12", "£12", "another currency"),
    ("1 month", "30 days", "months are not converted to days"),
    ("8 hours", "8 a.m.", "a duration is no time of day"),
    ("up to 3 devices", "at least 3 devices", "opposite bounds"),
    ("more than 13,000 houses", "12,900 houses", "not more than that"),
    ("up to 30 days", "28 days", "a limit is not a rough figure"),
    ("Line 3", "Line 4", "another line"),
    ("Line 3", "Shelf 3", "another kind of thing"),
    ("3 lines", "Line 3", "a count is no name"),
    ("Windows 10", "Windows 11", "another version"),
    ("the second moon", "the first moon", "another ordinal"),
    ("1,234,567 people", "1.2 million people", "finer than the source"),
    ("fewer than 48,000 people", "48,000 people", "fewer than the value"),
    ("more than 48,000 people", "48,000 people", "more than the value"),
    ("hơn 48.000 người", "48.000 người", "hơn"),
    ("dưới 48.000 người", "48.000 người", "dưới"),
    ("more than 48,000", "48,000 people", "more than the value, without its noun"),
    ("more than 1.2 million people", "1,180,000 people", "a bound above the value that rounds to it"),
    ("over 5 kg", "about 5 kg", "a bound on a rough value"),
    ("48,000 people", "more than 48,000 people", "the value of a bound that excludes it"),
    ("more than half of them", "50%", "half is not more than half"),
    ("they won 3–1", "they won 3–2", "another score"),
    ("they won 3–1", "they lost 1–3", "a score turned round"),
    ("they won 3–1", "they scored 3 goals", "half of a score"),
    ("two weeks' leave", "two months' leave", "another possessive unit"),
]


@pytest.mark.parametrize(("claim", "source"), [pytest.param(c, s, id=i) for c, s, i in AGREE])
def test_agreeing_figures(claim: str, source: str) -> None:
    """The source states the claim's value, and so is no rival."""
    said, stated = figure(claim, language_of(claim)), figure(source, language_of(source))

    assert (agrees(said, stated), rivals(said, stated)) == (True, False)


@pytest.mark.parametrize(("claim", "source"), [pytest.param(c, s, id=i) for c, s, i in DISAGREE])
def test_disagreeing_figures(claim: str, source: str) -> None:
    """The source does not state the claim's value."""
    assert not agrees(figure(claim, language_of(claim)), figure(source, language_of(source)))


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        pytest.param("90 days", "30 days", True, id="another number of days"),
        pytest.param("12 days", "12 months", True, id="another length of time"),
        pytest.param("$12", "£12", True, id="another currency"),
        pytest.param("75 ống nghiệm", "18 ống nghiệm", True, id="another number of the same things"),
        pytest.param("15 users", "2 users", True, id="another number of users"),
        pytest.param("15 users", "3 plans", False, id="a number of other things"),
        pytest.param("15 runners", "12 trạm", True, id="things in two languages may be the same"),
        pytest.param("15 GB", "15 users", False, id="another dimension"),
        pytest.param("Windows 10", "Windows 11", True, id="another version of the same thing"),
        pytest.param("Line 3", "Shelf 4", False, id="names of other things"),
        pytest.param("up to 3 devices", "at least 3 devices", True, id="opposite bounds"),
        pytest.param("on Monday", "on Tuesday", True, id="another weekday"),
        pytest.param("they won 3–1", "they won 3–2", True, id="another score"),
        pytest.param("more than 300 people", "300 people", False, id="a bound and its value"),
        pytest.param("more than 300 people", "200 people", True, id="a value on the other side of the bound"),
    ],
)
def test_rivals(claim: str, source: str, expected: bool) -> None:
    """A rival is a figure of the same kind that says another value."""
    assert rivals(figure(claim, language_of(claim)), figure(source, language_of(source))) is expected
