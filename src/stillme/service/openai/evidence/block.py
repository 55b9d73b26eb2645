"""A stretch of a text that is evidence, and the passages in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Block", "without"]


@dataclass(frozen=True, slots=True)
class Block:
    """Characters `start` to `end` of a text, and the passages in them, each as a request has it."""

    start: int
    end: int
    passages: tuple[dict[str, Any], ...]
    format: str
    """Which format it was found by."""


def without(text: str, blocks: Sequence[Block]) -> str:
    """A text without its blocks, which stand in order."""
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])
