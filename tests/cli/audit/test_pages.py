"""How the audit trail looks in a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from stillme.audit.review.sampling import week_of
from tests.cli.conftest import Trail


def test_agreement_is_told_in_figures_and_undefined_ones_say_why(trail: Trail) -> None:
    """One verdict labelled twice gives a percentage, and neither kappa nor alpha."""
    for label, who in (("correct", "Lan"), ("wrong_reason", "Minh"), ("correct", "Minh")):
        trail.run("review", "call-bad", "--label", label, "--by", who)

    said, found = trail.run("reviews").stdout, json.loads(trail.run("reviews", "--json").stdout)

    assert said.splitlines() == [
        "2 labels by 2 reviewers on 1 verdict, 1 of them labelled by several",
        "         2 correct",
        "agreement  100.0%",
        "alpha      not defined: only one verdict has labels of two reviewers (Krippendorff)",
        "Lan and Minh: 1 of 1 the same, kappa not defined: both labelled only one verdict",
        "1 earlier label of a reviewer who changed their mind not counted",
    ]
    assert (found["percent"], found["alpha"]["value"]) == ({"value": 1.0, "reason": None}, None)


def test_disagreements_are_named(trail: Trail) -> None:
    """Who said what of which verdict."""
    for label, who in (("correct", "Lan"), ("wrong_reason", "Minh")):
        trail.run("review", "call-bad", "--label", label, "--by", who)

    said = trail.run("reviews").stdout

    assert f"disagreements\n  {trail.traces['bad']}: Lan correct, Minh wrong_reason\n" in said
    assert trail.run("reviews", "--until", "2000-01-01").stdout.startswith("0 labels by 0 reviewers on 0 verdicts")


def test_a_sample_on_a_terminal_is_a_table_of_short_ids(trail: Trail) -> None:
    """In the order to review them; what was reviewed already is marked, without its label."""
    week = week_of(datetime.now(UTC) - timedelta(days=20))
    trail.run("review", "call-bad", "--label", "wrong_reason", "--by", "Lan")

    table = trail.run("sample", "--week", week, "--human").stdout.splitlines()

    assert table[0].split() == ["record", "time", "(UTC)", "drawn", "from", "speaks", "for", "reviewed"]
    assert table[1].split()[0] == trail.traces["bad"][:14]
    assert table[1].split()[-3:] == ["refuse", "1.0", "yes"]
    assert "wrong_reason" not in table[1]
