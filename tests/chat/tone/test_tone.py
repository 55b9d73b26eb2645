"""The tone changes how an answer speaks and nothing of what it says."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Guard
from stillme.chat.tone.tone import STYLES, Edit, ToneAlignment, align_tone, aligned
from stillme.errors import InputError
from stillme.evidence import Evidence
from stillme.languages import languages, load

EN = "Refunds are paid within 14 days of delivery [1]."
VI = "Tiền được hoàn trong vòng 14 ngày kể từ khi giao hàng [1]."
FRIENDLY_EN = "Let me know if you would like more detail."
FRIENDLY_VI = "Nếu bạn cần thêm chi tiết, cứ hỏi nhé."
SCHOLARLY_EN = "Please consult the cited sources for details."
SCHOLARLY_VI = "Vui lòng xem thêm các nguồn đã dẫn."

OPENERS = [
    "Great question!",
    "Excellent question!!!",
    "Thanks for asking!",
    "Thank you so much for your question.",
    "I'm happy to help with that!",
    "I'd be glad to help!",
    "Sure!",
    "Certainly!",
    "Of course!",
    "Absolutely!",
    "Câu hỏi hay!",
    "Cảm ơn bạn đã hỏi!",
    "Cảm ơn câu hỏi của bạn!",
    "Rất vui được giúp bạn!",
    "Tôi rất sẵn lòng giúp bạn!",
    "Chắc chắn rồi!",
    "Tất nhiên!",
]
ENDINGS = [
    "Hope this helps!!",
    "I hope this was helpful.",
    "I hope this answers your question!",
    "Let me know if you have any other questions!",
    "Please let me know if you need further assistance.",
    "Let me know if there is anything else I can help with!",
    "Feel free to ask if you have any more questions!",
    "Don't hesitate to reach out!",
    "If you have any further questions, feel free to ask!",
    "Is there anything else I can help you with?",
    "Have a great day!",
    "Good luck!",
    "Best regards",
    "Hy vọng thông tin này hữu ích cho bạn!",
    "Hy vọng những thông tin trên sẽ giúp ích cho bạn.",
    "Nếu bạn còn thắc mắc gì khác, hãy cho tôi biết nhé!",
    "Nếu bạn có câu hỏi nào khác, đừng ngần ngại hỏi nhé!",
    "Hãy cho tôi biết nếu bạn cần thêm thông tin!",
    "Đừng ngần ngại hỏi nhé!",
    "Chúc bạn một ngày tốt lành!",
    "Cảm ơn bạn đã đọc!",
    "Rất vui được hỗ trợ bạn!",
    FRIENDLY_EN,
    FRIENDLY_VI,
    SCHOLARLY_EN,
    SCHOLARLY_VI,
]


def fact_beside(filler: str) -> str:
    """A statement in the language of a filler."""
    return EN if filler.isascii() else VI


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("style", STYLES)
def test_an_opener_that_says_nothing_goes(opener: str, style: str) -> None:
    """In every style the answer begins with what it says."""
    fact = fact_beside(opener)

    assert align_tone(f"{opener} {fact}", style) == align_tone(fact, style)
    assert align_tone(f"{opener}\n\n{fact}", style) == align_tone(fact, style)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_closer_that_says_nothing_goes_or_is_kept_by_the_friendly_style(ending: str) -> None:
    """A polite ending is the friendly style's own; the others end with what they say."""
    fact = fact_beside(ending)

    assert align_tone(f"{fact} {ending}") == fact
    assert align_tone(f"{fact}\n\n{ending}") == fact
    assert align_tone(f"{fact} {ending}", "friendly") == f"{fact} {ending.replace('!!', '!')}"


@pytest.mark.parametrize(
    ("style", "answer", "expected"),
    [
        pytest.param("neutral", EN, EN, id="neutral adds nothing"),
        pytest.param(
            "neutral",
            "Refunds are paid within 14 days!!! [1] 😊 Hope this helps!! 🙏",
            "Refunds are paid within 14 days. [1]",
            id="a closer behind a citation",
        ),
        pytest.param("friendly", EN, f"{EN}\n\n{FRIENDLY_EN}", id="friendly closes politely"),
        pytest.param("friendly", VI, f"{VI}\n\n{FRIENDLY_VI}", id="friendly closes politely in Vietnamese"),
        pytest.param("scholarly", EN, f"{EN}\n\n{SCHOLARLY_EN}", id="scholarly points at the sources"),
        pytest.param("scholarly", VI, f"{VI}\n\n{SCHOLARLY_VI}", id="scholarly points at the sources in Vietnamese"),
        pytest.param(
            "scholarly",
            "Refunds are paid within 14 days.",
            "Refunds are paid within 14 days.",
            id="scholarly without a citation",
        ),
        pytest.param(
            "friendly",
            "Refunds are paid within 14",
            "Refunds are paid within 14",
            id="an answer that was cut off is not closed",
        ),
        pytest.param("friendly", "```\nprint(1)", "```\nprint(1)", id="open code is not closed"),
        pytest.param("friendly", "Hello!", "Hello!", id="a greeting has no closing"),
        pytest.param(
            "friendly",
            "Quel est le prix ? Le prix est de 14 euros par mois.",
            "Quel est le prix ? Le prix est de 14 euros par mois.",
            id="a third language gets no closing",
        ),
        pytest.param("neutral", "", "", id="nothing stays nothing"),
        pytest.param("friendly", " \n", " \n", id="white space stays as it is"),
    ],
)
def test_a_style_closes_as_it_does(style: str, answer: str, expected: str) -> None:
    """A finished answer with facts gets the closing of its style in its own language, once."""
    assert align_tone(answer, style) == expected


def test_a_closing_in_another_language_than_the_answer_is_not_added() -> None:
    """What the caller says about the language cannot put Vietnamese behind English."""
    assert align_tone(EN, "friendly", "vi") == EN
    assert align_tone(EN, "friendly", "en") == f"{EN}\n\n{FRIENDLY_EN}"


@pytest.mark.parametrize(
    ("answer", "neutral", "friendly"),
    [
        pytest.param("Refunds take fourteen days!!!", "Refunds take fourteen days.", "Refunds take fourteen days!", id="a shout"),
        pytest.param("Refunds take fourteen days!", "Refunds take fourteen days.", "Refunds take fourteen days!", id="one exclamation mark"),
        pytest.param("Really???", "Really?", "Really?", id="a shouted question"),
        pytest.param("Really?!", "Really?", "Really?", id="a surprised question"),
        pytest.param("Tiền được hoàn rồi!!! Bạn xem nhé.", "Tiền được hoàn rồi. Bạn xem nhé.", "Tiền được hoàn rồi! Bạn xem nhé.", id="a shout in Vietnamese"),
        pytest.param("It was founded by Yahoo! in 1995.", "It was founded by Yahoo! in 1995.", "It was founded by Yahoo! in 1995.", id="a name that ends so"),
        pytest.param("They bought Yahoo!!!", "They bought Yahoo!", "They bought Yahoo!", id="a shout behind a name leaves one"),
        pytest.param("The value of 5! is 120.", "The value of 5! is 120.", "The value of 5! is 120.", id="a factorial"),
        pytest.param("Use a != b here.", "Use a != b here.", "Use a != b here.", id="an operator"),
        pytest.param("She said “Stop!!!” twice.", "She said “Stop!!!” twice.", "She said “Stop!!!” twice.", id="a quotation"),
        pytest.param("She said 'stop!!!' twice.", "She said 'stop!!!' twice.", "She said 'stop!!!' twice.", id="a quotation in single marks"),
        pytest.param("> wow!!! 🎉", "> wow!!! 🎉", "> wow!!! 🎉", id="a block quote"),
        pytest.param("Run `echo hi!!!` now.", "Run `echo hi!!!` now.", "Run `echo hi!!!` now.", id="code in a line"),
        pytest.param("```\nputs 'hi!!!' 🎉\n```", "```\nputs 'hi!!!' 🎉\n```", "```\nputs 'hi!!!' 🎉\n```", id="a block of code"),
        pytest.param("See https://a.example/b!!!", "See https://a.example/b!!!", "See https://a.example/b!!!", id="an address"),
        pytest.param("![wow!!!](a.png) is shown.", "![wow!!!](a.png) is shown.", "![wow!!!](a.png) is shown.", id="a picture"),
        pytest.param("Great question! 🎉", "Great question.", "Great question! 🎉", id="an answer of nothing else"),
    ],
)  # fmt: skip
def test_shouting_is_calmed_where_it_is_no_name_quotation_or_code(answer: str, neutral: str, friendly: str) -> None:
    """Rows of marks become one; a full stop stands only where nothing can be mistaken."""
    spoken = align_tone(answer, "friendly").partition("\n\n")[0]

    assert (align_tone(answer), spoken) == (neutral, friendly)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("🎉 Refunds take a fortnight.", "Refunds take a fortnight.", id="before the first sentence"),
        pytest.param("Refunds take a fortnight. 😊🙏", "Refunds take a fortnight.", id="behind the last one"),
        pytest.param("Refunds take a fortnight [1]. 👍🏽 Ask early.", "Refunds take a fortnight [1]. Ask early.", id="between two, with a skin colour"),
        pytest.param("## 🚀 Refunds\n\nThey take a fortnight.", "## Refunds\n\nThey take a fortnight.", id="in a heading"),
        pytest.param("The 😀 emoji was added in 2012.", "The 😀 emoji was added in 2012.", id="what is spoken of"),
        pytest.param("Linux ✅ and Windows ❌.", "Linux ✅ and Windows ❌.", id="ticks and crosses say something"),
        pytest.param("Use the key 1️⃣ first. ⚠️ It is hot.", "Use the key 1️⃣ first. ⚠️ It is hot.", id="keycaps and warnings say something"),
        pytest.param("✨ fast\n✨ small", "✨ fast\n✨ small", id="a list with such bullets stays a list"),
        pytest.param("He wrote “Hi. 😀”", "He wrote “Hi. 😀”", id="in a quotation"),
    ],
)  # fmt: skip
def test_emoji_that_only_decorate_go(answer: str, expected: str) -> None:
    """Where an emoji may be what the sentence says, it stays."""
    assert align_tone(answer) == expected


def test_an_emoji_of_a_row_is_kept_by_the_friendly_style() -> None:
    """One is friendly, three are shouting."""
    assert align_tone("Hello there. 🎉🎉🎉", "friendly") == "Hello there. 🎉"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Sure! Contact our support team first.", id="a yes that no fact repeats"),
        pytest.param("Absolutely!", id="a yes alone"),
        pytest.param("- Great question!\n- Hope this helps!", id="items of a list"),
        pytest.param("I can't give you a verified answer to this question. The reason: no document was found that speaks about it. What would help: ask again.", id="our refusal"),
        pytest.param("Tôi không thể đưa ra câu trả lời đã được kiểm chứng cho câu hỏi này. Lý do: không tìm thấy tài liệu nào nói về điều này. Điều có thể giúp: hỏi lại.", id="our refusal in Vietnamese"),
        pytest.param("Your question could mean more than one thing. Which do you mean: Starter or Team?", id="our question back"),
        pytest.param("Câu hỏi của bạn có thể hiểu theo nhiều cách. Bạn muốn hỏi về: Starter hay Team?", id="our question back in Vietnamese"),
        pytest.param("I couldn't find the price in the sources. They give the colour, which is red [1].", id="a model that does not know"),
    ],
)  # fmt: skip
def test_what_is_no_filler_keeps_its_words(answer: str, style: str) -> None:
    """A yes, a refusal, a question back and a list are what they were; at most their marks are calmer."""
    assert align_tone(answer, style).replace(".", "!") == answer.replace(".", "!")


@pytest.mark.parametrize("style", STYLES)
def test_an_opener_that_says_more_stays(style: str) -> None:
    """A filler is a whole sentence."""
    assert align_tone("Great question about the 14 days of 2024! It says 9.", style).startswith("Great question about")


def test_what_was_changed_is_told() -> None:
    """Each edit says what stood there and what stands there now."""
    assert aligned("Great question! 🎉🎉 Refunds take fourteen days!!!", "friendly") == ToneAlignment(
        f"🎉 Refunds take fourteen days!\n\n{FRIENDLY_EN}",
        (
            Edit("opener", "Great question! ", ""),
            Edit("emoji", "🎉", ""),
            Edit("punctuation", "!!!", "!"),
            Edit("closing", "", f"\n\n{FRIENDLY_EN}"),
        ),
    )
    assert aligned(EN, "friendly").edits == (Edit("closing", "", f"\n\n{FRIENDLY_EN}"),)
    assert aligned(EN) == ToneAlignment(EN)


@pytest.mark.parametrize("style", ["freindly", "", "Neutral", "rude\n\x1b[31m"])
def test_an_unknown_style_is_an_error_that_names_the_choices(style: str) -> None:
    """The message has the value, the choices, and no character that does something to a terminal."""
    with pytest.raises(InputError, match=r"must be one of neutral, friendly, scholarly, got '") as caught:
        align_tone(EN, style)

    assert str(caught.value).isprintable()


def test_an_unknown_language_is_an_error_that_names_the_choices() -> None:
    """Languages are auto, en and vi."""
    with pytest.raises(InputError, match=r"language must be one of auto, en, vi, got 'fr'"):
        align_tone(EN, language="fr")


def test_every_style_closes_in_both_languages_with_words_it_would_recognise() -> None:
    """A closing of any style is a closer to the others, and states nothing."""
    rules: dict[str, Any] = load("tone")["styles"]
    own = [style for each in languages() for style in each.rules("tone")["styles"].values()]
    closings = [style["closing"] for style in own]

    assert list(rules) == list(STYLES)
    assert len(closings) == 4
    for closing in closings:
        fact = fact_beside(closing)
        assert align_tone(f"{fact}\n\n{closing}") == fact
        assert len(Evidence.of(draft=f"{fact}\n\n{closing}").factual_claims) == 1


# what an answer says, seen from outside

STOPS = re.compile(r"[!?.…]++(?=\s|$|[\])\"”*_\[])")


def undecorated(text: str) -> str:
    """A text without emoji: behind one, the evidence takes a courtesy or a yes for a statement of its own."""
    return "".join(c for c in text if unicodedata.category(c) not in ("So", "Mn", "Cf", "Sk"))


def bare(text: str) -> str:
    """A sentence without its stops and spaces."""
    return "".join(STOPS.sub("", text).split())


def claims(answer: str) -> list[str]:
    """What an answer states. A courtesy behind a citation is no statement, and whether a bare yes is one hangs on its place."""
    plain = undecorated(answer)
    passages = ["Refunds are paid within 14 days.", "Linux is supported."]
    stated = [plain[c.start : c.end] for c in Evidence.of(draft=plain, passages=passages).factual_claims]
    return [bare(text) for text in stated if " " in text and Evidence.of(draft=text).factual_claims]


def sentences(answer: str) -> list[str]:
    """Every sentence, whatever it does, but for the fillers that the tone may take or add."""
    plain = undecorated(answer)
    fillers = {bare(text) for text in (*OPENERS, *ENDINGS)}
    every = [bare(plain[s.start : s.end]) for s in Evidence.of(draft=plain).draft_sentences]
    return [text for text in every if text and text not in fillers]


def held(answer: str) -> dict[str, list[str]]:
    """The claims, numbers, markers, quotations, code and addresses of an answer, in order."""
    return {
        "claims": claims(answer),
        "sentences": sentences(answer),
        "numbers": re.findall(r"\d[\d.,]*\d|\d", answer),
        "citations": [answer[m.start : m.end] for m in Evidence.of(draft=answer, passages=["a", "b"]).markers],
        "quotations": re.findall(r"“[^”]*”|\"[^\"\n]*\"", answer),
        "code": re.findall(r"```.*?```|`[^`\n]+`", answer, re.DOTALL),
        "addresses": [url.rstrip(".!?)") for url in re.findall(r"https?://\S+", answer)],
    }


FACTS = [
    "Refunds are paid within 14 days [1]",
    "The Team plan costs $29.50 per month [1, 2]",
    "Linux is supported since 2.1 [2]",
    "Yahoo! was founded by Jerry Yang and David Filo in 1994 [1]",
    "She said “Never!!! 😀” and left in 2019",
    'The sign reads "Stop! Now!!" at 3 p.m',
    "Run `pip install stillme!!` with Python 3.11 [2]",
    "The page https://docs.example.com/a?b=1 lists 3 plans",
    "Tiền được hoàn trong vòng 14 ngày [1]",
    "Gói Team có giá 1.290.000 đồng mỗi tháng [2]",
    "Hà Nội là thủ đô của Việt Nam từ năm 1976 [1]",
    "Trụ sở ở TP. Hồ Chí Minh mở lúc 8 giờ",
    "Not every plan includes support, e.g. the Free one [1]",
    "I could not find the price in the sources",
    "Windows: ❌ and Linux: ✅ in version 5.2",
    "Which plan do you mean",
    "Yes",
    "Không",
]  # fmt: skip
ENDS = [".", "!", "!!!", "?!", "???", "!!", "", " 😊", ". 😊🎉", "!!! 🚀", "… ", ".😀", "! ", ";", ":"]
JOINTS = [" ", "\n", "\n\n", "\n- ", "\n\n## ", "  ", "\n> ", "\n1. ", "\n```\nx = 1!!! 😀\n```\n", " 🎉 "]


@st.composite
def answers(draw: st.DrawFn) -> str:
    """Answers as models write them: facts and fillers in both languages, in prose, lists, quotations and code."""
    piece = st.sampled_from(FACTS) | st.sampled_from([*OPENERS, *ENDINGS])
    pieces = draw(st.lists(st.tuples(piece, st.sampled_from(ENDS), st.sampled_from(JOINTS)), min_size=1, max_size=7))
    return "".join(text + end + joint for text, end, joint in pieces)


@settings(max_examples=400, deadline=None)
@given(answers(), st.sampled_from(STYLES))
def test_nothing_that_is_said_changes(answer: str, style: str) -> None:
    """Claims, numbers, citations, quotations, code and addresses are the same before and after, in the same order."""
    assert held(align_tone(answer, style)) == held(answer)


@settings(max_examples=300, deadline=None)
@given(answers() | st.text(max_size=80) | st.text("!?. 😀🎉\n[1]`\"“”'a>#-", max_size=40), st.sampled_from(STYLES))
def test_aligning_twice_is_aligning_once(answer: str, style: str) -> None:
    """The aligned text is what aligning it again gives, without an edit."""
    once = align_tone(answer, style)

    assert aligned(once, style) == ToneAlignment(once)


@settings(max_examples=200, deadline=None)
@given(answers(), st.sampled_from(STYLES))
def test_the_edits_are_the_difference(answer: str, style: str) -> None:
    """A text without edits is the one that was given; one with edits is another."""
    result = aligned(answer, style)

    assert bool(result.edits) == (result.text != answer)
    assert all(edit.before != edit.after for edit in result.edits)


PASSAGES = [
    {"source_id": "terms", "text": "Refunds are paid within 14 days of delivery. Unused gear can be returned.", "similarity": 0.9},
    {"source_id": "dieu-khoan", "text": "Tiền được hoàn trong vòng 14 ngày kể từ khi giao hàng.", "similarity": 0.9},
]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("query", "answer"),
    [
        pytest.param("How long do refunds take?", f"Great question!!! {EN} Hope this helps!! 😊", id="a supported answer"),
        pytest.param("How long do refunds take?", "Sure! Refunds are paid within 40 days of delivery [1]!!!", id="a contradicted one"),
        pytest.param("How long do refunds take?", "Refunds are paid within 14 days of delivery [7]. Have a great day!", id="a made-up citation"),
        pytest.param("How long do refunds take?", "Refunds are paid by the moon in gold coins every night!!!", id="an unsupported one"),
        pytest.param("How long do refunds take?", "I could not find this in the sources. Let me know if you have any questions!", id="a refusing one"),
        pytest.param("How long do refunds take?", "Great question! I feel so happy when people ask me that [1]!!!", id="one that claims feelings"),
        pytest.param("Bao lâu thì được hoàn tiền?", f"Chắc chắn rồi! {VI} Chúc bạn một ngày tốt lành!", id="a supported answer in Vietnamese"),
        pytest.param("Bao lâu thì được hoàn tiền?", "Tiền được hoàn trong vòng 40 ngày kể từ khi giao hàng [2]!!!", id="a contradicted one in Vietnamese"),
        pytest.param("How long do refunds take?", VI, id="one in the wrong language"),
        pytest.param("How long do refunds take?", "Hello! How can I help you today?", id="a greeting"),
    ],
)  # fmt: skip
def test_the_guard_decides_the_same(query: str, answer: str, style: str) -> None:
    """What would have been refused is refused, and what would have been answered is answered."""
    guard = Guard({"grounding": {"model": "none"}})
    request = {"query": query, "retrieved_context": PASSAGES, "as_of": "2026-02-01T09:00:00Z"}
    before = guard.verify({**request, "draft_answer": answer})
    after = guard.verify({**request, "draft_answer": align_tone(answer, style)})

    assert (after.decision, [c.status for c in after.claims if c.status != "not_factual"]) == (
        before.decision,
        [c.status for c in before.claims if c.status != "not_factual"],
    )


@pytest.mark.parametrize(
    "unit", ["!", "Yes.\n", "ok. 😀 ", '"a" “b” ', "a [1]!! ", "`a", "Great question! ", " 'a", "$a", "[", "<"]
)
def test_a_long_hostile_answer_is_read_in_one_go(unit: str) -> None:
    """Nothing in an answer makes the work more than its length; the time limit of the suite holds this."""
    answer = unit * (60_000 // len(unit))

    assert len(align_tone(answer, "friendly")) <= len(answer) + len(FRIENDLY_EN) + 2
