"""Tests against the real packages that StillMe works inside. `make test-clients` installs them and runs these; `make test` leaves them out.

STILLME_CLIENTS names the environment: `together`, or a package that does not install beside the others (`requirements/`).
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch prices when it is imported
TOGETHER = "together"
APART = {file.stem for file in Path(__file__).with_name("requirements").iterdir()} - {TOGETHER}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of what is not installed here."""
    if not collection_path.name.startswith("test_"):
        return None
    package = collection_path.stem.removeprefix("test_")
    needed = package if package in APART else TOGETHER
    return True if os.environ.get("STILLME_CLIENTS") != needed else None
