"""Policy files and packages with validators, as tests need them."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from stillme.validators.registry import GROUP
from tests.policy.support import (
    SAMPLE,
    Write,
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(content: str | bytes) -> Path:
        new = tmp_path / "policy.yaml.new"
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        return new.replace(
            tmp_path / "policy.yaml"
        )  # whole at once, so that no test depends on what a reader sees halfway

    return put


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample package on sys.path, with the entry points of its own pyproject.toml."""
    project = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "stillme_sample_validator-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0.0\n", encoding="utf-8"
    )
    lines = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}", encoding="utf-8")
    monkeypatch.syspath_prepend(SAMPLE)
    monkeypatch.syspath_prepend(info.parent)


@pytest.fixture
def picky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A distribution that registers the validator Picky of the given source."""

    def put(source: str) -> None:
        info = tmp_path / "picky-1.0.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nPicky = picky_plugin:Picky\n", encoding="utf-8")
        (tmp_path / "picky_plugin.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "picky_plugin", raising=False)
        monkeypatch.syspath_prepend(tmp_path)

    return put
