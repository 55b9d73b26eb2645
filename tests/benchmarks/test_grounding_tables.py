"""The tables of the docs come from a run record alone."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.grounding_tables import markdown, parts

FIGURES: dict[str, Any] = {
    "rows": 40,
    "positive": 10,
    "documents": 20,
    "errors": {"BackendError": 2},
    "without_claims": 3,
    "balanced_accuracy": 0.75,
    "interval": [0.7, 0.8],
    "auc": 0.8125,
    "precision": 0.6,
    "recall": 0.7,
    "f1": 0.6462,
    "span_f1": None,
    "span_precision": None,
    "span_recall": None,
    "calibration_error": 0.1,
    "calibration_bins": [[30, 25, 28.0], [10, 1, 2.0]],
    "p50_ms": 4.25,
    "p95_ms": 9.0,
    "claims": 50,
    "settled": 0.5,
}
GUESS: dict[str, Any] = {**FIGURES, "errors": {}, "without_claims": None, "balanced_accuracy": 0.5, "interval": None}
GUESS |= {
    "auc": 0.5,
    "calibration_bins": None,
    "calibration_error": None,
    "p50_ms": None,
    "p95_ms": None,
    "settled": None,
}
RECORD: dict[str, Any] = {
    "version": "9.9.9",
    "code_sha256": "c" * 64,
    "model": {"id": "a-model/1", "files": {}},
    "python": "3.11.1",
    "platform": "Linux",
    "machine": "x86_64, 2 cores",
    "sets": {
        "first": {
            "kind": "grounding",
            "sha256": "a" * 64,
            "limit": 40,
            "systems": {"majority": {"en": GUESS}, "cascade": {"en": FIGURES, "vi": {**FIGURES, "rows": 4}}},
        },
        "sides": {"kind": "conflict", "sha256": "b" * 64, "limit": None, "systems": {"relevant": {"en": GUESS}}},
    },
}


@pytest.mark.parametrize(
    ("part", "lines"),
    [
        pytest.param(
            "quality",
            [
                "| set | language | rows | unsupported | balanced accuracy (95 %) | AUC | precision | recall | F1 | span F1 | calibration error | p50 ms | p95 ms | settled without the encoder | without claims | errors |",
                "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
                "| first | en | 40 | 10 | 0.750 (0.700–0.800) | 0.812 | 0.600 | 0.700 | 0.646 | - | 0.100 | 4.2 | 9.0 | 50.0% | 3 | 2 |",
                "| first | vi | 4 | 10 | 0.750 (0.700–0.800) | 0.812 | 0.600 | 0.700 | 0.646 | - | 0.100 | 4.2 | 9.0 | 50.0% | 3 | 2 |",
                "",
                "Measured on samples of at most 40 rows a set.",
            ],
            id="the default on every set, and that they are samples",
        ),
        pytest.param(
            "systems",
            [
                "| balanced accuracy / AUC | language | majority | cascade |",
                "|---|---|---:|---:|",
                "| first | en | 0.500 / 0.500 | 0.750 / 0.812 |",
                "| first | vi | - | 0.750 / 0.812 |",
            ],
            id="systems side by side, a dash where one was not run",
        ),
        pytest.param(
            "conflicts",
            [
                "| set | language | system | rows | conflicting | balanced accuracy (95 %) | precision | recall | F1 | p50 ms | errors |",
                "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
                "| sides | en | relevant | 40 | 10 | 0.500 | 0.600 | 0.700 | 0.646 | - | 0 |",
            ],
            id="conflict sets",
        ),
        pytest.param(
            "calibration",
            [
                "| system | language | examples | calibration error |",
                "|---|---|---:|---:|",
                "| cascade | all | 80 | 0.100 |",
                "| cascade | en | 40 | 0.100 |",
                "| cascade | vi | 40 | 0.100 |",
            ],
            id="calibration over all sets, each example once",
        ),
        pytest.param(
            "data",
            [
                "| set | kind | SHA-256 | rows used |",
                "|---|---|---|---:|",
                f"| first | grounding | `{'a' * 64}` | 40 |",
                f"| sides | conflict | `{'b' * 64}` | all |",
            ],
            id="data by hash",
        ),
        pytest.param("speed", [""], id="nothing where speed was not measured"),
    ],
)
def test_a_part_is_a_table(part: str, lines: list[str]) -> None:
    """Line by line."""
    assert parts(RECORD)[part].split("\n") == lines


def test_all_parts_stand_below_what_was_measured() -> None:
    """Version, code, model and machine come first."""
    said = markdown(RECORD).split("\n\n")

    assert said[0] == "Version 9.9.9 (code `cccccccccccc`), model `a-model/1`, Python 3.11.1 on x86_64, 2 cores."
    assert len(said) == 7


@pytest.mark.parametrize(
    ("limit", "half", "told"),
    [
        (40, "measuring", "Measured on samples of the measuring half of at most 40 rows a set."),
        (None, "measuring", "Measured on all rows of the measuring half of each set."),
    ],
)
def test_the_half_that_was_measured_is_told(limit: int | None, half: str, told: str) -> None:
    """Below the table."""
    measured = {**RECORD["sets"]["first"], "limit": limit, "half": half}

    assert parts({**RECORD, "sets": {"first": measured}})["quality"].endswith(told)
