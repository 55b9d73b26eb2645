"""Language identification, and requests for the language of the answer."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.languages import load
from stillme.questions.answer_language import requested_language
from stillme.text.language import identify
from stillme.text.tokens import Text, fold


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("What is the boiling point of liquid helium?", id="a plain question"),
        pytest.param(
            "Did the urban planning office list the old bank that houses the Riverside Café?",
            id="café, urban and bank are English words",
        ),
        pytest.param("a naïve résumé about the façade", id="English keeps the accents of its loan words"),
        pytest.param("how many can i hang", id="words that are Vietnamese syllables too"),
        pytest.param("put it in the van", id="nothing but words that are syllables too"),
        pytest.param(
            "King Lý Nhân Tông founded Quốc Tử Giám next to Văn Miếu in Hà Nội",
            id="Vietnamese names in an English sentence",
        ),
        pytest.param("It is in Hà Nội.", id="a short sentence around a Vietnamese name"),
        pytest.param("What's phở?", id="a Vietnamese word asked about"),
        pytest.param("Is bún chả spicy?", id="two Vietnamese words against two English ones"),
        pytest.param("What does 'xin chào' mean?", id="a quotation does not vote"),
        pytest.param("What does 你好 mean?", id="a word in another script does not decide"),
        pytest.param("boiling point helium", id="keywords without function words"),
        pytest.param("WHAT IS THE PRICE OF THE TICKET", id="all in capitals"),
        pytest.param("wat is teh price of a tiket", id="typing errors"),
        pytest.param("open on Sunday", id="three words"),
        pytest.param("Thanks", id="one word of courtesy"),
        pytest.param("30 days", id="a number and a unit that is a word"),
        pytest.param("**Refunds** are paid within _five_ days.", id="markdown"),
        pytest.param("Run `xin chào các bạn` and read the output", id="inline code does not vote"),
        pytest.param("See https://vi.example.vn/chinh-sach-doi-tra for the rules", id="a web address does not vote"),
        pytest.param("Will it rain?", id="a function word that is also a first name"),
        pytest.param("The loan is due in May, so do not sue the man.", id="many words that are syllables too"),
    ],
)
def test_english(text: str) -> None:
    """English is told, whatever it borrows."""
    assert identify(Text(text)) == "en"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Mộc An nhận đổi trả sản phẩm trong bao nhiêu ngày?", id="a plain question"),
        pytest.param("hoc sinh di muon ba lan thi bi xu ly the nao", id="a question typed without accents"),
        pytest.param("gia ve bao nhieu", id="four words without accents"),
        pytest.param("ban co the giup toi khong", id="without accents, with words that are English too"),
        pytest.param("cam on", id="thanks without accents, where 'on' is English"),
        pytest.param("so nguyen to la gi", id="without accents, with 'so' and 'to'"),
        pytest.param("Muốn export report ra file Excel trong app thì làm sao?", id="English technical terms"),
        pytest.param(
            "muon export report ra file excel trong app thi lam sao", id="English technical terms, no accents"
        ),
        pytest.param("Larkfield Outdoor refund bao lâu thì nhận được tiền?", id="an English name and an English verb"),
        pytest.param("Phim The Lord of the Rings do ai đạo diễn?", id="an English title"),
        pytest.param("Xin chào!", id="two words"),
        pytest.param("Không.", id="one function word"),
        pytest.param("30 ngày", id="a number and a unit"),
        pytest.param("HỌC PHÍ BAO NHIÊU", id="all in capitals"),
        pytest.param("HOC PHI BAO NHIEU", id="all in capitals, no accents"),
        pytest.param("Ho\u0323c sinh đi muo\u0323\u0302n", id="decomposed accents (NFD)"),
        pytest.param("shop oi con hang ko", id="shorthand of chat"),
        pytest.param(
            "Bạn chạy lệnh sau:\n```python\nprint('the quick brown fox is on the run')\n```",
            id="a code block does not vote",
        ),
        pytest.param("Ở Hoa Kỳ, ai là tổng thống?", id="a sentence that begins before a name"),
        pytest.param("toán học nghành nào tốt", id="a spelling that no syllable has"),
    ],
)
def test_vietnamese(text: str) -> None:
    """Vietnamese is told, with and without its accents."""
    assert identify(Text(text)) == "vi"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Où est la gare ?", id="French"),
        pytest.param("combien coûte le billet", id="French without capitals"),
        pytest.param("¿Dónde está la biblioteca?", id="Spanish"),
        pytest.param("Cual es la capital de Francia", id="Spanish without accents"),
        pytest.param("Wie viel kostet das Ticket?", id="German"),
        pytest.param("Quanto costa il biglietto per questa sera?", id="Italian"),
        pytest.param("Qual é a capital do Brasil?", id="Portuguese"),
        pytest.param("Hoeveel kost het kaartje?", id="Dutch"),
        pytest.param("berapa harga tiket ini?", id="Indonesian"),
        pytest.param("Magkano ang ticket na ito?", id="Tagalog"),
        pytest.param("你好，请问票价多少？", id="Chinese"),
        pytest.param("チケットはいくらですか", id="Japanese"),
        pytest.param("티켓 가격이 얼마인가요?", id="Korean"),
        pytest.param("Сколько стоит билет?", id="Russian"),
        pytest.param("كم سعر التذكرة؟", id="Arabic"),
        pytest.param("ราคาตั๋วเท่าไหร่", id="Thai"),
        pytest.param("L'eau est froide", id="French elision"),
        pytest.param("Jak się masz?", id="letters that neither language has"),
    ],
)
def test_other(text: str) -> None:
    """A third language is told from both."""
    assert identify(Text(text)) == "other"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("  \n", id="white space"),
        pytest.param("42", id="a number"),
        pytest.param("So Quay 3.0 iOS?", id="a product name that may be either"),
        pytest.param("Lý Nhân Tông", id="a Vietnamese name"),
        pytest.param("Cần Thơ", id="a Vietnamese place that begins like a sentence"),
        pytest.param("Paris and London", id="two names"),
        pytest.param("Los Angeles", id="a name that begins like Spanish"),
        pytest.param("Will Smith", id="a name that begins like English"),
        pytest.param("The Lord of the Rings", id="a title"),
        pytest.param("Harry Potter and the Goblet of Fire", id="a long title"),
        pytest.param("iOS, Android", id="brands"),
        pytest.param("500.000đ", id="a price"),
        pytest.param("5 km", id="a measure"),
        pytest.param("https://example.com/what-is-the-price", id="a web address"),
        pytest.param("the_price_of_it", id="an identifier"),
        pytest.param("what.is.this@example.com", id="an e-mail address"),
        pytest.param("```\nwhile true do the thing\n```", id="a code block"),
        pytest.param("`what is this`", id="inline code"),
        pytest.param("👍 !!!", id="signs"),
        pytest.param("\u200b\u200b", id="invisible characters"),
    ],
)
def test_unknown(text: str) -> None:
    """Names, numbers and code say nothing of the language."""
    assert identify(Text(text)) == "unknown"


VIETNAMESE = "Học sinh đi muộn ba lần trong một tháng thì bị xử lý thế nào theo nội quy của trường?"
ENGLISH = "A pupil who is late three times in one month has to talk to the head teacher about it."


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normal_forms(form: str) -> None:
    """The form in which accents are stored changes nothing."""
    assert identify(Text(unicodedata.normalize(form, VIETNAMESE))) == "vi"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param(VIETNAMESE, "vi", id="with accents"),
        pytest.param(fold(VIETNAMESE), "vi", id="without"),
        pytest.param(ENGLISH, "en", id="English"),
    ],
)
@pytest.mark.parametrize("words", [4, 5, 8, 12])
def test_beginnings(text: str, language: str, words: int) -> None:
    """The first few words of a sentence tell as much as all of it."""
    assert identify(Text(" ".join(text.split()[:words]))) == language


def test_the_larger_part_decides() -> None:
    """A long text is read to its end: a quotation of another language does not hide what most of it is in."""
    assert identify(Text(f"{ENGLISH} " + f"{VIETNAMESE} " * 5)) == "vi"
    assert identify(Text(f"{VIETNAMESE} " + f"{ENGLISH} " * 5)) == "en"


def test_word_lists_do_not_contradict_each_other() -> None:
    """No word stands in two groups of shared spellings, and none of those groups names a word that is no syllable."""
    both = [word for words in load("language")["leaning"].values() for word in words.split()]

    assert sorted(both) == sorted(set(both))


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_text_has_an_answer(text: str) -> None:
    """Every text gets one of four answers, the same each time, and a request is None or one of two."""
    assert identify(Text(text)) in {"en", "vi", "other", "unknown"}
    assert identify(Text(text)) == identify(Text(text))
    assert requested_language(Text(text)) in {None, "en", "vi"}


@given(
    st.sampled_from(["[1]", "42", "3.5 km", "\n\n", "https://example.com", "Hà Nội", "Larkfield", "`x = 1`"]),
    st.integers(0, 17),
)
@settings(max_examples=60, deadline=None)
def test_what_has_no_language_changes_nothing(piece: str, at: int) -> None:
    """Markers, numbers, addresses, names and code inside a sentence leave its language as it is."""
    for text, language in ((VIETNAMESE, "vi"), (fold(VIETNAMESE), "vi"), (ENGLISH, "en")):
        words = text.split()
        assert identify(Text(" ".join([*words[:at], piece, *words[at:]]))) == language
