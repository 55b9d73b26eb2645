"""The comparison on claims in two worlds: thresholds are chosen elsewhere, and what does not read is seen not to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import worlds
from stillme.evaluation.worlds.documents import WorldDocument, worlds_file
from stillme.evaluation.worlds.judging import Judged, WorldAnswer

BORIS_PAYS = {
    "id": "rent", "lang": "en", "context": [{"source_id": "a", "text": "Boris pays Ana. The door is blue."}],
    "claims": [{"text": "Boris pays Ana.", "lang": "en", "label": "supported", "kind": "near-copy"}],
    "world": {"context": [{"source_id": "a", "text": "Ana pays Boris. The door is blue."}], "labels": ["contradicted"]},
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two documents that are alike but for their names."""
    path = tmp_path / "worlds.jsonl"
    path.write_text("".join(json.dumps(BORIS_PAYS | {"id": name}) + "\n" for name in "ab"), encoding="utf-8")
    return path


def answered(documents: Sequence[WorldDocument], *scores: float) -> list[Judged]:
    """Documents of one claim in two worlds, and the scores that it gets there."""
    return [Judged(document, (tuple(WorldAnswer(False, score) for score in scores),)) for document in documents]


def test_a_score_gets_the_threshold_that_parts_the_worlds(file: Path) -> None:
    """What puts every claim in order, however low its scores are, is right in both worlds."""
    reads = worlds.System("reads", lambda documents: answered(documents, 0.2, 0.1))

    record = worlds.measured([reads], file, file, None)

    row = record["rows"][0]
    assert (row["system"], row["group"], row["claims"]) == ("reads", "all", 2)
    assert 0.1 < row["threshold"] <= 0.2
    assert (row["both_worlds"], row["order"], row["balanced_accuracy"]) == (1.0, 1.0, 1.0)


def test_a_tool_that_is_not_installed_is_named(file: Path) -> None:
    """It is no row with zeros."""
    missing = worlds.System("oracle", lambda documents: answered(documents, 1, 0), package="no_such_package_as_this")

    record = worlds.measured([missing], file, file, None)

    assert (record["rows"], record["left_out"]) == ([], ["oracle"])


def test_what_compares_words_or_vectors_cannot_tell_who_pays_whom(file: Path) -> None:
    """Shared words say the same in both worlds, and the nearest sentence hardly another thing."""
    compared = [system for system in worlds.systems() if system.name in ("shared words", "ROUGE-L")]

    record = worlds.measured(compared, file, file, None)

    assert [row["both_worlds"] for row in record["rows"] if row["system"] == "shared words"] == [0.0, 0.0]


def test_sources_of_another_document_support_nothing(file: Path) -> None:
    """Each document is read beside the worlds of another."""
    rent, other = BORIS_PAYS, {**BORIS_PAYS, "id": "sea", "context": [{"source_id": "a", "text": "The sea is green."}]}
    other |= {"claims": [{"text": "The sea is green.", "lang": "en", "label": "supported", "kind": "near-copy"}]}
    other |= {"world": {"context": [{"source_id": "a", "text": "The sea is grey."}], "labels": ["contradicted"]}}
    file.write_text(json.dumps(rent) + "\n" + json.dumps(other) + "\n", encoding="utf-8")
    system = next(system for system in worlds.systems() if system.judge is worlds.by_guard_elsewhere)

    record = worlds.measured([system], file, file, None)

    assert [row["supported_seen"] for row in record["rows"]] == [0.0, 0.0]


def test_the_docs_say_what_was_measured_on_these_documents() -> None:
    """The record is of the documents that come with the package."""
    if not worlds.RECORD.exists():
        pytest.skip("no run is recorded yet")

    record = json.loads(worlds.RECORD.read_text(encoding="utf-8"))

    assert record["documents_sha256"] == hashlib.sha256(worlds_file().read_bytes()).hexdigest()
