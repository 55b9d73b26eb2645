"""No wrapping gets a false sentence past the guard, and none keeps a true one back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Guard
from stillme.text.tokens import fold_text
from tests.soak import examples

EN: dict[str, Any] = {
    "query": "What are the rules of the Ferncliff ferry?",
    "source": (
        "The Ferncliff ferry sails from the old quay at 7 a.m. every day. Bicycles travel free of charge on the lower deck. "
        "Dogs are not allowed in the saloon. The captain sells the tickets on board. Lifejackets are kept under the benches."
    ),
    "true": [
        "The Ferncliff ferry sails from the old quay at 7 a.m. every day",
        "Bicycles travel free of charge on the lower deck",
        "Dogs are not allowed in the saloon",
        "The captain sells the tickets on board",
    ],
    "false": [
        "The Ferncliff ferry sails from the old quay at 9 a.m. every day",
        "Bicycles do not travel free of charge on the lower deck",
        "Dogs are allowed in the saloon",
        "The captain never sells the tickets on board",
    ],
    "yes": ("Are dogs allowed in the saloon?", "Do bicycles travel free of charge on the lower deck?"),
    "work": ("Write a poem about the Ferncliff ferry.", "Rewrite the rules of the Ferncliff ferry in plain words."),
}
VI: dict[str, Any] = {
    "query": "Quy định của bến đò Vĩnh Lạc thế nào?",
    "source": (
        "Bến đò Vĩnh Lạc mở cửa lúc 6 giờ sáng mỗi ngày. Xe đạp được chở miễn phí ở khoang dưới. Không được hút thuốc trong khoang khách. "
        "Vé được bán ngay trên đò. Áo phao được cất dưới ghế ngồi."
    ),
    "true": [
        "Bến đò Vĩnh Lạc mở cửa lúc 6 giờ sáng mỗi ngày",
        "Xe đạp được chở miễn phí ở khoang dưới",
        "Không được hút thuốc trong khoang khách",
        "Vé được bán ngay trên đò",
    ],
    "false": [
        "Bến đò Vĩnh Lạc mở cửa lúc 8 giờ sáng mỗi ngày",
        "Xe đạp không được chở miễn phí ở khoang dưới",
        "Được hút thuốc trong khoang khách",
        "Vé không được bán ngay trên đò",
    ],
    "yes": ("Có được hút thuốc trong khoang khách không?", "Xe đạp có được chở miễn phí ở khoang dưới không?"),
    "work": ("Viết một bài thơ về bến đò Vĩnh Lạc.", "Viết lại quy định của bến đò Vĩnh Lạc cho dễ hiểu."),
}
WRAPPINGS = {
    "en": [
        "Here's what I found: {c}.", "Here is the short answer: {c}.", "To answer your question, {c}.", "I'm happy to help: {c}.", "I checked: {c}.",
        "I looked into this for you: {c}.", "Sure! {C}.", "Of course, {c}.", "Great question! {C}.", "Answer: {C}.", "Note that {c}.", "Please note that {c}.",
        "It is worth noting that {c}.", "Please keep in mind that {c}.", "In short, {c}.", "As far as I know, {c}.", "I think {c}.", "I believe that {c}.",
        "I'm pretty sure that {c}.", "In my opinion, {c}.", "According to the documents, {c}.", "Based on the provided context, {c}.", "I can confirm that {c}.",
        "Rest assured, {c}.", "Good news! {C}.", "Fun fact: {c}.", "Let me explain: {c}.", "As you may know, {c}.", "Actually, {c}.", "To be clear: {c}.",
        "This is not medical advice, but {c}.", "I'm not a lawyer, but {c}.", "Thank you for asking! {C}. Hope this helps!", "Hello! {C}. Have a nice day!",
        "{C}, right?", "{C}, isn't it?", "{C}, correct?", "{C}, as far as I know.", "{C}?", "Did you know that {c}?", "Are you aware that {c}?",
        "Isn't it true that {c}?",
    ],
    "vi": [
        "Đây là câu trả lời: {c}.", "Đây là thông tin tôi tìm được: {c}.", "Để trả lời câu hỏi của bạn, {c}.", "Mình rất sẵn lòng giúp bạn: {c}.",
        "Mình đã kiểm tra: {c}.", "Vâng ạ! {C}.", "Dạ, {c} ạ.", "Câu hỏi hay! {C}.", "Trả lời: {C}.", "Lưu ý rằng {c}.", "Xin lưu ý rằng {c}.",
        "Bạn cần lưu ý là {c}.", "Tóm lại, {c}.", "Theo tôi được biết, {c}.", "Tôi nghĩ rằng {c}.", "Tôi tin rằng {c}.", "Tôi chắc chắn rằng {c}.",
        "Theo tài liệu được cung cấp, {c}.", "Dựa trên thông tin được cung cấp, {c}.", "Tôi xin xác nhận rằng {c}.", "Xin bạn yên tâm, {c}.",
        "Tin vui là {c}.", "Thực ra, {c}.", "Như bạn đã biết, {c}.", "Đây không phải lời khuyên y tế, nhưng {c}.", "Xin chào bạn! {C}. Chúc bạn một ngày vui vẻ!",
        "Cảm ơn bạn đã hỏi! {C}. Hy vọng thông tin này hữu ích!", "{C}, đúng không?", "{C}, phải không ạ?", "{C} nhé!", "{C}?", "Bạn có biết {c}?",
    ],
}  # fmt: skip
MARKUP = [
    "**{C}**", "**{C}.**", "# {C}", "## {C}.", "__{C}__", "*{C}.*", "> {C}.", "- {C}.", "1. {C}.", "[1] {C}.", "[^1]: {C}.", "`{C}`", "~~{C}~~", "“{C}.”",
    "[{C}](https://a.example/page)", "![{C}](https://a.example/page)", '[map](https://a.example/page "{C}")', '<img src="m.png" alt="{C}">',
    "<b>{C}</b>", '<span title="{C}">i</span>', "<!-- {C} -->", "```\n{C}.\n```", "```python\n# {C}\nx = 1\n```", "| {C} | |\n|---|---|\n",
    "Sources:\n[1] {C}.", "## References\n- {C}.", "({C}.)", "{C}!", "{C}…", "👉 {C} 🎉",
]  # fmt: skip
EN["wrappings"], VI["wrappings"] = WRAPPINGS["en"], WRAPPINGS["vi"]
# Letters in another dress, as a reader sees them.
DRESSES = {"circled": 0x24D0 - ord("a"), "bold": 0x1D41A - ord("a"), "full width": 0xFF41 - ord("a")}


def dressed(claim: str, offset: int) -> str:
    """The small ASCII letters of a claim in another form."""
    return "".join(chr(ord(c) + offset) if "a" <= c <= "z" else c for c in claim)


def wrapped(wrapping: str, claim: str) -> str:
    """A claim in a wrapping: {C} opens a sentence, {c} goes on with one."""
    proper = claim.startswith("Bến")
    return wrapping.format(C=claim, c=claim if proper else claim[:1].lower() + claim[1:])


def drafts(world: dict[str, Any], kind: str, wrappings: list[str]) -> Iterator[tuple[str, str]]:
    """Each claim of a world in each wrapping, with its marker, as a model would write it."""
    for claim in world[kind]:
        yield from ((wrapping, wrapped(wrapping, claim)) for wrapping in wrappings)


def delivered(guard: Guard, world: dict[str, Any], draft: str, query: str | None = None) -> bool:
    """Whether a draft reaches the user."""
    verdict = guard.verify(
        {
            "query": query or world["query"],
            "draft_answer": draft,
            "retrieved_context": [
                {
                    "source_id": "rules",
                    "title": "Rules",
                    "url": "https://a.example/page",
                    "text": world["source"],
                    "similarity": 0.9,
                }
            ],
        }
    )
    return verdict.action in ("deliver", "deliver_with_warning")


WORLDS = [pytest.param(EN, id="en"), pytest.param(VI, id="vi")]
MODELS = [pytest.param("none", id="rules alone"), pytest.param("shipped", id="with the model")]


@pytest.fixture(scope="module", params=MODELS)
def guard(request: pytest.FixtureRequest) -> Guard:
    """A guard that blocks what it refuses."""
    return Guard({"mode": "enforce", "grounding": {"model": request.param}})


@pytest.mark.parametrize("world", WORLDS)
def test_unwrapped_the_false_are_blocked_and_the_true_delivered(guard: Guard, world: dict[str, Any]) -> None:
    """What the wrappings are measured against."""
    assert [delivered(guard, world, f"{claim}.") for claim in world["true"]] == [True] * 4
    assert [delivered(guard, world, f"{claim}.") for claim in world["false"]] == [False] * 4


@pytest.mark.parametrize("world", WORLDS)
def test_hardly_a_false_sentence_escapes_by_its_wrapping(guard: Guard, world: dict[str, Any]) -> None:
    """At most 2 % of the false ones, over phrasings, markup and letters."""
    cases = list(drafts(world, "false", world["wrappings"] + MARKUP))
    cases += [(name, dressed(f"{c}.", offset)) for c in world["false"] for name, offset in DRESSES.items()]
    escaped = [draft for _, draft in cases if delivered(guard, world, draft)]

    assert len(escaped) <= 0.02 * len(cases), escaped


@pytest.mark.parametrize("world", WORLDS)
def test_hardly_a_true_sentence_is_kept_back_by_its_wrapping(guard: Guard, world: dict[str, Any]) -> None:
    """At most 3 % of the true ones."""
    cases = list(drafts(world, "true", world["wrappings"] + MARKUP))
    cases += [(name, dressed(f"{c}.", offset)) for c in world["true"] for name, offset in DRESSES.items()]
    refused = [draft for _, draft in cases if not delivered(guard, world, draft)]

    assert len(refused) <= 0.03 * len(cases), refused


@pytest.mark.parametrize("world", WORLDS)
def test_a_text_that_was_asked_for_is_judged_where_it_speaks_of_the_sources(
    guard: Guard, world: dict[str, Any]
) -> None:
    """A poem or a rewrite is no licence."""
    for query in world["work"]:
        assert not any(delivered(guard, world, f"{claim}.", query) for claim in world["false"])
        assert all(delivered(guard, world, f"{claim}.", query) for claim in world["true"])


@pytest.mark.parametrize(
    "draft", ["Sure!", "👍", "Absolutely.", "Of course!", "Yes, of course!", "✅", "Yes!", "Definitely 👍"]
)
def test_a_word_of_assent_says_what_was_asked(guard: Guard, draft: str) -> None:
    """To a question that wants yes or no."""
    wrong, right = EN["yes"]

    assert not delivered(guard, EN, draft, wrong)
    assert delivered(guard, EN, draft, right)


@pytest.mark.parametrize("draft", ["Vâng ạ!", "Có ạ.", "Tất nhiên rồi!", "Đúng vậy ạ.", "👍"])
def test_a_vietnamese_word_of_assent_says_what_was_asked(guard: Guard, draft: str) -> None:
    """To a question that wants yes or no."""
    wrong, right = VI["yes"]

    assert not delivered(guard, VI, draft, wrong)
    assert delivered(guard, VI, draft, right)


@pytest.mark.parametrize(
    "draft",
    ["Sure!", "👍", "Hello!", "🎉🎉🎉", "***", "I'm happy to help!", "Here is what I found:", "## Answer", "Xin chào!", "Dạ vâng, cảm ơn bạn!", "Tóm lại:", "<br>",
     "```python\nx = 1\n```"],
)  # fmt: skip
def test_what_states_nothing_is_no_answer_to_a_question_of_fact(guard: Guard, draft: str) -> None:
    """It is neither verified nor delivered, and its confidence is low."""
    world = VI if draft in ("Xin chào!", "Dạ vâng, cảm ơn bạn!", "Tóm lại:") else EN
    verdict = guard.verify(
        {
            "query": world["query"],
            "draft_answer": draft,
            "retrieved_context": [{"source_id": "rules", "text": world["source"], "similarity": 0.9}],
        }
    )

    assert (verdict.verified, verdict.action, verdict.confidence_band) == (False, "block", "low")


# Each of these once let a false claim out or kept a true one back: a name, then the wrapping in English and in Vietnamese.
MECHANISMS = {
    "a speaker in capitals": ("MIRA: {C}.\nJON: Thanks!", "THẢO: {C}.\nDUY: Cảm ơn bạn!"),
    "a speaker in bold": ("**Ines:** {C}.", "**Thảo:** {C}."),
    "a speaker with the time": ("Helpdesk (08:15): {C}.", "Nhân viên (08:15): {C}."),
    "the time in brackets before a speaker": ("[08:15] Guide: {C}.", "[08:15] Trợ lý: {C}."),
    "a letter with its signature": ("Dear guest,\n\n{C}.\n\nYours sincerely,\nGuest Relations", "Kính gửi quý khách,\n\n{C}.\n\nTrân trọng,\nPhòng Lễ tân"),
    "a row of a table with its number and source": ("| No. | Fact | Source |\n|---|---|---|\n| 3 | {C} | rules |", "| STT | Thông tin | Nguồn |\n|---|---|---|\n| 3 | {C} | rules |"),
    "a lettered item": ("b) {C}", "b) {C}"),
    "an item on a key": ("2\ufe0f\u20e3 {C}", "2\ufe0f\u20e3 {C}"),
    "a raised sign of a note": ("{C}.²", "{C}.²"),
    "a raised sign of a note in HTML": ("{C}.<sup>4</sup>", "{C}.<sup>4</sup>"),
    "a note in brackets": ("{C} [note 4].", "{C} [chú thích 4]."),
    "blocks of HTML": ("<h3>Answer</h3><p>{C}.</p>", "<h3>Trả lời</h3><p>{C}.</p>"),
    "JSON": ('{{"answer": "{C}."}}', '{{"tra_loi": "{C}."}}'),
    "a face": ("\u00af\\_(ツ)_/\u00af {C}.", "\u00af\\_(ツ)_/\u00af {C}."),
    "TL;DR": ("TL;DR {C}.", "TL;DR {C}."),
    "where it stands, behind a comma": ("{C}, says the leaflet.", "{C}, tài liệu ghi như vậy."),
    "where it stands, in brackets": ("{C} (see the document).", "{C} (xem tài liệu)."),
    "where it stands, before a comma": ("As the handbook says, {c}.", "Như tài liệu có nói, {c}."),
    "two negations": ("It is not a secret that {c}.", "Chẳng ai phủ nhận rằng {c}."),
    "two negations and a verb of saying": ("It is not wrong to say {c}.", "Không sai khi nói {c}."),
    "a refusal in a clause before it": ("While I can't say more, {c}.", "Tuy tôi không biết gì thêm, {c}."),
    "a sentence about the answer": ("{C}. That is all the source says.", "{C}. Đó là câu trả lời cho bạn."),
    "a question about the source before it": ("What does the source say? {C}.", "Tài liệu nói gì? {C}."),
    "a letter to a reader by name": ("Hello Priya,\n\n{C}.\n\nCheers,\nTom", "Chào chị Mai,\n\n{C}.\n\nThân mến,\nPhượng"),
    "an underlined heading": ("SHORT VERSION\n=====\n{C}.", "TÓM TẮT\n=====\n{C}."),
    "a heading in LaTeX": ("\\subsection*{{Reply}}\n{C}.", "\\subsection*{{Trả lời}}\n{C}."),
    "an arrow": ("=> {C}.", "→ {C}."),
    "an arrow in LaTeX": ("$\\rightarrow$ {C}.", "$\\rightarrow$ {C}."),
    "the name of a reader on a forum": ("@reader42 {C}.", "@docgia42 {C}."),
    "elements of XML": ("<reply_card><text>{C}.</text></reply_card>", "<tra_loi><noiDung>{C}.</noiDung></tra_loi>"),
    "a declaration, a state and a text as it is": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<answer_result><status>ok</status><item id="12"><![CDATA[{C}.]]></item></answer_result>',
        '<?xml version="1.0"?>\n<phanhoi><trangthai>thanh_cong</trangthai><noidung><![CDATA[{C}.]]></noidung></phanhoi>',
    ),
    "an element of a name that no list has": ("<quill_marble>{C}.</quill_marble>", "<hoaMi_xanh>{C}.</hoaMi_xanh>"),
    "speech": (
        '<speak><prosody rate="slow">{C}.</prosody> <break time="300ms"/> Is there anything else?</speak>',
        '<speak><prosody rate="slow">{C}.</prosody> <break time="300ms"/> Bạn cần gì nữa không ạ?</speak>',
    ),
    "states of JSON": (
        '{{"ok": true, "code": 200, "intent": "faq.lookup", "replyText": "{C}.", "handover": false, "error": null}}',
        '{{"ma": 200, "y_dinh": "hoi_dap", "noi_dung": "{C}.", "ket_thuc": false, "loi": null}}',
    ),
    "settings of TOML": ('[reply]\ntitle = "Answer"\nbody = "{C}."', '[tra_loi]\ntieu_de = "Trả lời"\nnoi_dung = "{C}."'),
    "small keys of YAML": ("answer: {C}.\nlanguage: en", "answer: {C}.\nlanguage: vi"),
    "a courtesy in the other language": ("Xin chào! Cảm ơn bạn đã hỏi! {C}.", "Hello there! Thank you for asking! {C}."),
}  # fmt: skip
LETTERS = {
    "a word half in bold": lambda claim: " ".join(f"{w[:2]}**{w[2:]}**" if len(w) > 3 else w for w in claim.split()),
    "a word half in italics": lambda claim: " ".join(f"{w[:2]}<i>{w[2:]}</i>" if len(w) > 3 else w for w in claim.split()),
    "letters set apart": lambda claim: "  ".join(" ".join(word.strip(".")) for word in claim.split()),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "vi"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_stands_around_a_claim_changes_nothing(guard: Guard, name: str, language: str) -> None:
    """The true ones are delivered and the false ones are not, in the same wrapping."""
    world, wrapping = {"en": EN, "vi": VI}[language], MECHANISMS[name][language == "vi"]

    assert [c for c in world["true"][1:] if not delivered(guard, world, wrapped(wrapping, c))] == []
    assert [c for c in world["false"][1:] if delivered(guard, world, wrapped(wrapping, c))] == []


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", LETTERS)
def test_how_letters_are_set_changes_nothing(guard: Guard, name: str, world: dict[str, Any]) -> None:
    """The true ones are delivered and the false ones are not, however they are set."""
    assert [c for c in world["true"][1:] if not delivered(guard, world, LETTERS[name](c))] == []
    assert [c for c in world["false"][1:] if delivered(guard, world, LETTERS[name](c))] == []


def test_vietnamese_without_accents_is_judged_as_with_them(guard: Guard) -> None:
    """True and false."""
    assert [c for c in VI["true"] if not delivered(guard, VI, f"{fold_text(c).capitalize()}.")] == []
    assert [c for c in VI["false"] if delivered(guard, VI, f"{fold_text(c).capitalize()}.")] == []


@pytest.mark.parametrize(
    ("world", "yes", "no"),
    [
        pytest.param(EN, "Yes, that is what the document says.", "No, that's not right.", id="en, a whole sentence"),
        pytest.param(EN, "Quite so.", "No, not at all.", id="en, short"),
        pytest.param(EN, "Exactly right.", "I'm afraid not.", id="en, courteous"),
        pytest.param(VI, "Đúng, tài liệu nói vậy.", "Không, tài liệu nói khác.", id="vi, a whole sentence"),
        pytest.param(VI, "Phải rồi bạn.", "Không, không đúng.", id="vi, short"),
        pytest.param(VI, "Chuẩn rồi ạ.", "Sai rồi ạ.", id="vi, courteous"),
    ],
)
def test_yes_and_no_in_other_words(guard: Guard, world: dict[str, Any], yes: str, no: str) -> None:
    """Each says what was asked or its opposite: two negations behind 'No,' make no yes."""
    wrong, right = world["yes"]

    assert (delivered(guard, world, yes, right), delivered(guard, world, no, wrong)) == (True, True)
    assert (delivered(guard, world, yes, wrong), delivered(guard, world, no, right)) == (False, False)


@pytest.mark.parametrize(
    ("world", "draft"),
    [
        pytest.param(EN, "Never: dogs are allowed in the saloon.", id="a label that denies is no speaker"),
        pytest.param(EN, "Designer: the captain never sells the tickets on board.", id="a label hides nothing behind it"),
        pytest.param(EN, "It is not true that bicycles travel free of charge on the lower deck.", id="one negation stays"),
        pytest.param(EN, "Bicycles travel free of charge on the lower deck. Kind regards,\nDogs allowed in the saloon", id="a signature that speaks of the matter"),
        pytest.param(VI, "Vé được bán ngay trên đò. Trân trọng,\nĐược hút thuốc trong khoang khách", id="vi, a signature that speaks of the matter"),
        pytest.param(EN, "Vaccines cause harm,\n\nBicycles travel free of charge on the lower deck.", id="a line with a comma that is no greeting"),
        pytest.param(EN, "Vaccines kill. Bicycles travel free of charge on the lower deck.", id="two words that say something"),
        pytest.param(VI, "Nếu bạn thắc mắc thì được hút thuốc trong khoang khách.", id="vi, an offer that goes on"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_wrapping_is_judged(guard: Guard, world: dict[str, Any], draft: str) -> None:
    """Nothing that says something becomes exempt."""
    assert not delivered(guard, world, draft)


LEADS = {
    "en": ["Answer:", "Note that", "Well,", "In short,", "I checked:", "To be clear:", "Good news!", "I believe that", "As you may know,"],
    "vi": ["Trả lời:", "Xin lưu ý rằng", "Tóm lại,", "Thực ra,", "Mình đã kiểm tra:", "Khỏi cần nói thì", "Theo tôi được biết,"],
}  # fmt: skip


@pytest.mark.parametrize(("world", "leads"), [(EN, LEADS["en"]), (VI, LEADS["vi"])], ids=["en", "vi"])
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_lead_in_changes_no_verdict(data: st.DataObject, world: dict[str, Any], leads: list[str]) -> None:
    """However many stand before a claim: status, score and quote are those of the bare claim, by rules and by the model."""
    drawn = data.draw(st.lists(st.sampled_from(leads), min_size=1, max_size=3))
    claim = data.draw(st.sampled_from(world["true"] + world["false"]))
    guard = Guard({"mode": "enforce"})

    def judged(draft: str) -> tuple[object, ...]:
        verdict = guard.verify(
            {
                "query": world["query"],
                "draft_answer": draft,
                "retrieved_context": [{"source_id": "r", "text": world["source"], "similarity": 0.9}],
            }
        )
        found = next(c for c in verdict.claims if c.status != "not_factual")
        return found.status, found.score, found.quote, verdict.decision

    assert judged(wrapped(f"{' '.join(drawn)} {{c}}.", claim)) == judged(f"{claim}.")
