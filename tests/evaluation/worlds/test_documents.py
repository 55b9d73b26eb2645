"""Documents in two worlds, as they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stillme.errors import InputError
from stillme.evaluation.worlds.documents import read_documents, worlds_file

ROW: dict[str, Any] = {
    "id": "one",
    "lang": "en",
    "context": [{"source_id": "rules", "text": "Ana pays Bo."}],
    "claims": [{"text": "Bo is paid by Ana.", "lang": "en", "label": "supported", "kind": "voice", "spans": []}],
    "world": {"context": [{"source_id": "rules", "text": "Bo pays Ana."}], "labels": ["contradicted"]},
}


def read(folder: Path, *rows: Any) -> list[Any]:
    """The documents of a file with these rows."""
    path = folder / "documents.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return list(read_documents(path))


def test_a_claim_has_its_label_in_each_world(tmp_path: Path) -> None:
    """Both versions of the sources and both labels are there."""
    (document,) = read(tmp_path, ROW)

    assert [world[0]["text"] for world in document.worlds] == ["Ana pays Bo.", "Bo pays Ana."]
    assert document.claims[0].labels == ("supported", "contradicted")
    assert document.claims[0].is_flipped


def test_a_document_may_have_one_world(tmp_path: Path) -> None:
    """Without a second version nothing flips."""
    (document,) = read(tmp_path, {k: v for k, v in ROW.items() if k != "world"})

    assert len(document.worlds) == 1
    assert not document.claims[0].is_flipped


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({**ROW, "world": {"context": [], "labels": []}}, id="a label for each claim is wanted"),
        pytest.param({**ROW, "world": {"context": [], "labels": ["true"]}}, id="only the three labels are known"),
        pytest.param({**ROW, "claims": None}, id="claims are a list"),
        pytest.param([], id="a line is an object"),
    ],
)
def test_a_line_that_is_no_document_is_named(tmp_path: Path, row: Any) -> None:
    """The error says which line of which file."""
    with pytest.raises(InputError, match=r"line 2 is no document"):
        read(tmp_path, ROW, row)


def test_the_documents_that_ship_are_whole() -> None:
    """Every document can be read, most have two worlds, and claims flip in both directions and languages."""
    documents = list(read_documents(worlds_file()))
    flipped = [(c.language, c.labels[0] == "supported") for d in documents for c in d.claims if c.is_flipped]

    assert len(documents) == 100
    assert {*flipped} == {(language, first) for language in ("en", "vi") for first in (True, False)}
    assert len(flipped) > 800
