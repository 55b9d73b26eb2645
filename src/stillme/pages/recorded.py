"""Values of a record, whatever shape it is in: a damaged one is read as far as it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

__all__ = ["items", "moment", "number", "rows", "span_within", "text"]


def rows(of: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [row for row in items(of, key) if isinstance(row, Mapping)]


def items(of: Mapping[str, Any], key: str) -> Sequence[Any]:
    """A list; nothing where there is none."""
    value = of.get(key)
    return value if isinstance(value, list | tuple) else ()


def text(of: Mapping[str, Any], key: str) -> str:
    """A value as text."""
    value = of.get(key)
    if value is None:
        return ""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def number(of: Mapping[str, Any], key: str, form: str = "g") -> str:
    """A number as text; nothing where there is none."""
    value = of.get(key)
    return format(value, form) if isinstance(value, float) else str(value) if type(value) is int else ""


def span_within(value: object, whole: tuple[int, int]) -> tuple[int, int] | None:
    """The part of a stretch that lies within another; None where it is no stretch or lies outside."""
    if not (isinstance(value, list | tuple) and len(value) == 2 and all(type(n) is int for n in value)):
        return None
    start, end = max(value[0], whole[0]), min(value[1], whole[1])
    return (start, end) if start < end else None


def moment(recorded: str) -> str:
    """A point in time to the second, in UTC; what is none is shown as it is."""
    try:
        parsed = datetime.fromisoformat(recorded)
        return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if parsed.tzinfo else recorded
    except (ValueError, OverflowError):
        return recorded
