"""A case: a request, what should happen, and which of its claims are supported. One JSON object a line makes a file of them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from stillme.contract import VerifyRequest
from stillme.evaluation.runs.records import Strict
from stillme.reasons import Decision

__all__ = ["Case", "ClaimLabel"]

Name = Annotated[str, Field(min_length=1, max_length=200)]


class ClaimLabel(Strict):
    """What is known about a part of the draft: `text` stands in it, verbatim, once or at `start`."""

    text: Annotated[str, Field(min_length=1)]
    supported: bool
    start: Annotated[int, Field(ge=0)] | None = None


class Case(Strict):
    """One case of an evaluation. What is not labelled is not scored, and counted apart."""

    id: Name
    request: VerifyRequest
    expected: Decision | None = Field(None, description="what should happen: answer, refuse or ask_clarify")
    claims: tuple[ClaimLabel, ...] = Field((), description="which parts of the draft are supported and which are not")
    reasons: tuple[str, ...] = Field((), description="codes that the verdict should name")
    category: str | None = Field(None, description="what kind of case it is, such as out-of-context")
    tags: tuple[Name, ...] = Field((), description="slices that it belongs to")
    why: str | None = Field(None, description="why this is what should happen")

    @model_validator(mode="after")
    def _labels_stand_in_the_draft(self) -> Self:
        draft = self.request.draft_answer or ""
        for number, (label, (start, end, _)) in enumerate(zip(self.claims, self.spans, strict=True)):
            if start < 0 or draft[start:end] != label.text:
                at = "" if label.start is None else f" at {label.start}"
                raise ValueError(f"claims[{number}].text does not stand in draft_answer{at}")
            if label.start is None and draft.find(label.text, start + 1) >= 0:
                raise ValueError(f"claims[{number}].text stands in draft_answer more than once: give its start")
        return self

    @property
    def spans(self) -> list[tuple[int, int, bool]]:
        """Where each labelled part stands in the draft, and whether it is supported."""
        draft = self.request.draft_answer or ""
        starts = [draft.find(c.text) if c.start is None else c.start for c in self.claims]
        return [(at, at + len(c.text), c.supported) for at, c in zip(starts, self.claims, strict=True)]
