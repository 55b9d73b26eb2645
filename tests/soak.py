"""How long loops are: a few rounds in `make test`, all of them in `make soak` and `make explore`."""

from __future__ import annotations

import os

__all__ = ["IS_SOAK", "rounds"]

IS_SOAK = bool(os.environ.get("STILLME_SOAK") or os.environ.get("STILLME_EXPLORE"))


def rounds(full: int, short: int = 3) -> int:
    """How many times to go round a loop."""
    return full if IS_SOAK else short
