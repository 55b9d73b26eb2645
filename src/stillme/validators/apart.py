"""Two figures in a message, with as many digits as it takes to see which is the lower."""

from __future__ import annotations

from typing import Final

__all__ = ["told_apart"]

FEWEST, MOST = 2, 17
EXACT: Final = "{!r}"


def told_apart(value: float, threshold: float) -> tuple[str, str]:
    """Both with the same number of decimals, two at least; figures that differ never read the same."""
    for digits in range(FEWEST, MOST + 1):
        pair = f"{value:.{digits}f}", f"{threshold:.{digits}f}"
        if value == threshold or pair[0] != pair[1]:
            return pair
    return EXACT.format(value), EXACT.format(threshold)
