"""Tests against the real packages that StillMe works inside. `make test-clients` installs them and runs these; `make test` runs
those whose package is among its own.

STILLME_CLIENTS names the environment: `together`, or a package that does not install beside the others (`requirements/`).
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch prices when it is imported
TOGETHER = "together"
APART = {file.stem for file in Path(__file__).with_name("requirements").iterdir()} - {TOGETHER}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of what is not installed here."""
    if not collection_path.name.startswith("test_"):
        return None
    package = collection_path.stem.removeprefix("test_")
    environment = os.environ.get("STILLME_CLIENTS")
    if environment is None:
        return None if find_spec(package) else True
    return True if environment != (package if package in APART else TOGETHER) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Warnings of other people's packages are no errors of ours."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
