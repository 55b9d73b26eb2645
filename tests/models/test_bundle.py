"""The shipped files are those of the manifest, or none."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from stillme.errors import BackendError
from stillme.models import bundle, model_id


def test_the_manifest_tells_the_hash_of_every_file() -> None:
    """Nothing is shipped that is not named, and all that is named is there unchanged."""
    said = json.loads((bundle.WEIGHTS / "manifest.json").read_text("utf-8"))["files"]
    there = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in bundle.WEIGHTS.iterdir() if p.name in said}

    assert there == said
    assert model_id().endswith(said["reading_upper.onnx"][:12])


def test_the_files_are_small_enough_to_ship() -> None:
    """At most 60 MB in all."""
    assert sum(p.stat().st_size for p in bundle.WEIGHTS.iterdir() if p.is_file()) <= 60_000_000


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1]), id="cut short"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"), id="one byte changed"),
        pytest.param(lambda path: path.unlink(), id="gone"),
    ],
)
def test_a_file_that_is_not_the_shipped_one_is_not_used(
    spoil: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error of ours that says what to do, never a model of unknown origin."""
    for name in ("manifest.json", "pieces.json"):
        (tmp_path / name).write_bytes((bundle.WEIGHTS / name).read_bytes())
    spoil(tmp_path / "pieces.json")  # type: ignore[operator]
    monkeypatch.setattr(bundle, "WEIGHTS", tmp_path)
    bundle.checked.cache_clear()
    try:
        with pytest.raises(BackendError, match=r"the model file pieces\.json .*install"):
            bundle.checked("pieces.json")
    finally:
        bundle.checked.cache_clear()


@pytest.mark.slow
def test_importing_the_package_loads_no_model() -> None:
    """Neither numpy nor the runtime is imported before a model is asked."""
    code = "import sys, stillme; stillme.Guard; print(sorted({'numpy', 'onnxruntime'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert shown.strip() == "[]"
