"""Waiting for a condition with a deadline, which is how a test waits for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["eventually"]


def eventually(holds: Callable[[], bool], timeout_s: float = 600.0) -> bool:
    """Whether it holds before the time is up."""
    until = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)  # noqa: TID251  (the one place where tests let time pass)
    return True
