"""AmbiguousQuery: the question says what it is about."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.validators.ambiguous_query import AmbiguousQuery
from tests.validators.asking_back import CLEAR, FOUND, NOT_FOUND, Case
from tests.validators.support import PASSED, SKIPPED, flagged, observe

PLANS = "The Basic plan costs $9 per month. The Pro plan costs $29 per month. The Max plan costs $99 per month."
BRIDGES = "The Halden Bridge was built in 1932. The Orr Bridge was built in 1967."
GOI = "Gói Cá Nhân giá 165.000 đồng mỗi tháng. Gói Gia Đình giá 245.000 đồng mỗi tháng."
CAU = "Cầu Trà Lộ khánh thành năm 1964. Cầu Vân Khê khánh thành năm 2008."
OPEN = flagged("ambiguous_query_needs_clarification")


@pytest.mark.parametrize(
    ("query", "source", "expected"),
    [
        pytest.param("How much does the plan cost per month?", PLANS, OPEN, id="three plans, none named"),
        pytest.param("How much does the Pro plan cost per month?", PLANS, PASSED, id="the plan is named"),
        pytest.param("How much do the plans cost per month?", PLANS, PASSED, id="all plans are asked for"),
        pytest.param("Which plan costs $29 per month?", PLANS, PASSED, id="which plan is the question"),
        pytest.param("How much does the cheapest plan cost per month?", PLANS, PASSED, id="a superlative picks one"),
        pytest.param("When was it built?", BRIDGES, OPEN, id="a pronoun for either bridge"),
        pytest.param("When was the Orr Bridge built?", BRIDGES, PASSED, id="the bridge is named"),
        pytest.param("When was it built?", "The Halden Bridge was built in 1932.", PASSED, id="only one thing it could be"),
        pytest.param("Is it possible to cancel the Pro plan?", PLANS, PASSED, id="'it' that stands for nothing"),
        pytest.param("Gói cước giá bao nhiêu một tháng?", GOI, OPEN, id="two Vietnamese packages, none named"),
        pytest.param("Gói Gia Đình giá bao nhiêu một tháng?", GOI, PASSED, id="the package is named"),
        pytest.param("goi gia dinh gia bao nhieu mot thang", GOI, PASSED, id="named without accents"),
        pytest.param("Các gói cước giá bao nhiêu một tháng?", GOI, PASSED, id="all packages are asked for"),
        pytest.param("Nó khánh thành năm nào?", CAU, OPEN, id="a Vietnamese pronoun"),
        pytest.param("Tell me everything.", PLANS, OPEN, id="too broad"),
        pytest.param("Please explain!!", PLANS, OPEN, id="too broad, with two signs behind it"),
        pytest.param("How much does the Pro plan cost??", PLANS, PASSED, id="two question marks"),
        pytest.param("how much does the pro plan cost ?!", PLANS, PASSED, id="two signs"),
        pytest.param("Please help! How much does the cheapest plan cost?", PLANS, PASSED, id="a call for help, and the question"),
        pytest.param("Giúp mình với! Gói Gia Đình giá bao nhiêu??", GOI, PASSED, id="a call for help in Vietnamese, and the question"),
        pytest.param("Hello!", PLANS, SKIPPED, id="a greeting asks for nothing"),
    ],
)  # fmt: skip
def test_queries(query: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """A question and one passage."""
    assert observe(AmbiguousQuery(), Evidence.of(query, passages=[source])) == expected


def test_the_conversation_resolves_a_reference() -> None:
    """What was named before need not be named again."""
    evidence = Evidence.of("When was it built?", passages=[BRIDGES], conversation=["Tell me about the Halden Bridge."])

    assert observe(AmbiguousQuery(), evidence) == PASSED


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        pytest.param(
            "The Basic plan costs $9, the Pro plan $29 and the Max plan $99 [1].", PASSED, id="every option is answered"
        ),
        pytest.param("The Pro plan costs $29 per month [1].", OPEN, id="one is picked in silence"),
    ],
)
def test_the_draft_may_answer_every_option(draft: str, expected: list[tuple[str, str | None]]) -> None:
    """Then there is nothing to ask back."""
    assert observe(AmbiguousQuery(), Evidence.of("How much does the plan cost per month?", draft, [PLANS])) == expected


def test_one_name_for_several_things() -> None:
    """Two towns of one name, and nothing in the question that tells them apart."""
    towns = [
        RetrievedPassage(
            source_id="a",
            title="Springfield, Illinois",
            text="Springfield is the capital of Illinois. It was founded in 1821.",
        ),
        RetrievedPassage(
            source_id="b",
            title="Springfield, Massachusetts",
            text="Springfield is a city on the river. It was founded in 1636.",
        ),
    ]

    assert observe(AmbiguousQuery(), Evidence.of("When was Springfield founded?", passages=towns)) == OPEN
    assert observe(AmbiguousQuery(), Evidence.of("When was Springfield in Illinois founded?", passages=towns)) == PASSED


@pytest.mark.parametrize(
    ("query", "source"),
    [
        pytest.param(
            "How much do I pay for a lane?", "Members pay 4 euros for a lane. Guests pay 9 euros for a lane.", id="en"
        ),
        pytest.param(
            "Thuê một làn bơi trả bao nhiêu?",
            "Hội viên thuê một làn bơi trả 40 nghìn đồng. Khách lẻ thuê một làn bơi trả 90 nghìn đồng.",
            id="vi",
        ),
    ],
)
def test_readings_that_are_quoted_are_asked_about(query: str, source: str) -> None:
    """No draft has answered all of them where there is no draft."""
    assert observe(AmbiguousQuery(), Evidence.of(query, passages=[source])) == OPEN


def test_a_reference_without_any_context() -> None:
    """Nothing to resolve it by: no conversation, no passage."""
    assert observe(AmbiguousQuery(), Evidence.of("When was it built?")) == OPEN


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in FOUND])
def test_a_draft_that_picks_in_silence(case: Case) -> None:
    """The passages give several things what is asked, and the draft says it of one."""
    assert _observed(case) == OPEN


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in NOT_FOUND])
@pytest.mark.xfail(strict=True, reason="the limits of what is found, as docs/validators/AmbiguousQuery.md tells them")
def test_a_draft_that_picks_unseen(case: Case) -> None:
    """What a reader would ask back, and these rules do not see."""
    assert _observed(case) == OPEN


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CLEAR])
def test_a_question_that_looks_alike_and_is_clear(case: Case) -> None:
    """Named, told before, the same for all of them, or answered for each."""
    assert _observed(case) == PASSED


def _observed(case: Case) -> list[tuple[str, str | None]]:
    evidence = Evidence.of(case.query, case.draft, case.passages, conversation=case.conversation)
    return observe(AmbiguousQuery(), evidence)
