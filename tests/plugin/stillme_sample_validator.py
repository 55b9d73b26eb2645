"""A sample validator: one class, registered in pyproject.toml through the entry-point group `stillme.validators`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stillme.reasons import Gate
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["CalmTone"]


@dataclass(frozen=True, slots=True)
class CalmTone(Observer):
    """The answer does not shout: it has few exclamation marks."""

    name: ClassVar[str] = "CalmTone"
    gates: ClassVar = {"shouting": Gate.SOFT}

    # The bounds are part of the type, so the policy checks them: `allowed: -1` is an error with line and range.
    allowed: Annotated[int, Field(ge=0, le=100)] = 1
    marks: tuple[str, ...] = ("!", "！")

    def run(self, evidence: Evidence) -> Finding:
        """Flag every exclamation mark beyond those allowed."""
        text = evidence.draft.raw
        found = [at for at, character in enumerate(text) if character in self.marks]
        if len(found) <= self.allowed:
            return self.passed()
        beyond = tuple((at, at + 1) for at in found[self.allowed :])
        detail = f"{len(found)} exclamation marks, {self.allowed} allowed"
        return Finding(self.name, "flagged", self.stage, self.gates["shouting"], "shouting", detail, beyond)
