"""The validator contract: one evidence object in, one finding (or a few) out.

A validator observes. It never decides, never edits the answer, never sees other findings, does no I/O, reads no clock and no
environment. Its parameters are dataclass fields; the policy fills them. Any order and any parallelism give the same findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from stillme.reasons import Gate, Reason

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["Declaration", "Finding", "Observer", "Repair", "Validator", "declared"]

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
    judges_claims: bool = False
    """Whether its validator declares that it judges the claims; the chain fills it in."""
    left_out: bool = False
    """Whether an early exit kept its validator from running; the chain fills it in."""


@runtime_checkable
class Validator(Protocol):
    """Anything with a name and a `run` that turns evidence into findings."""

    name: ClassVar[str]

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Look at the evidence and say what holds."""
        ...


class Observer:
    """Base of the built-in validators: what a validator is, and the ways to answer.

    What it is, the class declares once, and whoever runs it asks `declared`. A class of another package may declare the same
    without deriving from this one; what it leaves out has the value given here.
    """

    __slots__ = ()

    name: ClassVar[str]
    gates: ClassVar[dict[Reason, Gate]] = {}
    """Each reason it may flag with its default gate; a foreign class that names none is taken to be hard."""
    stage: ClassVar[Stage] = "draft"
    """What it judges. "query": question and context alone, so that it runs in a precheck too; "draft": the answer."""
    early_exit: ClassVar[bool] = False
    """Whether a hard flag of it ends the draft stage: the validators behind it are skipped."""
    runs_always: ClassVar[bool] = False
    """Whether it runs behind an early exit too."""
    whole_answer: ClassVar[bool] = False
    """Whether only a finished answer can be judged by it: it sees neither the beginnings of a streamed one nor a repaired one, and
    repairs nothing itself. Where its gate is hard, a stream holds the text back to the end, unless the validator is `idle`."""
    judges_claims: ClassVar[bool] = False
    """Whether it says of each factual claim if it stands on a passage: claims that went past no such validator are not verified."""

    @property
    def idle(self) -> bool:
        """Whether its parameters leave it nothing to judge, whatever the answer."""
        return False

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """Look at the evidence and say what holds."""
        raise TypeError(f"{type(self).__name__} does not look at {type(evidence).__name__}: it has no run method")

    def passed(self, detail: str | None = None) -> Finding:
        """It was looked at, and it holds."""
        if detail is None:
            return _passed(self.name, self.stage, self._default_gate())
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


@lru_cache(maxsize=256)
def _passed(name: str, stage: Stage, gate: Gate) -> Finding:
    """What most validators say of most answers: one object for all of them."""
    return Finding(name, "passed", stage, gate)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a validator is, as its class declares it in the terms of `Observer`."""

    name: str
    stage: Stage
    gate: Gate
    """The gate of a finding that has no reason of its own: hard if the validator can flag anything hard."""
    early_exit: bool
    runs_always: bool
    whole_answer: bool
    judges_claims: bool
    idle: bool
    foreign: bool
    """Whether it is code that is not ours, or wraps some that is not."""


def declared(validator: Any) -> Declaration:
    """What a validator declares of itself; `target` says which stage an instance belongs to whose class stands in both."""
    name, gates = getattr(validator, "name", None), getattr(validator, "gates", None)
    stage = getattr(validator, "target", None) or getattr(validator, "stage", None)
    is_soft = isinstance(gates, dict) and bool(gates) and Gate.HARD not in gates.values()
    is_ours = type(validator).__module__.startswith("stillme.validators.")
    return Declaration(
        name=name if isinstance(name, str) and name else type(validator).__name__,
        stage="query" if stage == "query" else "draft",
        gate=Gate.SOFT if is_soft else Gate.HARD,
        early_exit=bool(getattr(validator, "early_exit", False)),
        runs_always=bool(getattr(validator, "runs_always", False)),
        whole_answer=bool(getattr(validator, "whole_answer", False)),
        judges_claims=bool(getattr(validator, "judges_claims", False)),
        idle=bool(getattr(validator, "idle", False)),
        foreign=not is_ours or bool(getattr(validator, "foreign", False)),
    )
