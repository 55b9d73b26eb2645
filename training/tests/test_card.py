"""The card tells the hashes, licences and figures of the files it is given."""

from __future__ import annotations

import json
from pathlib import Path

from training.card import card, digest
from training.export import GROUNDING


def test_card_tells_what_the_files_hold(tmp_path: Path) -> None:
    """Every number on the card comes from a file."""
    model, calibration, figures = tmp_path, tmp_path / "c.json", tmp_path / "f.json"
    data = tmp_path / "data"
    data.mkdir()
    (model / GROUNDING).write_bytes(b"weights")
    curves = {"en": {"slope": 0.5, "offset": -0.1}}
    calibration.write_text(json.dumps({"languages": curves, "threshold": 0.5, "token_threshold": 0.25}))
    figures.write_text(json.dumps({"some_dev": {"rows": 12, "auc": 0.8123, "span_f1": float("nan")}}))
    (data / "one.jsonl").write_text(json.dumps({"licence": "MIT"}) + "\n")

    text = card(model, calibration, figures, data, None)

    assert digest(model / GROUNDING) in text
    assert "calibration (en): slope 0.5000" in text
    assert "| one | 1 | MIT |" in text
    assert "| some_dev | 12 | - | - | 0.812 |" in text
