"""JSON as the standard has it, and nothing that two readers could read differently."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

__all__ = ["finite", "strict_json"]


def finite(text: str) -> float:
    """A number with a point or an exponent; one so large that no JSON can write it again is an error (ValueError)."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:20]} is out of range")
    return value


def strict_json(text: str) -> Any:
    """The value of a JSON text; a key given twice, NaN, a number out of range and bottomless nesting are errors (ValueError) too."""

    def once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in pairs:
            if key in members:
                raise ValueError("a key stands twice")
            members[key] = value
        return members

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse, parse_float=finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
