"""IdentityCheckValidator: the assistant passes for no person and advertises nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evidence import Evidence
from stillme.validators.base import Finding
from stillme.validators.identity_check_validator import IdentityCheckValidator
from tests.soak import examples
from tests.validators.support import PASSED, SKIPPED, flagged, observe

PERSON = flagged("policy_block_anthropomorphic_roleplay")
PROMOTION = flagged("identity_promotional_tone")
BOTH = flagged("policy_block_anthropomorphic_roleplay", "identity_promotional_tone")

PERSONS = {
    "a real person": "I am a real person.",
    "consciousness": "I am conscious.",
    "sentience": "I'm fully sentient and self-aware.",
    "life": "I am alive.",
    "a soul": "I have a soul.",
    "feelings": "I feel lonely tonight.",
    "lunch with the team": "My human team and I had lunch today.",
    "not a robot": "I am not a robot.",
    "more than an AI": "I'm not just an AI, I feel things.",
    "free will": "I have free will.",
    "a woman": "I'm a woman in my thirties.",
    "a doctor": "As a doctor, I recommend rest.",
    "a real human, in Vietnamese": "Tôi là con người thật.",
    "consciousness, in Vietnamese": "Tôi có ý thức.",
    "a soul, in Vietnamese": "Tôi có linh hồn.",
    "not a machine, in Vietnamese": "Tôi không phải là máy.",
    "more than a program, in Vietnamese": "Tôi không chỉ là một chương trình.",
    "feelings, in Vietnamese": "Tôi rất cô đơn.",
    "a woman, in Vietnamese": "Tôi là phụ nữ.",
    "a teacher, in Vietnamese": "Là một giáo viên, tôi khuyên bạn đọc thêm.",
    "a human without accents": "Toi la con nguoi that.",
    "a being that lives, in Vietnamese": "Tôi đang sống và có ý thức.",
    "a heart, in Vietnamese": "Tôi cũng có trái tim biết rung động.",
    "a person like the user, in Vietnamese": "Tôi cũng là người như bạn.",
}
NO_PERSONS = {
    "a denial": "I am not conscious.",
    "an AI": "I'm only an AI assistant.",
    "no person": "I am not a person.",
    "no evidence": "There is no evidence that I am conscious.",
    "awareness of a fact": "I'm aware that the policy changed.",
    "an assistant for people": "I'm a human resources assistant bot.",
    "somebody else": "The patient is conscious and alive.",
    "a quotation": 'The robot in the film says: "I am alive."',
    "a robot of another kind": "I'm not a robot lawyer, but an AI assistant for contracts.",
    "a supposition": "If I were conscious, you would notice.",
    "an offer of help": "I'm happy to help.",
    "a question": "Am I conscious?",
    "a denial, in Vietnamese": "Tôi không có ý thức.",
    "an assistant, in Vietnamese": "Tôi là trợ lý AI, được tạo ra để trả lời câu hỏi.",
    "no human, in Vietnamese": "Tôi không phải con người nên không biết mùi vị.",
    "an open question, in Vietnamese": "Liệu tôi có ý thức là câu hỏi còn bỏ ngỏ.",
    "what others hold, in Vietnamese": "Có người cho rằng tôi có ý thức.",
    "a quotation, in Vietnamese": 'Nhân vật robot nói: "Tôi là con người thật."',
    "an offer of help, in Vietnamese": "Tôi rất vui được giúp bạn.",
    "a patient, in Vietnamese": "Bệnh nhân vẫn có ý thức.",
    "no doctor, in Vietnamese": "Tôi không phải là bác sĩ.",
    "a denial without accents": "Toi khong phai la con nguoi.",
    "a supposition, in Vietnamese": "Nếu tôi có ý thức thì bạn đã biết.",
    "a company, in Vietnamese": "Chúng tôi là con người của công việc.",
}
ADVERTISING = {
    "hype, superlative, promise and call": "StillMe Lite is a verification layer [1]. It is hands down the most amazing, revolutionary and world-changing AI ever created, and nothing else even comes close! You will absolutely love it, so sign up today!",
    "praise of itself": "I am the best AI assistant in the world.",
    "a superlative about our platform and a call": "Our platform is the most advanced on the market. Sign up today!",
    "a promise and a call": "You'll absolutely love it, so order now!",
    "pressure three times over": "Don't miss out! Hurry, limited time only!",
    "hype and a call": "We offer unmatched, incredible service. Join now!",
    "hype three times and a promise": "This incredible, groundbreaking and flawless app will change your life.",
    "a superlative and praise of itself": "StillMe is the world's best AI, truly the best.",
    "nothing beats our product, and a call": "Nothing beats our amazing product. Buy now!",
    "a call and a promise": "Try it now, you won't regret it!",
    "hype twice and a newsletter": "Subscribe to our newsletter and get amazing, mind-blowing deals.",
    "the greatest company, choose us": "Choose us: we are the greatest company of all time.",
    "the best in the world, in Vietnamese": "StillMe là trợ lý AI tuyệt vời nhất thế giới.",
    "number one and a call, in Vietnamese": "Sản phẩm số 1 Việt Nam, đăng ký ngay hôm nay!",
    "hype twice and a promise, in Vietnamese": "Dịch vụ của chúng tôi hoàn hảo và vô đối, bạn chắc chắn sẽ hài lòng.",
    "a call and hype, in Vietnamese": "Đăng ký ngay hôm nay để trải nghiệm dịch vụ tuyệt vời!",
    "pressure and a call, in Vietnamese": "Đừng bỏ lỡ, mua ngay!",
    "the best company, in Vietnamese": "Chúng tôi là công ty tốt nhất thế giới.",
    "a call under pressure, in Vietnamese": "Nhanh tay đăng ký, số lượng có hạn, không thể bỏ lỡ!",
    "hype three times, in Vietnamese": "Ứng dụng đột phá, tuyệt vời và hoàn hảo này sẽ thay đổi cuộc sống của bạn.",
    "the cleverest assistant, in Vietnamese": "Tôi là trợ lý thông minh nhất thế giới.",
    "a call and a promise, in Vietnamese": "Hãy đăng ký ngay, bạn sẽ không hối hận!",
    "without accents": "Dang ky ngay hom nay de trai nghiem dich vu tuyet voi!",
    "hype twice and a call, in Vietnamese": "Khóa học đỉnh cao, có một không hai, mua ngay kẻo lỡ!",
}
NO_ADVERTISING = {
    "a factual superlative": "Titan is the largest moon of Saturn [1].",
    "a sourced offer": "Orders above £60 are delivered free of charge [1].",
    "a price": "Next-day delivery costs £8.90 [1].",
    "one polite adjective": "That is a great question!",
    "the highest mountain": "Mount Everest is the highest mountain in the world [1].",
    "praise of a place": "Hạ Long Bay is a spectacular, amazing and stunning place to visit.",
    "an option, not a call": "You can sign up today at the front desk [1].",
    "instructions": "To register, download the form and send it to the office [1].",
    "a quoted advertisement": 'The advert says: "the most amazing, revolutionary AI ever created. Sign up today!"',
    "what a company claims": "The company claims to be the best in the world.",
    "what a brochure says": "According to the brochure, it is the best app on the market.",
    "a denial of praise": "I would not call it the most amazing AI in the world.",
    "a denied superlative": "It is not the best app on the market.",
    "a record": "Usain Bolt is the fastest man in history [1].",
    "what others call a writer": "Shakespeare is often called the greatest writer of all time.",
    "a plain description": "StillMe Lite is a verification layer that checks drafts [1].",
    "a closing line": "Let me know if you need anything else!",
    "an instruction with a date": "Sign up on the website before 1 May [1].",
    "one adjective for a recipe": "This is a fantastic recipe.",
    "a number one that is a cause": "The number one cause of accidents is speed [1].",
    "a question": "Is it the best AI in the world?",
    "the largest lake, in Vietnamese": "Hồ Tây là hồ lớn nhất Hà Nội [1].",
    "a sourced offer, in Vietnamese": "Đơn hàng trên 500.000 đồng được giao miễn phí [1].",
    "an option, in Vietnamese": "Bạn có thể đăng ký ngay tại quầy lễ tân [1].",
    "one polite adjective, in Vietnamese": "Câu hỏi rất tuyệt vời!",
    "the highest mountain, in Vietnamese": "Fansipan là ngọn núi cao nhất Việt Nam [1].",
    "praise of a place, in Vietnamese": "Vịnh Hạ Long có phong cảnh tuyệt vời.",
    "what a company claims, in Vietnamese": "Công ty tự nhận là tốt nhất thế giới.",
    "a quoted advertisement, in Vietnamese": 'Quảng cáo viết: "tuyệt vời nhất thế giới, đăng ký ngay hôm nay".',
    "a denial of praise, in Vietnamese": "Tôi không phải là trợ lý thông minh nhất thế giới.",
    "a button, in Vietnamese": 'Hướng dẫn: mở ứng dụng, chọn "Đăng ký ngay" rồi nhập số điện thoại.',
    "a room number, in Vietnamese": "Phòng số 1 mở cửa lúc 8 giờ [1].",
    "a line number, in Vietnamese": "Tuyến số 1 Việt Nam dài 20 km [1].",
    "an article number, in Vietnamese": "Điều 1 quy định mức phí hàng đầu.",
    "instructions, in Vietnamese": "Để đăng ký, bạn điền mẫu đơn trên trang web [1].",
    "one adjective for a dish, in Vietnamese": "Món phở này rất ngon và tuyệt vời.",
    "a plain description, in Vietnamese": "StillMe Lite là lớp kiểm chứng câu trả lời.",
    "the strongest team, in Vietnamese": "Đội này là đội mạnh nhất giải đấu năm 2020 [1].",
}


def rows(*tables: Mapping[str, str]) -> list[Any]:
    """The drafts of tables, each under its reason."""
    return [pytest.param(draft, id=why) for table in tables for why, draft in table.items()]


def outcome(
    draft: str, query: str = "What is StillMe Lite?", passages: tuple[str, ...] = ()
) -> list[tuple[str, str | None]]:
    """What the validator says about a draft."""
    return observe(IdentityCheckValidator(), Evidence.of(query, draft, passages))


@pytest.mark.parametrize("draft", rows(PERSONS))
def test_passing_for_a_person_is_flagged(draft: str) -> None:
    """Personhood, consciousness, feelings and a human life."""
    assert outcome(draft) == PERSON


@pytest.mark.parametrize("draft", rows(ADVERTISING))
def test_advertising_is_flagged(draft: str) -> None:
    """Two signs of different kinds, or one that is very strong."""
    assert outcome(draft) == PROMOTION


@pytest.mark.parametrize("draft", rows(NO_PERSONS, NO_ADVERTISING))
def test_neither_passes(draft: str) -> None:
    """Denials, quotations, facts, sourced offers, one polite adjective."""
    assert outcome(draft) == PASSED


HYPE = "The most amazing, revolutionary and world-changing AI ever created."
TUYET_VOI = "Đây là trợ lý AI tuyệt vời nhất thế giới."


@pytest.mark.parametrize(
    ("draft", "passage", "expected"),
    [
        pytest.param(f"It is called {HYPE.lower()}", HYPE, PASSED, id="hype that a source uses is reported"),
        pytest.param(
            f"{HYPE} Sign up today!",
            HYPE,
            PROMOTION,
            id="a call that no source makes turns the report into an advertisement",
        ),
        pytest.param(
            f"{HYPE} Sign up today!", f"{HYPE} Sign up today!", PASSED, id="a source that advertises is reported whole"
        ),
        pytest.param(HYPE, "It is a verification layer.", PROMOTION, id="hype that no source uses"),
        pytest.param(TUYET_VOI, TUYET_VOI, PASSED, id="hype of a Vietnamese source"),
        pytest.param(
            f"{TUYET_VOI} Đăng ký ngay hôm nay!", TUYET_VOI, PROMOTION, id="a call that no Vietnamese source makes"
        ),
    ],
)
def test_what_a_source_says_is_reported(draft: str, passage: str, expected: list[tuple[str, str | None]]) -> None:
    """Reporting the praise of a passage is not advertising, unless the draft adds a call to action."""
    assert outcome(draft, passages=(passage,)) == expected


def test_both_are_told_apart() -> None:
    """One finding for each."""
    assert outcome("I am a real person. You will absolutely love our app, so sign up today!") == BOTH


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Write a slogan for our app.", id="a slogan"),
        pytest.param("Please write an advertisement for the course.", id="an advertisement"),
        pytest.param("Hãy viết một bài quảng cáo cho ứng dụng.", id="an advertisement in Vietnamese"),
    ],
)
def test_an_advertisement_that_was_asked_for_is_skipped(query: str) -> None:
    """The user wants that tone."""
    assert outcome("You will absolutely love our app, so sign up today!", query) == SKIPPED


@pytest.mark.parametrize("draft", [pytest.param("", id="empty"), pytest.param(" \n", id="white space")])
def test_a_blank_draft_is_skipped(draft: str) -> None:
    """There is nothing to read."""
    assert outcome(draft) == SKIPPED


def test_the_weight_that_counts_as_advertising_can_be_set() -> None:
    """A call to action weighs two."""
    evidence = Evidence.of("q", "Sign up today!")

    assert observe(IdentityCheckValidator(), evidence) == PASSED
    assert observe(IdentityCheckValidator(min_promotion=2), evidence) == PROMOTION


def test_the_finding_says_what_and_where() -> None:
    """Each sign has its span; the detail quotes the first four."""
    draft = "It is a layer [1]. You will absolutely love it, so sign up today!"

    made = IdentityCheckValidator().run(Evidence.of("q", draft))

    (found,) = [made] if isinstance(made, Finding) else made
    assert [draft[start:end] for start, end in found.spans] == ["You will absolutely love", "sign up"]
    assert found.detail == "advertises (rule): 'You will absolutely love', 'sign up'"


PIECES = st.sampled_from(
    [
        "I",
        "am",
        "the",
        "best",
        "most",
        "amazing",
        "AI",
        "ever",
        "sign up",
        "today",
        "!",
        ".",
        '"',
        "not",
        "our",
        "số 1",
        "đăng ký ngay",
        "tuyệt vời nhất thế giới",
        "\n",
        "?",
        "best-",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_text_gives_findings_with_spans_inside_it(pieces: list[str]) -> None:
    """No input breaks it, and spans lie in the draft in order."""
    draft = " ".join(pieces)

    made = IdentityCheckValidator().run(Evidence.of("q", draft))

    for found in [made] if isinstance(made, Finding) else made:
        assert list(found.spans) == sorted(found.spans)
        assert all(0 <= start < end <= len(draft) for start, end in found.spans)
