"""The written data is of the form that it says it is."""

from __future__ import annotations

import pytest

from training.written_data import FILES, FOLDER, counts, documents, judged, problems_of


@pytest.mark.parametrize("name", FILES)
def test_every_document_is_of_the_form(name: str) -> None:
    """Labels, spans, and a second world with the same sources."""
    assert sum(1 for _ in documents(FILES[name])) > 0


def test_no_document_is_in_two_files() -> None:
    """What is measured was not trained on."""
    ids = [document["id"] for path in FILES.values() for document in documents(path)]

    assert len(ids) == len(set(ids))


def test_the_card_counts_what_is_there() -> None:
    """The table is made from the files."""
    assert counts() in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_a_claim_is_judged_in_each_world() -> None:
    """With the sources of that world."""
    document = {
        "id": "a-1",
        "lang": "en",
        "context": [{"source_id": "s", "text": "It is red."}],
        "claims": [{"text": "It is red.", "lang": "en", "label": "supported", "kind": "near-copy", "spans": []}],
        "world": {"context": [{"source_id": "s", "text": "It is blue."}], "labels": ["contradicted"]},
    }

    assert not list(problems_of(document))
    assert [(j.world, j.label, j.context) for j in judged(document)] == [
        (0, "supported", (("s", "It is red."),)),
        (1, "contradicted", (("s", "It is blue."),)),
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"claims": [{"text": "x", "label": "maybe", "spans": [[0, 1]]}]}, "no such label", id="a label"),
        pytest.param(
            {"claims": [{"text": "x", "label": "supported", "spans": [[0, 1]]}]}, "only claims that lack", id="spans"
        ),
        pytest.param(
            {"claims": [{"text": "x", "label": "contradicted", "spans": [[0, 9]]}]},
            "outside its claim",
            id="a span's end",
        ),
        pytest.param({"world": {"context": [], "labels": []}}, "other sources", id="a world without sources"),
    ],
)
def test_what_is_not_of_the_form_is_told(change: dict[str, object], problem: str) -> None:
    """By what is wrong with it."""
    document = {"id": "a-1", "context": [{"source_id": "s", "text": "t"}], "claims": []} | change

    assert any(problem in found for found in problems_of(document))
