"""What all tests share: property tests draw the same inputs every time, and do not fail because the machine was busy.

`make explore` draws new ones, and more of them; an input that it finds is kept as an `@example` beside its test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow]
settings.register_profile("same", deadline=None, suppress_health_check=SLOW, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW, print_blob=True, phases=tuple(Phase))
settings.load_profile("explore" if os.environ.get("STILLME_EXPLORE") else "same")

SLOW_ROOMS = {"audit", "chat", "cli", "judge", "llm", "service", "storage"}
"""Their tests start servers, databases and other processes; elsewhere a test that does is marked by itself."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` leaves out."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in SLOW_ROOMS:
            item.add_marker("slow")
