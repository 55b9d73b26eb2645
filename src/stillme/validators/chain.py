"""Runs validators over evidence, one finding after another; whatever a validator does, the chain ends and says so.

A validator that raises, hangs or returns something else than findings becomes an `errored` finding, which never reads as passed.
The built-in validators run in the caller's thread: their work is linear in their input, and when they return it is seen how long
this thread worked for them. A machine that is busy with something else makes no verdict another.
Foreign code (plugins, added instances, guard callables) runs in a thread of its own that is left behind when its time is up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from stillme.errors import InputError, StoppedError, shown
from stillme.reasons import Gate, Reason
from stillme.stopping import watched
from stillme.validators.base import Declaration, Finding, Repair, Validator, declared

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["ConfiguredValidator", "ValidationResult", "ValidatorChain", "attempt"]

DEFAULT_TIMEOUT_S: Final = 5.0
NOTED_EVERY_S: Final = 0.05
EXACT_BELOW_S: Final = 1.0
OUTCOMES: Final = frozenset({"passed", "flagged", "skipped", "errored"})
STAGES: Final = frozenset({"query", "draft"})


@dataclass(frozen=True, slots=True)
class ConfiguredValidator:
    """A validator and what the policy says about it."""

    validator: Validator
    gate: Gate | None = None
    """Overrides the gate of every reason it flags."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    repair: bool = True


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What `ValidatorChain.run` returns: whether the answer may be used, why not, and the repaired answer if there is one."""

    passed: bool
    reasons: list[str]
    patched_answer: str | None = None
    findings: tuple[Finding, ...] = ()


class ValidatorChain:
    """A list of validators; the order decides only what an early exit leaves out."""

    def __init__(self, validators: Iterable[Validator | ConfiguredValidator]) -> None:
        self._steps = [_step(each) for each in validators]
        self.names = frozenset(step.declared.name for step in self._steps)

    def run(self, answer: str, ctx_docs: Sequence[str] = (), query: str = "") -> ValidationResult:
        """Check an answer against plain documents; hard flags fail, soft ones only add their codes."""
        from stillme.evidence import Evidence  # noqa: PLC0415  (evidence imports nothing of this package)
        from stillme.validators.repairs import repair  # noqa: PLC0415  (repairing runs this chain again)

        if not isinstance(answer, str) or isinstance(ctx_docs, str):
            raise InputError("run(answer, ctx_docs) takes a text and a list of texts")
        if not answer.strip():  # there is nothing to deliver, and nothing that could have been checked
            blank = Finding(
                "ValidatorChain", "errored", "draft", Gate.HARD, Reason.VALIDATOR_ERROR, "the answer is blank"
            )
            return ValidationResult(False, [Reason.VALIDATOR_ERROR.value], None, (blank,))
        evidence = Evidence.of(query, answer, [doc for doc in ctx_docs if doc.strip()])
        findings, patched = repair(self, evidence, self.observe(evidence))
        return ValidationResult(not any(_blocks(f) for f in findings), _codes(findings), patched, tuple(findings))

    def observe(self, evidence: Evidence) -> list[Finding]:
        """Every validator's findings, in order; after an early exit only those run that always do."""
        findings: list[Finding] = []
        ended_by: str | None = None
        is_read = False
        for step in watched(self._steps):
            if step.is_left_out(ended_by):
                findings.append(step.finding("skipped", f"not run: {ended_by} ended the chain", left_out=True))
                continue
            if step.declared.stage == "draft" and not is_read:
                # Several validators of the draft share it: done first, it counts for the time of none. What fails here fails
                # again in whoever needs it, and is its finding.
                is_read = True
                attempt(lambda: evidence.judgements)
            made = step.run(evidence)
            findings += made
            if step.declared.early_exit and any(_blocks(f) for f in made):
                ended_by = step.declared.name
        return findings


@dataclass(frozen=True, slots=True)
class _Step:
    """A validator in its place, with what it declares."""

    configured: ConfiguredValidator
    declared: Declaration

    def is_left_out(self, ended_by: str | None) -> bool:
        return ended_by is not None and self.declared.stage == "draft" and not self.declared.runs_always

    def run(self, evidence: Evidence) -> list[Finding]:
        """The findings of the validator, or one that says that it gave none."""
        result, problem, elapsed = self._timed(evidence)
        made = [] if problem else _checked(result, foreign=self.declared.foreign)
        if not made:
            made = [self.finding("errored", problem or f"returned {shown(result)}, which is no finding")]
        first, *others = made
        return [self._stamped(first, round(elapsed * 1000, 3)), *(self._stamped(f, 0.0) for f in others)]

    def _timed(self, evidence: Evidence) -> tuple[Any, str | None, float]:
        """What the validator returns, why it does not count if it does not, and how long that took."""
        configured, foreign = self.configured, self.declared.foreign
        most = configured.timeout_s
        started = STOPWATCH.start(exact=most < EXACT_BELOW_S)
        call = partial(configured.validator.run, evidence)
        result, problem = _in_thread(call, most) if foreign else attempt(call)
        elapsed = time.perf_counter() - started
        if problem is None and elapsed > most and (foreign or STOPWATCH.worked(started) > most):
            problem = f"took longer than {most:g} s"
        return result, problem, elapsed

    def finding(self, outcome: Literal["skipped", "errored"], detail: str, *, left_out: bool = False) -> Finding:
        """A finding of ours in the validator's name."""
        reason = Reason.VALIDATOR_ERROR if outcome == "errored" else None
        gate = self.configured.gate or self.declared.gate
        return Finding(
            self.declared.name, outcome, self.declared.stage, gate, reason, detail, (), (), False, 0.0, False, left_out
        )

    def _stamped(self, f: Finding, elapsed_ms: float) -> Finding:
        """The finding with the validator's name, the policy's gate and its time; the policy may drop the repairs it proposes."""
        gate = self.configured.gate or (f.gate if isinstance(f.gate, Gate) else Gate.HARD)
        repairs = f.repairs if self.configured.repair else ()
        return Finding(
            self.declared.name, f.outcome, f.stage, gate, f.reason, f.detail, f.spans, repairs, False, elapsed_ms,
            self.declared.judges_claims,
        )  # fmt: skip


def _step(given: Validator | ConfiguredValidator) -> _Step:
    """A validator in its place; an InputError where it is none."""
    configured = given if isinstance(given, ConfiguredValidator) else ConfiguredValidator(given)
    if not callable(getattr(configured.validator, "run", None)):
        raise InputError(f"a validator has a run method, {shown(configured.validator)} has none")
    return _Step(configured, declared(configured.validator))


class _Stopwatch(threading.local):
    """How long a step takes. Processor time is dear to ask for: each thread notes it now and then, and whatever ran since counts for
    no more of it than its time on the wall."""

    noted_at = -math.inf
    noted = 0.0

    def start(self, *, exact: bool) -> float:
        """The time on the wall at which a step begins; exact: a step that may take so little that every bit of it counts."""
        now = time.perf_counter()
        if exact or now - self.noted_at > NOTED_EVERY_S:
            self.noted_at, self.noted = now, time.thread_time()
        return now

    def worked(self, started: float) -> float:
        """The seconds of processor time that have gone into a step at least."""
        return time.thread_time() - self.noted - (started - self.noted_at)


STOPWATCH: Final = _Stopwatch()


def attempt(call: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a call returns, or in one line why it did not: code that may be anybody's never ends a verification."""
    try:
        return call(), None
    except StoppedError:
        raise  # nobody waits for a finding
    except Exception as error:  # the one broad except of the package: a crash is a finding
        return None, f"{type(error).__name__}: {shown(str(error), 200)}"


def _in_thread(call: Callable[[], Any], timeout_s: float) -> tuple[Any, str | None]:
    """Run foreign code in a daemon thread, which cannot hold up the process; give up on it when its time is over."""
    box: list[tuple[Any, str | None]] = []
    thread = threading.Thread(target=lambda: box.append(attempt(call)), daemon=True, name="stillme-validator")
    thread.start()
    thread.join(timeout_s)
    if box:
        return box[0]
    return None, f"took longer than {timeout_s:g} s" if thread.is_alive() else "ended without a result"


def _checked(result: object, *, foreign: bool) -> list[Finding]:
    """The findings a validator returned, or none if what it returned is anything else."""
    if type(result) is Finding and not foreign:
        return [result]
    given = result if isinstance(result, list | tuple) else [result]
    made = [f for f in given if isinstance(f, Finding)]
    if len(made) != len(given):
        return []
    return made if not foreign or all(map(_is_sound, made)) else []


def _is_sound(finding: Finding) -> bool:
    """A finding of a plugin is checked as data."""
    is_named = finding.outcome in OUTCOMES and finding.stage in STAGES
    is_worded = _is_text(finding.reason, needed=finding.outcome == "flagged") and _is_text(finding.detail)
    return is_named and is_worded and _all(_is_span, finding.spans) and _all(_is_repair, finding.repairs)


def _all(is_sound: Callable[[object], bool], items: object) -> bool:
    """Whether it is a tuple in which every item is sound."""
    return isinstance(items, tuple) and all(map(is_sound, items))


def _is_repair(repair: object) -> bool:
    return isinstance(repair, Repair) and repair.is_sound


def _is_text(value: object, *, needed: bool = False) -> bool:
    return isinstance(value, str) or (value is None and not needed)


def _is_span(span: object) -> bool:
    return isinstance(span, tuple) and len(span) == 2 and all(type(n) is int and n >= 0 for n in span)


def _blocks(finding: Finding) -> bool:
    return finding.gate is Gate.HARD and finding.outcome in ("flagged", "errored") and not finding.repaired


def _codes(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(str(f.reason) for f in findings if f.reason))
