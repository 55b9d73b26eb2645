"""JSON as the standard has it, and nothing that two readers could read differently."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

__all__ = ["strict_json"]


def strict_json(text: str) -> Any:
    """The value of a JSON text; a key given twice, NaN and bottomless nesting are errors (ValueError) too."""

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
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
