"""What a model said lately, kept under what it was asked: bounded, counted, and safe to share between threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = ["Counts", "Recent", "recent_counts"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Counts:
    """How often an answer was kept already, how often it was not, and how many are kept now."""

    hits: int
    misses: int
    entries: int


class Recent(Generic[Key, Value]):
    """The last `most` answers; the one that was not asked for longest makes room."""

    def __init__(self, name: str, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = 0
        _BY_NAME[name] = self

    def get(self, key: Key) -> Value | None:
        """The answer to what was asked, if it is kept."""
        with self._lock:
            if key in self._kept:
                self._hits += 1
                self._kept.move_to_end(key)
                return self._kept[key]
            self._misses += 1
            return None

    def keep(self, key: Key, value: Value) -> Value:
        """Keep an answer."""
        with self._lock:
            self._kept[key] = value
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def clear(self) -> None:
        """Drop every answer: the next one is computed anew."""
        with self._lock:
            self._kept.clear()

    @property
    def counts(self) -> Counts:
        """What became of it so far."""
        with self._lock:
            return Counts(self._hits, self._misses, len(self._kept))


_BY_NAME: dict[str, Recent[Any, Any]] = {}


def recent_counts() -> dict[str, Counts]:
    """The counts of what each model of this process keeps, by name; a model that was never asked is absent."""
    return {name: kept.counts for name, kept in list(_BY_NAME.items())}
