"""What all tests share: property tests draw the same inputs every time, and do not fail because the machine was busy.

`make explore` draws new ones, and more of them; an input that it finds is kept as an `@example` beside its test.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow]
settings.register_profile("same", deadline=None, suppress_health_check=SLOW, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW, print_blob=True, phases=tuple(Phase))
settings.load_profile("explore" if os.environ.get("STILLME_EXPLORE") else "same")
