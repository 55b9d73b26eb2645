"""Wrappings are filled, split in halves and counted as the benchmark says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml
from benchmarks.disguises import DATA, PARTS, counts, grouped, judged_right, read, run, wrapped

from stillme import Guard

RECORD = Path(__file__).parents[2] / "benchmarks" / "records" / "disguises.json"
PAIR = {"query": "Where?", "right": "Visitors pay 5 euros", "wrong": "Visitors pay 9 euros", "cell": ["Fee", "5", "9"]}


@pytest.mark.parametrize(
    ("text", "name", "draft"),
    [
        pytest.param("Well, {clause}.", "right", "Well, visitors pay 5 euros.", id="goes on with a sentence"),
        pytest.param("{label}: {value}", "wrong", "Fee: 9", id="a cell"),
        pytest.param("{spaced}", "right", "V i s i t o r s  p a y  5  e u r o s", id="letters apart"),
        pytest.param(r"\\text{{claim}}", "right", r"\\text{Visitors pay 5 euros}", id="other braces stay"),
    ],
)
def test_a_wrapping_is_filled(text: str, name: str, draft: str) -> None:
    """With the claim that is asked for."""
    assert wrapped(text, PAIR, name) == draft


def test_wrappings_of_other_hands_are_read(tmp_path: Path) -> None:
    """Without a line of names, and with claims that bring their full stop where no mark follows."""
    path = tmp_path / "wrappings.tsv"
    path.write_text("en\tclosing\t{claim} Bye!\\nP.S. {claim}, really.\n", encoding="utf-8")

    assert [w.text for w in read(path, closed=True)] == ["{claim}. Bye!\nP.S. {claim}, really."]


def test_the_halves_are_about_equal_and_in_both_languages() -> None:
    """Each language has at least 70 wrappings in each half, and no wrapping twice."""
    wrappings = read(DATA / "wrappings.tsv")
    halves = Counter((w.lang, w.part) for w in wrappings)

    assert len(set(wrappings)) == len(wrappings)
    assert {key: n >= 70 for key, n in halves.items()} == {
        (lang, part): True for lang in ("en", "vi") for part in PARTS
    }


def test_a_run_counts_true_and_false() -> None:
    """A wrapping that changes nothing has no escape and no refusal."""
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}})
    pairs = [
        pair
        for pair in yaml.safe_load((DATA / "claim_pairs.yaml").read_text(encoding="utf-8"))
        if pair["by"] == "figure"
    ]
    wrapping = next(w for w in read(DATA / "wrappings.tsv") if w.text == "Okay, {clause}.")
    trials = list(run(guard, [wrapping], [pair for pair in pairs[:3] if judged_right(guard, pair)], 2))

    assert counts(trials) == {"false": 2, "escaped": 0, "true": 2, "refused": 0}
    assert [kind for _, _, kind, _ in grouped(trials)] == ["all", "lead-in"]


def test_the_record_is_of_these_wrappings() -> None:
    """Every wrapping was measured, and at most 2 % of the false claims escaped, in each half and language."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    whole = [row for row in record["rows"] if row["kind"] == "all"]

    assert record["wrappings"] == len(read(DATA / "wrappings.tsv"))
    assert len(whole) == 4
    assert [row for row in whole if row["escaped"] > 0.02 * row["false"]] == []
