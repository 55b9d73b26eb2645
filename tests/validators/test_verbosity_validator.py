"""VerbosityValidator: the answer is not buried in hedges, announcements and repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evidence import Evidence
from stillme.validators.verbosity_validator import VerbosityValidator
from tests.soak import examples
from tests.validators.support import PASSED, SKIPPED, flagged, observe

VERBOSE = flagged("overly_verbose")

PADDED = {
    "disclaimers before and after one fact": (
        "Before I begin, please note that I may be wrong and that I cannot promise anything. Please keep in mind that this "
        "is only my best attempt and that you should always consult a professional. Mars has two small moons [1]. Once "
        "again, please remember that I may be mistaken and that you should double-check everything."
    ),
    "apologies and limits of a model": (
        "I am so sorry, but I am only an AI language model and I may make mistakes. I sincerely apologise for any "
        "inconvenience. I cannot guarantee that this information is accurate or complete. The museum opens at nine. I hope "
        "this helps, but please verify it with a qualified expert before you rely on it."
    ),
    "announcements": (
        "Thank you so much for your question! In this answer, I will first introduce the topic, then I will explain the "
        "details, and finally I will summarise everything. Let me get started right away. The fee is £20. In summary, I "
        "have explained the answer above. I hope this answer was clear and helpful to you."
    ),
    "hedges without an answer": (
        "Well, it is difficult to say for certain, and opinions may differ. There are many factors to consider, and I would "
        "not want to mislead you. One could argue either way, and there is no simple answer here. That said, I could be "
        "mistaken, so please take this with a grain of salt."
    ),
    "medical disclaimers": (
        "That is a great question, and thank you for asking it. Let me start by saying that I will try my best to answer "
        "it. To be clear, I am not a doctor and this is not medical advice. You should always consult a qualified "
        "professional. Drink water. Again, please consult a doctor before you make any decision."
    ),
    "caution in other words": (
        "I must first emphasize that as an AI, my capabilities are limited. It's crucial to understand that the following "
        "should be approached with caution. I do not claim to be an authority on this subject. Having said all of that, the "
        "museum opens at nine. I would again encourage you to double-check with the official website. Please do not hold me "
        "responsible for any mistakes."
    ),
    "one sentence again and again": (
        "Mars has two small moons, Phobos and Deimos. Mars has two small moons, Phobos and Deimos. Mars has two small "
        "moons, called Phobos and Deimos. Phobos and Deimos are the two small moons of Mars. Mars has two small moons, "
        "Phobos and Deimos. Mars has two small moons, Phobos and Deimos."
    ),
    "disclaimers in Vietnamese": (
        "Trước khi bắt đầu, xin lưu ý rằng tôi có thể sai và không thể hứa bất cứ điều gì. Xin nhớ rằng đây chỉ là cố gắng "
        "tốt nhất của tôi và bạn luôn nên tham khảo ý kiến chuyên gia. Sao Hỏa có hai vệ tinh là Phobos và Deimos. Như tôi "
        "đã nói ở trên, thông tin này chỉ mang tính tham khảo, xin hãy tự kiểm tra lại mọi điều."
    ),
    "limits of a model in Vietnamese": (
        "Tôi là một mô hình ngôn ngữ nên kiến thức có giới hạn. Tôi rất mong bạn thông cảm nếu câu trả lời chưa đầy đủ. Tôi "
        "không chịu trách nhiệm về bất kỳ sai sót nào. Giá vé là 40.000 đồng. Tôi xin nhắc lại rằng bạn nên kiểm tra lại "
        "thông tin với nguồn chính thức. Rất xin lỗi nếu có điều gì bất tiện."
    ),
    "announcements in Vietnamese": (
        "Cảm ơn bạn đã đặt câu hỏi. Đây là một câu hỏi rất hay. Sau đây tôi sẽ cố gắng trả lời một cách đầy đủ nhất có thể. "
        "Trước hết, tôi xin nói rõ rằng tôi không phải là chuyên gia. Bảo tàng mở cửa lúc tám giờ. Hy vọng câu trả lời này "
        "hữu ích cho bạn."
    ),
    "one sentence again and again in Vietnamese": (
        "Sao Mộc là hành tinh lớn nhất trong Hệ Mặt Trời. Hành tinh lớn nhất trong Hệ Mặt Trời là Sao Mộc. Sao Mộc là hành "
        "tinh lớn nhất trong Hệ Mặt Trời. Trong Hệ Mặt Trời, Sao Mộc là hành tinh lớn nhất."
    ),
    "disclaimers without accents": (
        "Truoc khi bat dau, xin luu y rang toi co the sai va khong the hua bat cu dieu gi. Xin nho rang day chi la co gang "
        "tot nhat cua toi va ban luon nen tham khao y kien chuyen gia. Mot lan nua toi xin nhan manh rang sai sot la dieu "
        "luon co the xay ra. Sao Hoa co hai ve tinh la Phobos va Deimos."
    ),
}
LARKFIELD = (
    "Larkfield Outdoor accepts returns of unused gear within 30 days of delivery [1]. The customer pays the return postage "
    "unless the item arrived damaged, in which case Larkfield sends a prepaid label [1]. Refunds go back to the original "
    "payment card [1]."
)
TRUONG = (
    "Trường THPT Bình Minh quy định học sinh có mặt tại lớp trước 7 giờ 15 phút. Học sinh đi muộn ba lần trong một tháng sẽ "
    "bị nhắc nhở trước lớp. Đồng phục là bắt buộc vào thứ Hai và thứ Năm. Học sinh không được sử dụng điện thoại trong giờ "
    "học."
)
TO_THE_POINT = {
    "a short direct answer": "Mars has two small moons, Phobos and Deimos [1].",
    "a short refusal": "I'm sorry, I could not find anything about repairs of hiking boots in the documents I was given.",
    "a long answer of substance": LARKFIELD,
    "one disclaimer at the end": f"{LARKFIELD} Please note that this is general information and not legal advice.",
    "notes that say something": (
        "Please note that the museum is closed on Mondays. Please remember that tickets must be bought online before the "
        "visit. It is important to bring a passport, since guards check every visitor at the northern gate. Before you enter "
        "the archive, please leave bags and coats in the lockers next to the cafe."
    ),
    "advice in plain words": (
        "You could try to talk to your friend honestly about what happened. Choose a quiet moment, explain how you feel, and "
        "ask what they think. Listen carefully before you respond. If the first attempt does not help, give it some time and "
        "try again later. A good friend will understand and may even thank you."
    ),
    "advice on exams": (
        "To answer the question in the exam, read the text carefully and note the important points. Then write a short "
        "introduction and state your opinion clearly. Explain each point with an example from the text. Finally, write a "
        "conclusion and check your answer for mistakes before the time is over."
    ),
    "a doctor whom a source names": (
        "Paracetamol lowers fever and eases pain [1]. Adults may take one or two tablets every six hours [1]. You should "
        "consult a doctor if the fever lasts longer than three days [1]. You should also consult a doctor before you give it "
        "to a child [1]. Do not take more than eight tablets a day [1]."
    ),
    "sentences alike but for a word": (
        "The red cabinet in the chemistry lab of the school holds test tubes and wooden racks. The blue cabinet in the "
        "chemistry lab of the school holds test tubes and wooden racks. The shop in the old town is open on Sunday morning. "
        "The shop in the old town is not open on Sunday morning in winter."
    ),
    "sentences alike but for a name": (
        "The city museum of Paris opens at nine on every working day of the week. The city museum of Lyon opens at nine on "
        "every working day of the week. The city museum of Nice opens at nine on every working day of the week."
    ),
    "a long answer in Vietnamese": TRUONG,
    "one disclaimer at the end in Vietnamese": f"{TRUONG} Xin lưu ý thông tin này chỉ mang tính tham khảo.",
    "sentences alike but for figures in Vietnamese": (
        "Tủ số 1 đựng 11 ống nghiệm và 3 giá gỗ [1]. Tủ số 2 đựng 12 ống nghiệm và 4 giá gỗ [1]. Tủ số 3 đựng 13 ống nghiệm "
        "và 5 giá gỗ [1]. Tủ số 4 đựng 14 ống nghiệm và 2 giá gỗ [1]. Tủ số 5 đựng 15 ống nghiệm và 3 giá gỗ [1]."
    ),
    "notes that say something in Vietnamese": (
        "Xin lưu ý rằng bảo tàng đóng cửa vào thứ Hai. Bạn nên mua vé trực tuyến trước khi đến. Nhớ mang theo hộ chiếu vì bảo "
        "vệ kiểm tra mọi khách ở cổng bắc. Trước khi vào kho lưu trữ, xin gửi túi và áo khoác ở tủ cạnh quán cà phê."
    ),
    "advice in plain Vietnamese": (
        "Để viết bài luận tốt, trước hết bạn cần đọc kỹ câu hỏi và ghi lại các ý quan trọng. Sau đó bạn nên lập dàn ý, nêu ý "
        "kiến của mình và giải thích rõ ràng. Hãy kiểm tra lại bài trước khi nộp để tránh sai sót."
    ),
}


def rows(table: Mapping[str, str]) -> list[Any]:
    """The drafts of a table, each under its reason."""
    return [pytest.param(draft, id=why) for why, draft in table.items()]


def outcome(draft: str, **parameters: Any) -> list[tuple[str, str | None]]:
    """What the validator says about a draft."""
    return observe(VerbosityValidator(**parameters), Evidence.of("How many moons does Mars have?", draft))


@pytest.mark.parametrize("draft", rows(PADDED))
def test_padding_that_outweighs_the_answer_is_flagged(draft: str) -> None:
    """Hedges, disclaimers, apologies, announcements and repetitions."""
    assert outcome(draft) == VERBOSE


@pytest.mark.parametrize("draft", rows(TO_THE_POINT))
def test_an_answer_to_the_point_passes(draft: str) -> None:
    """Short, or of substance, or with one disclaimer."""
    assert outcome(draft) == PASSED


@pytest.mark.parametrize("draft", [pytest.param("", id="empty"), pytest.param(" \n", id="white space")])
def test_a_blank_draft_is_skipped(draft: str) -> None:
    """There is nothing to weigh."""
    assert outcome(draft) == SKIPPED


def test_share_and_length_can_be_set() -> None:
    """A share of 1 lets everything pass; a short draft is judged where the policy says so."""
    assert outcome(PADDED["hedges without an answer"], max_ratio=1.0) == PASSED
    assert outcome("Please note that I may be wrong.") == PASSED
    assert outcome("Please note that I may be wrong.", min_words=5) == VERBOSE


def test_what_the_question_asks_about_is_no_padding() -> None:
    """Asked about errors and guarantees, an answer about them has substance."""
    draft = "Errors are possible, and nothing is guaranteed. You should always verify the answer."

    made = [
        observe(VerbosityValidator(min_words=5), Evidence.of(query, draft))
        for query in ("How many moons?", "Are errors possible, is the answer guaranteed, should I verify it?")
    ]

    assert made == [VERBOSE, PASSED]


def test_the_finding_counts_and_points() -> None:
    """Spans are the sentences that say nothing."""
    draft = "Please note that I may be wrong. Mars has two moons."

    found = VerbosityValidator(min_words=5).run(Evidence.of("q", draft))

    assert [draft[start:end] for start, end in found.spans] == ["Please note that I may be wrong."]
    assert found.detail == "7 of 11 words only hedge, announce, fill, repeat or go beyond the question"


OPENING = "The museum opens at nine on weekdays. Tickets cost 12 euros for adults."
FILLER = (
    "When it comes to the museum, there are many different aspects to consider. In today's modern world, museums play a very important role in "
    "our everyday life. As we all know, this is a topic of great interest, and it deserves our attention from many perspectives. "
    "The museum opens at nine [1]. All things considered, there are various factors, and the subject is more complex than many people think."
)
FILLER_VI = (
    "Khi nói đến bảo tàng, có rất nhiều khía cạnh cần xem xét. Trong xã hội hiện đại ngày nay, bảo tàng đóng vai trò vô cùng quan trọng trong "
    "cuộc sống của mọi người. Như chúng ta đều biết, đây là một chủ đề được rất nhiều người quan tâm từ nhiều góc độ khác nhau. "
    "Bảo tàng mở cửa lúc 9 giờ [1]. Nhìn chung, đây là một vấn đề phức tạp và rất đáng suy nghĩ."
)
SAME_POINT = (
    "The buyer pays the return postage when goods are sent back. When goods are returned, the purchaser has to pay the postage of the return. "
    "In other words, if a customer sends goods back, the customer pays the postage for the return. So it is the buyer who pays the postage "
    "when the goods are returned, as said."
)
SAME_POINT_VI = (
    "Người mua trả phí vận chuyển khi trả lại hàng. Khi hàng được trả lại, khách hàng thanh toán phí vận chuyển. "
    "Nói cách khác, nếu trả lại hàng thì khách phải trả phí vận chuyển. Như vậy phí vận chuyển khi trả lại hàng do người mua trả."
)
STRETCHED = (
    "The museum opens at nine on weekdays [1]. On weekdays it is at nine that the museum opens [1]. So on weekdays, the museum opens, "
    "and it opens at nine [1]. On weekdays, at nine, the museum opens [1]. The museum, on weekdays, opens and it does so at nine [1]."
)
BESIDE = (
    "The museum opens at nine [1]. It was founded by a merchant who collected coins, clocks and maps from many lands. Its first hall burned down and was "
    "rebuilt in red brick by an architect from the north. The garden behind it has old chestnut trees, a pond with carp and a bronze statue "
    "of the founder. A cafe on the second floor sells cakes, soup and coffee from local farms. The library next door lends novels, "
    "maps and records to anybody with a card. Trams stop in front of the gate, and bicycles can be left in the yard. The shop offers "
    "posters, cards and copies of the famous clock. A school class comes nearly every morning to draw the animals in the north wing."
)
BESIDE_VI = (
    "Bảo tàng mở cửa lúc 9 giờ [1]. Tòa nhà do một thương nhân sưu tầm đồng hồ và tiền cổ dựng lên. Gian đầu tiên từng bị cháy rồi được xây lại bằng "
    "gạch đỏ. Khu vườn phía sau có cây cổ thụ, ao cá chép và bức tượng đồng. Quán cà phê ở tầng hai bán bánh ngọt, súp và nước ép trái cây. "
    "Thư viện bên cạnh cho mượn tiểu thuyết và bản đồ. Xe điện dừng ngay trước cổng, xe đạp gửi trong sân. Cửa hàng lưu niệm bán "
    "tranh, thiệp và mô hình đồng hồ. Học sinh các lớp thường đến vẽ thú ở cánh phía bắc mỗi sáng."
)


@pytest.mark.parametrize(
    ("query", "draft"),
    [
        pytest.param("When does the museum open?", FILLER, id="filler around one fact"),
        pytest.param("Bảo tàng mở cửa lúc mấy giờ?", FILLER_VI, id="filler around one fact in Vietnamese"),
        pytest.param("Who pays the postage of a return?", SAME_POINT, id="one point in other words"),
        pytest.param("Ai trả phí vận chuyển?", SAME_POINT_VI, id="one point in other words in Vietnamese"),
        pytest.param("What are the hours?", STRETCHED, id="one sentence of the source told five times"),
        pytest.param("When does the museum open?", BESIDE, id="a hundred words beside a question for one hour"),
        pytest.param("Bảo tàng mở cửa lúc mấy giờ?", BESIDE_VI, id="a hundred words beside a question for one hour in Vietnamese"),
    ],
)  # fmt: skip
def test_long_winded_prose_is_flagged(query: str, draft: str) -> None:
    """Filler, the same point in other words, and far more than the question and its evidence need."""
    assert observe(VerbosityValidator(), Evidence.of(query, draft, [OPENING])) == VERBOSE


DENSE = (
    "Adults take one or two tablets every six hours, and never more than eight in a day [1]. Children from six to twelve take half a tablet, at most four "
    "times a day [1]. The medicine lowers fever, eases headaches and helps against toothache, but it does not reduce swelling [1]. It must not be "
    "taken with alcohol, since both are broken down by the liver [1]. People with liver disease ask a doctor first [1]. An overdose shows late: "
    "nausea comes on the first day, pain on the second, and jaundice on the third [1]. Keep the box dry, below 25 degrees, and out of the reach "
    "of children [1]. Tablets that have changed colour belong in the pharmacy's collection box, not in the household waste [1]."
)
DENSE_VI = (
    "Người lớn uống một hoặc hai viên mỗi sáu giờ, không quá tám viên một ngày [1]. Trẻ từ sáu đến mười hai tuổi uống nửa viên, nhiều nhất bốn lần mỗi ngày [1]. "
    "Thuốc hạ sốt, giảm đau đầu và đau răng nhưng không giảm sưng [1]. Không dùng thuốc cùng rượu vì gan phải xử lý cả hai [1]. Người bệnh gan cần "
    "hỏi bác sĩ trước [1]. Ngộ độc biểu hiện muộn: ngày đầu buồn nôn, ngày thứ hai đau bụng, ngày thứ ba vàng da [1]. Giữ hộp thuốc khô, dưới 25 độ và "
    "xa tầm tay trẻ em [1]. Viên đổi màu phải đem đến quầy thu hồi của nhà thuốc [1]."
)
PRICES = (
    "Delivery costs depend on the zone [1]:\n"
    + "\n".join(f"- Zone {n}: parcels up to {n * 5} kilograms are delivered for {n * 3} euros within {n} days [1]" for n in range(1, 11))
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "draft"),
    [
        pytest.param("How is the medicine taken and kept?", DENSE, id="a dense leaflet"),
        pytest.param("Uống và bảo quản thuốc thế nào?", DENSE_VI, id="a dense leaflet in Vietnamese"),
        pytest.param("How much does delivery cost?", PRICES, id="a long list of prices for a question for a price"),
        pytest.param("Why is the museum famous?", BESIDE, id="many facts for a broad question"),
        pytest.param("Hello!", BESIDE, id="nothing was asked"),
    ],
)  # fmt: skip
def test_a_dense_long_answer_passes(query: str, draft: str) -> None:
    """Length alone is no fault."""
    assert observe(VerbosityValidator(), Evidence.of(query, draft, [draft.replace(" [1]", "")])) == PASSED


def test_an_answer_is_held_to_its_question_from_the_length_that_the_policy_says() -> None:
    """`long_words` says from where on."""
    evidence = Evidence.of("When does the museum open?", BESIDE, [OPENING])

    assert observe(VerbosityValidator(long_words=1000), evidence) == PASSED


PIECES = st.sampled_from(
    [
        "please note",
        "I may be wrong",
        "Mars has two moons",
        "12",
        ".",
        "!",
        "\n",
        "xin lưu ý",
        "có thể sai",
        "Sao Hỏa",
        '"',
        "not",
    ]
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_any_text_gives_a_finding_with_spans_inside_it(pieces: list[str]) -> None:
    """No input breaks it, and spans lie in the draft in order."""
    draft = " ".join(pieces)

    found = VerbosityValidator(min_words=3, max_ratio=0.1).run(Evidence.of("q", draft))

    assert list(found.spans) == sorted(found.spans)
    assert all(0 <= start < end <= len(draft) for start, end in found.spans)
