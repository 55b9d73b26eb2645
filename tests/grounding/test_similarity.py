"""Similarity where the caller gave none: near for what answers, far for what does not, in both languages and across them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, Literal

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.grounding.passage import Passage
from stillme.grounding.similarity import PIECE, PIECES_OF_A_REQUEST, Embed, Map, Middles, similarities
from stillme.languages import load
from stillme.models.embedding import embed
from stillme.text.language import identify
from stillme.text.tokens import Text

MARS = "Mars takes about 687 Earth days to orbit the Sun. The planet has two small moons, Phobos and Deimos."
SCHOOL = "Lessons begin at 8:15 a.m. Pupils wear the school uniform from Monday to Thursday. The library is open until 5 p.m."
VE = "Giá vé người lớn của bảo tàng là 40.000 đồng. Bảo tàng mở cửa từ 8 giờ đến 17 giờ."


LEAVE = "Nhân viên được nghỉ phép 12 ngày làm việc mỗi năm và hưởng nguyên lương."


@dataclass
class Told:
    """Stands in for a model that finds every text equally near to every question; it keeps what it was asked."""

    cosine: float = 0.8
    asked: list[str] = field(default_factory=list)

    def __call__(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Any:
        self.asked += texts
        row = [1.0, 0.0] if kind == "query" else [self.cosine, sqrt(1 - self.cosine**2)]
        return numpy.array([row] * len(texts))


def figures(query: str, texts: Sequence[str], model: Embed | None) -> list[float]:
    """The similarities of a question and passages for which none was given."""
    passages = [Passage(n, RetrievedPassage(source_id=str(n), text=text)) for n, text in enumerate(texts, 1)]
    return similarities(Text(query), passages, identify(Text(query)), model)


@pytest.mark.parametrize("model", [pytest.param(None, id="from words"), pytest.param(embed, id="with the model")])
@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        pytest.param("How many moons does Mars have?", MARS, SCHOOL, id="English"),
        pytest.param("When does the library close?", SCHOOL, MARS, id="other words for the same"),
        pytest.param("Giá vé bảo tàng là bao nhiêu?", VE, MARS, id="Vietnamese"),
        pytest.param("gia ve bao tang la bao nhieu", VE, SCHOOL, id="Vietnamese without accents"),
        pytest.param("How much is a ticket for the museum?", VE, MARS, id="English question, Vietnamese passage"),
        pytest.param("Sao Hỏa có bao nhiêu mặt trăng?", MARS, VE, id="Vietnamese question, English passage"),
    ],
)
def test_near_and_far(query: str, near: str, far: str, model: Embed | None) -> None:
    """The right passage passes the factual threshold of 0.45, the wrong one does not."""
    close, distant = figures(query, [near, far], model)

    assert close >= 0.45 > distant


def test_given_and_computed_may_mix() -> None:
    """A given figure is kept as it is."""
    passages = [
        RetrievedPassage(source_id="a", text=MARS, similarity=-0.25),
        RetrievedPassage(source_id="b", text=MARS),
    ]

    given, computed = Evidence.of("How many moons does Mars have?", passages=passages).similarities

    assert given == -0.25
    assert computed > 0.45


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        pytest.param("What does it cost to enter the museum?", VE, id="English question, Vietnamese passage"),
        pytest.param("Học sinh mặc gì vào thứ Hai?", SCHOOL, id="Vietnamese question, English passage"),
        pytest.param("Vào bảo tàng mất bao nhiêu tiền?", VE, id="Vietnamese in other words"),
        pytest.param("How many days of paid vacation do employees get?", LEAVE, id="half of the words are known"),
    ],
)
def test_the_model_lifts_what_words_leave_in_doubt(query: str, passage: str) -> None:
    """A right passage that says it in other words or in the other language gets a better figure."""
    from_words = figures(query, [passage], None)[0]

    assert figures(query, [passage], embed)[0] > max(from_words + 0.2, 0.6)


@pytest.mark.parametrize("model", [pytest.param(None, id="from words"), pytest.param(embed, id="with the model")])
@pytest.mark.parametrize(
    "query",
    [
        pytest.param("What is the capital of Australia?", id="English"),
        pytest.param("Thủ đô của Úc là gì?", id="Vietnamese"),
        pytest.param("thu do cua uc la gi", id="Vietnamese without accents"),
    ],
)
def test_what_no_passage_speaks_of_is_far_from_all(query: str, model: Embed | None) -> None:
    """No wrong passage, in either language, reaches the lowest threshold."""
    assert max(figures(query, [MARS, SCHOOL, VE, LEAVE], model)) < 0.45


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        pytest.param("How many moons does Mars have?", [VE, MARS], id="one passage is clear"),
        pytest.param("How many moons does Mars have?", [], id="no passage"),
    ],
)
def test_the_model_is_not_asked(query: str, texts: list[str]) -> None:
    """Where words are clear the figures are those from words."""
    model = Told(0.99)

    found = figures(query, texts, model)

    assert (model.asked, found) == ([], figures(query, texts, None))


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        pytest.param("What is the capital of Australia?", [MARS, SCHOOL], id="nothing is shared in one language"),
        pytest.param("hoc phi mot hoc ky het bao nhieu", [MARS, LEAVE], id="Vietnamese without accents"),
        pytest.param("What about it?", [MARS, VE], id="a question without content"),
        pytest.param("Tell me of the harbour. " * 60, [MARS, VE], id="a page instead of a question"),
        pytest.param("What is the capital of Australia?", [f"Room {n} is painted in the colour {n}." for n in range(64)], id="more passages than are read in pieces"),
    ],
)  # fmt: skip
def test_shared_words_alone_never_refuse(query: str, texts: list[str]) -> None:
    """Whatever words leave far off is read by the model, every passage of it, and what that finds near is near."""
    found = figures(query, texts, Told(0.99))

    assert max(figures(query, texts, None), default=0.0) < 0.45
    assert max(found) >= 0.45

    model = Told(-0.3)
    assert max(figures(query, texts, model)) < 0.45
    assert len(model.asked) > len(texts)


HOURS = "The museum opens at 9 am and closes at 5 pm every day except Monday. Admission costs 12 euros for adults."
RETURNS = (
    "We accept returns of unused gear within 30 days of delivery. Refunds are paid to the original card within 14 days."
)
STAFF = "New staff get 14 days of paid leave in the first year. Unused leave expires on 31 March."
PHI = "Phí rút tiền tại ATM khác ngân hàng là 3.300 đồng mỗi lần. Phí chuyển khoản nội bộ được miễn."


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        pytest.param("Hi there! Hope you are having a great day. When does the museum open?", HOURS, id="behind a greeting"),
        pytest.param("Hello team, hope all is well! How many vacation days does a new hire get?", STAFF, id="behind a greeting, in other words"),
        pytest.param("Good morning, I bought a tent last week and it is still in its box. Could you tell me how long I have to send it back?", RETURNS, id="behind a story"),
        pytest.param("Xin chào, cho mình hỏi rút tiền ở cây ATM khác mất bao nhiêu phí ạ?", PHI, id="behind a greeting in Vietnamese"),
        pytest.param("wehn does the museum opne", HOURS, id="typing errors"),
        pytest.param("how lng can i retrun stuff", RETURNS, id="typing errors and another word"),
        pytest.param("What do I pay to get in?", HOURS, id="synonyms"),
        pytest.param("How much holiday do newcomers have?", STAFF, id="synonyms for everything"),
        pytest.param("Lấy tiền mặt ở máy của nhà băng khác tốn mấy đồng?", PHI, id="synonyms in Vietnamese"),
        pytest.param("Bao lâu thì tôi nhận lại được tiền?", RETURNS, id="Vietnamese question, English passage"),
        pytest.param("What does taking out cash at a machine of another bank cost?", PHI, id="English question, Vietnamese passage"),
        pytest.param("chào bạn, rut tien o ATM khac mat bao nhieu vay?", PHI, id="Vietnamese half without accents"),
    ],
)  # fmt: skip
def test_a_right_question_is_not_refused(query: str, passage: str) -> None:
    """However it is worded, a question that the passage answers passes the threshold of facts."""
    assert figures(query, [SCHOOL, passage], embed)[1] >= 0.45


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("Hi! Hope you are well. What is the tax rate in Norway?", id="behind a greeting"),
        pytest.param("Hwo tall is Muont Fiji?", id="typing errors"),
        pytest.param("Who won the 2018 World Cup?", id="in English"),
        pytest.param("Truyện Kiều do ai viết?", id="in Vietnamese"),
        pytest.param("How is a violin tuned?", id="about something else"),
    ],
)
def test_a_wrong_question_is_still_refused(query: str) -> None:
    """A question that no passage speaks of stays below the threshold of facts."""
    assert max(figures(query, [HOURS, RETURNS, STAFF, PHI, SCHOOL], embed)) < 0.45


def test_a_given_figure_that_is_clear_spares_the_model() -> None:
    """Where the caller vouches for one passage, none is read."""
    passages = [
        Passage(1, RetrievedPassage(source_id="a", text=MARS, similarity=0.9)),
        Passage(2, RetrievedPassage(source_id="b", text=VE)),
    ]
    query, model = Text("What does it cost to enter the museum?"), Told()

    found = similarities(query, passages, "en", model)

    assert (model.asked, found) == ([], [0.9, *figures(query.raw, [VE], None)])


def test_a_given_figure_is_never_replaced() -> None:
    """The model speaks of the passages without a figure only."""
    passages = [
        Passage(1, RetrievedPassage(source_id="a", text=VE, similarity=0.3)),
        Passage(2, RetrievedPassage(source_id="b", text=VE)),
    ]
    query, model = Text("What does it cost to enter the museum?"), Told(0.88)

    given_one, computed = similarities(query, passages, "en", model)

    assert (given_one, model.asked) == (0.3, [query.raw, VE])
    assert computed > 0.8


def test_reading_stops_at_the_first_clear_piece() -> None:
    """The passage that shares most is read first; once it is clear, the others keep their figures from words."""
    query, model = "At what time does the boat to the island depart?", Told(0.95)
    boat = "The boat to the island carries forty passengers."
    texts = [VE, "The island has two villages and a church.", boat]

    found = figures(query, texts, model)

    assert model.asked == [query, boat]
    assert found[:2] == figures(query, texts, None)[:2]
    assert found[2] >= 0.8


def test_the_order_of_passages_changes_no_figure() -> None:
    """Turned round, the same passages get the same figures."""
    query = "What does it cost to enter the museum on a Monday?"
    texts = [SCHOOL, VE, LEAVE, MARS]

    assert figures(query, texts, embed) == figures(query, texts[::-1], embed)[::-1]


def test_other_passages_change_no_figure() -> None:
    """Among wrong passages, each has the figure that it has alone."""
    query = "What does it cost to rent a kayak?"
    texts = [LEAVE, "Hồ nước rộng 40 ha.", SCHOOL]

    assert figures(query, texts, embed) == [figures(query, [text], embed)[0] for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Bảo tàng mở cửa. " * 3_000, id="many sentences"),
        pytest.param("bảo" * 50_000, id="one word"),
        pytest.param("\n".join(["- vé"] * 8_000), id="a list"),
        pytest.param("Vé. " + "~" * 50_000, id="hardly a letter"),
    ],
)
def test_a_huge_passage_costs_little(text: str) -> None:
    """However long the passages are, the model reads a few short pieces of them."""
    query, model = "What does it cost to enter the museum?", Told(0.7)

    figures(query, [text, text + "!"], model)

    question, *read = model.asked
    assert question == query
    assert 0 < len(read) <= PIECES_OF_A_REQUEST
    assert max(map(len, read)) <= PIECE


def test_the_piece_that_shares_most_is_read() -> None:
    """A passage of many subjects is judged by what it says of this one."""
    query, model = "Which fee applies to late returns of museum audio guides?", Told(0.8)
    rule = "A late return of an audio guide costs 5 euros."
    filler = "The garden behind the house was laid out by monks and has been tended by them ever since. " * 4

    figures(query, [f"{filler}{rule} {filler}"], model)

    (piece,) = model.asked[1:]
    assert rule in piece


UNIT = st.floats(0, 1)


@given(kind=st.sampled_from(["map", "gate"]), share=UNIT, cosine=UNIT, more=UNIT, apart=st.booleans())
def test_the_maps_rise(kind: str, share: float, cosine: float, more: float, apart: bool) -> None:
    """More shared content or a nearer piece never lowers a figure, and every figure is a probability."""
    scale = Map(**load("similarity")[kind])

    low = scale(share, cosine, apart)

    assert 0 <= low <= scale(min(1, share + more), cosine, apart) <= 1
    assert low <= scale(share, min(1, cosine + more), apart) <= 1


def test_without_what_is_common_direction_alone_counts() -> None:
    """Two texts that differ from the middle in the same way are near, however near the middle itself is to both."""
    far, near = numpy.array([0.9, 0.1, 0.0]), numpy.array([0.9, 0.0, 0.1])
    middles = Middles({"en": numpy.array([0.9, 0.0, 0.0])}, {"en": numpy.array([0.9, 0.0, 0.0])})

    assert middles.cosine(far, "en", far, "en") == 1.0
    assert middles.cosine(far, "en", near, "en") == 0.0


@pytest.mark.parametrize("language", ["en", "tlh"], ids=["a language that has a middle", "one that has none"])
def test_a_text_in_the_middle_is_near_to_nothing(language: str) -> None:
    """It has no direction of its own; a language without a middle takes that of all others."""
    middle = numpy.array([0.6, 0.8])
    middles = Middles({"en": middle}, {"en": middle})

    assert middles.cosine(middle, language, numpy.array([1.0, 0.0]), language) == 0.0


def test_vectors_of_another_model_are_taken_as_they_are() -> None:
    """Nothing is taken off a vector that the middles were not made for."""
    middles = Middles({"en": numpy.array([0.6, 0.8])}, {"en": numpy.array([0.6, 0.8])})

    assert middles.cosine(numpy.array([1.0, 0, 0]), "en", numpy.array([1.0, 0, 0]), "en") == 1.0
