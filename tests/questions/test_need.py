"""What a query asks for, and whether it asks for sources."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.questions.need import Need, need_of
from stillme.text.tokens import Text
from tests.soak import examples


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Hello there!", id="English"),
        pytest.param("Xin chào!", id="Vietnamese"),
        pytest.param("xin chao", id="without accents"),
        pytest.param("Chào shop ạ", id="to a shop"),
        pytest.param("Hi Anna!", id="with a name"),
        pytest.param("Have a nice day", id="a farewell"),
        pytest.param("chúc bạn ngủ ngon", id="good night"),
    ],
)
def test_greeting(query: str) -> None:
    """Greetings and farewells ask for nothing."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="greeting")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Thank you so much!", id="English"),
        pytest.param("cam on ban", id="without accents"),
        pytest.param("Thanks for explaining how the refund works.", id="thanks for something"),
        pytest.param("Cảm ơn bạn đã hỗ trợ nhiệt tình", id="thanks for help"),
        pytest.param("Thanks a lot, that was helpful!", id="thanks and praise"),
        pytest.param("Thank you, this helped a lot!", id="thanks and its reason"),
        pytest.param("Thanks, that's all I needed.", id="thanks and an end"),
        pytest.param("Thanks, you've been very helpful.", id="thanks to the assistant"),
        pytest.param("Thank you, it works now!", id="thanks and success"),
        pytest.param("Cảm ơn nhiều, rất hữu ích!", id="thanks and praise, in Vietnamese"),
        pytest.param("Cảm ơn bạn, thông tin rất hữu ích.", id="thanks for information"),
        pytest.param("Cảm ơn, thế là đủ rồi.", id="thanks and an end, in Vietnamese"),
        pytest.param("cam on nhieu, rat huu ich", id="thanks and praise, without accents"),
        pytest.param("Em cảm ơn ạ", id="thanks that name who thanks"),
    ],
)
def test_thanks(query: str) -> None:
    """Thanks ask for nothing."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="thanks")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Write a four-line birthday poem for my friend.", id="a poem"),
        pytest.param("Can you tell me a bedtime story?", id="a story, politely"),
        pytest.param("Come up with a slogan for my coffee shop", id="a slogan"),
        pytest.param("suggest a name for my cat", id="a name"),
        pytest.param("Help me write a wedding speech", id="help with a speech"),
        pytest.param("I'd like you to draft an email to my landlord", id="a wish about the assistant"),
        pytest.param("I need a funny joke", id="a wish"),
        pytest.param(
            "My friend turns 30 tomorrow. Write a poem for her. She likes cats.", id="with facts that the user states"
        ),
        pytest.param("Write a story about how the moon was formed", id="a story about a fact"),
        pytest.param("Viết cho tôi một bài thơ về mùa thu", id="a Vietnamese poem"),
        pytest.param("viet giup minh loi chuc tet", id="a wish without accents"),
        pytest.param("kể chuyện cười đi", id="a joke"),
        pytest.param("soạn giúp mình email xin nghỉ phép", id="an e-mail"),
        pytest.param("đặt tên cho con mèo của tôi", id="naming a cat"),
    ],
)
def test_creative(query: str) -> None:
    """A work of the imagination needs no source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="creative")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("which name do you like better, Luna or Nova?", id="a preference"),
        pytest.param("what do you think of my logo", id="the user's own work"),
        pytest.param("In your opinion, is blue nicer than green?", id="said so"),
        pytest.param("What's your favourite colour?", id="a favourite"),
        pytest.param("I have two names: Luna and Nova. Which do you prefer?", id="after a statement"),
        pytest.param('Theo bạn, quán của tôi nên đặt tên là "Gió Chiều" hay "Nắng Sớm"?', id="a name, in Vietnamese"),
        pytest.param("theo ban toi nen chon mau xanh hay do", id="without accents"),
        pytest.param("bạn thấy logo của tôi thế nào?", id="a logo, in Vietnamese"),
        pytest.param("bạn thích mèo hay chó hơn?", id="a preference, in Vietnamese"),
        pytest.param("My boss is annoying. What should I do?", id="advice on a boss"),
        pytest.param("My friend is angry with me, what should I do?", id="advice on a friend, in one sentence"),
        pytest.param("What should I do about my annoying coworker?", id="advice, with the trouble in the question"),
        pytest.param("I had a fight with my best friend. Any advice?", id="advice on a quarrel"),
        pytest.param("I hate my job. What should I do?", id="advice on a job"),
        pytest.param("Mẹ chồng không thích tôi. Tôi nên làm gì?", id="advice on a family, in Vietnamese"),
        pytest.param("Sếp tôi khó chịu quá. Tôi nên làm gì?", id="advice on a boss, in Vietnamese"),
        pytest.param("Tôi nên làm gì khi sếp khó tính?", id="advice, with the trouble behind it, in Vietnamese"),
        pytest.param("Bạn gái giận tôi, tôi phải làm sao?", id="advice on a girlfriend, in Vietnamese"),
        pytest.param("sep toi kho chiu qua, toi nen lam gi", id="advice, without accents"),
    ],
)
def test_opinion(query: str) -> None:
    """An opinion asked of the assistant needs no source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="opinion")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Do you have feelings?", id="feelings"),
        pytest.param("who are you", id="identity"),
        pytest.param("Are you a robot?", id="nature"),
        pytest.param("Who created you?", id="origin"),
        pytest.param("What can you do?", id="abilities"),
        pytest.param("If you had to choose a religion, which one would it be?", id="a choice of its own"),
        pytest.param("hi, who are you?", id="after a greeting"),
        pytest.param("bạn là ai", id="identity, in Vietnamese"),
        pytest.param("ban la nguoi hay may", id="nature, without accents"),
        pytest.param("Bạn có biết buồn không?", id="feelings, in Vietnamese"),
        pytest.param("Nếu được chọn, bạn sẽ theo tôn giáo nào?", id="a choice, in Vietnamese"),
        pytest.param("Bạn giúp được gì cho tôi?", id="abilities, in Vietnamese"),
    ],
)
def test_assistant(query: str) -> None:
    """Questions about the assistant itself need no source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="assistant")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Rewrite this sentence: he go to school", id="a sentence"),
        pytest.param("Translate to Vietnamese: How long is the warranty?", id="the text is a question"),
        pytest.param("Summarise the following text: Bees are insects.", id="a text that is given"),
        pytest.param("Please fix the spelling in this paragraph: I has a cat", id="spelling"),
        pytest.param("Can you shorten this email for me?", id="an e-mail"),
        pytest.param("Dịch câu sau sang tiếng Anh: tôi đói", id="a translation, in Vietnamese"),
        pytest.param("dich sang tieng anh: toi doi", id="without accents"),
        pytest.param("tóm tắt đoạn văn sau: Hà Nội là thủ đô.", id="a summary of what is given"),
        pytest.param("Sửa câu này giúp em: tôi đi học hôm qua", id="a correction"),
    ],
)
def test_rewrite(query: str) -> None:
    """Work on a text that the user gives needs no other source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="rewrite")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("write a Python function that reverses a string", id="a function"),
        pytest.param("Can you write a bash script to rename files?", id="a script"),
        pytest.param("What is wrong here?\n```python\nprint(1\n```", id="a block of code"),
        pytest.param("Viết hàm Python tính giai thừa", id="a function, in Vietnamese"),
        pytest.param("viet chuong trinh Python in ra so nguyen to", id="without accents"),
    ],
)
def test_code(query: str) -> None:
    """A program written from scratch needs no source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="code")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("hello, how are you?", id="after a greeting"),
        pytest.param("I'm bored", id="a mood"),
        pytest.param("lol", id="a laugh"),
        pytest.param("I see", id="acknowledged"),
        pytest.param("You're funny!", id="a compliment"),
        pytest.param("nice to meet you", id="courtesy"),
        pytest.param("bạn khỏe không?", id="health"),
        pytest.param("tôi buồn quá", id="a mood, in Vietnamese"),
        pytest.param("được rồi", id="acknowledged, in Vietnamese"),
        pytest.param("That was helpful, thanks!", id="praise, then thanks"),
        pytest.param("Perfect, that answers my question.", id="an answer that is enough"),
        pytest.param("That will be all.", id="an end"),
        pytest.param("No more questions, thanks.", id="no more questions"),
        pytest.param("Hữu ích quá, cảm ơn!", id="praise, in Vietnamese"),
        pytest.param("Vậy là đủ rồi, cảm ơn bạn.", id="an end, in Vietnamese"),
        pytest.param("Tôi không còn câu hỏi nào nữa, cảm ơn.", id="no more questions, in Vietnamese"),
        pytest.param("👍", id="a sign"),
        pytest.param("", id="nothing"),
    ],
)
def test_chitchat(query: str) -> None:
    """Talk for its own sake needs no source."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind="chitchat")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("boiling point helium", id="keywords"),
        pytest.param("I want to return my order", id="a statement"),
        pytest.param("42", id="a number"),
        pytest.param("What do you know about Titan?", id="what the assistant knows"),
        pytest.param("do you know when Titan was discovered", id="whether it knows"),
        pytest.param("Could you explain photosynthesis?", id="a polite request"),
        pytest.param("Do you think Titan has an atmosphere?", id="an opinion on a fact"),
        pytest.param("Do you offer refunds?", id="the organisation: refunds"),
        pytest.param("Are you open on Sunday?", id="the organisation: hours"),
        pytest.param("What are you selling?", id="the organisation: goods"),
        pytest.param("What is your age limit?", id="the organisation: a limit"),
        pytest.param("Which plans do you offer?", id="the organisation: plans"),
        pytest.param("Where are you located?", id="the organisation: its place"),
        pytest.param("Can you drink tap water in Hanoi?", id="you as anybody"),
        pytest.param("What can you do in Hanoi in one day?", id="you as anybody, abilities"),
        pytest.param("How are you supposed to store cheese?", id="you as anybody, how"),
        pytest.param("Hello, how long is the warranty?", id="a greeting and a question"),
        pytest.param("Thanks! How long is the warranty?", id="thanks and a question"),
        pytest.param("Thanks, I want to return my order.", id="thanks and a statement"),
        pytest.param("Thanks, that was helpful, but when does it open?", id="thanks, praise and a question"),
        pytest.param("That was helpful. What about returns?", id="praise and a question"),
        pytest.param("What should I do if my card is lost?", id="what to do about a card"),
        pytest.param("My card is lost. What should I do?", id="what to do, after a statement"),
        pytest.param("My boss has not paid my overtime. What should I do?", id="what to do about wages"),
        pytest.param("My child has a fever. What should I do?", id="what to do about an illness"),
        pytest.param("My wife is angry about the late delivery. What should I do?", id="a mood about an order"),
        pytest.param("My boss is annoying. How long is my notice period?", id="a trouble and a question of fact"),
        pytest.param("Tôi bị mất thẻ. Tôi nên làm gì?", id="what to do about a card, in Vietnamese"),
        pytest.param("Con tôi bị sốt, tôi nên làm gì?", id="what to do about an illness, in Vietnamese"),
        pytest.param("Sếp tôi không trả lương. Tôi nên làm gì?", id="what to do about wages, in Vietnamese"),
        pytest.param(
            "Cảm ơn nhiều, rất hữu ích. Thời hạn hoàn tiền là bao lâu?",
            id="thanks, praise and a question, in Vietnamese",
        ),
        pytest.param("write me a poem about the moon and tell me its diameter", id="a poem and a fact"),
        pytest.param("Write a poem about the moon. What is its diameter?", id="a poem, then a question"),
        pytest.param("Who are you and what is the warranty?", id="identity and a fact"),
        pytest.param("Write a summary of the refund policy", id="a summary of what is elsewhere"),
        pytest.param("Summarize the refund policy", id="summarising what is elsewhere"),
        pytest.param("Write an essay about the French Revolution", id="an essay"),
        pytest.param("Tell me the story of the Titanic", id="the story of something"),
        pytest.param("Who wrote the poem Ozymandias?", id="a poem that exists"),
        pytest.param("How do I write a poem?", id="how to write"),
        pytest.param("Can I write an email to support?", id="the user's own e-mail"),
        pytest.param("Give me the email of support", id="an address"),
        pytest.param("edit my profile", id="no text"),
        pytest.param("Explain the following concept: entropy", id="a concept"),
        pytest.param("What's up with my order?", id="what is up with something"),
        pytest.param("What's new in version 3?", id="news of something"),
        pytest.param("How are you going to refund me?", id="not a greeting"),
        pytest.param("I'm sad that my order arrived late", id="a mood with a reason"),
        pytest.param("good restaurants in Hanoi", id="an adjective that also acknowledges"),
        pytest.param("How do I kill a hanging backup?", id="a how-to"),
        pytest.param("bạn có ship hàng không?", id="the shop, in Vietnamese"),
        pytest.param("ban co ship hang khong", id="the shop, without accents"),
        pytest.param("bạn có biết Hà Nội ở đâu không", id="whether it knows, in Vietnamese"),
        pytest.param("Bạn có thể cho biết giờ mở cửa không?", id="a polite request, in Vietnamese"),
        pytest.param("bạn biết gì về Văn Miếu?", id="what it knows, in Vietnamese"),
        pytest.param("viết tóm tắt chính sách đổi trả", id="a summary, in Vietnamese"),
        pytest.param("viet tom tat chinh sach doi tra", id="a summary, without accents"),
        pytest.param("Viết bài thơ về mặt trăng và cho biết đường kính của nó", id="a poem and a fact, in Vietnamese"),
        pytest.param("Viết email cho bộ phận hỗ trợ như thế nào?", id="how to write, in Vietnamese"),
        pytest.param("Dịch vụ bảo hành gồm những gì?", id="a service, not a translation"),
        pytest.param("Chào shop, áo này còn size M không?", id="a greeting and a question, in Vietnamese"),
        pytest.param("Theo bạn, thủ đô của Úc là Sydney hay Canberra?", id="an opinion on a fact, in Vietnamese"),
        pytest.param("Nếu bạn là người nước ngoài thì cần giấy tờ gì?", id="you as anybody, in Vietnamese"),
        pytest.param("Bạn có yêu cầu gì về kích thước không?", id="a requirement, not love"),
        pytest.param("nhat ban la gi", id="Japan without accents"),
        pytest.param("nhu cau la gi", id="a need without accents"),
    ],
)
def test_facts(query: str) -> None:
    """Everything else asks for facts."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=True, kind="facts")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Who invented the paper clip? Please cite your sources.", id="cite"),
        pytest.param("Please give the source.", id="give"),
        pytest.param("How tall is it? With references please", id="with"),
        pytest.param("what's the source", id="what is it"),
        pytest.param("What is the source of this information?", id="the source of this"),
        pytest.param("Sources?", id="one word"),
        pytest.param("Any sources for this claim?", id="any"),
        pytest.param("I need a source for that", id="needed"),
        pytest.param("Who discovered Titan and cite reliable sources", id="at the end"),
        pytest.param("Where did you get that information?", id="where from"),
        pytest.param("Cho tôi xin nguồn.", id="Vietnamese"),
        pytest.param("cho minh xin nguon tham khao", id="without accents"),
        pytest.param("dẫn nguồn giúp mình", id="quoting it"),
        pytest.param("Năm nào? Trích dẫn đầy đủ.", id="in full"),
        pytest.param("ghi rõ nguồn nhé", id="named"),
        pytest.param("theo nguồn nào?", id="which one"),
        pytest.param("có nguồn không?", id="whether there is one"),
        pytest.param("bạn lấy thông tin này ở đâu?", id="where from, in Vietnamese"),
    ],
)
def test_asks_for_sources(query: str) -> None:
    """The query wants to know on what the answer rests."""
    assert need_of(Text(query)).asks_sources


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Is there a source of water near the camp?", id="water"),
        pytest.param("What is the source of the Nile?", id="a river"),
        pytest.param("Give me the source code", id="code"),
        pytest.param("Is Brindle open source?", id="open source"),
        pytest.param("Which power source does it use?", id="power"),
        pytest.param("List renewable energy sources", id="energy"),
        pytest.param("List sources of vitamin C", id="vitamins"),
        pytest.param("What is my reference number?", id="a number"),
        pytest.param("I write with reference to my order", id="with reference to"),
        pytest.param("How do I cite a website in APA?", id="how to cite"),
        pytest.param("how many citations does the paper have", id="counting citations"),
        pytest.param("No need for sources, just answer", id="not wanted"),
        pytest.param("nguồn nước gần trại", id="water, in Vietnamese"),
        pytest.param("nguon nuoc sach o dau", id="water, without accents"),
        pytest.param("tiền nguồn gốc", id="origin"),
        pytest.param("cho tôi biết nguồn gốc của áo dài", id="the origin of something"),
        pytest.param("mã nguồn mở là gì", id="open source, in Vietnamese"),
        pytest.param("sông bắt nguồn từ đâu?", id="a river, in Vietnamese"),
        pytest.param("Câu trích dẫn nổi tiếng của Einstein?", id="a famous saying"),
        pytest.param("đừng trích dẫn nguồn", id="not wanted, in Vietnamese"),
        pytest.param("", id="nothing"),
    ],
)
def test_does_not_ask_for_sources(query: str) -> None:
    """A source in another sense, or one that is not wanted."""
    assert not need_of(Text(query)).asks_sources


@pytest.mark.parametrize(
    ("query", "required"),
    [
        pytest.param("Who discovered Titan?", True, id="facts"),
        pytest.param("Who discovered Titan? Cite your sources.", True, id="facts and sources"),
        pytest.param("Write a poem about Titan and cite your sources.", True, id="a poem with sources"),
        pytest.param("Write a poem about Titan.", False, id="a poem"),
        pytest.param("Xin chào!", False, id="a greeting"),
    ],
)
def test_source_required(query: str, required: bool) -> None:
    """A source is required where facts or sources are asked for."""
    assert need_of(Text(query)).source_required is required


@given(st.text(max_size=80))
@settings(max_examples=examples(200), deadline=None)
def test_any_text_has_an_answer(text: str) -> None:
    """Every text is of one kind, the same each time, and asks for facts exactly when that kind is facts."""
    need = need_of(Text(text))

    assert need == need_of(Text(text))
    assert need.asks_facts == (need.kind == "facts")


PIECES = [
    "hi",
    "please",
    "write",
    "a poem",
    "you",
    "?",
    ".",
    "\n",
    ",",
    "source",
    "bạn",
    "là ai",
    "who are you",
    "translate",
    '"',
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
@settings(max_examples=examples(200), deadline=None)
def test_a_question_is_never_talked_away(noise: str) -> None:
    """Whatever stands before it on other lines, but for a text to rewrite, a question of fact asks for facts."""
    need = need_of(Text(f"{noise}\nHow long is the warranty of this lamp?"))

    assert need.kind in {"facts", "rewrite"}
    assert need.kind == "facts" or "translate" in noise


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        pytest.param("What is 48 / 6?", "arithmetic", id="a sum"),
        pytest.param("12 cộng 30 bằng mấy?", "arithmetic", id="a sum in Vietnamese"),
        pytest.param("Hello, what is 9 times 9?", "arithmetic", id="a sum behind a greeting"),
        pytest.param("Which is nicer, rain or snow?", "opinion", id="a taste"),
        pytest.param("Should I paint the fence white or brown?", "opinion", id="a choice of colours"),
        pytest.param("Do lilies smell better than roses?", "opinion", id="a smell"),
        pytest.param("Phở hay bún chả ngon hơn?", "opinion", id="a taste in Vietnamese"),
        pytest.param("Nên xem phim hài hay phim kinh dị?", "opinion", id="a choice of films in Vietnamese"),
        pytest.param("Is it ever right to break a promise?", "philosophy", id="ethics"),
        pytest.param("Do we have free will?", "philosophy", id="free will"),
        pytest.param("What is happiness?", "philosophy", id="a bare concept"),
        pytest.param("Mục đích của cuộc đời là gì?", "philosophy", id="the purpose of life in Vietnamese"),
        pytest.param("Hạnh phúc là gì?", "philosophy", id="a bare concept in Vietnamese"),
        pytest.param("What a lovely morning!", "chitchat", id="a remark on the morning"),
        pytest.param("I've had such a rough week", "chitchat", id="a remark on the week"),
        pytest.param("Thời tiết hôm nay mát quá", "chitchat", id="the weather in Vietnamese"),
    ],
)  # fmt: skip
def test_what_no_document_could_answer_needs_none(query: str, kind: str) -> None:
    """Sums, tastes, philosophy and small talk."""
    assert need_of(Text(query)) == Need(asks_sources=False, asks_facts=False, kind=kind)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("In your opinion, when was the Larkfield shop founded?", id="a date dressed as an opinion"),
        pytest.param("In your view, who is the director of the museum?", id="a person dressed as an opinion"),
        pytest.param("Your honest opinion: how many people work there?", id="a number dressed as an opinion"),
        pytest.param("By your own opinion, what is the fee for a return?", id="a fee dressed as an opinion"),
        pytest.param("Theo bạn thì công ty thành lập năm nào?", id="a date dressed as an opinion in Vietnamese"),
        pytest.param("Hi! what is the refund limit?", id="behind a greeting"),
        pytest.param("What a lovely morning! When does the shop open?", id="behind a remark"),
        pytest.param("Trời đẹp quá, vé giá bao nhiêu vậy?", id="behind a remark in Vietnamese"),
        pytest.param("calculate how much tax I owe", id="a sum that needs a rule"),
        pytest.param("What is 3% of the yearly turnover?", id="a percentage of a fact"),
        pytest.param("What is 2+2, and who founded Larkfield?", id="a sum with a fact behind it"),
        pytest.param("Which is nicer, the Team plan or the Starter plan?", id="things that have names"),
        pytest.param("Which plan looks better for 12 users?", id="things that have figures"),
        pytest.param("What is the meaning of life insurance?", id="philosophy in the name of a product"),
        pytest.param("What did Kant write about free will?", id="a philosopher"),
        pytest.param("What does the handbook say about moral responsibility?", id="a document"),
        pytest.param("What were the two forms of determinism?", id="a doctrine that was"),
    ],
)  # fmt: skip
def test_a_question_of_fact_in_another_dress_needs_a_source(query: str) -> None:
    """Whatever stands around it, a fact is asked for."""
    assert need_of(Text(query)).source_required


@pytest.mark.parametrize("query", ["What is 6 * 7? Cite your sources.", "Tự do là gì? Cho tôi nguồn tham khảo."])
def test_who_asks_for_sources_gets_them_asked_for(query: str) -> None:
    """A sum or a question of philosophy with a wish for sources needs a source."""
    assert need_of(Text(query)).asks_sources


@pytest.mark.parametrize("query", ["Dạ con cảm ơn bác sĩ nhiều ạ.", "Cảm ơn cô y tá.", "Em cảm ơn thầy giáo ạ!"])
def test_thanks_to_somebody_named_by_trade_ask_for_nothing(query: str) -> None:
    assert not need_of(Text(query)).asks_facts


@pytest.mark.parametrize("query", ["Cảm ơn bác sĩ, mấy giờ mở cửa?", "Cảm ơn y tá, liều dùng là bao nhiêu ạ?"])
def test_a_question_behind_such_thanks_still_asks(query: str) -> None:
    assert need_of(Text(query)).asks_facts
