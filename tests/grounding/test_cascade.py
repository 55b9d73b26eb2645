"""Exact features first, then the model: who decides, what is quoted, and that more context never takes support away."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.grounding.cascade import CascadeGrounder, Joining, joining
from stillme.grounding.grounder import ExactGrounder, Judgement
from tests.soak import examples

REFUNDS = (
    "Customers may return goods at any branch. Refunds are paid within 14 days of the request. The shop is in Leeds."
)
BAKERY = "Tiệm bánh mở cửa từ sáu giờ sáng. Bánh mì được nướng hai lần mỗi ngày. Khách quen được giảm giá vào thứ hai."
FILLER = (
    "Rain fell on the northern hills for most of the week.",
    "The orchestra rehearses in the old customs house.",
    "Mùa mưa năm nay đến sớm hơn mọi năm.",
    "Most visitors arrive by train and stay for two nights.",
)
CASCADE = CascadeGrounder()


def evidence_of(draft: str, *passages: str | RetrievedPassage) -> Evidence:
    made = Evidence.of("What holds?", draft, passages)
    return Evidence(made.request, made.as_of, CASCADE)


def judge(draft: str, *passages: str | RetrievedPassage) -> list[Judgement]:
    return evidence_of(draft, *passages).judgements


@pytest.mark.parametrize(
    ("draft", "passage", "status", "decided_by"),
    [
        pytest.param("Refunds are paid within 14 days of the request.", REFUNDS, "supported", "exact", id="word for word"),
        pytest.param("Refunds are paid within 40 days of the request.", REFUNDS, "contradicted", "exact", id="another figure"),
        pytest.param("Bánh mì được nướng hai lần mỗi ngày.", BAKERY, "supported", "exact", id="word for word in Vietnamese"),
        pytest.param("Bánh mì được nướng năm lần mỗi ngày.", BAKERY, "contradicted", "exact", id="another figure in Vietnamese"),
        pytest.param("The mayor collects stamps and rare butterflies.", REFUNDS, "unsupported", "model", id="nothing said of it"),
    ],
)  # fmt: skip
def test_who_decides(draft: str, passage: str, status: str, decided_by: str) -> None:
    """What is said word for word or refuted by a figure needs no model; the rest is read by it."""
    judged = judge(draft, passage)[0]

    assert (judged.status, judged.decided_by) == (status, decided_by)


def test_every_claim_that_the_model_decides_says_so_in_words() -> None:
    """A person sees who said no and how sure it was; the characters that lack support lie in the claim."""
    judged = judge("The mayor collects stamps and rare butterflies.", REFUNDS)[0]

    assert judged.detail.startswith("model: ")
    assert f"({judged.score:.2f})" in judged.detail
    assert judged.unsupported
    assert all(0 <= start < end <= 47 for start, end in judged.unsupported)


DRAFTS = st.sampled_from(
    [
        "Goods can be brought back to every branch.",
        "Money is returned in two weeks at the latest.",
        "Regular customers pay less on Mondays.",
        "Khách quen được bớt tiền đầu tuần.",
        "Tiệm bánh bắt đầu bán từ sáng sớm.",
        "The bakery never opens before noon, and its owner is a retired sailor from Porto.",
    ]
)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draft=DRAFTS, extra=st.lists(st.sampled_from(FILLER), max_size=4), first=st.booleans(), long=st.booleans())
def test_more_context_never_takes_support_away(draft: str, extra: list[str], first: bool, long: bool) -> None:
    """Passages that say nothing of the matter may be many, long, before or behind: what was supported stays so."""
    other = [" ".join([text] * 60) if long else text for text in extra]
    for passage in (REFUNDS, BAKERY):
        alone = judge(draft, passage)[0]
        with_more = judge(draft, *([*other, passage] if first else [passage, *other]))[0]
        if alone.supported:
            assert with_more.supported


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drafts=st.lists(DRAFTS, min_size=1, max_size=4), passages=st.permutations([REFUNDS, BAKERY, *FILLER]))
def test_a_quote_is_in_its_passage_and_ranges_are_in_the_draft(drafts: list[str], passages: list[str]) -> None:
    """Whatever decides: quotes are characters of a passage, spans are characters of the claim, scores are probabilities."""
    evidence = evidence_of(" ".join(drafts), *passages)
    for claim, judged in evidence.judged:
        assert 0.0 <= judged.score <= 1.0
        assert judged.supported == (judged.unsupported == ())
        assert all(claim.start <= start < end <= claim.end for start, end in judged.unsupported)
        if judged.quote is not None:
            text = passages[judged.quote.passage]
            assert text[judged.quote.start : judged.quote.end].strip()
            assert judged.quote.passage in judged.passages
        assert judged.quote is not None or not judged.supported


def test_a_batch_gives_what_each_alone_gives() -> None:
    """The claims of other drafts in the batch change nothing, to the last digit."""
    drafts = [
        "Goods can be brought back to every branch.",
        "Bakers work twice a day.",
        "Refunds are paid within 14 days of the request.",
    ]
    tasks = [evidence_of(draft, REFUNDS, BAKERY).grounding_task for draft in drafts]

    assert CASCADE.judge(tasks) == [CASCADE.judge([task])[0] for task in tasks]


def test_a_long_passage_is_read_to_its_end() -> None:
    """Where the support stands behind everything else, it is found there."""
    text = " ".join(FILLER * 60) + " " + REFUNDS
    judged = judge("Refunds are paid within 14 days of a request.", text)[0]

    assert judged.supported
    assert judged.quote is not None
    assert "within 14 days" in text[judged.quote.start : judged.quote.end]


def test_a_claim_longer_than_the_model_takes_is_read_in_parts() -> None:
    """The weakest part counts: a long claim with an invention at its end is not supported for its beginning."""
    draft = (
        REFUNDS.replace(". ", ", and ").rstrip(".")
        + ", "
        + "while " * 1
        + "the owner keeps "
        + "very large " * 60
        + "tigers."
    )
    judged = judge(draft, REFUNDS)[0]

    assert not judged.supported


@pytest.mark.parametrize("draft", ["Yes.", "£5.", "Không."])
def test_what_says_nothing_without_its_question_is_left_to_exact_features(draft: str) -> None:
    """The model does not see the question."""
    made = Evidence.of("Does a card cost £5?", draft, ["A card costs £5."])

    assert CASCADE.judge([made.grounding_task]) == ExactGrounder().judge([made.grounding_task])


def test_without_passages_nothing_is_asked() -> None:
    """There is nothing to read."""
    made = Evidence.of("q", "The shop is in Leeds.")

    assert CASCADE.judge([made.grounding_task]) == ExactGrounder().judge([made.grounding_task])


def test_markers_are_not_read_as_words() -> None:
    """A citation behind a claim does not change what the model says of it."""
    plain, cited = (judge(d, REFUNDS)[0] for d in ("Goods can be brought back.", "Goods can be brought back [1]."))

    assert (plain.status, plain.score) == (cited.status, cited.score)


@given(
    exact=st.floats(0, 1), margin=st.floats(-20, 20), more=st.floats(0, 5), figures=st.tuples(*[st.floats(0, 3)] * 2)
)
def test_the_probability_rises_with_both_scores(
    exact: float, margin: float, more: float, figures: tuple[float, float]
) -> None:
    """So that the best over all passages can only grow with more of them."""
    made = Joining(*figures, objected=-0.3, lacking=-0.2, across=0.1, bias=0.1, bias_vi=0.4)

    for language in ("en", "vi"):
        probability = partial(made.probability, language=language)
        assert probability(exact, margin) <= probability(exact, margin + more)
        assert probability(exact, margin) <= probability(min(1.0, exact + more), margin)
        assert 0.0 <= probability(exact, margin) <= 1.0


def test_the_shipped_figures_make_sense() -> None:
    """Both scores count for support, an objection against it, and there is something on either side of the threshold."""
    shipped = joining()

    assert shipped.exact > 0
    assert shipped.margin > 0
    assert shipped.objected < 0
    assert 0 < shipped.support_at < 1


def test_what_is_over_the_budget_is_left_to_exact_features_and_says_so() -> None:
    """Nothing is cut off unsaid: the claim tells that the model did not read everything, and is not supported for it."""
    task = Evidence.of("q", "Visitors mostly come by rail.", [" ".join(FILLER * 200)]).grounding_task
    little, none = (CascadeGrounder(most_tokens=most).judge([task])[0][0] for most in (600, 10))

    assert "over grounding.most_tokens" in little.detail + none.detail
    assert none.decided_by == "exact"
    assert none.detail.endswith("over grounding.most_tokens")
