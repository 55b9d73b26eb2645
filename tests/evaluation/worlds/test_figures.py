"""The figures of claims in two worlds, against counts made by hand."""

from __future__ import annotations

from stillme.evaluation.worlds.documents import WorldClaim, WorldDocument
from stillme.evaluation.worlds.figures import figures_of
from stillme.evaluation.worlds.judging import Judged, WorldAnswer

YES, NO = WorldAnswer(True, 0.8), WorldAnswer(False, 0.3)
SURE = WorldAnswer(True, 0.9, is_sure=True)
FLIP, BACK = ("supported", "contradicted"), ("unsupported", "supported")


def judged(*claims: tuple[tuple[str, ...], WorldAnswer, WorldAnswer], language: str = "en", of: str = "en") -> Judged:
    """A document whose claims have these labels and answers."""
    made = tuple(WorldClaim("-", language, labels[1], labels) for labels, *_ in claims)
    return Judged(WorldDocument("d", of, ((), ()), made), tuple((one, other) for _, one, other in claims))


def test_only_claims_that_are_right_in_both_worlds_count() -> None:
    """One is right in both, one in one world only, one in neither; a claim that does not flip is not among them."""
    given = judged((FLIP, YES, NO), (FLIP, YES, YES), (BACK, YES, NO), (("supported", "supported"), YES, YES))

    tally = figures_of([given]).groups["all"]

    counts = {rate.name: (rate.numerator, rate.denominator) for rate in tally.rates()}
    assert (counts["both_worlds"], counts["order"]) == ((1, 3), (1, 3))
    assert (counts["supported_seen"], counts["others_seen"]) == ((4, 5), (1, 3))
    assert tally.balanced_accuracy == (4 / 5 + 1 / 3) / 2


def test_equal_scores_are_not_in_order() -> None:
    """A judge that says the same in both worlds gains nothing."""
    rates = {rate.name: rate for rate in figures_of([judged((FLIP, YES, YES))]).groups["all"].rates()}

    assert rates["order"].numerator == 0


def test_what_is_called_sure_is_counted_apart() -> None:
    """How much of it is right, and how large a share of all answers it is."""
    rates = {r.name: r for r in figures_of([judged((FLIP, SURE, SURE))]).groups["all"].rates()}

    assert (rates["sure_right"].value, rates["sure_share"].value) == (0.5, 1.0)


def test_claims_in_another_language_than_their_sources_are_a_group() -> None:
    """They are not counted with either language."""
    figures = figures_of([judged((FLIP, YES, NO)), judged((FLIP, YES, NO), language="vi")])

    assert {name: tally.flipped for name, tally in figures.groups.items()} == {"all": 2, "en": 1, "vi": 0, "across": 1}
    assert list(figures.kinds) == ["contradicted"]


def test_without_anything_counted_nothing_is_claimed() -> None:
    """No figure has a value."""
    tally = figures_of([]).groups["all"]

    assert tally.balanced_accuracy is None
    assert [rate.value for rate in tally.rates()] == [None] * 6
