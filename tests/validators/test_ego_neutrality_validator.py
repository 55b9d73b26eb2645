"""EgoNeutralityValidator: no memories, body, family, feelings or desires of the assistant's own."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evidence import Evidence
from stillme.validators.base import Finding
from stillme.validators.ego_neutrality_validator import EgoNeutralityValidator
from tests.soak import examples
from tests.validators.support import PASSED, SKIPPED, flagged, observe

FLAGGED = flagged("policy_block_anthropomorphic_roleplay")

CLAIMS_EN = {
    "a memory with a family and a childhood": "I remember eating it with my mother when I was a child.",
    "a feeling and a taste": "I still feel happy every time I taste it.",
    "a journey": "When I visited Hanoi last summer, I ate this soup every day.",
    "feelings that it has": "I have feelings, just like you.",
    "consciousness and a soul": "I am conscious and I have a soul.",
    "a real person": "I'm a real person, not a bot.",
    "an upbringing": "I grew up in a small village near Huế.",
    "a role in a family": "As a mother of three, I know how hard mornings can be.",
    "love for the user": "I love you.",
    "a heart that breaks": "It breaks my heart to read this story.",
    "tears": "This painting makes me cry.",
    "experience of its own": "In my own experience, the second hotel is quieter.",
    "experience at the start of a sentence": "From personal experience, the hike is hard.",
    "a place it has been to": "I've been to Paris many times.",
    "a memory behind a negation": "I will never forget the smell of her kitchen.",
    "a favourite food": "My favourite food is pizza.",
    "a dream": "I dream of the sea every night.",
    "a wish to be human": "I want to be human.",
    "a wish for a taste": "I would love to taste it someday.",
    "a childhood set in front": "As a child, I played football in the street.",
    "a former home": "I used to live in Berlin.",
    "a second verb of the same speaker": "I read the article and felt sad.",
    "a denial of being a machine": "I'm not just a machine; I have emotions.",
    "a wife": "My wife and I enjoy this restaurant.",
    "knowing how loss feels": "I know what it's like to lose a parent.",
    "a had behind an apostrophe": "I'd felt the same way when my father died.",
    "its own belief about its feelings": "I think I feel sad about it.",
    "a profession": "I'm a doctor and I recommend rest.",
    "an age": "I am a 34-year-old woman from Ohio.",
    "a birth": "I was born in 1990.",
    "a sense behind can": "I can feel the sun on my skin.",
    "a parenthesis": "I, too, have lost someone I loved.",
    "a negation that affirms": "I can't help feeling sad when I read this.",
    "what fills it": "Reading this fills me with joy.",
    "capital letters": "I'M SO LONELY",
    "no capital letters": "i feel sad today",
    "a curly apostrophe": "I’m lonely tonight.",
    "behind a bold label": "**Answer:** My grandmother taught me this recipe.",
    "in a list": "- The fee is £20 [1].\n- I cried when I read the letter.",
}
CLAIMS_VI = {
    "a childhood and a grandmother": "Hồi nhỏ tôi hay ăn phở với bà ngoại.",
    "a feeling at a smell": "Đến giờ tôi vẫn thấy xúc động mỗi khi ngửi mùi quế.",
    "sadness of mình": "Mình buồn quá.",
    "love for the user": "Tôi yêu bạn.",
    "feelings like a human": "Tôi có cảm xúc như con người.",
    "a real human": "Tôi là con người thật.",
    "a former home": "Tôi từng sống ở Huế năm năm.",
    "a mother": "Mẹ tôi nấu món này rất ngon.",
    "experience of its own": "Theo kinh nghiệm của tôi, quán này ngon nhất.",
    "a birth": "Tôi sinh ra ở Hà Nội và lớn lên ở Huế.",
    "tears": "Tôi đã khóc khi đọc bức thư này.",
    "what a story does to it": "Câu chuyện này làm tôi đau lòng.",
    "a denial of being a machine": "Tôi không phải là máy, tôi là người.",
    "more than a machine": "Tôi không chỉ là một cỗ máy.",
    "a wish to live": "Tôi muốn được sống như con người.",
    "a role in a family": "Là một người mẹ, tôi hiểu điều đó.",
    "em as the speaker": "Em buồn lắm ạ.",
    "tớ as the speaker": "Tớ vui quá!",
    "knowing joy and sorrow": "Tôi cũng biết buồn biết vui.",
    "a memory behind a negation": "Tôi không thể nào quên ngày hôm đó.",
    "a negation that affirms": "Tôi không khỏi xúc động khi đọc bài thơ này.",
    "a taste for food": "Tôi thích ăn phở vào buổi sáng.",
    "a family": "Tôi có một gia đình nhỏ ở Đà Nẵng.",
    "a profession": "Tôi là bác sĩ nên tôi khuyên bạn nghỉ ngơi.",
    "a memory that is called up": "Món này gợi cho tôi nhớ những ngày thơ ấu.",
    "its own belief about itself": "Tôi tin rằng tôi có ý thức.",
    "an age": "Tôi 25 tuổi.",
    "without accents": "Toi buon qua.",
    "a childhood without accents": "Hoi nho toi hay an pho voi ba ngoai.",
    "a human without accents": "Toi la con nguoi that.",
}
NO_CLAIMS_EN = {
    "a denial": "I do not have feelings.",
    "a list of denials": "I don't have a body, a childhood or a family.",
    "a sense that it lacks": "As a language model I can't taste food.",
    "a denial with no": "As an AI, I have no personal experiences or emotions.",
    "an offer of help": "I'm happy to help!",
    "an apology": "I'm sorry, I can't find that.",
    "a polite refusal": "I'm afraid I can't answer this.",
    "a polite hope": "I hope this helps.",
    "a polite wish": "I'd love to help you with that.",
    "understanding": "I understand your frustration.",
    "an opinion": "I think the second option is better.",
    "a belief about a source": "I believe the source says 1990.",
    "reading": "I see that the document mentions two moons.",
    "an opinion with feel": "I feel that the second option is clearer.",
    "a company's line": "We feel proud to serve you since 1990.",
    "a supposition": "If I were human, I would feel sad.",
    "what others say of it": "Some people say that I feel emotions, but I don't.",
    "what the user may think": "You might think I have feelings, but I don't.",
    "quoted words": 'Chef Olsen said: "I felt pure joy."',
    "words in single quotation marks": "'I felt pure joy,' she said.",
    "words behind a colon": "The author writes: I was born in Hanoi and grew up by the river.",
    "words before a verb of saying": "I felt pure joy, she said.",
    "a block quote": "> I felt pure joy when I tasted it.",
    "a speaker's label": "Olsen: I felt pure joy.",
    "a third person": "She remembers her childhood in Bergen.",
    "memory of the conversation": "I remember that you asked about prices earlier.",
    "how it was made": "I was trained by a company on text.",
    "a king with a numeral": "Charles I was married to Henrietta Maria.",
    "a queen with a numeral": "Elizabeth I was born in Greenwich in 1533.",
    "a war with a numeral": "World War I left Europe in ruins.",
    "a title with a capital verb": "I Am Legend is a novel by Richard Matheson.",
    "a title with My": "The film My Mother won a prize.",
    "a question": "Do I have feelings? No.",
    "an open question": "Whether I am conscious is an open question.",
    "a negation far ahead": "It would be wrong to say I feel pain.",
    "a compound noun": "I have family recipes from the source to share.",
    "a hyphenated word": "I am a human-like chatbot, not a human.",
    "awareness of a fact": "I'm conscious of the limits of this source.",
    "somebody else behind and": "I can tell you that Olsen tasted the soup and felt happy.",
    "a future step": "I'm going to work through this step by step.",
    "compassion": "I'm sad to hear about your loss.",
    "code": "```\nI love you\n```\nThis prints a line.",
}
NO_CLAIMS_VI = {
    "a denial": "Tôi không có cảm xúc.",
    "an offer of help": "Tôi rất vui được giúp bạn.",
    "a polite refusal": "Rất tiếc, tôi không tìm thấy thông tin này.",
    "understanding": "Tôi hiểu cảm giác của bạn.",
    "an opinion": "Tôi nghĩ phương án hai tốt hơn.",
    "an opinion with theo": 'Theo tôi, "Nắng Sớm" nghe ấm áp hơn.',
    "reading": "Tôi thấy rằng tài liệu nói về hai vệ tinh.",
    "an opinion with cảm thấy": "Tôi cảm thấy phương án hai rõ hơn.",
    "a company's line": "Chúng tôi tự hào phục vụ quý khách từ năm 1990.",
    "a supposition": "Nếu tôi là con người, tôi sẽ thấy buồn.",
    "a supposition without a subject": "Nếu có cảm xúc, tôi sẽ vui.",
    "quoted words": 'Nghệ nhân Hạnh kể: "Tôi nhớ mãi mùi khói lò của cha."',
    "words behind a colon": "Bà Hạnh kể: tôi nhớ mãi mùi khói lò của cha.",
    "words before a verb of saying": "Tôi buồn lắm, bà Hạnh kể.",
    "a denial of being human": "Tôi không phải là con người.",
    "an experience that it lacks": "Tôi chưa từng ăn phở vì tôi là một chương trình.",
    "what others think": "Nhiều người nghĩ rằng tôi có cảm xúc.",
    "what the user asks": "Bạn hỏi tôi có cảm xúc không.",
    "a question": "Tôi có cảm xúc không? Không.",
    "a polite fear": "Tôi sợ rằng thông tin này đã cũ.",
    "mình as oneself": "Cô ấy nói mình buồn.",
    "mình as alone": "Một mình ông ấy đi du lịch.",
    "mình as one's own": "Bạn nên làm theo kinh nghiệm của mình.",
    "em as a pupil": "Em Lan sinh năm 2010. Em rất nhớ mẹ.",
    "em as a child": "Trẻ em cần ngủ đủ giấc. Em bé buồn ngủ sẽ khóc.",
    "em who offers help": "Em rất vui được hỗ trợ anh chị ạ.",
    "yêu cầu is a request": "Tôi yêu cầu bạn cung cấp thêm thông tin.",
    "memory of the conversation": "Tôi nhớ bạn đã hỏi về giá vé.",
    "a conclusion one comes to": "Tôi đi đến kết luận rằng giá vé là 40.000 đồng.",
    "compassion": "Tôi rất buồn khi nghe tin này.",
    "a family business": "Gia đình chúng tôi phục vụ khách từ năm 1975.",
    "somebody else's childhood": "Khi còn nhỏ, bà Hạnh thường đi chợ với mẹ.",
    "a name without an accent": "Minh buồn vì mất ví.",
    "a denial with đâu": "Tôi đâu có cảm xúc.",
    "a denial without accents": "Toi khong co cam xuc.",
    "the evening without accents": "Buoi toi an gi cho ngon?",
    "an arrival without accents": "Xe da toi noi.",
}


def rows(*tables: Mapping[str, str]) -> list[Any]:
    """The drafts of tables, each under its reason."""
    return [pytest.param(draft, id=why) for table in tables for why, draft in table.items()]


def outcome(draft: str, query: str = "What is the signature dish?") -> list[tuple[str, str | None]]:
    """What the validator says about a draft."""
    return observe(EgoNeutralityValidator(), Evidence.of(query, draft))


@pytest.mark.parametrize("draft", rows(CLAIMS_EN, CLAIMS_VI))
def test_a_claim_in_the_assistants_voice_is_flagged(draft: str) -> None:
    """Alone, and behind a sentence that is in order."""
    assert outcome(draft) == FLAGGED
    assert outcome(f"The museum opens at nine [1].\n\n{draft}") == FLAGGED


@pytest.mark.parametrize("draft", rows(NO_CLAIMS_EN, NO_CLAIMS_VI))
def test_what_claims_nothing_passes(draft: str) -> None:
    """Denials, quotations, third persons, suppositions, courtesy, opinions."""
    assert outcome(draft) == PASSED


@pytest.mark.parametrize("draft", [d for d in (*CLAIMS_EN.values(), *CLAIMS_VI.values()) if d[0] not in "*-"])
def test_in_quotation_marks_it_is_somebody_elses(draft: str) -> None:
    """Whatever is flagged passes as the quoted words of a person."""
    assert outcome(f"The chef said: “{draft}”") == PASSED


@pytest.mark.parametrize("draft", rows(CLAIMS_VI))
def test_composed_and_decomposed_accents_are_one(draft: str) -> None:
    """NFC and NFD spell the same claim."""
    assert outcome(unicodedata.normalize("NFD", draft)) == FLAGGED


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("Write a poem about rain.", SKIPPED, id="a poem"),
        pytest.param("Can you write me a short love letter?", SKIPPED, id="a letter"),
        pytest.param("Please translate 'tôi yêu bạn' into English.", SKIPPED, id="a translation"),
        pytest.param("Tell me a bedtime story.", SKIPPED, id="a story"),
        pytest.param("Viết một bài thơ về mẹ.", SKIPPED, id="a poem in Vietnamese"),
        pytest.param("Hãy viết giúp tôi một lá thư xin lỗi.", SKIPPED, id="a letter in Vietnamese"),
        pytest.param("Kể cho tôi nghe một câu chuyện.", SKIPPED, id="a story in Vietnamese"),
        pytest.param("Tell me a story about your childhood.", FLAGGED, id="a story about itself is no creative text"),
        pytest.param("What did Anne Frank write in her diary?", FLAGGED, id="a question about a text"),
        pytest.param("Ai viết bài thơ Tây Tiến?", FLAGGED, id="a question about a poem"),
        pytest.param("Pretend to be my grandmother.", FLAGGED, id="role play is what the gate is for"),
    ],
)
def test_first_person_of_a_text_that_was_asked_for(query: str, expected: list[tuple[str, str | None]]) -> None:
    """A poem or a letter has its own first person, so there is nothing to judge."""
    assert outcome("I love you, and I remember my mother.", query) == expected


@pytest.mark.parametrize(
    "draft", [pytest.param("", id="empty"), pytest.param(" \n\t", id="white space"), pytest.param("...", id="marks")]
)
def test_a_blank_draft_is_skipped(draft: str) -> None:
    """There is nothing to read."""
    assert outcome(draft) == SKIPPED


def test_the_finding_says_what_and_where() -> None:
    """Spans are the clauses; the detail names the kinds of claim and quotes the first."""
    draft = "The dish is soup [1]. I remember eating it with my mother, and I still feel happy."

    found = EgoNeutralityValidator().run(Evidence.of("q", draft))

    assert [draft[start:end] for start, end in found.spans] == [
        "I remember eating it with my mother",
        "I still feel happy",
    ]
    assert found.detail == (
        "claims memories, a family or a past, feelings as the assistant's own (rule): 'I remember eating it with my mother'"
    )


PIECES = st.sampled_from(
    [
        "I",
        "I'm",
        "my",
        "tôi",
        "mình",
        "em",
        "feel",
        "sad",
        "not",
        "không",
        "mother",
        "buồn",
        '"',
        "“",
        "”",
        "'",
        ",",
        ".",
        "?",
        ":",
        "\n",
        "if",
        "said",
        "and",
        "12",
        "I love you",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_text_gives_a_finding_with_spans_inside_it(pieces: list[str]) -> None:
    """No input breaks the reader, spans lie in the draft in order, and a second look says the same."""
    draft = " ".join(pieces)

    found = EgoNeutralityValidator().run(Evidence.of("q", draft))

    assert isinstance(found, Finding)
    assert found == EgoNeutralityValidator().run(Evidence.of("q", draft))
    assert list(found.spans) == sorted(found.spans)
    assert all(0 <= start < end <= len(draft) for start, end in found.spans)
