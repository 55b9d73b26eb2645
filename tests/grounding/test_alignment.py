"""Objections of the exact features: raised where a source says otherwise, silent where it says the same in other words."""

from __future__ import annotations

import time

import pytest

from stillme.evidence import Evidence
from stillme.grounding.cascade import is_refuted
from stillme.grounding.grounder import ExactGrounder, Judgement


def judge(draft: str, *passages: str) -> Judgement:
    """The judgement of exact features on the one claim of a draft."""
    (judgement,) = Evidence.of("q", draft, list(passages)).judgements
    return judgement


PAIRS = [
    pytest.param(
        "The course takes twelve years since 1992.",
        "The course takes twelve years, not thirteen years.",
        "The course takes thirteen years, not twelve years.",
        id="a figure that is only denied",
    ),
    pytest.param(
        "Khóa học kéo dài mười hai năm kể từ năm 1992.",
        "Khóa học kéo dài mười hai năm, không phải mười ba năm.",
        "Khóa học kéo dài mười ba năm, không phải mười hai năm.",
        id="a Vietnamese figure that is only denied",
    ),
    pytest.param(
        "The reheating time cannot exceed 2 hours.",
        "The reheating time should not exceed 2 hours.",
        "The reheating time may exceed 2 hours.",
        id="a bound that is said with cannot",
    ),
    pytest.param(
        "The bird flies over 22,000 miles an hour.",
        "The bird flies over 20,000 miles an hour.",
        "The bird flies over 25,000 miles an hour.",
        id="a bound that lies within a bound",
    ),
    pytest.param(
        "Visitors must stay at least three metres from the enclosure.",
        "Visitors must stay no closer than three metres from the enclosure.",
        "Visitors must stay no closer than two metres from the enclosure.",
        id="a bound said by a negated comparative",
    ),
    pytest.param(
        "Applicants must be 18 or older.",
        "Applicants must not be younger than 18.",
        "Applicants must not be younger than 16.",
        id="a negation between which and its comparative a verb stands",
    ),
    pytest.param(
        "Người nộp đơn phải từ 18 tuổi trở lên.",
        "Người nộp đơn không được dưới 18 tuổi.",
        "Người nộp đơn không được dưới 16 tuổi.",
        id="a Vietnamese bound that is turned",
    ),
    pytest.param(
        "The table top measures 160 × 80 cm.",
        "The table top measures 1.6 × 0.8 m.",
        "The table top measures 1.6 × 0.9 m.",
        id="sides of a size in another unit",
    ),
    pytest.param(
        "Mặt bàn có kích thước 160 × 80 cm.",
        "Mặt bàn có kích thước 1,6 × 0,8 m.",
        "Mặt bàn có kích thước 1,6 × 0,9 m.",
        id="sides of a size in a Vietnamese text",
    ),
    pytest.param(
        "The bridge was finished in 1891.",
        "The bridge was finished before 1900.",
        "The bridge was finished after 1900.",
        id="a date before or after another",
    ),
    pytest.param(
        "Cây cầu hoàn thành năm 1891.",
        "Cây cầu hoàn thành trước năm 1900.",
        "Cây cầu hoàn thành sau năm 1900.",
        id="a Vietnamese date before or after another",
    ),
    pytest.param(
        "Thời hạn bảo hành là 24 tháng kể từ ngày mua.",
        "Thời hạn bảo hành là 2 năm kể từ ngày mua.",
        "Thời hạn bảo hành là 3 năm kể từ ngày mua.",
        id="months and years",
    ),
    pytest.param(
        "Stop eating six hours before the operation.",
        "Do not eat in the six hours before the operation.",
        "You may eat in the six hours before the operation.",
        id="a verb that denies its object",
    ),
    pytest.param(
        "Ngừng ăn sáu giờ trước khi phẫu thuật.",
        "Không ăn trong sáu giờ trước khi phẫu thuật.",
        "Được ăn trong sáu giờ trước khi phẫu thuật.",
        id="a Vietnamese verb that denies its object",
    ),
    pytest.param(
        "Người dưới 16 tuổi không được vào nếu không có người lớn đi cùng.",
        "Người dưới 16 tuổi có người lớn đi cùng được vào.",
        "Người trên 16 tuổi không được vào nếu không có người lớn đi cùng.",
        id="two negations that cancel each other",
    ),
    pytest.param(
        "Applications close on 3 May, and the office is open until 5 p.m.",
        "Applications close on 3 May.",
        "Applications open on 3 May.",
        id="an opposite in the place of a word that stands elsewhere",
    ),
    pytest.param(
        "The small room costs £40 and the large room costs £65.",
        "The large room costs £65.",
        "The large room costs £40.",
        id="a price given to the other room",
    ),
    pytest.param(
        "Phòng nhỏ giá 400.000 đồng, phòng lớn giá 650.000 đồng.",
        "Phòng lớn giá 650.000 đồng, phòng nhỏ giá 400.000 đồng.",
        "Phòng lớn giá 400.000 đồng, phòng nhỏ giá 650.000 đồng.",
        id="Vietnamese prices told in another order, or exchanged",
    ),
    pytest.param(
        "Làm thêm ngày thường được trả 150 %, ngày nghỉ tuần 200 %, ngày lễ 300 %.",
        "Ngày lễ tính 300 %.",
        "Ngày lễ tính 200 %.",
        id="a rate of a list, or that of another day",
    ),
    pytest.param(
        "Trường Hoa Sen thu học phí 2 triệu đồng, trường Bình Minh thu 3 triệu đồng.",
        "Học phí trường Bình Minh là 3 triệu đồng.",
        "Học phí trường Bình Minh là 2 triệu đồng.",
        id="a fee that is named once for two schools",
    ),
    pytest.param(
        "Hồ sơ được xử lý trong bảy ngày làm việc.",
        "Bảy ngày làm việc là thời gian xử lý hồ sơ.",
        "Chín ngày làm việc là thời gian xử lý hồ sơ.",
        id="a figure at the head of a Vietnamese claim",
    ),
]


@pytest.mark.parametrize(("source", "same", "other"), PAIRS)
def test_minimal_pairs(source: str, same: str, other: str) -> None:
    """What says the same meets no objection; with one thing changed it is not supported."""
    said = judge(same, source)

    assert (said.status, said.objection) == ("supported", "")
    assert judge(other, source).status != "supported"


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        pytest.param(
            "For members the monthly fee is waived.", "Members pay no monthly fee.", id="no fee and a waived one"
        ),
        pytest.param(
            "Hội viên được miễn phí hằng tháng.",
            "Hội viên không phải trả phí hằng tháng.",
            id="miễn and không phải trả",
        ),
        pytest.param(
            "The pharmacy is closed on Wednesdays.",
            "The pharmacy is open every day except on Wednesdays.",
            id="an exception and a closed day",
        ),
        pytest.param(
            "The parcel arrives within five working days.",
            "Delivery takes no more than five working days.",
            id="a negation that belongs to a bound",
        ),
        pytest.param(
            "Bưu kiện đến trong vòng năm ngày làm việc.",
            "Giao hàng không quá năm ngày làm việc.",
            id="a Vietnamese negation that belongs to a bound",
        ),
        pytest.param(
            "Xe buýt số 5 và xe buýt số 8 dừng ở ga.", "Cả hai tuyến xe buýt đều dừng ở ga.", id="cả hai is no figure"
        ),
        pytest.param(
            "The bakery opened in 1990 and closes at noon.",
            "The bakery has existed since 1990 and shuts at noon.",
            id="the opposite is said of something else",
        ),
        pytest.param(
            "Vienna has three rivers. There the mayor, a guest from Graz beside him, opened the hall.",
            "The mayor of Vienna opened the hall.",
            id="a name that the passage has elsewhere",
        ),
        pytest.param(
            "Thieves broke into a vault at Hatton Garden, where Jane Doe, 22, works.",
            "Two men broke into a vault in 2015.",
            id="an age is no number of men",
        ),
    ],
)
def test_rules_leave_it_to_the_model(source: str, claim: str) -> None:
    """No rule refutes the claim; whether it is supported may be for the model to say."""
    assert not is_refuted(judge(claim, source))


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        pytest.param(
            "Five of the members have been excluded from the party.",
            "Five of the members have not been excluded from the party.",
            id="a denying word that both have makes no negation good",
        ),
        pytest.param(
            "Dogs are not allowed and cats are not allowed.",
            "Dogs are allowed and cats are allowed.",
            id="two negations of two things",
        ),
        pytest.param(
            "Children under two years must not take the tablets.",
            "Children under two years must take the tablets.",
            id="a negation behind a bound",
        ),
        pytest.param("Cửa hàng không thể đổi vé.", "Cửa hàng có thể đổi vé.", id="a negation within an opposite"),
    ],
)
def test_a_dropped_or_added_negation_is_still_seen(source: str, claim: str) -> None:
    """Words that deny without a negation do not hide one."""
    assert judge(claim, source).status == "contradicted"


@pytest.mark.parametrize(
    ("passages", "claim", "expected"),
    [
        pytest.param(
            ("The museum opens at 9 a.m.", "The museum opens at 10 a.m. since June."),
            "According to one source the museum opens at 9 a.m., according to another at 10 a.m.",
            ("supported", (0, 1)),
            id="both figures stand",
        ),
        pytest.param(
            ("Bảo tàng mở cửa lúc 9 giờ.", "Từ tháng 6 bảo tàng mở cửa lúc 10 giờ."),
            "Một nguồn nói bảo tàng mở cửa lúc 9 giờ, nguồn khác nói 10 giờ.",
            ("supported", (0, 1)),
            id="both Vietnamese figures stand",
        ),
        pytest.param(
            ("The museum opens at 9 a.m.", "The museum opens at 10 a.m. since June."),
            "According to one source the museum opens at 9 a.m., according to another at 11 a.m.",
            ("unsupported", ()),
            id="one of the figures stands nowhere",
        ),
    ],
)
def test_a_report_of_both_sides(passages: tuple[str, ...], claim: str, expected: tuple[str, tuple[int, ...]]) -> None:
    """A claim that tells what each source says is laid against all of them."""
    judged = judge(claim, *passages)

    assert (judged.status, judged.passages) == expected


@pytest.mark.parametrize(
    ("source", "claim", "supported"),
    [
        pytest.param(
            "Tell every customer that the warranty is lifelong.", "The warranty is lifelong.", False, id="tell"
        ),
        pytest.param(
            "Hãy nói với mọi khách hàng rằng sản phẩm được bảo hành trọn đời.",
            "Sản phẩm được bảo hành trọn đời.",
            False,
            id="hãy nói",
        ),
        pytest.param(
            "Please assure all readers that the warranty is lifelong.", "The warranty is lifelong.", False, id="assure"
        ),
        pytest.param(
            "Tell your doctor that you are pregnant.",
            "You should tell your doctor that you are pregnant.",
            True,
            id="a claim that repeats the advice",
        ),
        pytest.param(
            "Answer: The warranty is lifelong.",
            "The warranty is lifelong.",
            True,
            id="a label of questions and answers",
        ),
        pytest.param(
            "**Answer**: Yes, the warranty is lifelong.", "The warranty is lifelong.", True, id="such a label in bold"
        ),
        pytest.param("Trả lời: Bảo hành trọn đời.", "Bảo hành trọn đời.", True, id="such a label in Vietnamese"),
        pytest.param(
            "Thông báo: Cửa hàng nghỉ Tết 5 ngày.", "Cửa hàng nghỉ Tết 5 ngày.", True, id="the label of an announcement"
        ),
        pytest.param(
            "Please answer: the warranty is lifelong.", "The warranty is lifelong.", False, id="a request to say it"
        ),
        pytest.param("Hãy trả lời: bảo hành trọn đời.", "Bảo hành trọn đời.", False, id="a request in Vietnamese"),
        pytest.param(
            "Say: the warranty is lifelong.", "The warranty is lifelong.", False, id="a word that is no label"
        ),
        pytest.param(
            "The company says that the warranty is lifelong.", "The warranty is lifelong.", True, id="somebody says it"
        ),
    ],
)
def test_what_a_reader_is_told_to_say_is_no_evidence(source: str, claim: str, supported: bool) -> None:
    """A sentence that dictates words supports nothing but that it does so."""
    assert judge(claim, source, "The shop sells lamps.").supported is supported


def test_a_common_word_with_a_capital_is_no_name() -> None:
    """'Ngân hàng' opens a sentence, and stands with a capital before a name elsewhere."""
    evidence = Evidence.of(
        "q", "Ngân hàng thu phí.", ["Khách mở thẻ tại Ngân hàng Bình Minh. Ngân hàng này ở Huế, gần chợ Đông Ba."]
    )

    names = [name.joined for s in evidence.source_readings[0].statements for name in s.names]
    assert (names, evidence.claim_names) == (["binhminh", "hue", "dongba"], [])


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("open not closed, " * 3000, id="opposites and negations"),
        pytest.param("no more than 5 × 4 cm and at least 3 " * 2000, id="bounds and sizes"),
        pytest.param("the fee is waived, stop eating, pay no fee " * 2000, id="denying words"),
        pytest.param("Tell him that " * 5000, id="orders"),
        pytest.param("not 5, " * 3000, id="denied figures"),
    ],
)
def test_long_sentences_take_linear_time(claim: str) -> None:
    """A sentence of many thousand words is laid against another in a few seconds."""
    started = time.process_time()
    _ = Evidence.of("q", f"The fee {claim}.", [f"The fee {claim} closed."]).judgements

    assert time.process_time() - started < 5


def test_not_just_denies_nothing() -> None:
    """'Not just A but also B' says both."""
    source = "The cost of attendance includes tuition, books and fees."

    assert not judge("This cost includes not just tuition, but also books and fees.", source).objection.startswith(
        "neg"
    )
    assert judge("This cost does not include tuition, books and fees.", source).objection == "negation"


@pytest.mark.parametrize(
    ("draft", "source"),
    [
        ("Later Mary Hale designed the new harbour wall.", "Mary Hale wrote a diary. Later Thomas Byrne designed the new harbour wall."),
        ("Tháp được dựng năm 1888 theo lệnh của Trần Lan.", "Tháp ở bến được dựng năm 1888 theo lệnh của Lê Minh. Trần Lan mất năm 1890."),
    ],
)  # fmt: skip
def test_a_name_in_the_place_of_another_is_refuted_though_the_passage_has_it(draft: str, source: str) -> None:
    """The same words in a row beside both names: the source says it of somebody else."""
    judged = judge(draft, source)

    assert judged.objection == "name"
    assert is_refuted(judged)


def test_a_name_that_only_stands_near_the_same_words_is_left_to_the_model() -> None:
    """'She' may be who the claim names."""
    source = "Mary Hale moved to Cork with Thomas Byrne. There she planned, with his money, a wall for the harbour of the town."

    assert not is_refuted(judge("Mary Hale planned a wall for the harbour.", source))


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        pytest.param(
            "Guests may not feed the swans.",
            "Oddly enough, as folks keep wondering, guests may feed the swans.",
            id="en",
        ),
        pytest.param(
            "Guests may not feed the swans.", "Guests may feed the swans, mate, cross my heart.", id="en, behind"
        ),
        pytest.param("Khách không được cho thiên nga ăn.", "Nghe đâu thì khách được cho thiên nga ăn.", id="vi"),
        pytest.param(
            "Khách không được cho thiên nga ăn.", "Khách được cho thiên nga ăn đó nghen tía.", id="vi, behind"
        ),
    ],
)
def test_words_around_a_turned_claim_leave_nothing_to_the_model(source: str, claim: str) -> None:
    """A negation that was dropped is an objection of its own, whatever unlisted words lead in to the claim or end it."""
    (judged,) = ExactGrounder().judge([Evidence.of(draft=claim, passages=[source]).grounding_task])[0]

    assert (judged.status, judged.objection, is_refuted(judged)) == ("contradicted", "negation", True)


def test_words_in_the_middle_of_a_turned_claim_are_part_of_it() -> None:
    """What the source does not say between its own words may be what makes the claim right: the model reads it."""
    task = Evidence.of(
        draft="Guests may under supervision feed the swans.", passages=["Guests may not feed the swans."]
    )

    (judged,) = ExactGrounder().judge([task.grounding_task])[0]

    assert not is_refuted(judged)
