"""An installed model is the exported one, and its manifest says so."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from training.install import install


def test_every_file_is_there_with_its_hash(tmp_path: Path) -> None:
    """Copied files are unchanged, the table is taken apart, and what was fitted stays."""
    model, weights = tmp_path / "ship", tmp_path / "weights"
    model.mkdir()
    weights.mkdir()
    (model / "reading_upper.onnx").write_bytes(b"weights")
    np.savez(model / "words.npz", values=np.ones((2, 3), "int8"), scales=np.ones(2, "float32"))
    (weights / "manifest.json").write_text(json.dumps({"grounding": {"bias": 1.0}}))

    files = install(model, weights, "2")

    manifest = json.loads((weights / "manifest.json").read_text())
    assert manifest == {"grounding": {"bias": 1.0}, "name": "stillme-grounding", "version": "2", "files": files}
    assert files["reading_upper.onnx"] == hashlib.sha256(b"weights").hexdigest()
    assert sorted(files) == ["reading_upper.onnx", "scales.npy", "words.npy"]
    assert np.load(weights / "words.npy").tolist() == [[1, 1, 1], [1, 1, 1]]
