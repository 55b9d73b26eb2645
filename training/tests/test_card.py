"""The card tells the hashes, licences and figures of the files it is given."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from training.card import card


def test_card_tells_what_the_files_hold(tmp_path: Path) -> None:
    """Every number on the card comes from a file."""
    data, weights, record, curve = (tmp_path / name for name in ("data", "weights", "record.json", "curve.jsonl"))
    data.mkdir()
    weights.mkdir()
    (weights / "reading_upper.onnx").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    manifest = {"name": "n", "version": "3", "files": {"reading_upper.onnx": digest}, "grounding": {"bias": 0.25}}
    (weights / "manifest.json").write_text(json.dumps(manifest))
    figures = {"rows": 12, "balanced_accuracy": 0.7512, "calibration_bins": [[8, 2, 2.2], [4, 3, 3.2]]}
    sets = {"vihallu_dev": {"kind": "grounding", "systems": {"model": {"vi": figures}, "cascade": {"vi": figures}}}}
    record.write_text(json.dumps({"version": "0.1", "sets": sets}))
    held = {"all": {"order": 70.0, "both": 40.5, "balanced": 66.1}}
    curve.write_text(json.dumps({"step": 25, "epoch": 0.5, "claim": 0.5, "rank": 0.25, "held": held}) + "\n")
    (data / "one.jsonl").write_text(json.dumps({"licence": "MIT"}) + "\n")
    licences = ["CC-BY-SA-3.0", "MIT; CC-BY-SA (Wikipedia text)", "CC-BY-4.0; article text (c) of a paper"]
    (data / "two.jsonl").write_text("".join(json.dumps({"licence": each}) + "\n" for each in licences))

    text = card(weights, record, data, None, {"reader": curve})

    assert digest in text
    assert "- `bias`: 0.25" in text
    assert "| one | 1 | MIT |" in text
    assert "| the names of its authors | one | 1 |" in text
    assert "| the same licence for what is made of it | two | 2 |" in text
    assert "| leave of whoever wrote the text, which the licence of the labels does not give | two | 1 |" in text
    assert "| reader | 25 | 0.5 | 0.500 | 0.250 | 70.0 | 40.5 | 66.1 |" in text
    assert "| vihallu_dev | 12 | balanced_accuracy | 0.75 | 0.751 | 0.751 | yes |" in text
    assert "| all together | 12 | calibration_error | 0.05 | 0.033 | 0.033 | yes |" in text
