"""Runs validators over evidence, one finding after another; whatever a validator does, the chain ends and says so.

A validator that raises, hangs or returns something else than findings becomes an `errored` finding, which never reads as passed.
The built-in validators run in the caller's thread: their work is linear in their input, and when they return it is seen how long
this thread worked for them. A machine that is busy with something else makes no verdict another.
Foreign code (plugins, added instances, guard callables) runs in a thread of its own that is left behind when its time is up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from stillme.errors import InputError, StoppedError, shown
from stillme.reasons import Gate, Reason
from stillme.stopping import watched
from stillme.validators.base import Finding, Repair, Validator

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["ConfiguredValidator", "ValidationResult", "ValidatorChain", "attempt"]

DEFAULT_TIMEOUT_S: Final = 5.0
OUTCOMES: Final = frozenset({"passed", "flagged", "skipped", "errored"})


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
        self._validators = [v if isinstance(v, ConfiguredValidator) else ConfiguredValidator(v) for v in validators]
        for configured in self._validators:
            if not callable(getattr(configured.validator, "run", None)):
                raise InputError(f"a validator has a run method, {shown(configured.validator)} has none")
        self._steps = [
            (
                c,
                _name(c.validator),
                _stage(c.validator),
                _foreign(c.validator),
                bool(getattr(c.validator, "early_exit", False)),
            )
            for c in self._validators
        ]

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

    def observe(self, evidence: Evidence, before_draft: Callable[[], object] | None = None) -> list[Finding]:
        """Every validator's findings, in order; after an early exit the rest is skipped, except EthicsAdapter.

        `before_draft` is work that several validators of the draft share: done first, it counts for the time of none.
        """
        findings: list[Finding] = []
        stopped_by: str | None = None
        for configured, name, stage, foreign, early_exit in watched(self._steps):
            if before_draft is not None and stage == "draft" and stopped_by is None:
                attempt(before_draft)  # what fails fails again in whoever needs it, and is its finding
                before_draft = None
            if stopped_by is not None and name != "EthicsAdapter" and stage == "draft":
                findings.append(_finding(configured, "skipped", f"not run: {stopped_by} ended the chain"))
                continue
            made = self._run_one(configured, foreign, evidence)
            findings += made
            if early_exit and any(_blocks(f) for f in made):
                stopped_by = name
        return findings

    def _run_one(self, configured: ConfiguredValidator, foreign: bool, evidence: Evidence) -> list[Finding]:
        started, worked = time.perf_counter(), time.thread_time()
        call = partial(configured.validator.run, evidence)
        result, problem = _in_thread(call, configured.timeout_s) if foreign else attempt(call)
        elapsed = time.perf_counter() - started
        took = elapsed if foreign else time.thread_time() - worked
        if not foreign and result.__class__ is Finding and took <= configured.timeout_s:
            return [_recorded(result, configured, round(elapsed * 1000, 3))]
        if problem is None and took > configured.timeout_s:
            problem = f"took longer than {configured.timeout_s:g} s"
        made = [] if problem else _checked(result, _name(configured.validator))
        if not made:
            made = [_finding(configured, "errored", problem or f"returned {shown(result)}, which is no finding")]
        milliseconds = round(elapsed * 1000, 3)
        return [_recorded(f, configured, milliseconds if k == 0 else 0.0) for k, f in enumerate(made)]


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


def _checked(result: object, name: str) -> list[Finding]:
    """The findings a validator returned, or none if what it returned is anything else."""
    made = [result] if isinstance(result, Finding) else list(result) if isinstance(result, list | tuple) else []
    if not all(isinstance(f, Finding) and _is_sound(f) for f in made):
        return []
    return [f if f.validator == name else replace(f, validator=name) for f in made]


def _is_sound(finding: Finding) -> bool:
    """A finding of a plugin is checked as data: a flag needs a reason, spans are pairs of numbers."""
    spans = isinstance(finding.spans, tuple) and all(
        isinstance(s, tuple) and len(s) == 2 and all(type(n) is int and n >= 0 for n in s) for s in finding.spans
    )
    reason = (
        isinstance(finding.reason, str)
        if finding.outcome == "flagged"
        else finding.reason is None or isinstance(finding.reason, str)
    )
    detail = finding.detail is None or isinstance(finding.detail, str)
    repairs = isinstance(finding.repairs, tuple) and all(isinstance(r, Repair) and r.is_sound for r in finding.repairs)
    return (
        finding.outcome in OUTCOMES and finding.stage in ("query", "draft") and spans and reason and detail and repairs
    )


def _recorded(f: Finding, configured: ConfiguredValidator, elapsed_ms: float) -> Finding:
    """The finding with the policy's gate and its time; repairs are proposals the policy may drop, never done by a validator."""
    gate = configured.gate or (f.gate if isinstance(f.gate, Gate) else Gate.HARD)
    repairs = f.repairs if configured.repair else ()
    return Finding(f.validator, f.outcome, f.stage, gate, f.reason, f.detail, f.spans, repairs, False, elapsed_ms)


def _finding(configured: ConfiguredValidator, outcome: Any, detail: str) -> Finding:
    reason = Reason.VALIDATOR_ERROR if outcome == "errored" else None
    gate = configured.gate or _default_gate(configured.validator)
    return Finding(_name(configured.validator), outcome, _stage(configured.validator), gate, reason, detail)


def _default_gate(validator: Validator) -> Gate:
    """Hard if it can flag anything hard; a validator that does not say is taken to be hard."""
    gates = getattr(validator, "gates", None)
    return Gate.SOFT if isinstance(gates, dict) and gates and Gate.HARD not in gates.values() else Gate.HARD


def _name(validator: Validator) -> str:
    name = getattr(validator, "name", None)
    return name if isinstance(name, str) and name else type(validator).__name__


def _stage(validator: Validator) -> Any:
    stage = getattr(validator, "target", None) or getattr(validator, "stage", "draft")
    return stage if stage in ("query", "draft") else "draft"


def _foreign(validator: Validator) -> bool:
    """Code that is not ours, or wraps some that is not."""
    return bool(getattr(validator, "foreign", False)) or not type(validator).__module__.startswith(
        "stillme.validators."
    )


def _blocks(finding: Finding) -> bool:
    return finding.gate is Gate.HARD and finding.outcome in ("flagged", "errored") and not finding.repaired


def _codes(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(str(f.reason) for f in findings if f.reason))
