"""Put an exported model into the package, with the hash of every file in its manifest.

    python -m training.install --model SHIP --version 1

What was fitted with the model before (`grounding` in the manifest) stays until `training.fit_cascade --write` replaces it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from training.export import TABLE, TOKENIZER
from training.reading.export import LOWER, UPPER

WEIGHTS = Path(__file__).parents[1] / "src" / "stillme" / "models" / "weights"
NAME = "stillme-grounding"
PIECES = "pieces.json"


def pieces(tokenizer: dict[str, Any]) -> str:
    """What the package needs of a tokenizer file: the pieces and their scores."""
    found = tokenizer["model"]["vocab"]
    kept = {"pieces": [piece for piece, _ in found], "scores": [score for _, score in found]}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def install(model: Path, weights: Path, version: str) -> dict[str, str]:
    """Copy the files that the export has; return the hashes of all that are there."""
    weights.mkdir(parents=True, exist_ok=True)
    for name in (LOWER, UPPER):
        if (model / name).exists():
            shutil.copy(model / name, weights / name)
    if (model / TOKENIZER).exists():
        (weights / PIECES).write_text(pieces(json.loads((model / TOKENIZER).read_text("utf-8"))), "utf-8")
    if (model / TABLE).exists():
        table = np.load(model / TABLE)  # taken apart: rows can then be read from the file, without loading all of it
        np.save(weights / "words.npy", table["values"])
        np.save(weights / "scales.npy", table["scales"])
    names = sorted(p.name for p in weights.iterdir() if p.suffix in (".onnx", ".npy") or p.name == PIECES)
    files = {name: hashlib.sha256((weights / name).read_bytes()).hexdigest() for name in names}
    path = weights / "manifest.json"
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**kept, "name": NAME, "version": version, "files": files}, indent=2) + "\n", "utf-8")
    return files


def main() -> None:
    """Install and tell the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the exported files")
    parser.add_argument("--version", default="1")
    options = parser.parse_args()
    for name, digest in install(options.model, WEIGHTS, options.version).items():
        print(f"{name}: {(WEIGHTS / name).stat().st_size / 1e6:.1f} MB, sha256 {digest}")


if __name__ == "__main__":
    main()
