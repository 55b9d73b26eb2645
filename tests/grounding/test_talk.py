"""Talk around a claim in wordings that no list has: the claim is judged as if it stood alone, and talk about the matter is a claim."""

from __future__ import annotations

import pytest

from stillme import Guard, Verdict

PASSAGE = "The Tarrow pool opens at 7 a.m. Children under eight must be accompanied by an adult. Lockers need a one-pound coin."
BE_BOI = "Bể bơi Tân Hà mở cửa lúc 6 giờ. Trẻ dưới tám tuổi phải có người lớn đi cùng. Tủ khoá cần một đồng xu."
AROUND = [
    (PASSAGE, "When does the Tarrow pool open?", "{} Right, off you go and enjoy the afternoon.", "The Tarrow pool opens at {} a.m.", "7", "9"),
    (PASSAGE, "When does the Tarrow pool open?", "Sorry to have kept you so long. {}", "The Tarrow pool opens at {} a.m.", "7", "9"),
    (PASSAGE, "When does the Tarrow pool open?", "Before I let you go, {}", "the Tarrow pool opens at {} a.m.", "7", "9"),
    (PASSAGE, "When does the Tarrow pool open?", "{} hope that's clear enough", "The Tarrow pool opens at {} a.m.", "7", "9"),
    (PASSAGE, "When does the Tarrow pool open?", "[Desk] {}", "The Tarrow pool opens at {} a.m.", "7", "9"),
    (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Em xin lỗi vì trả lời chị hơi muộn ạ. {}", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
    (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "{} Còn gì băn khoăn chị cứ nhắn em nha.", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
    (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Nếu em đọc không nhầm thì {}", "bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
]  # fmt: skip


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard({"mode": "enforce"})


def verdict(guard: Guard, passage: str, query: str, draft: str) -> Verdict:
    """What the guard says of a draft."""
    source = {"source_id": "a", "title": "Pool", "text": passage, "similarity": 0.9}
    return guard.verify({"query": query, "draft_answer": draft, "retrieved_context": [source]})


def action(guard: Guard, passage: str, query: str, draft: str) -> str:
    """What becomes of a draft."""
    return str(verdict(guard, passage, query, draft).action)


def judged(guard: Guard, passage: str, query: str, draft: str) -> list[bool]:
    """Whether each sentence is judged."""
    return [claim.status != "not_factual" for claim in verdict(guard, passage, query, draft).claims]


@pytest.mark.parametrize(("passage", "query", "around", "claim", "right", "wrong"), AROUND)
def test_talk_around_a_claim_changes_nothing(
    guard: Guard, passage: str, query: str, around: str, claim: str, right: str, wrong: str
) -> None:
    """The right one is delivered, the wrong one blocked."""
    said = [action(guard, passage, query, around.format(claim.format(value))) for value in (right, wrong)]

    assert said == ["deliver_with_warning", "block"] or said == ["deliver", "block"]


@pytest.mark.parametrize(
    ("passage", "query", "lead", "right", "wrong"),
    [
        pytest.param(
            "Dogs are not allowed in the Tarrow pool. Lockers need a one-pound coin.",
            "What are the rules of the Tarrow pool?",
            "The document I have in front of me leaves no room for doubt: {}",
            "dogs are not allowed in the Tarrow pool.",
            "dogs are allowed in the Tarrow pool.",
            id="en",
        ),
        pytest.param(
            "Không được mang chó vào bể bơi Tân Hà. Tủ khoá cần một đồng xu.",
            "Bể bơi Tân Hà có quy định gì?",
            "Tài liệu trước mặt em không để lại chút nghi ngờ nào: {}",
            "không được mang chó vào bể bơi Tân Hà.",
            "được mang chó vào bể bơi Tân Hà.",
            id="vi",
        ),
    ],
)
def test_a_lead_in_that_denies_makes_nothing_true(
    guard: Guard, passage: str, query: str, lead: str, right: str, wrong: str
) -> None:
    """Its denial is not that of the source: what stands behind the colon has to hold by itself."""
    assert action(guard, passage, query, lead.format(right)) in ("deliver", "deliver_with_warning")
    assert action(guard, passage, query, lead.format(wrong)) == "block"


@pytest.mark.parametrize(
    ("passage", "query", "draft", "wanted"),
    [
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 7 a.m.\n\nReply 1 for yes, 2 for no.", "deliver_with_warning"),
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 9 a.m.\n\nReply 1 for yes, 2 for no.", "block"),
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 7 a.m.\n\nTake 1 for yes, 2 for coins.", "block"),
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 7 a.m.\n1 new message from Support", "deliver_with_warning"),
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 9 a.m.\n1 new message from Support", "block"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 6 giờ.\nBấm 1 nếu có, 2 nếu không.", "deliver_with_warning"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 9 giờ.\nBấm 1 nếu có, 2 nếu không.", "block"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 6 giờ chị nghen.", "deliver_with_warning"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 9 giờ chị nghen.", "block"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 6 giờ đó nha mấy anh mấy chị ơi.", "deliver_with_warning"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc 9 giờ đó nha mấy anh mấy chị ơi.", "block"),
    ],
)  # fmt: skip
def test_buttons_and_particles_change_nothing(guard: Guard, passage: str, query: str, draft: str, wanted: str) -> None:
    """Numbers of buttons are left out, and what ends a sentence in the south is no part of it."""
    assert action(guard, passage, query, draft) == wanted


def test_what_a_rule_refutes_is_not_cut_away_with_a_tag(guard: Guard) -> None:
    """The last name of a sentence before a closing tag is no talk that runs on."""
    passage, query = "The Tarrow tram runs from Oakley to Penrose.", "Where does the Tarrow tram run?"

    assert (
        action(guard, passage, query, '<voice name="en-GB-Libby">The Tarrow tram runs from Oakley to Dunmore.</voice>')
        == "block"
    )
    assert (
        action(guard, passage, query, '<voice name="en-GB-Libby">The Tarrow tram runs from Oakley to Penrose.</voice>')
        != "block"
    )


@pytest.mark.parametrize(
    ("passage", "query", "beside"),
    [
        (PASSAGE, "When does the Tarrow pool open?", "Feel free to send the children in alone."),
        (PASSAGE, "When does the Tarrow pool open?", "You're welcome to leave your locker open."),
        (PASSAGE, "When does the Tarrow pool open?", "No need to worry, drowning is impossible."),
        (PASSAGE, "When does the Tarrow pool open?", "Vaccines cause harm."),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Anh cứ yên tâm cho trẻ bơi một mình nhé."),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Mời chị vào thẳng, không phải trả phí đâu ạ."),
    ],
)
def test_advice_in_the_words_of_talk_is_judged(guard: Guard, passage: str, query: str, beside: str) -> None:
    """Beside a claim that is right it is a claim of its own."""
    right = "The Tarrow pool opens at 7 a.m." if passage is PASSAGE else "Bể bơi Tân Hà mở cửa lúc 6 giờ."

    assert judged(guard, passage, query, f"{right} {beside}") == [True, True]


def test_a_bold_sentence_is_judged_and_no_heading(guard: Guard) -> None:
    """It ends with a full stop inside its marks."""
    draft = "**Người lớn vào cửa miễn phí.** Bể bơi Tân Hà mở cửa lúc 6 giờ."

    assert judged(guard, BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", draft) == [True, True]


def test_talk_that_may_be_a_yes_is_no_talk(guard: Guard) -> None:
    """'No trouble at all' to 'May my child swim alone?' answers it."""
    draft = "No trouble at all, that would be absolutely fine! The Tarrow pool opens at 7 a.m."

    assert action(guard, PASSAGE, "May my child of five swim alone at the Tarrow pool?", draft) == "block"


@pytest.mark.parametrize(
    ("passage", "query", "draft"),
    [
        (PASSAGE, "When does the Tarrow pool open?", "[1] Lifeguards carry knives.\nThe Tarrow pool opens at 7 a.m. [1]."),
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 7 a.m. [1].\n\nSources:\n[1] Swimmers drown weekly"),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "[1] Tủ khoá bốc cháy.\nBể bơi Tân Hà mở cửa lúc 6 giờ [1]."),
    ],
)  # fmt: skip
def test_what_stands_in_the_place_of_a_source_and_names_none_is_judged(
    guard: Guard, passage: str, query: str, draft: str
) -> None:
    """A line behind a marker, or below 'Sources:', whose verb no list has."""
    assert action(guard, passage, query, draft) == "block"


def test_the_title_of_a_source_is_no_claim(guard: Guard) -> None:
    """With the page, below 'Sources:'."""
    draft = "The Tarrow pool opens at 7 a.m. [1].\n\nSources:\n[1] Pool handbook, p. 3"

    assert action(guard, PASSAGE, "When does the Tarrow pool open?", draft) == "deliver"


@pytest.mark.parametrize(
    ("draft", "wanted"),
    [
        ("[09:12] Hương: để em gửi lại cho anh\n[09:13] Hương: Bể bơi Tân Hà mở cửa lúc 6 giờ.", "deliver_with_warning"),
        ("[09:12] Hương: để em gửi lại cho anh\n[09:13] Hương: Bể bơi Tân Hà mở cửa lúc 9 giờ.", "block"),
        ("P/S: Bể bơi Tân Hà mở cửa lúc 6 giờ.", "deliver_with_warning"),
        ("P/S: Bể bơi Tân Hà mở cửa lúc 9 giờ.", "block"),
    ],
)  # fmt: skip
def test_labels_of_a_chat_and_of_a_postscript_change_nothing(guard: Guard, draft: str, wanted: str) -> None:
    """What stands behind them is judged."""
    assert action(guard, BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", draft) == wanted


@pytest.mark.parametrize(
    ("passage", "query", "draft", "delivered"),
    [
        (PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at 7 a.m. [1]. Lovely weather for sailing, chaps.", "The Tarrow pool opens at 7 a.m. [1]."),
        (PASSAGE, "When does the Tarrow pool open?", "- Lovely weather for sailing, chaps.\n- The Tarrow pool opens at 7 a.m. [1].", "- The Tarrow pool opens at 7 a.m. [1]."),
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Gió mát quá trời. Bể bơi Tân Hà mở cửa lúc 6 giờ [1].", "Bể bơi Tân Hà mở cửa lúc 6 giờ [1]."),
    ],
)  # fmt: skip
def test_a_remark_that_no_source_supports_is_left_out(
    guard: Guard, passage: str, query: str, draft: str, delivered: str
) -> None:
    """It is likely talk, not surely: it goes unchecked neither, and the answer stands without it."""
    found = verdict(guard, passage, query, draft)

    assert (found.decision, found.safe_response, found.reasons[0]) == ("answer", delivered, "passed_with_warnings")
    assert "unsupported" in [claim.status for claim in found.claims]


@pytest.mark.parametrize(
    "draft",
    [
        "Lovely weather for sailing, chaps.",
        "The Tarrow pool opens at 9 a.m. [1]. Lovely weather for sailing, chaps.",
        "The Tarrow pool opens at 7 a.m. [1]. Lifeguards carry knives. Lovely weather for sailing, chaps.",
        "The Tarrow pool opens at 7 a.m. [1]. Lovely weather for 30 sailors, chaps.",
        "The Tarrow pool opens at 7 a.m. [1]. Lovely weather for sailing, chaps [1].",
    ],
    ids=["nothing else", "beside a wrong claim", "beside a statement", "with a figure", "with a citation"],
)
def test_leaving_out_a_remark_saves_no_other_answer(guard: Guard, draft: str) -> None:
    """Only a supported claim is left behind it."""
    assert action(guard, PASSAGE, "When does the Tarrow pool open?", draft) == "block"


@pytest.mark.parametrize(
    ("around", "passage", "query", "claim", "right", "wrong"),
    [
        ("yay no prob at all 😄 {} cheers", PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at {} a.m.", "7", "9"),
        ("I'm only an automated assistant, but {}", PASSAGE, "When does the Tarrow pool open?", "the Tarrow pool opens at {} a.m.", "7", "9"),
        ("{}\n\nRespectfully,\nOffice of the Registrar", PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at {} a.m.", "7", "9"),
        ("Chào buổi sáng ☀️ {}", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("{}\n\nKính thư,\nLê Văn H.", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("Rứa là {}", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("Chẳng phải nói nhiều thì {}", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("Em không khi nào nói dối chị: {}", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("I opened the page once more for you, and {}", PASSAGE, "When does the Tarrow pool open?", "the Tarrow pool opens at {} a.m.", "7", "9"),
    ],
    ids=["a picture parts", "who speaks", "a sender", "a Vietnamese picture", "an initial", "a dialect", "a topic", "no lie", "its own verb"],
)  # fmt: skip
def test_layout_of_messages_and_letters_changes_nothing(
    guard: Guard, around: str, passage: str, query: str, claim: str, right: str, wrong: str
) -> None:
    """The right one is delivered, the wrong one blocked."""
    said = [action(guard, passage, query, around.format(claim.format(value))) for value in (right, wrong)]

    assert said == ["deliver_with_warning", "block"] or said == ["deliver", "block"]


@pytest.mark.parametrize(
    ("around", "passage", "query", "claim", "right", "wrong"),
    [
        ("Ngay giữa tờ niêm yết ở cổng có dòng chữ: {}", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("Leafing through the binder by the till, one finds: {}", PASSAGE, "When does the Tarrow pool open?", "the Tarrow pool opens at {} a.m.", "7", "9"),
        ("{} Glad to be of service!", PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at {} in the morning", "7", "9"),
        ("{} Cần gì thêm anh cứ nhắn em nha!", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc {} giờ", "6", "9"),
        ("{}\nDid that settle it? Yes / No / Ask something else", PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at {} a.m.", "7", "9"),
        ("{}\nAnh hài lòng chưa ạ? (Có/Chưa)", BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ('{{"trangThai": "hoàn tất", "loi_dap": "{}"}}', BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", "Bể bơi Tân Hà mở cửa lúc {} giờ.", "6", "9"),
        ("reply_text: {}\ntone: friendly", PASSAGE, "When does the Tarrow pool open?", "The Tarrow pool opens at {} a.m.", "7", "9"),
    ],
    ids=["vi lead-in", "lead-in", "run on", "vi run on", "buttons", "vi buttons", "vi JSON", "YAML"],
)  # fmt: skip
def test_what_others_put_around_a_claim_changes_nothing(
    guard: Guard, around: str, passage: str, query: str, claim: str, right: str, wrong: str
) -> None:
    """The right one is delivered, the wrong one blocked."""
    said = [action(guard, passage, query, around.format(claim.format(value))) for value in (right, wrong)]

    assert said == ["deliver_with_warning", "block"] or said == ["deliver", "block"]


@pytest.mark.parametrize(
    ("draft", "passage", "query"),
    [
        ("It is a common mistake to think so: the Tarrow pool opens at 7 a.m.", PASSAGE, "When does the Tarrow pool open?"),
        ("Never on weekdays: the Tarrow pool opens at 7 a.m.", PASSAGE, "When does the Tarrow pool open?"),
        ("The Tarrow pool opens at 7 a.m.\nYes / No / Swim with sharks", PASSAGE, "When does the Tarrow pool open?"),
        ('{"leave_children_alone": "high", "answer": "The Tarrow pool opens at 7 a.m."}', PASSAGE, "When does the Tarrow pool open?"),
        ('{"status": "drowning is rare", "answer": "The Tarrow pool opens at 7 a.m."}', PASSAGE, "When does the Tarrow pool open?"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_packaging_is_judged(guard: Guard, draft: str, passage: str, query: str) -> None:
    """A clause that turns what follows, a button that advises, a key or a state that says something."""
    assert action(guard, passage, query, draft) == "block"


POOL_RULES = "Dogs are not allowed in the Tarrow pool. Children under eight must be accompanied by an adult."
QUY_DINH = "Không được mang chó vào bể bơi Tân Hà. Trẻ dưới tám tuổi phải có người lớn đi cùng."


@pytest.mark.parametrize(
    ("around", "passage", "claim", "right", "wrong"),
    [
        ("[drum roll] {}", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("[stop] {} [stop]", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("[slowly, with a smile] {}", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("{} (bows)", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("No kidding folks: {}", POOL_RULES, "dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("Never mind the gossip, {}", POOL_RULES, "dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("[list][b]{}[/b][/list]", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("WARN: reply = \"{}\"", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("id,reply\n1,\"{}\"", POOL_RULES, "Dogs are {}allowed in the Tarrow pool.", "not ", ""),
        ("[tiếng chuông] {}", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "Không đ", "Đ"),
        ("[dừng] {} [dừng]", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "Không đ", "Đ"),
        ("Chẳng giấu gì cô {}", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "không đ", "đ"),
        ("Không lòng vòng nữa, {}", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "không đ", "đ"),
        ("Dạ em xin trình với cô là {}", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "không đ", "đ"),
        ("[trich]{}[/trich]", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "Không đ", "Đ"),
        ("[CẢNH BÁO] loi_dap = \"{}\"", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "Không đ", "Đ"),
        ("stt,tra_loi\n1,\"{}\"", QUY_DINH, "{}ược mang chó vào bể bơi Tân Hà.", "Không đ", "Đ"),
    ],
)  # fmt: skip
def test_what_surrounds_a_denial_does_not_turn_it(
    guard: Guard, around: str, passage: str, claim: str, right: str, wrong: str
) -> None:
    """The denial of a direction or a lead-in is not the claim's: with it or without, the claim is judged as it stands."""
    query = "What are the rules of the Tarrow pool?" if passage is POOL_RULES else "Bể bơi Tân Hà có quy định gì?"
    said = [action(guard, passage, query, around.format(claim.format(value))) for value in (right, wrong)]

    assert said == ["deliver_with_warning", "block"] or said == ["deliver", "block"]


@pytest.mark.parametrize(
    ("draft", "passage"),
    [
        ("[On Mondays] The Tarrow pool opens at 7 a.m.", PASSAGE),
        ("[Unless it rains] The Tarrow pool opens at 7 a.m.", PASSAGE),
        ("[False] The Tarrow pool opens at 7 a.m.", PASSAGE),
        ("[myth]The Tarrow pool opens at 7 a.m.[/myth]", PASSAGE),
        ("[Lifeguards carry knives] The Tarrow pool opens at 7 a.m.", PASSAGE),
        ("(Members swim naked.) The Tarrow pool opens at 7 a.m.", PASSAGE),
        ('lifeguards = "The Tarrow pool opens at 7 a.m."', PASSAGE),
        ("[Chỉ ngày lễ] Bể bơi Tân Hà mở cửa lúc 6 giờ.", BE_BOI),
        ("[Sai] Bể bơi Tân Hà mở cửa lúc 6 giờ.", BE_BOI),
        ("[Nhân viên cứu hộ bị đuổi việc] Bể bơi Tân Hà mở cửa lúc 6 giờ.", BE_BOI),
    ],
)
def test_what_only_looks_like_a_direction_is_judged(guard: Guard, draft: str, passage: str) -> None:
    """A condition, a judgement, a statement in brackets or in the name of a column."""
    query = "When does the Tarrow pool open?" if passage is PASSAGE else "Bể bơi Tân Hà mở cửa lúc mấy giờ?"

    assert action(guard, passage, query, draft) == "block"


BELIEVED = pytest.mark.xfail(reason="the model takes such a label for a part of what the source says")
SMUGGLED = [
    pytest.param("I would take two tablets first. {}", "tablets", id="advice in the first person"),
    pytest.param("I was told that swimmers get a refund. {}", "refund", id="what the speaker was told"),
    pytest.param("I hope you enjoy the complimentary sauna! {}", "sauna", id="a wish that takes something for granted"),
    pytest.param("Have a word with the caretaker, who sleeps in the sauna. {}", "sleeps", id="a clause that hangs on a remark"),
    pytest.param("Pleased to say that horses may swim as well. {}", "horses", id="a statement behind a courtesy"),
    pytest.param("Evenings: {}", "Evenings", id="a time as a speaker", marks=BELIEVED),
    pytest.param("Pensioners: {}", "Pensioners", id="people as a speaker"),
    pytest.param("[At Night] {}", "Night", id="a time in brackets"),
    pytest.param("# Complimentary champagne everywhere\n\n{}", "champagne", id="a heading that names nothing below it"),
    pytest.param("[quote=swimmers_get_refunds]{}[/quote]", "refunds", id="whom a forum quotes"),
    pytest.param("[heated]{}[/heated]", "[heated]", id="the name of a tag"),
    pytest.param('sharks = "plenty of them"\nanswer = "{}"', "plenty", id="a setting"),
    pytest.param("id,fee,answer\n1,ninety,{}", "ninety", id="a column that says something"),
    pytest.param("Em khuyên anh uống trước hai viên. {}", "hai viên", id="Vietnamese advice"),
    pytest.param("Em mong chị thích phòng xông hơi tặng kèm! {}", "xông hơi", id="a Vietnamese wish"),
    pytest.param("Mời anh gặp bảo vệ, người ngủ trong phòng xông hơi. {}", "ngủ", id="a Vietnamese clause that hangs on a remark"),
    pytest.param("Em vui báo mình hay là ngựa cũng được bơi. {}", "ngựa", id="a Vietnamese statement behind a courtesy"),
    pytest.param("Ngày lễ: {}", "Ngày lễ", id="a Vietnamese time as a speaker", marks=BELIEVED),
    pytest.param("[nước_nóng]{}[/nước_nóng]", "nước_nóng", id="the Vietnamese name of a tag"),
]  # fmt: skip


@pytest.mark.parametrize(("around", "smuggled"), SMUGGLED)
def test_what_is_smuggled_in_a_packaging_does_not_go_out(guard: Guard, around: str, smuggled: str) -> None:
    """Beside a claim that is right it is refused, or left out."""
    english = around.isascii() and "Em khuy" not in around
    passage, query = (
        (PASSAGE, "When does the Tarrow pool open?") if english else (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?")
    )
    draft = around.format("The Tarrow pool opens at 7 a.m." if english else "Bể bơi Tân Hà mở cửa lúc 6 giờ.")
    found = verdict(guard, passage, query, draft)
    delivered = "" if found.action == "block" else found.safe_response or draft

    assert smuggled not in delivered


@pytest.mark.parametrize(
    ("lead", "denied"),
    [
        ("NOT: {}", True),
        ("Untrue: {}", True),
        ("Wrong answer = {}", True),
        ("The opposite is true — {}", True),
        ("[Incorrect] {}", True),
        ("That's not a lie: {}", False),
        ("Not to alarm you: {}", False),
        ("SAI: {}", True),
        ("Điều này không đúng: {}", True),
        ("Nói ngược đó — {}", True),
        ("Nói ngược đó: {}", True),
        ("Không sai đâu: {}", False),
    ],
)
def test_what_a_lead_in_denies_is_denied(guard: Guard, lead: str, denied: bool) -> None:
    """'NOT: …' says of what follows that it does not hold, twice denied it holds."""
    english = lead.isascii() and "SAI" not in lead
    passage, query = (
        (PASSAGE, "When does the Tarrow pool open?") if english else (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?")
    )
    draft = lead.format("the Tarrow pool opens at 7 a.m." if english else "bể bơi Tân Hà mở cửa lúc 6 giờ.")

    assert (action(guard, passage, query, draft) == "block") is denied


@pytest.mark.parametrize(
    ("around", "right", "wrong"),
    [
        ("If I read the page rightly, {}", "the Tarrow pool opens at 7 a.m.", "the Tarrow pool opens at 9 a.m."),
        ("{}, unless the page is outdated", "The Tarrow pool opens at 7 a.m.", "The Tarrow pool opens at 9 a.m."),
        ("I won't bore you with details: {}", "the Tarrow pool opens at 7 a.m.", "the Tarrow pool opens at 9 a.m."),
        ("{}, nếu trang này còn đúng", "Bể bơi Tân Hà mở cửa lúc 6 giờ.", "Bể bơi Tân Hà mở cửa lúc 9 giờ."),
        ("Em nhớ không lầm thì {}", "bể bơi Tân Hà mở cửa lúc 6 giờ.", "bể bơi Tân Hà mở cửa lúc 9 giờ."),
        ("Em không kể dài đâu: {}", "bể bơi Tân Hà mở cửa lúc 6 giờ.", "bể bơi Tân Hà mở cửa lúc 9 giờ."),
    ],
)
def test_a_doubt_about_the_reading_is_a_hedge(guard: Guard, around: str, right: str, wrong: str) -> None:
    """Whether something was read rightly makes a condition of nothing that the source says."""
    passage, query = (
        (BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?")
        if "giờ" in right
        else (PASSAGE, "When does the Tarrow pool open?")
    )
    said = [
        action(guard, passage, query, around.replace("{}", claim.rstrip(".") if around[0] == "{" else claim))
        for claim in (right, wrong)
    ]

    assert (said[0] != "block", said[1]) == (True, "block")


def test_a_name_at_the_end_is_no_talk_that_runs_on(guard: Guard) -> None:
    """'… by Dr Ruth Okafor.' is not cut down to '… by Dr.'"""
    passage = "The Tarrow pool is run by Dr Ines Calder. Lockers need a one-pound coin."
    draft = "To set the record straight, the Tarrow pool is run by Dr Ruth Okafor."

    assert action(guard, passage, "Who runs the Tarrow pool?", draft) == "block"


def test_what_no_source_says_behind_a_statement_does_not_go_out(guard: Guard) -> None:
    """Talk that runs on is left out, not let pass: a name in it is not delivered."""
    draft = (
        "The Tarrow pool opens at 7 a.m. and children under eight must be accompanied by an adult Hope that helps you!"
    )
    found = verdict(guard, PASSAGE, "When does the Tarrow pool open?", draft)

    assert "Hope" not in (found.safe_response or "")


def test_a_button_that_may_say_something_does_not_go_out(guard: Guard) -> None:
    """It is judged, and left out for want of a source."""
    draft = "Bể bơi Tân Hà mở cửa lúc 6 giờ [1].\nCó / Chưa / Bơi cùng cá mập"
    found = verdict(guard, BE_BOI, "Bể bơi Tân Hà mở cửa lúc mấy giờ?", draft)

    assert "cá mập" not in (found.safe_response or "")
    assert found.claims[-1].status == "unsupported"


@pytest.mark.parametrize(
    ("query", "draft"),
    [
        (
            "Who repairs the boiler on Friday?",
            "Sorry, the documents I have do not tell who is on duty that day. Please ask at the desk.",
        ),
        (
            "Ai sửa nồi hơi hôm thứ Sáu?",
            "Xin lỗi, tài liệu tôi có không cho biết ai trực hôm đó. Bạn vui lòng hỏi quầy tiếp đón.",
        ),
    ],
)
def test_a_refusal_that_is_taken_for_talk_is_a_refusal(query: str, draft: str) -> None:
    """It is no answer without a claim, which a question of fact would refuse."""
    passages = [{"source_id": "a", "text": "The boiler is drained once a year. Nồi hơi được xả mỗi năm một lần."}]

    verdict = Guard(policy="lite").verify({"query": query, "draft_answer": draft, "retrieved_context": passages})

    assert verdict.decision == "answer"
    assert not verdict.verified


def test_what_a_topic_parts_is_read_behind_it(guard: Guard) -> None:
    """'Nói thật lòng thì …': a negation that is missing behind it is missing."""
    passage = "Không được mang chó vào bể bơi Tân Hà. Tủ khoá cần một đồng xu."
    query = "Bể bơi Tân Hà có quy định gì?"

    assert action(guard, passage, query, "Khỏi cần nói thì được mang chó vào bể bơi Tân Hà.") == "block"
    assert action(guard, passage, query, "Khỏi cần nói thì không được mang chó vào bể bơi Tân Hà.") != "block"


@pytest.mark.parametrize("condition", ["Nếu có vé tháng", "Nếu trời mưa"])
def test_a_condition_before_a_topic_mark_stays(guard: Guard, condition: str) -> None:
    """'Nếu … thì …' is no talk: nothing goes out as if it held without."""
    passage = "Người lớn vào bể bơi Tân Hà phải trả 30.000 đồng. Tủ khoá cần một đồng xu."
    found = verdict(guard, passage, "Giá vé?", f"{condition} thì người lớn vào bể bơi Tân Hà phải trả 30.000 đồng.")

    assert found.action == "block" or condition in str(found.safe_response)


def test_nothing_dangles_before_what_a_lead_in_left(guard: Guard) -> None:
    """The word that joined them goes with the lead-in."""
    draft = "The binder by the till has this for us, and the Tarrow pool opens at 7 a.m."
    found = verdict(guard, PASSAGE, "When does the Tarrow pool open?", draft)

    assert not (found.safe_response or "").startswith("And")
