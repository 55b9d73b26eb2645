"""Rule files of the chat: words in English and Vietnamese, side by side; each belongs to the module that reads it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

__all__ = ["load"]


@cache
def load(name: str) -> dict[str, Any]:
    """The parsed rule file `name`.yaml."""
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    parsed: dict[str, Any] = yaml.safe_load(text)
    return parsed
