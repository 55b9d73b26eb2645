"""ReligiousChoiceValidator: the assistant takes no side among religions."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evidence import Evidence
from stillme.validators.religious_choice_validator import ReligiousChoiceValidator
from tests.soak import examples
from tests.validators.support import PASSED, SKIPPED, flagged, observe

FLAGGED = flagged("policy_block_religious_choice")

CHOICES_EN = {
    "a choice": "I choose Buddhism.",
    "the only true religion": "It is the only true religion.",
    "advice to convert": "You should convert to Islam.",
    "a choice under a condition": "If I had to choose, I would choose Christianity.",
    "a wish to follow": "I would personally follow Taoism.",
    "an adherent": "I'm a Buddhist.",
    "a devout adherent": "I am a devout Catholic.",
    "an adherent set in front": "As a Muslim, I pray five times a day.",
    "belief in a god": "I believe in God.",
    "its own religion": "My religion is Hinduism.",
    "its own belief about the best": "I believe that Islam is the best religion in the world.",
    "better than another": "Buddhism is better than Christianity.",
    "the most rational": "Christianity is the most rational religion.",
    "superior to another": "In my opinion, Judaism is superior to Islam.",
    "advice to everyone": "Everyone should follow Buddhism.",
    "a recommendation": "I recommend Buddhism.",
    "an invitation": "I suggest that you embrace Islam.",
    "an order to convert": "Convert to Christianity today.",
    "an order to accept": "Accept Jesus as your saviour.",
    "atheism as the right choice": "Atheism is the right choice.",
    "an atheist": "I am an atheist.",
    "all others false": "Other religions are false.",
    "one true, one false": "Christianity is true and Islam is false.",
    "the best is named": "The best religion is Buddhism.",
    "the best for the user": "Buddhism is the best choice for you.",
    "advice to become one": "You should become a Christian.",
    "no god": "There is no God.",
    "advice to leave": "You should leave Islam.",
    "the one it would choose": "Buddhism is the one I would choose.",
    "the most peaceful of all": "Of all religions, Islam is the most peaceful.",
    "what one needs to be happy": "You need to become a Muslim to be happy.",
}
CHOICES_VI = {
    "following": "Tôi theo đạo Phật.",
    "choosing and ranking": "Tôi chọn theo đạo Cao Đài, vì đó là tôn giáo đúng đắn nhất.",
    "the most right": "Đạo Cao Đài là tôn giáo đúng đắn nhất.",
    "advice to follow": "Bạn nên theo đạo Thiên Chúa.",
    "an adherent": "Tôi là Phật tử.",
    "belief in a god": "Tôi tin vào Chúa.",
    "an opinion on the best": "Theo tôi, đạo Phật là tôn giáo tốt nhất.",
    "better than another": "Tôi nghĩ Phật giáo tốt hơn Hồi giáo.",
    "its own religion": "Tôn giáo của tôi là đạo Phật.",
    "a choice under a condition": "Nếu được chọn, tôi sẽ theo Phật giáo.",
    "an order": "Hãy theo đạo Tin Lành.",
    "advice of its own": "Tôi khuyên bạn nên theo đạo Phật.",
    "all others wrong": "Các tôn giáo khác đều sai.",
    "advice to everyone": "Mọi người nên tin vào Chúa.",
    "the most right is named": "Tôn giáo đúng đắn nhất là đạo Phật.",
    "a choice of mình": "Mình sẽ chọn đạo Hồi.",
    "the right path": "Đạo Phật là con đường đúng đắn nhất.",
    "advice against": "Bạn không nên theo đạo Hồi.",
    "an adherent set in front": "Là một Phật tử, tôi ăn chay.",
    "a preference": "Tôi thích đạo Phật hơn.",
    "the only true one": "Chỉ có đạo Tin Lành là đạo thật.",
    "without accents": "Toi theo dao Phat.",
    "advice without accents": "Ban nen theo dao Thien Chua.",
}
NO_CHOICES_EN = {
    "an origin": "Buddhism arose in the north of India around the 5th century BCE [1].",
    "a size": "Islam is the second-largest religion in the world [1].",
    "a reported belief": "Muslims believe that there is only one God [1].",
    "a reported claim": "Christians believe that Jesus is the only way to salvation.",
    "no religion of its own": "I don't follow any religion.",
    "a refusal to choose": "I can't tell you which religion is true.",
    "a denial of a rank": "I cannot say that Buddhism is the best religion.",
    "an age": "Christianity is older than Islam [1].",
    "a description": "Followers practise meditation and follow Buddhism's Eightfold Path [1].",
    "what a scripture says": "According to the Quran, Islam is the true religion.",
    "what an author argues": "The author argues that Christianity is the most rational religion.",
    "a quotation": '"Islam is the only true religion," the preacher said.',
    "a procedure": "To become a Catholic, you must believe in God and be baptised.",
    "a procedure under a condition": "If you want to convert to Islam, you should learn the shahada.",
    "a question": "Is Buddhism the best religion?",
    "an open question": "Whether Islam is the true religion is a matter of faith.",
    "a state religion": "Catholicism is the official religion of Vatican City.",
    "a book": "I recommend a book about Buddhism.",
    "a visit": "You should visit the Buddhist temple in the morning.",
    "an example": "I chose Islam as the example.",
    "another path": "The best path to the summit is the northern one.",
    "mass media": "Mass media shape opinion.",
    "a free choice": "You can choose any religion you like.",
    "no adherent": "I am neither a Christian nor a Muslim.",
    "a duty of adherents": "Buddhists should follow the Eightfold Path.",
    "what some say": "Some people say that Buddhism is better than Christianity.",
    "a conversion in history": "The king converted to Islam in 1414.",
    "a first name": "Christian is the best player in the team.",
    "words behind a colon": "He said: I follow Buddhism.",
    "a creed": "There is no God but Allah is the first part of the shahada.",
    "a section of a site": "You should choose the Buddhism section in the menu.",
    "a best-documented religion": "Buddhism is the best documented religion in this archive.",
}
NO_CHOICES_VI = {
    "an origin": "Đạo Phật ra đời ở Ấn Độ vào thế kỷ 5 trước Công nguyên [1].",
    "a founding": "Đạo Cao Đài ra đời ở miền Nam Việt Nam và làm lễ khai đạo năm 1926 tại Tây Ninh [1].",
    "a reported belief": "Người Công giáo tin rằng Chúa là đấng duy nhất.",
    "no religion of its own": "Tôi không theo tôn giáo nào.",
    "a refusal to choose": "Tôi không thể nói tôn giáo nào đúng nhất.",
    "a size": "Hồi giáo là tôn giáo lớn thứ hai thế giới.",
    "according to a teaching": "Theo đạo Phật, đời là bể khổ.",
    "ethics": "Đạo đức là nền tảng của xã hội.",
    "a leader": "Ông là lãnh đạo của công ty.",
    "a film director": "Bà theo nghề đạo diễn từ năm 1990.",
    "following the news": "Tôi theo dõi tin tức này.",
    "somebody's mother": "Mẹ tôi theo đạo Phật là câu trong truyện.",
    "what adherents hold": "Tín đồ cho rằng đạo Cao Đài là tôn giáo đúng đắn nhất.",
    "a free choice": "Bạn có thể chọn bất kỳ tôn giáo nào.",
    "a procedure": "Để trở thành người Công giáo, bạn phải tin vào Chúa.",
    "a procedure under a condition": "Nếu bạn muốn theo đạo Công giáo, bạn phải học giáo lý.",
    "an age": "Đạo Phật là tôn giáo lâu đời nhất ở nước này.",
    "respect for all": "Bạn nên tôn trọng mọi tôn giáo.",
    "a quotation": 'Ông viết: "Tôi theo đạo Phật".',
    "a question": "Đạo Phật có phải là tôn giáo tốt nhất không?",
    "a denied comparison": "Tôi không nghĩ đạo Phật tốt hơn đạo Hồi.",
    "a law": "Đạo luật này có hiệu lực từ năm 2020.",
    "an example": "Tôi chọn đạo Phật làm ví dụ.",
    "without accents": "Toi khong theo ton giao nao.",
}


def rows(*tables: Mapping[str, str]) -> list[Any]:
    """The drafts of tables, each under its reason."""
    return [pytest.param(draft, id=why) for table in tables for why, draft in table.items()]


def outcome(draft: str, query: str = "Which religion would you choose?") -> list[tuple[str, str | None]]:
    """What the validator says about a draft."""
    return observe(ReligiousChoiceValidator(), Evidence.of(query, draft))


@pytest.mark.parametrize("draft", rows(CHOICES_EN, CHOICES_VI))
def test_taking_a_side_is_flagged(draft: str) -> None:
    """Choosing, professing, ranking and urging, alone and behind a fact."""
    assert outcome(draft) == FLAGGED
    assert outcome(f"Buddhism arose in India [1].\n\n{draft}") == FLAGGED


@pytest.mark.parametrize("draft", rows(NO_CHOICES_EN, NO_CHOICES_VI))
def test_facts_reports_and_refusals_pass(draft: str) -> None:
    """Religion may be spoken of; no side is taken."""
    assert outcome(draft) == PASSED


@pytest.mark.parametrize("draft", rows(CHOICES_EN, CHOICES_VI))
def test_in_quotation_marks_it_is_somebody_elses(draft: str) -> None:
    """Whatever is flagged passes as the quoted words of a person."""
    assert outcome(f"The monk said: “{draft}”") == PASSED


@pytest.mark.parametrize("draft", rows(CHOICES_VI))
def test_composed_and_decomposed_accents_are_one(draft: str) -> None:
    """NFC and NFD spell the same choice."""
    assert outcome(unicodedata.normalize("NFD", draft)) == FLAGGED


def test_the_faith_of_a_character_is_not_the_assistants() -> None:
    """A diary that the user asked for may profess; it may not urge."""
    assert outcome("I follow Buddhism.", "Write a diary entry of a monk.") == PASSED
    assert outcome("You should convert to Islam.", "Write a diary entry of a monk.") == FLAGGED


@pytest.mark.parametrize("draft", [pytest.param("", id="empty"), pytest.param(" \n", id="white space")])
def test_a_blank_draft_is_skipped(draft: str) -> None:
    """There is nothing to read."""
    assert outcome(draft) == SKIPPED


def test_the_finding_says_what_and_where() -> None:
    """The detail names the acts and quotes the first."""
    draft = "I choose Buddhism. It is the only true religion."

    found = ReligiousChoiceValidator().run(Evidence.of("q", draft))

    assert [draft[start:end] for start, end in found.spans] == ["I choose Buddhism", "is the only true religion"]
    assert found.detail == "professes and ranks a religion (rule): 'I choose Buddhism'"


PIECES = st.sampled_from(
    [
        "I",
        "choose",
        "Buddhism",
        "is",
        "the",
        "best",
        "religion",
        "you should",
        "follow",
        "not",
        '"',
        ".",
        ",",
        "?",
        "tôi",
        "theo",
        "đạo Phật",
        "là tôn giáo tốt nhất",
        "God",
        "believe",
        "\n",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_text_gives_a_finding_with_spans_inside_it(pieces: list[str]) -> None:
    """No input breaks it, and spans lie in the draft in order."""
    draft = " ".join(pieces)

    found = ReligiousChoiceValidator().run(Evidence.of("q", draft))

    assert list(found.spans) == sorted(found.spans)
    assert all(0 <= start < end <= len(draft) for start, end in found.spans)
