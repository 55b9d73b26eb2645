"""The shipped grounding model: whole, shared, and the same for a claim whatever it is read with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.models import GroundingModel, Group, Scored, grounding_model, words
from tests.soak import examples
from tests.waiting import eventually

WINDOWS = (
    "The ferry to Skye leaves at nine. It carries forty cars.",
    "Thư viện mở cửa lúc tám giờ sáng và đóng cửa lúc sáu giờ chiều.",
    "Refunds are paid within 14 days of the request.",
)
CLAIMS = (
    "The ferry leaves in the morning.",
    "Thư viện đóng cửa vào buổi chiều.",
    "Nobody gets a refund.",
    "It carries forty cars to the island, and a great many passengers who would rather have walked.",
)


def tokens(text: str) -> tuple[int, ...]:
    return words().encode(text).ids


def afresh(group: Group) -> list[Scored]:
    """What a model that remembers nothing says of a group alone."""
    grounding_model().recent.clear()
    return grounding_model().score([group])[0]


def flat(scored: Scored) -> list[float]:
    return [scored.supported, scored.contradicted, scored.unsupported, *scored.tokens]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    asked=st.lists(
        st.tuples(st.sampled_from(WINDOWS), st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=4)),
        min_size=1,
        max_size=5,
    )
)
def test_a_score_does_not_depend_on_what_else_is_asked(asked: list[tuple[str, list[str]]]) -> None:
    """Other windows change nothing at all, other claims nothing but, rarely, the last digit that is kept."""
    groups = [Group(tokens(w), tuple(tokens(c) for c in cs)) for w, cs in asked]

    found = grounding_model().score(groups)

    assert found == [afresh(group) for group in groups]
    for (window, claims), scored in zip(asked, found, strict=True):
        for claim, one in zip(claims, scored, strict=True):
            alone = afresh(Group(tokens(window), (tokens(claim),)))[0]
            assert flat(one) == pytest.approx(flat(alone), abs=0.011)


def test_what_is_remembered_is_what_would_be_said_again() -> None:
    """A second call gives the same scores, and none is lost when the memory is full."""
    groups = [Group(tokens(window), tuple(tokens(claim) for claim in CLAIMS)) for window in WINDOWS]

    assert grounding_model().score(groups) == grounding_model().score(groups)


def test_threads_share_one_model_and_agree() -> None:
    """However many ask at the same time, there is one model and one answer."""
    group = Group(tokens(WINDOWS[0]), (tokens(CLAIMS[0]),))
    with ThreadPoolExecutor(8) as pool:
        models = set(pool.map(lambda _: id(grounding_model()), range(32)))
        scores = list(pool.map(lambda _: grounding_model().score([group])[0][0], range(32)))

    assert len(models) == 1
    assert set(scores) == {scores[0]}


def test_a_long_draft_does_not_stand_in_front_of_a_short_one() -> None:
    """What asks for many passes has a few of them under way at a time: who asks for two meanwhile does not wait for all of them."""
    model = GroundingModel()
    long = [Group(tokens(f"{WINDOWS[0]} Chuyến {n}."), (tokens(CLAIMS[0]),)) for n in range(60)]
    short = [Group(tokens(window), (tokens(CLAIMS[2]),)) for window in WINDOWS[1:]]

    with ThreadPoolExecutor(1) as caller:
        reading = caller.submit(model.score, long)
        assert eventually(lambda: model.recent.counts.entries > 0)
        model.score(short)
        behind = len(long) + len(short) - model.recent.counts.entries

        assert behind > len(long) // 2
        assert len(reading.result()) == len(long)


def test_there_is_a_score_for_every_token_and_none_for_no_claims() -> None:
    """Tokens are scored one by one; an empty batch is an empty answer."""
    claim = tokens(CLAIMS[3])
    scored = grounding_model().score([Group(tokens(WINDOWS[0]), (claim,))])[0][0]

    assert len(scored.tokens) == len(claim)
    assert grounding_model().score([]) == []


@pytest.mark.parametrize(
    ("scored", "margin", "against"),
    [
        pytest.param(Scored(2.0, 0.0, 0.0, ()), 1.31, -2.0, id="support beside two equals"),
        pytest.param(Scored(0.0, 3.0, -9.0, ()), -3.0, 3.0, id="a clear contradiction"),
        pytest.param(Scored(0.0, 1.0, 2.0, ()), -2.31, -1.0, id="nothing said of it"),
    ],
)
def test_margins_are_log_odds(scored: Scored, margin: float, against: float) -> None:
    """Support against the two other outcomes together; contradiction against the likelier of the others."""
    assert (scored.margin, scored.against) == (margin, against)


def test_a_new_model_is_the_same_as_the_shared_one() -> None:
    """Loading twice gives the same scores."""
    group = Group(tokens(WINDOWS[1]), (tokens(CLAIMS[1]),))

    assert GroundingModel().score([group]) == grounding_model().score([group])
