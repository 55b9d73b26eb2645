"""What a run leaves behind: one record a case, and a heading that says under which policy, model and version it was made.

Every figure of an evaluation is a function of these records; nothing else is read.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from stillme.contract import Action, Band, Status
from stillme.reasons import Decision

__all__ = ["CaseRecord", "ClaimRecord", "RunHeading", "Strict"]


class Strict(BaseModel):
    """What is read back as it was written, or not at all."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ClaimRecord(Strict):
    """A claim of the draft as the verdict has it, with what is known about it."""

    start: int
    end: int
    status: Status
    score: float | None
    source_ids: tuple[str, ...] = ()
    cited: bool = False
    """Whether a citation behind it names a source that supports it."""
    supported: bool | None = None
    """As labelled: false where any labelled part of it is unsupported, None where nothing of it is labelled."""
    missed: tuple[tuple[int, int], ...] = ()


class CaseRecord(Strict):
    """One case as it came out; with `error` it was not scored at all."""

    kind: Literal["case"] = "case"
    id: str
    expected: Decision | None = None
    expected_reasons: tuple[str, ...] = ()
    category: str | None = None
    language: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] = ()
    decision: Decision | None = None
    action: Action | None = None
    reasons: tuple[str, ...] = ()
    """Decision codes in the order of the verdict, whatever the policy lets callers see."""
    verified: bool = False
    confidence_band: Band | None = None
    probability: float | None = None
    """That the answer is supported: the least score of its factual claims; None without any."""
    max_similarity: float | None = None
    generation_confidence: float | None = None
    source_required: bool = False
    claims: tuple[ClaimRecord, ...] = ()
    unlabelled_unsupported: int = 0
    """Labelled unsupported parts of the draft that no claim of the verdict covers: they pass if the answer does."""
    elapsed_ms: float = 0.0
    error: str | None = None

    @property
    def unsupported(self) -> int:
        """How many labelled unsupported claims the draft holds, covered by claims of the verdict or not."""
        return sum(claim.supported is False for claim in self.claims) + self.unlabelled_unsupported


class RunHeading(Strict):
    """What a run was made of; two runs are compared only on the same cases."""

    kind: Literal["run"] = "run"
    name: str
    cases: str
    """Where the cases came from, as a user named it."""
    cases_sha256: str
    """Of the cases themselves, in order: the same cases have the same hash, whatever file they were in."""
    count: int
    policy_hash: str
    policy: dict[str, Any]
    model_id: str
    version: str
    started: str
    """ISO 8601, UTC."""
