"""What tells that a question leaves open which of several statements answers it."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from stillme.evidence import Evidence
from stillme.questions.openness import MARKS, SHARES, Joining, Marked, find_open, joining_of_model, log_odds

WARRANTY = [
    "New phones carry a warranty of two years, refurbished phones one of six months. Repairs are done in Leeds."
]
LANES = ["Members pay 4 euros for a lane. Guests pay 9 euros for a lane. Shoes are included."]
BAO_HANH = ["Điện thoại mới được bảo hành hai năm, điện thoại cũ được bảo hành sáu tháng. Sửa chữa tại Vinh."]
LAN_BOI = ["Hội viên trả 40 nghìn đồng một giờ sân. Khách lẻ trả 90 nghìn đồng một giờ sân. Vợt được mượn miễn phí."]
CERTAIN = 0.9999


def marked(query: str, passages: list[str]) -> Marked:
    """The question beside its passages."""
    evidence = Evidence.of(query, passages=passages)
    return Marked(evidence.query, evidence.library)


@pytest.mark.parametrize(
    ("query", "passages", "mark"),
    [
        pytest.param("How much do I pay for a lane?", LANES, "pair_figures", id="two sentences, two figures"),
        pytest.param(
            "How long is the warranty?", WARRANTY, "pair_carried", id="the second clause leaves out what is meant"
        ),
        pytest.param("Điện thoại được bảo hành bao lâu?", BAO_HANH, "pair_figures", id="two clauses, two figures"),
        pytest.param("Một giờ sân trả bao nhiêu?", LAN_BOI, "pair_figures", id="two Vietnamese sentences"),
    ],
)
def test_clauses_that_both_may_answer(query: str, passages: list[str], mark: str) -> None:
    """They share what is asked, and state two figures of a kind."""
    assert marked(query, passages).marks()[mark] > 0.5


@pytest.mark.parametrize(
    ("open_", "clear", "passages"),
    [
        pytest.param("How much do I pay for a lane?", "How much do guests pay for a lane?", LANES, id="en"),
        pytest.param("Điện thoại được bảo hành bao lâu?", "Điện thoại cũ được bảo hành bao lâu?", BAO_HANH, id="vi"),
    ],
)
def test_a_word_of_one_of_them_tells_which(open_: str, clear: str, passages: list[str]) -> None:
    """The question that says it has a lower share of what both say."""
    shares = [marked(query, passages).marks()["pair_figures"] for query in (open_, clear)]

    assert shares[0] > shares[1]


@pytest.mark.parametrize(
    ("query", "passages", "language", "expected"),
    [
        pytest.param(
            "How much do I pay for a lane?", LANES, "en",
            ("Members pay 4 euros for a lane", "Guests pay 9 euros for a lane"), id="what the two clauses say",
        ),
        pytest.param(
            "Điện thoại được bảo hành bao lâu?", BAO_HANH, "vi",
            ("Điện thoại mới được bảo hành hai năm", "điện thoại cũ được bảo hành sáu tháng"), id="in Vietnamese",
        ),
        pytest.param("How much do I pay for a lane?", LANES, "vi", (), id="nothing in a language that is not the user's"),
    ],
)  # fmt: skip
def test_the_readings_are_short_and_in_the_language_of_the_user(
    query: str, passages: list[str], language: str, expected: tuple[str, ...]
) -> None:
    """Clauses, not whole passages; quoted, so only where they are in the language that is asked in."""
    assert marked(query, passages).readings(language) == expected


@pytest.mark.parametrize(
    ("turn", "told"), [("I come here since May.", False), ("I am a guest of the club.", True), ("Hello!", False)]
)
def test_a_turn_before_may_tell(turn: str, told: bool) -> None:
    """A word that only one of the clauses says."""
    found = marked("How much do I pay for a lane?", LANES)

    assert found.is_told([Evidence.of(turn).query]) is told


def test_both_witnesses_are_heard() -> None:
    """What half of the clear questions reach is nothing; two rare figures are rarer than one; none counts for more than all that was seen."""
    reached = tuple(float(n) for n in range(len(SHARES)))
    joining = Joining(0.0, dict.fromkeys(MARKS, 0.0), reached, reached, open_at=6.0)

    assert joining.surprise(-1.0, 0.1) == 0
    assert joining.surprise(99.0, 0.1) == pytest.approx(-math.log(SHARES[-1]), abs=1e-4)
    assert joining.surprise(99.0, CERTAIN) == pytest.approx(-2 * math.log(SHARES[-1]), abs=1e-4)
    assert [joining.is_open(99.0, chance) for chance in (0.1, CERTAIN)] == [False, True]
    assert all(a <= b for a, b in pairwise(joining.surprise(n / 4, 0.9) for n in range(-8, 40)))


def test_what_ships_is_whole() -> None:
    """Every mark has a weight, and what rarer questions reach is higher."""
    found = joining_of_model()

    assert sorted(found.weights) == sorted(MARKS)
    for reached in (found.by_marks, found.by_model):
        assert len(reached) == len(SHARES)
        assert list(reached) == sorted(reached)


def test_an_open_question_is_told_with_its_readings() -> None:
    """Where the model is sure and so are the marks; where it is not, nothing is."""
    evidence = Evidence.of("How much do I pay for a lane?", passages=LANES)

    found = find_open(evidence.query, [], evidence.library, CERTAIN, "en")

    assert found is not None
    assert [option.label for option in found.options] == [
        "Members pay 4 euros for a lane",
        "Guests pay 9 euros for a lane",
    ]
    assert find_open(evidence.query, [], evidence.library, 0.001, "en") is None


def test_chances_are_kept_from_the_ends() -> None:
    """The model's figures are known to four decimals."""
    assert log_odds(1.0) == log_odds(CERTAIN) == -log_odds(0.0)


def test_long_passages_are_not_compared_clause_by_clause() -> None:
    """However many there are, so many clauses are paired at most."""
    found = marked("How much do guests pay?", [" ".join(f"Guests pay {n} euros for lane {n}." for n in range(400))])

    assert len(found.likely) <= 48
    assert len(found.pairs) <= 24 * 23 / 2


PARKING = ["Cars pay 3 euros an hour in the yard. Vans pay 5 euros an hour in the yard. The gate closes at ten."]
GUI_XE = ["Xe máy gửi trong sân trả 5 nghìn đồng. Ô tô gửi trong sân trả 20 nghìn đồng. Cổng đóng lúc mười giờ."]


@pytest.mark.parametrize(
    ("query", "passages", "expected"),
    [
        pytest.param("How much do I pay an hour in the yard?", PARKING, 2, id="two prices and no word that decides"),
        pytest.param("How much do vans pay an hour in the yard?", PARKING, 0, id="the vans are named"),
        pytest.param("How much do all of them pay an hour in the yard?", PARKING, 0, id="all are asked for"),
        pytest.param("Gửi trong sân trả bao nhiêu?", GUI_XE, 2, id="two Vietnamese prices"),
        pytest.param("Ô tô gửi trong sân trả bao nhiêu?", GUI_XE, 0, id="the car is named in Vietnamese"),
        pytest.param("When does the gate close?", PARKING, 0, id="one answer"),
        pytest.param(
            "What does a place in the yard cost?",
            ["A place in the yard costs 3 euros.", "A place in the yard costs 5 euros."],
            0,
            id="sources that contradict each other",
        ),
        pytest.param(
            "Một chỗ trong sân giá bao nhiêu?",
            ["Một chỗ trong sân giá 5 nghìn đồng.", "Một chỗ trong sân giá 20 nghìn đồng."],
            0,
            id="Vietnamese sources that contradict each other",
        ),
    ],
)
def test_a_plain_case_needs_no_model(query: str, passages: list[str], expected: int) -> None:
    """Two clauses that hold all of the question and state two figures of one kind; a word of one of them decides."""
    evidence = Evidence.of(query, passages=passages)
    found = evidence.ambiguity

    assert len(found.options if found else ()) == expected


@pytest.mark.parametrize(
    ("query", "passages", "draft", "is_open"),
    [
        pytest.param("How much do I pay an hour in the yard?", PARKING, "You pay 5 euros [1].", True, id="one is picked in silence"),
        pytest.param("How much do I pay an hour in the yard?", PARKING, "Cars pay 3 euros, vans 5 euros [1].", False, id="both are answered"),
        pytest.param("How much do I pay an hour in the yard?", PARKING, "For a van it is 5 euros [1].", False, id="the draft says which"),
        pytest.param("Gửi trong sân trả bao nhiêu?", GUI_XE, "Bạn trả 20 nghìn đồng [1].", True, id="one is picked in Vietnamese"),
        pytest.param("Gửi trong sân trả bao nhiêu?", GUI_XE, "Ô tô trả 20 nghìn đồng [1].", False, id="the Vietnamese draft says which"),
    ],
)  # fmt: skip
def test_a_draft_that_picks_one_of_two_clauses(query: str, passages: list[str], draft: str, is_open: bool) -> None:
    """It states the figure of one and no word that tells which."""
    evidence = Evidence.of(query, draft, passages)

    assert (evidence.ambiguity is not None) is is_open
