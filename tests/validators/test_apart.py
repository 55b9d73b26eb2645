"""Two figures of a message never read the same where they differ."""

from __future__ import annotations

import pytest

from stillme.validators.apart import told_apart


@pytest.mark.parametrize(
    ("value", "threshold", "expected"),
    [
        pytest.param(0.5, 0.6, ("0.50", "0.60"), id="two decimals are enough"),
        pytest.param(0.5999, 0.6, ("0.5999", "0.6000"), id="as many as it takes"),
        pytest.param(0.6, 0.6, ("0.60", "0.60"), id="equal figures"),
        pytest.param(1e-30, 2e-30, ("1e-30", "2e-30"), id="beyond all decimals"),
    ],
)
def test_told_apart(value: float, threshold: float, expected: tuple[str, str]) -> None:
    """Both have the same number of decimals."""
    assert told_apart(value, threshold) == expected
