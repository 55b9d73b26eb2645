"""A model file is used only if it is the one that was shipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stillme.errors import BackendError
from stillme.models import bundle


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder of weights of our own, with the smallest of the shipped files in it; what was checked before is forgotten."""
    shutil.copy(bundle.WEIGHTS / "manifest.json", tmp_path)
    shutil.copy(bundle.WEIGHTS / "scales.npy", tmp_path)
    _forget()
    monkeypatch.setattr(bundle, "WEIGHTS", tmp_path)
    yield tmp_path
    _forget()


def _forget() -> None:
    bundle.manifest.cache_clear()
    bundle.checked.cache_clear()


def test_a_file_as_it_was_shipped_is_given(weights: Path) -> None:
    assert bundle.checked("scales.npy") == weights / "scales.npy"


def test_a_changed_file_is_refused_with_the_way_out(weights: Path) -> None:
    content = bytearray((weights / "scales.npy").read_bytes())
    content[-1] ^= 1
    (weights / "scales.npy").write_bytes(content)

    with pytest.raises(BackendError, match=r"scales\.npy is not the one that was shipped: install it again"):
        bundle.checked("scales.npy")


def test_a_missing_file_is_named(weights: Path) -> None:
    (weights / "scales.npy").unlink()

    with pytest.raises(BackendError, match=r"the model file scales\.npy cannot be read: No such file or directory"):
        bundle.checked("scales.npy")


def test_a_file_that_the_manifest_does_not_name_is_refused(weights: Path) -> None:
    (weights / "other.bin").write_bytes(b"anything")

    with pytest.raises(BackendError, match="not the one that was shipped"):
        bundle.checked("other.bin")


@pytest.mark.parametrize("text", [None, "{", "\xff"], ids=["missing", "cut off", "not UTF-8"])
def test_a_manifest_that_cannot_be_read_is_told(weights: Path, text: str | None) -> None:
    manifest = weights / "manifest.json"
    manifest.unlink() if text is None else manifest.write_bytes(text.encode("latin-1"))

    with pytest.raises(BackendError, match="the model files of this installation cannot be read"):
        bundle.manifest()
