"""What `stillme validators` and `stillme reasons` list, as rows and as tables."""

from __future__ import annotations

import io
import json

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from stillme.catalogue import reason_rows, validator_rows
from stillme.cli.listing import reasons_table, validators_table
from stillme.reasons import Reason
from stillme.validators.registry import BUILT_IN, CHAIN


def drawn(table: Table, width: int) -> str:
    """The table as printed at that width."""
    out = io.StringIO()
    Console(file=out, width=width, markup=False, highlight=False).print(table)
    return out.getvalue()


def test_every_place_of_the_chain_is_listed_once_in_order() -> None:
    rows = validator_rows()

    places = {place: row["name"] for row in rows for place in row["order"]}
    assert [places[place] for place in sorted(places)] == [slot.name for slot in CHAIN]
    assert [row["name"] for row in rows if row["origin"] == "built in"] == list(BUILT_IN)
    assert [row["problem"] for row in rows if row["origin"] == "built in"] == [None] * len(BUILT_IN)


def test_a_row_says_what_a_validator_flags_and_what_can_be_set() -> None:
    row = next(row for row in validator_rows() if row["name"] == "EvidenceOverlap")

    assert {key: row[key] for key in ("order", "stages", "gate", "reasons")} == {
        "order": [10],
        "stages": ["draft"],
        "gate": "soft",
        "reasons": {"low_evidence_overlap": "soft"},
    }
    assert [(p["name"], p["type"], p["default"]) for p in row["parameters"]] == [
        ("threshold", "float", 0.08),
        ("ngram", "int", 3),
    ]


def test_rows_are_json() -> None:
    assert json.loads(json.dumps(validator_rows())) == validator_rows()
    assert json.loads(json.dumps(reason_rows("vi"))) == reason_rows("vi")


def test_every_reason_is_listed_with_its_gate_and_its_decision() -> None:
    rows = {row["code"]: (row["gate"], row["decision"]) for row in reason_rows("en")}

    assert list(rows) == [code.value for code in Reason]
    assert {code: rows[code] for code in ("contradicted_claim", "number_not_in_sources", "passed_with_warnings")} == {
        "contradicted_claim": ("hard", "refuse"),
        "number_not_in_sources": ("soft", "refuse"),
        "passed_with_warnings": (None, "answer"),
    }
    assert rows["ambiguous_query_needs_clarification"] == ("hard", "ask_clarify")


def test_every_code_but_those_of_the_outcome_is_flagged_by_a_built_in_validator() -> None:
    unflagged = [row["code"] for row in reason_rows("en") if not row["flagged_by"]]

    assert unflagged == ["passed_with_warnings", "validator_error", "validators_off"]


@pytest.mark.parametrize("language", ["en", "vi"])
def test_every_reason_has_words_of_its_own_in_both_languages(language: str) -> None:
    rows = reason_rows(language)

    assert [row["code"] for row in rows if row["code"] in row["say"]] == []
    assert len({row["say"] for row in rows}) == len(rows)


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_tables_fit_and_lose_nothing(width: int) -> None:
    rows, reasons = validator_rows(), reason_rows("vi")

    shown = drawn(validators_table(rows, "utf-8"), width), drawn(reasons_table(reasons, "utf-8"), width)

    assert max(cell_len(line) for text in shown for line in text.splitlines()) <= width
    assert "…" not in shown[0] + shown[1]
    if width >= 60:
        assert [row["name"] for row in rows if row["name"] not in shown[0]] == []


def test_a_validator_that_cannot_be_used_says_why() -> None:
    row = {
        "order": [],
        "name": "Broken\x1b",
        "stages": [],
        "reasons": {},
        "parameters": [],
        "summary": "",
        "problem": "cannot be imported",
    }

    assert " ".join(drawn(validators_table([row], "utf-8"), 100).split()).endswith(
        "plugin Broken\\x1b cannot be imported"
    )
