"""A number without a unit is a name, a year, an age or a number of things."""

from __future__ import annotations

import pytest

from stillme.figures.words import find_quantities
from stillme.text.tokens import Text


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("Line 3 will open", "en", [("line", "3")], id="a line"),
        pytest.param("Tuyến số 3 sẽ mở", "vi", [("line", "3")], id="the same line in Vietnamese"),
        pytest.param("Tủ số 8", "vi", [("cabinet", "8")], id="a cabinet"),
        pytest.param("học sinh lớp 10 ở trường", "vi", [("grade", "10")], id="a school year"),
        pytest.param("chapter seven says", "en", [("chapter", "7")], id="a chapter in words"),
        pytest.param("listed on card 1003", "en", [("card", "1003")], id="a card, which is no year"),
        pytest.param("chạy trên Windows 10 trở lên", "vi", [("windows", "10")], id="a product"),
        pytest.param("Brindle Backup 4.2 runs on Linux", "en", [("backup", "4.2")], id="a version behind a name"),
        pytest.param("COVID-19", "en", [("covid", "19")], id="a disease"),
        pytest.param("the B-29 bomber", "en", [("b", "29")], id="an aeroplane"),
        pytest.param("IPv4", "en", [("ipv", "4")], id="a protocol"),
        pytest.param("call 0912 345 678", "en", [("", "0912345678")], id="a phone number"),
        pytest.param("ISBN 978-3-16-148410-0", "en", [("", "978-3-16-148410-0")], id="an ISBN"),
        pytest.param("version 4.2.1", "en", [("", "4.2.1")], id="a version with two dots"),
        pytest.param("doi:10.5555/jwh.2021.0412", "en", [("doi", "10.5555")], id="a DOI"),
        pytest.param("Nghị định 10/2020/NĐ-CP", "vi", [("", "10/2020")], id="a decree, which is no month"),
        pytest.param("No. 10", "en", [("number", "10")], id="a number"),
    ],
)
def test_numbers_that_are_names(raw: str, language: str, expected: list[tuple[str, str]]) -> None:
    """A number that names a thing is a label, kept as it is written."""
    found = find_quantities(Text(raw), language)

    assert [(q.noun, q.precision.text) for q in found] == expected
    assert {q.dimension for q in found} == {"label"}


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("cung cấp ba gói cước", "vi", [("count", 3.0)], id="a verb that ends like a label noun"),
        pytest.param("một nhóm 5 người", "vi", [("count", 5.0)], id="a group of five"),
        pytest.param("khoản 2 điều 5", "vi", [("label", 2.0), ("label", 5.0)], id="a clause of an article"),
        pytest.param("each day 300 people", "en", [("count", 300.0)], id="a day and what it counts"),
        pytest.param("the first ten years", "en", [("span", 120.0)], id="first before a number"),
    ],
)
def test_what_only_looks_like_a_label(raw: str, language: str, expected: list[tuple[str, float]]) -> None:
    """A noun before a number names it only where the number does not count what follows."""
    assert [(q.dimension, q.values[0]) for q in find_quantities(Text(raw), language)] == expected


def test_counted_nouns() -> None:
    """An English count knows its plural, over the words between."""
    found = find_quantities(Text("It surveyed 412 office workers, 87 parish churches and 3."), "en")

    assert [(q.values[0], q.noun) for q in found] == [(412, "worker"), (87, "church"), (3, "")]
    assert [q.bare for q in found] == [False, False, True]
