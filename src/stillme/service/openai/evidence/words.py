"""The table of stock prompts, headings, labels and keys, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

__all__ = ["stock"]


@cache
def stock() -> dict[str, Any]:
    """The table."""
    found: dict[str, Any] = yaml.safe_load((files(__package__) / "stock.yaml").read_text("utf-8"))
    return found
