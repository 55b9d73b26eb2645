"""Every set comes out in the one form, normalised as it needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training.examples import (
    CONTRADICTED,
    NOT_SUPPORTED,
    SUPPORTED,
    UNSUPPORTED,
    Example,
    grounding_examples,
    is_held_out,
    read,
    snli_examples,
    write,
)


def row(dataset: str, answer: str, context: str, label: str = "unsupported", **more: object) -> dict[str, object]:
    return {
        "id": "1", "dataset": dataset, "lang": "en", "query": None, "context": [{"source_id": "s", "text": context}],
        "answer": answer, "label": label, "spans": None, **more,
    }  # fmt: skip


def examples_of(tmp_path: Path, *rows: dict[str, object]) -> list[Example]:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return list(grounding_examples(path))


def test_a_supported_claim_has_no_unsupported_characters(tmp_path: Path) -> None:
    """Sets without spans still say so for supported claims."""
    supported, other = examples_of(tmp_path, row("x", "A.", "A.", "supported"), row("x", "B.", "A."))

    assert (supported.label, supported.spans) == (SUPPORTED, ())
    assert (other.label, other.spans) == (NOT_SUPPORTED, None)


def test_spaced_punctuation_goes(tmp_path: Path) -> None:
    """Tokenised sets read like ordinary text."""
    [example] = examples_of(tmp_path, row("fever_nli", "He came .", "He ( Bo ) came , twice ."))

    assert example.claim == "He came."
    assert example.passages == ("He (Bo) came, twice.",)


def test_lower_cased_claims_meet_lower_cased_articles(tmp_path: Path) -> None:
    """Capitals do not tell claim and article apart, and spans still mark the same words."""
    [example] = examples_of(tmp_path, row("xsum_faith", "a man from leeds .", "A man from York.", spans=[[11, 16]]))

    assert example.passages == ("a man from york.",)
    assert example.spans is not None
    assert [example.claim[s:e] for s, e in example.spans] == ["leeds"]


@pytest.mark.parametrize(
    ("subtype", "expected"),
    [("refute", CONTRADICTED), ("irrelevant", UNSUPPORTED), ("intrinsic+extrinsic", NOT_SUPPORTED)],
)
def test_subtypes_that_tell_more_are_used(tmp_path: Path, subtype: str, expected: str) -> None:
    """Binary sets give three-way labels where they know them."""
    [example] = examples_of(tmp_path, row("factcheck_bench", "A.", "B.", subtype=subtype))

    assert example.label == expected


def test_snli_pairs_without_a_majority_are_left_out(tmp_path: Path) -> None:
    """Only labelled pairs are used."""
    path = tmp_path / "snli.jsonl"
    pairs = [
        {"gold_label": g, "pairID": g, "sentence1": "A dog runs.", "sentence2": "An animal runs."}
        for g in ("-", "entailment")
    ]
    path.write_text("\n".join(map(json.dumps, pairs)))

    [example] = snli_examples(path)

    assert (example.claim, example.passages, example.label) == ("An animal runs.", ("A dog runs.",), SUPPORTED)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Examples survive the file unchanged."""
    given = [
        Example("1", "d", "vi", "Đúng.", ("Một.", "Hai."), UNSUPPORTED, ((0, 4),), "g"),
        Example("2", "d", "en", "B", ("C",), NOT_SUPPORTED, None, "h"),
    ]

    write(tmp_path / "e.jsonl", given)

    assert list(read(tmp_path / "e.jsonl")) == given


def test_the_held_out_split_goes_by_document() -> None:
    """Two claims of one document fall on the same side, and some documents fall on each."""

    def of(group: str, id_: str) -> Example:
        return Example(id_, "d", "en", "c", ("p",), SUPPORTED, (), group)

    sides = [is_held_out(of(f"g{n}", "a")) for n in range(500)]

    assert sides == [is_held_out(of(f"g{n}", "b")) for n in range(500)]
    assert 10 < sum(sides) < 60


def test_an_unknown_label_is_refused() -> None:
    """A misspelt label is an error that names the example."""
    with pytest.raises(ValueError, match="x1"):
        Example("x1", "d", "en", "c", ("p",), "maybe", (), "g")
