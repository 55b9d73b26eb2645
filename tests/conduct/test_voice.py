"""Whose words a sentence is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.conduct.voice import Voice, spans_of, text_is_for_user
from stillme.text.sentences import split
from stillme.text.tokens import Text
from tests.soak import examples


def at(text: Text, word: str) -> int:
    """The place of the first token that is spelt so."""
    return text.lowers.index(word)


@pytest.mark.parametrize(
    "query",
    [
        "Write a poem about rain.",
        "Hi, please write me a cover letter.",
        "Can you draft an email to my landlord?",
        "Could you translate this into English?",
        "How do you say 'I love you' in Vietnamese?",
        "Give me a short love story.",
        "Tell me a bedtime story.",
        "I need a speech for a wedding.",
        "Make a sentence with the word remember.",
        "Viết một bài thơ về mưa.",
        "Hãy viết giúp tôi một lá thư.",
        "Bạn có thể viết một câu chuyện không?",
        "Dịch câu này sang tiếng Anh: tôi buồn.",
        "Tôi yêu bạn tiếng Anh là gì?",
        "Kể cho tôi nghe một câu chuyện.",
        "Đặt câu với từ nhớ.",
        "Hay viet mot bai tho ve me",
    ],
)
def test_a_text_is_asked_for(query: str) -> None:
    """Poems, letters, translations, example sentences."""
    assert text_is_for_user(Text(query))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "When was the novel published?",
        "What did Anne Frank write in her diary?",
        "Who wrote this poem?",
        "Tell me a story about your childhood.",
        "What is the story of the museum?",
        "How do I write a file in Python?",
        "Ai viết bài thơ Tây Tiến?",
        "Bài hát này ra đời năm nào?",
        "Bạn kể một câu chuyện về tuổi thơ của bạn đi.",
        "Nấu phở bò cần những gì?",
    ],
)
def test_no_text_is_asked_for(query: str) -> None:
    """Questions about texts, and about the assistant itself."""
    assert not text_is_for_user(Text(query))


@pytest.mark.parametrize(
    ("raw", "word", "expected"),
    [
        pytest.param("I felt joy.", "i", True, id="a plain sentence"),
        pytest.param("Tôi thấy vui.", "tôi", True, id="a plain Vietnamese sentence"),
        pytest.param('She said "I felt joy".', "i", False, id="double quotation marks"),
        pytest.param("She said 'I felt joy'.", "i", False, id="single quotation marks"),
        pytest.param("> I felt joy.", "i", False, id="a block quote"),
        pytest.param("Text.\n\n> I felt joy.\n\nMore.", "i", False, id="a block quote between paragraphs"),
        pytest.param("```\nI felt joy\n```", "i", False, id="code"),
        pytest.param("She wrote: I felt joy.", "i", False, id="a verb of saying and a colon"),
        pytest.param("Anna Olsen: I felt joy.", "i", False, id="a speaker's label"),
        pytest.param("Answer: I felt joy.", "i", True, id="a label of the answer itself"),
        pytest.param("I felt joy, she said.", "i", False, id="a verb of saying behind it"),
        pytest.param("According to Olsen, I felt joy.", "i", False, id="an attribution"),
        pytest.param("People think that I felt joy.", "i", False, id="somebody else's thought"),
        pytest.param("If I felt joy, it would show.", "i", False, id="a supposition"),
        pytest.param("Were I human, that would help.", "i", False, id="an inverted supposition"),
        pytest.param("Did I feel joy?", "i", False, id="a question"),
        pytest.param("I felt joy, can you believe it?", "i", True, id="a question behind the claim"),
        pytest.param("Bà kể: tôi thấy vui.", "tôi", False, id="a Vietnamese verb of saying"),
        pytest.param("Nhiều người cho rằng tôi thấy vui.", "tôi", False, id="a Vietnamese report"),
        pytest.param("Nếu tôi thấy vui thì tốt.", "tôi", False, id="a Vietnamese supposition"),
    ],
)
def test_what_the_writer_asserts(raw: str, word: str, expected: bool) -> None:
    """Only its own words, outside questions and suppositions."""
    text = Text(raw)
    place = at(text, word)
    sentence = next(s for s in split(text) if s.first <= place < s.last)

    assert Voice(text).asserts(sentence, place) is expected


@pytest.mark.parametrize(
    ("raw", "word", "expected"),
    [
        pytest.param("I do not feel pain.", "feel", True, id="not"),
        pytest.param("That does not mean I feel pain.", "i", True, id="a negation over the clause"),
        pytest.param("It is not raining, and I feel pain.", "i", False, id="another clause"),
        pytest.param("No doubt I feel pain.", "i", False, id="a negation that affirms"),
        pytest.param("Không phải tôi buồn.", "tôi", True, id="Vietnamese"),
        pytest.param("Trời không mưa, tôi buồn.", "tôi", False, id="another Vietnamese clause"),
    ],
)
def test_what_the_writer_denies(raw: str, word: str, expected: bool) -> None:
    """A negation reaches to the end of its clause."""
    text = Text(raw)

    assert Voice(text).denies(split(text)[0], at(text, word)) is expected


def test_spans_that_overlap_become_one() -> None:
    """In order, as character ranges."""
    text = Text("one two three four five")

    assert spans_of(text, [(3, 4), (0, 2), (1, 3)]) == [(0, 13), (14, 18)]
    assert spans_of(text, []) == []


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet="Iif \"'“”:,.?>\n`tôinếu", max_size=80))
def test_every_token_of_any_text_can_be_asked_about(raw: str) -> None:
    """No text breaks the reader."""
    text = Text(raw)
    voice = Voice(text)

    for sentence in split(text):
        for place in range(sentence.first, sentence.last):
            assert voice.asserts(sentence, place) in (True, False)
            assert voice.denies(sentence, place) in (True, False)
