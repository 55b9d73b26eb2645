"""Figures are read in both languages and number formats, and compared by value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.figures.comparing import Quantity, agrees, find_quantities, rivals
from stillme.text.tokens import Text
from tests.soak import examples


def figures(raw: str, language: str = "en") -> list[tuple[str, str, tuple[float, ...]]]:
    """Each figure as its words, its dimension and its values."""
    text = Text(raw)
    return [(text.slice(q.first, q.last), q.dimension, q.values) for q in find_quantities(text, language)]


def figure(raw: str, language: str = "en") -> Quantity:
    """The only figure of a text."""
    found = find_quantities(Text(raw), language)
    assert len(found) == 1, found
    return found[0]


def language_of(raw: str) -> str:
    """The language of a row of these tables: what has Vietnamese letters is Vietnamese."""
    return "vi" if Text(raw).accented and not raw.isascii() and any(c in raw for c in VIETNAMESE) else "en"


VIETNAMESE = "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ"


@pytest.mark.parametrize(
    ("raw", "language", "value"),
    [
        pytest.param("1,000 runners", "en", 1000.0, id="English thousands comma"),
        pytest.param("1000 runners", "en", 1000.0, id="no separator"),
        pytest.param("1.000 vận động viên", "vi", 1000.0, id="Vietnamese thousands dot"),
        pytest.param("21.1 points", "en", 21.1, id="English decimal point"),
        pytest.param("21,1 điểm", "vi", 21.1, id="Vietnamese decimal comma"),
        pytest.param("21.1 điểm", "vi", 21.1, id="a decimal point in Vietnamese text"),
        pytest.param("1.234.567,8 lượt", "vi", 1234567.8, id="both Vietnamese separators"),
        pytest.param("1,234,567.8 views", "en", 1234567.8, id="both English separators"),
        pytest.param("1,00,000 people", "en", 100000.0, id="Indian groups"),
        pytest.param("1 234 567 people", "en", 1234567.0, id="groups with spaces"),
        pytest.param("0.625 points", "vi", 0.625, id="nothing before the dot is no thousand"),
        pytest.param("1,5 triệu người", "vi", 1500000.0, id="Vietnamese million"),
        pytest.param("1.5 million people", "en", 1500000.0, id="English million"),
        pytest.param("2 tỷ 300 triệu lượt", "vi", 2.3e9, id="two Vietnamese scale words"),
        pytest.param("3 nghìn tỷ lượt", "vi", 3e12, id="a thousand billion"),
        pytest.param("1 triệu rưỡi lượt", "vi", 1500000.0, id="one and a half million in Vietnamese"),
        pytest.param("1 triệu 2 trăm nghìn lượt", "vi", 1200000.0, id="a million and hundreds of thousands in digits"),
        pytest.param("1 triệu hai trăm nghìn lượt", "vi", 1200000.0, id="digits and words in one number"),
        pytest.param("2 tỷ 3 trăm triệu lượt", "vi", 2.3e9, id="a billion and hundreds of millions in digits"),
        pytest.param("1 trieu 2 tram nghin luot", "vi", 1200000.0, id="several scale words without accents"),
        pytest.param("3 vạn quân", "vi", 30000.0, id="ten thousand in one word"),
        pytest.param("2 chục trứng", "vi", 20.0, id="tens"),
        pytest.param("2 tá trứng", "vi", 24.0, id="dozens in Vietnamese"),
        pytest.param("450k views", "en", 450000.0, id="a k"),
        pytest.param("1½ cups", "en", 1.5, id="a fraction sign"),
        pytest.param("3 × 10^8 cells", "en", 3e8, id="a power of ten"),
        pytest.param("five eggs", "en", 5.0, id="an English word"),
        pytest.param("twenty-one eggs", "en", 21.0, id="tens and ones"),
        pytest.param("two hundred and five eggs", "en", 205.0, id="hundred and"),
        pytest.param("one hundred twenty-three eggs", "en", 123.0, id="hundred without and"),
        pytest.param("two million five hundred thousand eggs", "en", 2500000.0, id="two English scales"),
        pytest.param("one and a half million eggs", "en", 1500000.0, id="one and a half million"),
        pytest.param("a dozen eggs", "en", 12.0, id="a dozen"),
        pytest.param("half a million eggs", "en", 500000.0, id="half a million"),
        pytest.param("mười hai trạm", "vi", 12.0, id="twelve"),
        pytest.param("hai mươi mốt trạm", "vi", 21.0, id="twenty-one"),
        pytest.param("ba mươi lăm trạm", "vi", 35.0, id="thirty-five"),
        pytest.param("năm trăm linh năm trạm", "vi", 505.0, id="five hundred and five"),
        pytest.param("hai trăm rưỡi trạm", "vi", 250.0, id="two hundred and a half"),
        pytest.param("ba trăm nghìn trạm", "vi", 300000.0, id="three hundred thousand"),
        pytest.param("hai nghìn không trăm linh tám trạm", "vi", 2008.0, id="two thousand and eight"),
        pytest.param("muoi hai tram", "vi", 12.0, id="typed without accents"),
    ],
)
def test_numbers_in_both_formats_and_in_words(raw: str, language: str, value: float) -> None:
    """The value does not depend on how it is written."""
    assert figure(raw, language).values == (value,)


@pytest.mark.parametrize(
    ("raw", "language", "values"),
    [
        pytest.param("1,000 người", "vi", {1.0, 1000.0}, id="a comma before three digits in Vietnamese"),
        pytest.param("1.000 personnes", "fr", {1.0, 1000.0}, id="a dot before three digits in another language"),
        pytest.param("2 TB", "en", {2e12, 2.0 * 1024**4}, id="a terabyte by tens and by twos"),
    ],
)
def test_truly_ambiguous_writing_keeps_both_values(raw: str, language: str, values: set[float]) -> None:
    """Two values where a reader could not tell either."""
    assert set(figure(raw, language).values) == values


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("five working days", "en", [("five working days", "time", (432000.0,))], id="a word between"),
        pytest.param("a 23-cm tin", "en", [("23-cm", "length", (0.23,))], id="a hyphen before the unit"),
        pytest.param("a 6-year-old boy", "en", [("6-year", "span", (72.0,))], id="an age with hyphens"),
        pytest.param("trẻ em dưới 6 tuổi", "vi", [("6 tuổi", "span", (72.0,))], id="an age in Vietnamese"),
        pytest.param("pupils aged 12", "en", [("12", "span", (144.0,))], id="an age without its unit"),
        pytest.param("5%", "en", [("5%", "percent", (5.0,))], id="a percent sign"),
        pytest.param("5 phần trăm", "vi", [("5 phần trăm", "percent", (5.0,))], id="percent in Vietnamese"),
        pytest.param("two thirds of them", "en", [("two thirds", "percent", (200 / 3,))], id="a spelt fraction"),
        pytest.param("một nửa số dân", "vi", [("một nửa", "percent", (50.0,))], id="half in Vietnamese"),
        pytest.param("-5 °C", "en", [("-5 °C", "temperature", (-5.0,))], id="a negative temperature"),
        pytest.param("âm 5 độ C", "vi", [("âm 5 độ C", "temperature", (-5.0,))], id="a negative temperature in words"),
        pytest.param("90 km/giờ", "vi", [("90 km/giờ", "speed", (25.0,))], id="a speed"),
        pytest.param("300 m2", "vi", [("300 m2", "area", (300.0,))], id="square metres with a plain 2"),
        pytest.param("300 mét vuông", "vi", [("300 mét vuông", "area", (300.0,))], id="square metres in words"),
        pytest.param("2 năm rưỡi", "vi", [("2 năm rưỡi", "span", (30.0,))], id="two and a half years"),
        pytest.param("half an hour", "en", [("half an hour", "time", (1800.0,))], id="half an hour"),
        pytest.param(
            "2 hours and 5 minutes", "en", [("2 hours and 5 minutes", "time", (7500.0,))], id="two units of time"
        ),
        pytest.param("5 feet 3 inches", "en", [("5 feet 3 inches", "length", (1.6002,))], id="two units of one length"),
        pytest.param("one month's notice", "en", [("one month's", "span", (1.0,))], id="a month's notice"),
        pytest.param("one week’s leave", "en", [("one week’s", "time", (604800.0,))], id="a curly apostrophe"),
        pytest.param("three months' notice", "en", [("three months", "span", (3.0,))], id="months' notice"),
        pytest.param("two weeks’ leave", "en", [("two weeks", "time", (1209600.0,))], id="weeks' leave"),
        pytest.param("one mile's walk", "en", [("one mile's", "length", (1609.344,))], id="a mile's walk"),
        pytest.param("khoảng một nửa", "vi", [("một nửa", "percent", (50.0,))], id="half without what it is of"),
        pytest.param("it fell by half.", "en", [("half", "percent", (50.0,))], id="by half"),
        pytest.param("more than half are", "en", [("half", "percent", (50.0,))], id="more than half"),
        pytest.param("8 ký tự", "vi", [("8", "count", (8.0,))], id="characters are no kilograms"),
        pytest.param("3 đồng nghiệp", "vi", [("3", "count", (3.0,))], id="colleagues are no money"),
        pytest.param("mật độ 3", "vi", [("3", "count", (3.0,))], id="a bare number"),
    ],
)
def test_units(raw: str, language: str, expected: list[tuple[str, str, tuple[float, ...]]]) -> None:
    """A figure takes its unit with it, in the base unit of its dimension."""
    found = figures(raw, language)

    assert [(words, name) for words, name, _ in found] == [(words, name) for words, name, _ in expected]
    assert [values for *_, values in found] == [pytest.approx(values) for *_, values in expected]


@pytest.mark.parametrize(
    ("raw", "currency", "value"),
    [
        pytest.param("$12", "USD", 12.0, id="a sign before"),
        pytest.param("US$12", "USD", 12.0, id="letters and a sign"),
        pytest.param("12 USD", "USD", 12.0, id="a code behind"),
        pytest.param("USD 12", "USD", 12.0, id="a code before"),
        pytest.param("12 dollars", "USD", 12.0, id="in words"),
        pytest.param("12 đô la Mỹ", "USD", 12.0, id="dollars in Vietnamese"),
        pytest.param("A$12", "AUD", 12.0, id="another dollar"),
        pytest.param("£4.50", "GBP", 4.5, id="pounds"),
        pytest.param("$1.2 million", "USD", 1200000.0, id="a scale word"),
        pytest.param("£3bn", "GBP", 3e9, id="a suffix"),
        pytest.param("$5m", "USD", 5e6, id="an m that is no metre"),
        pytest.param("50 cents", "USD", 0.5, id="cents"),
        pytest.param("450.000 đồng", "VND", 450000.0, id="đồng"),
        pytest.param("450.000đ", "VND", 450000.0, id="đ glued to the number"),
        pytest.param("450 nghìn đồng", "VND", 450000.0, id="a thousand đồng"),
        pytest.param("450.000 VND", "VND", 450000.0, id="VND, whose dot is no decimal point in English text either"),
        pytest.param("một triệu đồng", "VND", 1000000.0, id="a million in words"),
        pytest.param("450.000 VNĐ", "VND", 450000.0, id="VNĐ behind"),
        pytest.param("450.000vnđ", "VND", 450000.0, id="vnđ glued to the number"),
        pytest.param("450.000 VNÐ", "VND", 450000.0, id="VNÐ with the other letter that looks the same"),
        pytest.param("VNĐ 450.000", "VND", 450000.0, id="VNĐ before"),
        pytest.param("đ450.000", "VND", 450000.0, id="đ before"),
        pytest.param("450.000 (VNĐ)", "VND", 450000.0, id="VNĐ in brackets"),
        pytest.param("450 nghìn VNĐ", "VND", 450000.0, id="VNĐ behind a scale word"),
    ],
)
def test_money(raw: str, currency: str, value: float) -> None:
    """Money by currency, wherever the currency stands."""
    found = figure(raw, language_of(raw))

    assert (found.dimension, found.values) == (f"money:{currency}", (value,))


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("three to five working days", "en", [("time", 259200.0), ("time", 432000.0)], id="words"),
        pytest.param("3-5 ngày", "vi", [("time", 259200.0), ("time", 432000.0)], id="a hyphen"),
        pytest.param("từ 3 đến 5 ngày", "vi", [("time", 259200.0), ("time", 432000.0)], id="from and to in Vietnamese"),
        pytest.param("between 10 and 20 percent", "en", [("percent", 10.0), ("percent", 20.0)], id="between"),
        pytest.param("$10-20", "en", [("money:USD", 10.0), ("money:USD", 20.0)], id="the currency of the first"),
        pytest.param("5 to 10 million people", "en", [("count", 5e6), ("count", 1e7)], id="a scale word"),
        pytest.param("5 - 7 triệu đồng", "vi", [("money:VND", 5e6), ("money:VND", 7e6)], id="scale and currency"),
        pytest.param("hai hoặc ba tuần", "vi", [("time", 1209600.0), ("time", 1814400.0)], id="or"),
        pytest.param("8h-17h", "vi", [("time", 28800.0), ("time", 61200.0)], id="units on both sides"),
        pytest.param("pages 10-20", "en", [("label", 10.0), ("label", 20.0)], id="pages"),
    ],
)
def test_ranges(raw: str, language: str, expected: list[tuple[str, float]]) -> None:
    """A range is two figures, and each has the unit that stands once."""
    assert [(dimension, values[0]) for _, dimension, values in figures(raw, language)] == expected


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("giá 100đ 5 cái", "vi", ["100đ", "5"], id="đ belongs to the number before it"),
        pytest.param("từ 100.000 đến 200.000 VNĐ", "vi", ["100.000", "200.000 VNĐ"], id="a range"),
        pytest.param("450.000 (VNĐ)", "vi", ["450.000 (VNĐ)"], id="brackets"),
    ],
)
def test_the_currency_is_part_of_the_figure(raw: str, language: str, expected: list[str]) -> None:
    """Nothing of đ and VNĐ is left over to be taken for a name."""
    assert [words for words, *_ in figures(raw, language)] == expected


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        pytest.param("City beat the Rovers 3–1 at home", "en", [(3.0, 1.0)], id="behind a name"),
        pytest.param("City 3–1 Rovers", "en", [(3.0, 1.0)], id="between two names"),
        pytest.param("City 1-3 Rovers", "en", [(1.0, 3.0)], id="between two names, the loser first"),
        pytest.param("they won 3-1 yesterday", "en", [(3.0, 1.0)], id="behind a verb"),
        pytest.param("a 3–1 home win", "en", [(3.0, 1.0)], id="before what it is"),
        pytest.param("they beat the home team 3-1", "en", [(3.0, 1.0)], id="behind a noun that takes numbers"),
        pytest.param("they lost to the Rovers 1–3", "en", [(1.0, 3.0)], id="the smaller number first"),
        pytest.param("they won 3 to 1", "en", [(3.0, 1.0)], id="to"),
        pytest.param("she won 6-4, 7-6", "en", [(6.0, 4.0), (7.0, 6.0)], id="sets"),
        pytest.param("lost to United 2:1", "en", [(2.0, 1.0)], id="a colon"),
        pytest.param("a mix of 3:2:1", "en", [(3.0, 2.0, 1.0)], id="a ratio of three"),
        pytest.param("Hà Nội thắng Viettel 3–1", "vi", [(3.0, 1.0)], id="Vietnamese, behind a name"),
        pytest.param("thua 1-3 ngay trên sân nhà", "vi", [(1.0, 3.0)], id="Vietnamese, the smaller number first"),
        pytest.param("với tỷ số 2-0", "vi", [(2.0, 0.0)], id="tỷ số"),
        pytest.param("the Boeing 777-300", "en", [], id="an aeroplane"),
        pytest.param("they won 3–5 medals", "en", [], id="a range of what is counted"),
        pytest.param("pages 12-15", "en", [], id="pages"),
        pytest.param("it fell from 5 to 3", "en", [], id="from and to"),
        pytest.param("at 4:30", "en", [], id="a clock time"),
        pytest.param("thắng 3-5 trận", "vi", [], id="a range of matches"),
    ],
)
def test_scores(raw: str, language: str, expected: list[tuple[float, ...]]) -> None:
    """A score is one figure with two sides, and no label of the name before it."""
    assert [values for _, dimension, values in figures(raw, language) if dimension == "score"] == expected


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
    ("raw", "language"),
    [
        pytest.param("", "en", id="empty"),
        pytest.param("   \n", "vi", id="blank"),
        pytest.param("No number here.", "en", id="no number"),
        pytest.param("It grew [1]. It fell [1, 2][3-4] 【1】 [^2] (1).", "en", id="citation markers"),
        pytest.param("1. Beat\n2. Add\n3) Fold\n**4.** Bake", "en", id="list numbers"),
        pytest.param("See https://example.org/2024/05/12.", "en", id="a web address"),
        pytest.param("Run\n```\nx = 5\n```\n", "en", id="a code block"),
        pytest.param("as passage 2 and source 3 say", "en", id="a citation in words"),
        pytest.param("One of them left, and no one saw it.", "en", id="one as a pronoun"),
        pytest.param("Một người nông dân có một con trâu.", "vi", id="một as an article"),
        pytest.param("Giá tính theo một tháng hoặc một số tháng.", "vi", id="một and một số"),
        pytest.param("năm học mới, năm nay, mỗi năm, năm ngoái", "vi", id="năm as a year"),
        pytest.param("ba mẹ tôi ở Ba Đình, nấu chín, đầu tư", "vi", id="words that look like numbers"),
        pytest.param("It was first built there. First, look at it.", "en", id="first as an adverb"),
        pytest.param("hundreds of people, several thousand, a few hundred", "en", id="vague numbers"),
        pytest.param("hàng trăm người, vài nghìn người", "vi", id="vague Vietnamese numbers"),
        pytest.param("She may march on.", "en", id="verbs that look like months"),
        pytest.param("The Sun sat low.", "en", id="words that look like weekdays"),
        pytest.param("All of the pupils and the other half.", "en", id="all, and the other half"),
        pytest.param("Toàn bộ học sinh, tất cả giáo viên.", "vi", id="toàn bộ and tất cả"),
    ],
)
def test_what_is_no_figure(raw: str, language: str) -> None:
    """Markers, numbering, addresses, code, articles and look-alikes give nothing."""
    assert figures(raw, language) == []


def test_numbers_attach_to_what_they_belong_to() -> None:
    """A label and a count in one sentence do not mix."""
    found = find_quantities(Text("Tủ số 8 đựng 75 ống nghiệm và 2 giá gỗ [1]."), "vi")

    assert [(q.dimension, q.values, q.noun) for q in found] == [
        ("label", (8.0,), "cabinet"),
        ("count", (75.0,), "ống"),
        ("count", (2.0,), "giá"),
    ]


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


@pytest.mark.parametrize(
    ("raw", "hedge", "limit"),
    [
        pytest.param("about 95 people", "about", False, id="about"),
        pytest.param("khoảng 95 người", "about", False, id="khoảng"),
        pytest.param("gần 95 người", "about", False, id="gần"),
        pytest.param("~95 people", "about", False, id="a tilde"),
        pytest.param("more than 95 people", "over", False, id="more than"),
        pytest.param("hơn 95 người", "over", False, id="hơn"),
        pytest.param("trên 950 người", "over", False, id="trên before a large number"),
        pytest.param("dùng trên 3 máy", "", False, id="trên that means on"),
        pytest.param("at least 95 people", "over", True, id="at least"),
        pytest.param("ít nhất 95 người", "over", True, id="ít nhất"),
        pytest.param("từ 18 tuổi trở lên", "over", True, id="trở lên"),
        pytest.param("95 or more people", "over", True, id="or more"),
        pytest.param("heavier than 25 kg", "over", False, id="a comparative"),
        pytest.param("younger than 25 years", "under", False, id="a downward comparative"),
        pytest.param("no longer than 25 days", "under", True, id="a denied comparative"),
        pytest.param("less than $5", "under", False, id="before a currency sign"),
        pytest.param("the under-18 team", "under", False, id="a hyphen"),
        pytest.param("up to 3 devices", "under", True, id="up to"),
        pytest.param("tối đa 3 thiết bị", "under", True, id="tối đa"),
        pytest.param("không quá 3 lần", "under", True, id="không quá"),
        pytest.param("không dưới 3 lần", "over", True, id="không dưới"),
        pytest.param("exactly 3 times", "", False, id="exactly"),
    ],
)
def test_hedges(raw: str, hedge: str, limit: bool) -> None:
    """Bounds and rough words are read on both sides of the figure."""
    found = figure(raw, language_of(raw))

    assert (found.hedge, found.limit) == (hedge, limit)


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


def test_articles_support_but_need_no_support() -> None:
    """The one of "a month" is read only where it is asked for, and then rivals nothing."""
    source = Text("It lasts a month.")
    claim = figure("within one month")

    assert find_quantities(source, "en") == []
    (month,) = find_quantities(source, "en", articles=True)
    assert (month.article, agrees(claim, month), rivals(figure("two months"), month)) == (True, True, False)


@pytest.mark.parametrize(
    ("raw", "language", "value"),
    [
        pytest.param("only one user", "en", 1.0, id="only one"),
        pytest.param("within one month", "en", 1.0, id="one month"),
        pytest.param("bảo hành một năm", "vi", 12.0, id="a warranty of a year"),
        pytest.param("chỉ một người", "vi", 1.0, id="only one person"),
        pytest.param("một triệu người", "vi", 1000000.0, id="a million"),
        pytest.param("one hundred people", "en", 100.0, id="a hundred"),
    ],
)
def test_one_that_is_a_number(raw: str, language: str, value: float) -> None:
    """One and một are numbers where a word beside them says so."""
    assert figure(raw, language).values == (value,)


def test_a_token_range_is_read_alone() -> None:
    """Only the figures of the range are found, at their places in the whole text."""
    text = Text("It costs $5. It weighs 3 kg. It is 7 m long.")
    first = text.token_at(text.raw.index("It weighs"))
    last = text.token_at(text.raw.index("It is"))

    (found,) = find_quantities(text, "en", first, last)

    assert text.slice(found.first, found.last) == "3 kg"


@given(st.integers(min_value=0, max_value=10**15))
def test_any_integer_round_trips(number: int) -> None:
    """Grouped in either style or not at all, an integer is read back."""
    grouped = f"{number:,}"
    dotted = grouped.replace(",", ".")

    assert figure(f"{grouped} eggs").values == (float(number),)
    assert figure(f"{dotted} quả trứng", "vi").values == (float(number),)
    assert figure(f"{number} eggs").values == (float(number),)


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_any_decimal_round_trips(number: object) -> None:
    """A decimal number is read back in either style, and both agree."""
    english = f"{number:,}"
    vietnamese = english.translate(str.maketrans(",.", ".,"))
    one, two = figure(f"{english} kg"), figure(f"{vietnamese} kg", "vi")

    assert one.values == two.values == (float(str(number)),)
    assert agrees(one, two)


WORDS = """
    1 12 007 1.000 1,5 2024 25 31 99 ½ ² hundred million two twenty one a half and to of May March Monday first third
    century a.m. pm noon $ £ % kg km/h °C days năm ngày tháng mươi trăm linh nghìn triệu tỷ rưỡi thứ Hai hai ba mười một
    lăm giờ phút sáng won past quarter month's VNĐ quý thế kỷ thập niên phần nửa số đồng hơn về - – / : . , ( ) [ ] 's th
"""


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=14),
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from(["en", "vi", "fr"]),
)
def test_any_row_of_number_words_is_read(words: list[str], gap: str, language: str) -> None:
    """Nothing raises; figures are in order, inside the text, and agree with themselves."""
    text = Text(gap.join(words))

    found = find_quantities(text, language, articles=True)

    assert all(0 <= q.first < q.last <= len(text) and q.values for q in found)
    assert [q.first for q in found] == sorted(q.first for q in found)
    assert all(agrees(q, q) and not rivals(q, q) for q in found if abs(q.values[0]) < 1e300)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read(raw: str) -> None:
    """Nothing raises on arbitrary text, and reading twice gives the same."""
    for language in ("en", "vi"):
        assert find_quantities(Text(raw), language) == find_quantities(Text(raw), language)


ROWS = [
    "1 ",
    "1-",
    "1, ",
    "[1, ",
    "a hundred and ",
    "twenty-",
    "hai mươi ",
    "1 hour and ",
    "1 to ",
    "a1_",
    "000 ",
    "3-1 ",
    "1:",
]
ROWS += ["1 triệu ", "một triệu ", "ngày 1, ", "1 and ", "May 1, ", "half past ", "15 và 16 tháng 6, "]


@pytest.mark.parametrize("unit", ROWS)
def test_long_rows_take_linear_time(unit: str) -> None:
    """Tens of thousands of numbers in a row neither stall nor exhaust the stack."""
    text = Text(unit * (60_000 // len(unit)))

    assert isinstance(find_quantities(text, "vi"), list)
    assert isinstance(find_quantities(text, "en"), list)
