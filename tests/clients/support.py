"""What the tests of adapters share: a guard that needs no model, a question with passages, and a guard that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stillme import Guard
from stillme.errors import BackendError
from stillme.guard import Occurrence, Opening

__all__ = ["BROKEN", "FALSE", "PASSAGE", "QUESTION", "TRUE", "broken_guard", "guard"]

QUESTION = "How long can unused gear be returned?"
PASSAGE = "Unused gear can be returned within 30 days of delivery."
TRUE = "Unused gear can be returned within 30 days of delivery [1]."
FALSE = "Unused gear can be returned within 90 days of delivery [1]."
BROKEN = "the disk is full"


class FullDisk:
    """A recorder that cannot record."""

    def record(self, _: Sequence[Occurrence]) -> None:
        """Fail, as a store does that is gone."""
        raise BackendError(BROKEN)

    def open(self, _: Opening) -> None:
        """Fail where the delivery of a stream would begin, too."""
        raise BackendError(BROKEN)


def guard(mode: str = "enforce", **policy: Any) -> Guard:
    """A guard that needs no model."""
    return Guard({"mode": mode, "grounding": {"model": "none"}, **policy})


def broken_guard(mode: str = "enforce") -> Guard:
    """A guard whose verdicts cannot be recorded, and are therefore not given."""
    return Guard({"mode": mode, "grounding": {"model": "none"}}, audit=FullDisk())
