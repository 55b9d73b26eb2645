"""Questions: what tells an open one is learned, and no more clear ones are asked back than allowed."""

from __future__ import annotations

import random

from stillme.questions.openness import MARKS
from training.fit_questions import AMBIGUOUS, ANSWERABLE, UNANSWERABLE, Row, chosen, cross_validated, shares, weighed

CLEAR = 0.05


def rows(count: int, seed: int) -> list[Row]:
    """Questions of which open ones have more of the first mark, and a higher chance by the model; the other marks tell nothing."""
    chance = random.Random(seed)
    found = []
    for n in range(count):
        for label, more in ((ANSWERABLE, 0.0), (AMBIGUOUS, 2.0), (UNANSWERABLE, 0.0)):
            marks = (chance.gauss(more, 1.0), *(chance.gauss(0.0, 1.0) for _ in MARKS[1:]))
            open_ = min(0.99, max(0.01, chance.gauss(0.3 + more / 5, 0.1)))
            unanswered = 0.9 + 0.1 * chance.random() if label == UNANSWERABLE else 0.9 * chance.random()
            found.append(Row(f"d{n}", ("en", "vi")[n % 2], label, marks, unanswered, open_))
    return found


def told(found: list[Row]) -> list[Row]:
    return [row for row in found if row.label != UNANSWERABLE]


def test_a_mark_that_tells_weighs_more_than_those_that_do_not() -> None:
    """The weights are those of what the rows show."""
    weights = weighed(told(rows(300, 1))).weights

    assert weights[MARKS[0]] > 1
    assert all(abs(weights[name]) < 0.5 for name in MARKS[1:])


def test_no_more_clear_questions_are_asked_back_than_allowed() -> None:
    """On the rows that it was chosen by; open ones are, and what is not answered is refused."""
    held = rows(100, 2)
    found = chosen(weighed(told(rows(300, 1))), held, CLEAR)

    seen = shares((row, found) for row in held)["all"]

    assert seen["answerable asked back"] <= 100 * CLEAR
    assert seen["answerable refused"] <= 100 * CLEAR
    assert seen["ambiguous asked back"] > 60
    assert seen["unanswerable refused"] > 90


def test_what_the_rules_ask_back_counts() -> None:
    """The threshold rises where the rules have spent the share that may be asked back."""
    joining, held = weighed(told(rows(300, 1))), rows(100, 2)
    by_rule = [row if n % 90 or row.label != ANSWERABLE else _asked_by_rule(row) for n, row in enumerate(held)]

    assert chosen(joining, by_rule, CLEAR).joining.open_at > chosen(joining, held, CLEAR).joining.open_at
    assert (
        shares((row, chosen(joining, by_rule, CLEAR)) for row in by_rule)["all"]["answerable asked back"] <= 100 * CLEAR
    )


def test_each_document_is_judged_by_what_the_others_give() -> None:
    """Every question once, and a document's questions by one and the same choice."""
    held = rows(40, 3)

    judged = cross_validated(weighed(told(rows(300, 1))), held, CLEAR)

    assert [row for row, _ in judged] == held
    assert all(len({id(found) for row, found in judged if row.document == name}) == 1 for name in ("d0", "d1"))
    assert len({id(found) for _, found in judged}) > 1


def _asked_by_rule(row: Row) -> Row:
    return Row(row.document, row.lang, row.label, row.marks, row.unanswered, 0.01, by_rule=True)
