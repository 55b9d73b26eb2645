"""The validator contract: one evidence object in, one finding (or a few) out.

A validator observes. It never decides, never edits the answer, never sees other findings, does no I/O, reads no clock and no
environment. Its parameters are dataclass fields; the policy fills them. Any order and any parallelism give the same findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

from stillme.reasons import Gate, Reason

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["Finding", "Observer", "Repair", "Validator"]

Outcome = Literal["passed", "flagged", "skipped", "errored"]
Stage = Literal["query", "draft"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Repair:
    """A proposed edit: replace `draft[start:end]` with `text`. Proposing is not applying: `response.py` does that."""

    start: int
    end: int
    text: str

    @property
    def is_sound(self) -> bool:
        """Whether it can be applied: two offsets in order, and a text."""
        offsets = type(self.start) is int and type(self.end) is int and 0 <= self.start <= self.end
        return offsets and isinstance(self.text, str)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one validator observed. `detail` is a plain sentence for people; spans count characters of the draft."""

    validator: str
    outcome: Outcome
    stage: Stage = "draft"
    gate: Gate = Gate.SOFT
    reason: str | None = None
    detail: str | None = None
    spans: tuple[Span, ...] = ()
    repairs: tuple[Repair, ...] = ()
    repaired: bool = False
    elapsed_ms: float = 0.0


@runtime_checkable
class Validator(Protocol):
    """Anything with a name and a `run` that turns evidence into findings."""

    name: ClassVar[str]

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Look at the evidence and say what holds."""
        ...


class Observer:
    """Base of the built-in validators: names, defaults, and the three ways to answer.

    `stage` says what it reads: "query" (question and context, before generation) or "draft".
    `gates` names each reason it may flag with its default gate. `early_exit`: a hard flag ends the draft chain.
    """

    __slots__ = ()

    name: ClassVar[str]
    stage: ClassVar[Stage] = "draft"
    gates: ClassVar[dict[Reason, Gate]] = {}
    early_exit: ClassVar[bool] = False

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Look at the evidence and say what holds."""
        raise TypeError(f"{type(self).__name__} does not look at {type(evidence).__name__}: it has no run method")

    def passed(self, detail: str | None = None) -> Finding:
        """It was looked at, and it holds."""
        return Finding(self.name, "passed", self.stage, self._default_gate(), None, detail)

    def skipped(self, why: str) -> Finding:
        """It does not apply here, for the reason given; skipped is not passed."""
        return Finding(self.name, "skipped", self.stage, self._default_gate(), None, why)

    def flagged(
        self, reason: Reason, detail: str, spans: Sequence[Span] = (), repairs: Sequence[Repair] = ()
    ) -> Finding:
        """It does not hold; `detail` says what was seen."""
        return Finding(
            self.name, "flagged", self.stage, self.gates[reason], reason, detail, tuple(spans), tuple(repairs)
        )

    def errored(self, detail: str) -> Finding:
        """It could not be checked."""
        return Finding(self.name, "errored", self.stage, self._default_gate(), Reason.VALIDATOR_ERROR, detail)

    def _default_gate(self) -> Gate:
        return Gate.HARD if Gate.HARD in self.gates.values() else Gate.SOFT
