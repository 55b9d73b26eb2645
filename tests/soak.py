"""How long loops are and how many inputs are drawn: a few in `make test`, all of them in `make soak` and `make explore`."""

from __future__ import annotations

import os

__all__ = ["IS_SOAK", "examples", "rounds"]

IS_SOAK = bool(os.environ.get("STILLME_SOAK") or os.environ.get("STILLME_EXPLORE"))


def rounds(full: int, short: int = 3) -> int:
    """How many times to go round a loop."""
    return full if IS_SOAK else short


def examples(full: int) -> int:
    """How many inputs a property test draws; `make test` draws the same ones every time, so that more of them would find nothing new."""
    return full if IS_SOAK else max(min(full, 5), full // 5)
