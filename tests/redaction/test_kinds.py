"""What the built-in kinds find, and what they leave."""

from __future__ import annotations

import typing
import unicodedata

import pytest

from stillme.redaction import KINDS, Redactor
from tests.redaction.support import UUID, taken


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        pytest.param("email", "Write to an.nguyen+x@mail.example.com.", ["an.nguyen+x@mail.example.com"], id="email: the dot ends the sentence"),
        pytest.param("email", "Thư: nguyễn.huệ@ví-dụ.vn, 'b@c.org'", ["nguyễn.huệ@ví-dụ.vn", "b@c.org"], id="email: Vietnamese letters, quotes"),
        pytest.param("email", "mailto:a@b.vn?subject=x a@b.vn.123", ["a@b.vn", "a@b.vn"], id="email: in an address, before a figure"),
        pytest.param("email", "numpy@1.26.4, root@localhost, @handle, a @ b.c, @", [], id="email: versions, handles and bare hosts are left"),
        pytest.param("phone", "Gọi 0912345678, 0912.345.678; 091-234-5678", ["0912345678", "0912.345.678", "091-234-5678"], id="phone: Vietnamese mobiles"),
        pytest.param("phone", "(024) 3825 1234 / 0123 456 7890 / 09 1234 5678", ["024) 3825 1234", "0123 456 7890", "09 1234 5678"], id="phone: landlines, old mobiles, short first group"),
        pytest.param("phone", "+84 912 345 678 25 tuổi, (+84) 0912345678", ["+84 912 345 678", "+84) 0912345678"], id="phone: with the country code, an age behind it"),
        pytest.param("phone", "SĐT0912345678 - 0987654321/0987654322", ["0912345678", "0987654321", "0987654322"], id="phone: after letters, several"),
        pytest.param("phone", "+1 415 555 2671 25 people; +44 20 7946 0958", ["+1 415 555 2671", "+44 20 7946 0958"], id="phone: abroad"),
        pytest.param("phone", "0044 20 7946 0958; 00442079460958; 0084912345678", ["0044 20 7946 0958", "00442079460958", "0084912345678"], id="phone: with zeros for the plus"),
        pytest.param("phone", "84912345678", ["84912345678"], id="phone: a bare country code"),
        pytest.param("phone", "84.912.345.678 đồng, 84 912 345 678", [], id="phone: amounts that begin with 84 are left"),
        pytest.param("phone", "+5.000.000.000 đồng, +12.5%, 0.912345678, 3,0912345678", [], id="phone: signed amounts and decimals are left"),
        pytest.param("phone", "03-12-2024 10:30, 05.08.2024 15 giờ, 1900 1234, 113", [], id="phone: days and hours, hotlines are left"),
        pytest.param("phone", f"001099012345, 09123456789, {UUID}, 0912345678abcdef00", [], id="phone: codes and longer numbers are left"),
        pytest.param("card", "4111 1111 1111 1111, 5500-0000-0000-0004, 378282246310005", ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"], id="card: groups, dashes, none"),
        pytest.param("card", "2024 3782 822463 10005 12/26", ["3782 822463 10005"], id="card: between other figures"),
        pytest.param("card", "Thẻ 9704 0000 0000 0018", ["9704 0000 0000 0018"], id="card: the Vietnamese network"),
        pytest.param("card", "4111 1111 1111 1112, 2019 2020 2021 2022, 1234567812345670, 41 11 11 11 11 11 11 11", [], id="card: a wrong digit, years, no network, small groups"),
        pytest.param("card", "4" * 40 + " a4111111111111111ffff0 4500 5200 6100 4800", [], id="card: long runs, codes and a row of figures are left"),
        pytest.param("iban", "GB82 WEST 1234 5698 7654 32 IS MINE; de89370400440532013000", ["GB82 WEST 1234 5698 7654 32", "de89370400440532013000"], id="iban: capitals behind it, small letters"),
        pytest.param("iban", "GB82 WEST 1234 5698 7654 33, VN12 3456 7890 1234 5678, AB12 CDEF", [], id="iban: a wrong digit, a country without"),
        pytest.param("ip", "Từ 192.168.1.77, rồi 10.0.0.5:8080.", ["192.168.1.77", "10.0.0.5"], id="ip: version 4"),
        pytest.param("ip", "2001:db8::7334. [fe80::1]:443 ip:2001:db8::1, ::ffff:192.0.2.1", ["2001:db8::7334", "fe80::1", "2001:db8::1", "::ffff:192.0.2.1"], id="ip: version 6"),
        pytest.param("ip", "v1.2.3.4, mục 1.2.3.4, Section 1.2.3.4, phiên bản 4.3.2.1", [], id="ip: versions and sections are left"),
        pytest.param("ip", "999.1.1.1, 1.2.3.4.5, 12:30:45, std::vector, add::, ::1, 1:2:3:4:5:6:7", [], id="ip: what only looks like one is left"),
        pytest.param("id_number", "001099012345, 079 201 012 345", ["001099012345", "079 201 012 345"], id="id: a CCCD has a structure"),
        pytest.param("id_number", "CMND số 012345678 cấp 15/05/2010; chung minh nhan dan: 012 345 679", ["012345678", "012 345 679"], id="id: a CMND after its word, with or without accents"),
        pytest.param("id_number", "Chứng minh thư 012345678 và 023456789", ["012345678", "023456789"], id="id: two after one word"),
        pytest.param("id_number", "CMND 9 số: 012345678 15 05 2010", ["012345678"], id="id: other figures around it"),
        pytest.param("id_number", "national ID 123456789012, hộ chiếu B1234567, passport no. 123456789", ["123456789012", "B1234567", "123456789"], id="id: in English, passports"),
        pytest.param("id_number", "Doanh thu 250000000 đồng, dân số 100.000.000, mã 123456789012", [], id="id: amounts are left"),
        pytest.param("id_number", f"order ID 123456789, 0.001099012345, 097099012345, 001999012345, {UUID}", [], id="id: orders, decimals, no province, no century, codes"),
    ],
)  # fmt: skip
def test_built_in_kinds(kind: str, text: str, found: list[str]) -> None:
    """Each kind takes what it says and leaves ordinary figures alone."""
    assert taken({kind: True}, text) == found


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_finds_nothing_in_nothing(kind: str) -> None:
    """Empty texts, spaces and words stay as they are."""
    assert [Redactor.of({kind: True}).text(t) for t in ("", " \n", "Hà Nội")] == [
        (t, frozenset()) for t in ("", " \n", "Hà Nội")
    ]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "entries",
    [
        pytest.param({"name": "Nguyễn [A-ZĐ][a-zệ]{1,8}+"}, id="a pattern"),
        pytest.param({"name": unicodedata.normalize("NFD", "Nguyễn Huệ")}, id="a decomposed pattern"),
    ],
)
def test_composed_and_decomposed_vietnamese_are_matched_alike(
    form: typing.Literal["NFC", "NFD"], entries: dict[str, str]
) -> None:
    """The place is found in the text as it is; marks are blanked with their letters."""
    text, name = (unicodedata.normalize(form, t) for t in ("Ông Nguyễn Huệ đến Huế.", "Nguyễn Huệ"))

    assert taken(dict(entries), text) == [name]


def test_the_words_before_an_identity_number_in_both_forms() -> None:
    """Căn cước in NFD is căn cước."""
    text = unicodedata.normalize("NFD", "Căn cước: 123456789")

    assert taken({"id_number": True}, text) == ["123456789"]
