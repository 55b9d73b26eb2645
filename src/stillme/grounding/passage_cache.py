"""What was read of passages, kept for the next request that brings the same words: a knowledge base's chunks come again and again.

A reading depends on nothing but the words of the passage and the names it is read under, so that keeping it changes no verdict.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from stillme.languages import forgettable

__all__ = ["CacheCounts", "SizedCache"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

# What a character costs once everything that is asked of a passage was read of it.
BYTES_PER_CHARACTER: Final = 120
# And what a text costs however short it is: objects around hardly any characters.
BYTES_PER_TEXT: Final = 4096
# One text takes at most this share of the room.
LARGEST_SHARE: Final = 8


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """How often something was found and not found, and what is kept."""

    hits: int
    misses: int
    entries: int
    size_bytes: int
    most_bytes: int


class SizedCache(Generic[Key, Value]):
    """Keeps values by what they are made of, in so many bytes; the one not asked for longest makes room. Safe to share
    between threads; emptied when a language is added or taken away."""

    def __init__(self, make: Callable[[Key], Value], characters: Callable[[Key], int], most_bytes: int) -> None:
        self._make, self._characters, self._most_bytes = make, characters, most_bytes
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = self._held = 0
        forgettable(self)

    def __getitem__(self, key: Key) -> Value:
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                self._hits += 1
                return kept
            self._misses += 1
        made, size = self._make(key), self._size(key)
        return self._keep(key, made, size) if size <= self._most_bytes // LARGEST_SHARE else made

    def _keep(self, key: Key, made: Value, size: int) -> Value:
        with self._lock:
            if key in self._kept:  # another thread was faster
                return self._kept[key]
            self._kept[key] = made
            self._held += size
            while self._held > self._most_bytes:
                oldest, _ = self._kept.popitem(last=False)
                self._held -= self._size(oldest)
        return made

    @property
    def counts(self) -> CacheCounts:
        """What became of it so far."""
        with self._lock:
            return CacheCounts(self._hits, self._misses, len(self._kept), self._held, self._most_bytes)

    def cache_clear(self) -> None:
        """Begin anew."""
        with self._lock:
            self._kept.clear()
            self._held = 0

    def _size(self, key: Key) -> int:
        return BYTES_PER_TEXT + BYTES_PER_CHARACTER * self._characters(key)
