"""How far reviewers agree: against published and hand-computed tables, whatever the order of the reviews."""

from __future__ import annotations

import unicodedata
from itertools import count, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit.review.agreement import (
    LABELS,
    NO_DOUBLES,
    ONE_DOUBLE,
    ONE_LABEL,
    ONE_SHARED,
    Agreement,
    Disagreement,
    Figure,
    PairAgreement,
    Review,
    agreement,
)
from stillme.errors import InputError
from tests.soak import examples

A, B, C, D, E = LABELS


def reviews(table: dict[str, str]) -> list[Review]:
    """Reviews out of a table: for each reviewer the labels of verdicts 0, 1, 2, … as digits, '.' where there is none."""
    seq = count(1)
    return [
        Review(next(seq), f"trace-{n:03}", reviewer, LABELS[int(digit) - 1])
        for reviewer, row in table.items()
        for n, digit in enumerate(row)
        if digit != "."
    ]


def square(cells: list[list[int]]) -> dict[str, str]:
    """The labels of two reviewers out of a table of counts: rows are the first reviewer's labels."""
    pairs = [(r, c) for r, row in enumerate(cells, 1) for c, n in enumerate(row, 1) for _ in range(n)]
    return {"Ann": "".join(str(r) for r, _ in pairs), "Bình": "".join(str(c) for _, c in pairs)}


def test_krippendorffs_example_of_four_observers() -> None:
    """Twelve units, four observers, missing labels: alpha is 0.743 as published (Computing Krippendorff's Alpha, C)."""
    table = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}

    assert agreement(reviews(table)).alpha.value == pytest.approx(0.743, abs=0.0005)


@pytest.mark.parametrize(
    ("cells", "kappa"),
    [
        pytest.param([[20, 5], [10, 15]], 0.4, id="two by two: 0.70 observed, 0.50 by chance"),
        pytest.param(
            [[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.29 / 0.59, id="Cohen 1960: 0.70 observed, 0.41 by chance"
        ),
        pytest.param(
            [[45, 15], [25, 15]], 0.06 / 0.46, id="a table with skewed margins: 0.60 observed, 0.54 by chance"
        ),
        pytest.param([[25, 35], [5, 35]], 0.14 / 0.54, id="the same agreement with other margins: 0.46 by chance"),
        pytest.param([[3, 0], [0, 2]], 1.0, id="no disagreement"),
        pytest.param([[0, 2], [2, 0]], -1.0, id="nothing but disagreement"),
        pytest.param([[1, 1], [1, 1]], 0.0, id="as much as by chance, which is a real zero"),
    ],
)
def test_cohens_kappa(cells: list[list[int]], kappa: float) -> None:
    """Kappa of a table of two reviewers, with how many verdicts they share and agree on."""
    table = square(cells)
    agreed = sum(row[n] for n, row in enumerate(cells))

    (pair,) = agreement(reviews(table)).pairs

    assert (pair.first, pair.second, pair.shared, pair.agreed) == ("Ann", "Bình", len(table["Ann"]), agreed)
    assert pair.kappa.value == pytest.approx(kappa)
    assert pair.kappa.reason is None


def test_everything_of_a_small_case() -> None:
    """Counts, figures, disagreements and superseded labels of three reviewers."""
    first = Review(1, "t1", "Ann", A)
    changed = [
        first,
        Review(2, "t1", "Bình", B),
        Review(3, "t2", "Ann", B),
        Review(4, "t2", "Bình", B),
        Review(5, "t2", "Châu", A),
        Review(6, "t3", "Châu", E),
        Review(7, "t1", "Ann", B),
    ]

    # t1: B B; t2: B B A; alpha: 5 labels, 4 B and 1 A, expected 25-17 = 8, observed 3*(1-1/3) = 2, 1 - 4*2/8 = 0
    assert agreement(changed) == Agreement(
        verdicts=3,
        labels=6,
        doubled=2,
        counts=((A, 1), (B, 4), (C, 0), (D, 0), (E, 1)),
        reviewers=(("Ann", 2), ("Bình", 2), ("Châu", 2)),
        percent=Figure(2 / 3),
        alpha=Figure(0.0),
        pairs=(
            PairAgreement("Ann", "Bình", 2, 2, Figure(None, ONE_LABEL)),
            PairAgreement("Ann", "Châu", 1, 0, Figure(None, ONE_SHARED)),
            PairAgreement("Bình", "Châu", 1, 0, Figure(None, ONE_SHARED)),
        ),
        disagreements=(Disagreement("t2", (("Ann", B), ("Bình", B), ("Châu", A))),),
        superseded=(first,),
    )


@pytest.mark.parametrize(
    ("table", "percent", "alpha", "kappas"),
    [
        pytest.param({}, Figure(None, NO_DOUBLES), Figure(None, NO_DOUBLES), [], id="no review at all"),
        pytest.param({"Ann": "123"}, Figure(None, NO_DOUBLES), Figure(None, NO_DOUBLES), [], id="one reviewer"),
        pytest.param(
            {"Ann": "12..", "Bình": "..12"}, Figure(None, NO_DOUBLES), Figure(None, NO_DOUBLES), [], id="nothing shared"
        ),
        pytest.param(
            {"Ann": "12", "Bình": "1."},
            Figure(1.0),
            Figure(None, ONE_DOUBLE),
            [Figure(None, ONE_SHARED)],
            id="one item",
        ),
        pytest.param(
            {"Ann": "1", "Bình": "2"},
            Figure(0.0),
            Figure(None, ONE_DOUBLE),
            [Figure(None, ONE_SHARED)],
            id="one, differing",
        ),
        pytest.param(
            {"Ann": "111", "Bình": "111"},
            Figure(1.0),
            Figure(None, ONE_LABEL),
            [Figure(None, ONE_LABEL)],
            id="one category",
        ),
        pytest.param(
            {"Ann": "111", "Bình": "222"}, Figure(0.0), Figure(-2 / 3), [Figure(0.0)], id="each one category, differing"
        ),
    ],
)
def test_what_is_undefined_is_none_with_the_reason(
    table: dict[str, str], percent: Figure, alpha: Figure, kappas: list[Figure]
) -> None:
    """Too few items or categories give no figure, never a made-up one."""
    result = agreement(reviews(table))

    assert (result.percent, [pair.kappa for pair in result.pairs]) == (percent, kappas)
    assert (result.alpha.value, result.alpha.reason) == (
        alpha.value if alpha.value is None else pytest.approx(alpha.value),
        alpha.reason,
    )


def test_a_later_label_supersedes_by_its_place_in_the_chain() -> None:
    """In whatever order the reviews come; the one in between is superseded too."""
    chain = [Review(1, "t", "Ann", A), Review(2, "t", "Ann", B), Review(3, "t", "Ann", C), Review(4, "t", "Bình", C)]

    results = {agreement(order) for order in permutations(chain)}

    (result,) = results
    assert (result.superseded, result.disagreements, result.percent) == (tuple(chain[:2]), (), Figure(1.0))


def test_a_name_in_nfc_and_nfd_is_one_reviewer() -> None:
    """Nobody agrees with himself."""
    name = "Trưng Trắc"
    chain = [Review(1, "t", name, A), Review(2, "t", f" {unicodedata.normalize('NFD', name)} ", B)]

    result = agreement(chain)

    assert (result.doubled, result.reviewers, result.superseded) == (0, ((name, 1),), (chain[0],))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(
            [Review(7, "t", "Ann", "corect")], "review 7: 'corect' is no label: did you mean correct?", id="a slip"
        ),
        pytest.param(
            [Review(7, "t", "Ann", "đúng")],
            "review 7: 'đúng' is no label: labels are correct, false_refusal, missed_hallucination, wrong_reason, unclear",
            id="no label",
        ),
        pytest.param([Review(7, "t", " \n", A)], "review 7 has no reviewer: say who labelled", id="nobody"),
        pytest.param(
            [Review(7, "t", "Ann", A), Review(7, "u", "Ann", A)],
            "two reviews have seq 7: give each its own place in the chain",
            id="one place twice",
        ),
    ],
)
def test_reviews_that_cannot_be_counted(wrong: list[Review], message: str) -> None:
    """What, which value, what to do."""
    with pytest.raises(InputError) as error:
        agreement(wrong)

    assert str(error.value) == message


TABLES = st.lists(st.text("12345.", min_size=6, max_size=6), min_size=2, max_size=4).map(
    lambda rows: {f"R{n}": row for n, row in enumerate(rows)}
)


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_the_reviews_changes_nothing(table: dict[str, str], random: object) -> None:
    """The same reviews give equal results, to the last bit."""
    chain = reviews(table)
    mixed = list(chain)
    random.shuffle(mixed)  # type: ignore[attr-defined]

    assert agreement(mixed) == agreement(chain)


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.permutations("12345"))
def test_names_of_labels_and_reviewers_do_not_matter(table: dict[str, str], renamed: list[str]) -> None:
    """Other names for the labels, or the rows in another order, leave every figure as it is."""
    swap = str.maketrans("12345", "".join(renamed))
    before = agreement(reviews(table))
    relabelled = agreement(reviews({name: row.translate(swap) for name, row in table.items()}))
    mirrored = agreement(reviews(dict(zip(table, reversed(table.values()), strict=True))))

    for other in (relabelled, mirrored):
        assert (other.percent, other.alpha, other.doubled) == (before.percent, before.alpha, before.doubled)
    assert [pair.kappa for pair in relabelled.pairs] == [pair.kappa for pair in before.pairs]
    assert sorted(map(str, (p.kappa for p in mirrored.pairs))) == sorted(map(str, (p.kappa for p in before.pairs)))


@settings(max_examples=examples(60), deadline=None)
@given(TABLES)
def test_figures_stay_in_their_range(table: dict[str, str]) -> None:
    """No figure is above 1, and complete agreement is 1 wherever it is defined."""
    result = agreement(reviews(table))
    figures = [result.alpha, *(pair.kappa for pair in result.pairs)]

    assert all(f.value is None or f.value <= 1 for f in figures)
    assert all((f.value is None) == (f.reason is not None) for f in [*figures, result.percent])
    if not result.disagreements:
        assert {f.value for f in [*figures, result.percent]} <= {1.0, None}
