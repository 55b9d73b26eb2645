"""The audit trail: every verdict kept, provable, replayable, reviewable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stillme.audit.query import Filter
    from stillme.audit.store import AuditStore

__all__ = ["AuditStore", "Filter"]

_HOMES = {"AuditStore": "store", "Filter": "query"}


def __getattr__(name: str) -> Any:
    """A name is imported when it is first used: the journal alone needs none of the rest."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"stillme.audit.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
