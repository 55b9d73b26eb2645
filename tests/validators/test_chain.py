"""The chain runs every validator, keeps their order, and turns whatever they do into findings."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from stillme.errors import InputError
from stillme.evidence import Evidence
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer
from stillme.validators.chain import ConfiguredValidator, ValidatorChain


@dataclass(frozen=True, slots=True)
class Says(Observer):
    """Says what it is told to say."""

    what: str
    name: ClassVar[str] = "Says"
    gates: ClassVar = {Reason.OVERLY_VERBOSE: Gate.SOFT, Reason.UNSUPPORTED_CLAIM: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Say it."""
        if self.what == "passed":
            return self.passed()
        if self.what == "skipped":
            return self.skipped("because")
        return self.flagged(Reason(self.what), "seen", [(0, 1)])


def observe(*validators: Any) -> list[tuple[str, str | None, Gate]]:
    """Outcome, reason and gate of each finding."""
    findings = ValidatorChain(validators).observe(Evidence.of("q", "draft"))
    return [(f.outcome, str(f.reason) if f.reason else None, f.gate) for f in findings]


def test_findings_keep_the_order_of_the_validators() -> None:
    """One finding each, in order, with the default gate of its reason."""
    assert observe(Says("passed"), Says("overly_verbose"), Says("skipped"), Says("unsupported_claim")) == [
        ("passed", None, Gate.HARD),
        ("flagged", "overly_verbose", Gate.SOFT),
        ("skipped", None, Gate.HARD),
        ("flagged", "unsupported_claim", Gate.HARD),
    ]


@pytest.mark.parametrize("answer", ["", "  \n\t", "\u3000"])
@pytest.mark.parametrize("validators", [[], [Says("passed")]], ids=["no validator", "one that passes anything"])
def test_a_blank_answer_does_not_pass(answer: str, validators: list[Any]) -> None:
    """Nothing was said, so nothing was checked."""
    result = ValidatorChain(validators).run(answer, ["Gear can be returned within 30 days."])

    assert (result.passed, result.reasons, result.patched_answer) == (False, ["validator_error"], None)


def test_the_policy_may_change_the_gate() -> None:
    """Softened or hardened, whatever the default."""
    soft = ConfiguredValidator(Says("unsupported_claim"), gate=Gate.SOFT)
    hard = ConfiguredValidator(Says("overly_verbose"), gate=Gate.HARD)

    assert [gate for _, _, gate in observe(soft, hard)] == [Gate.SOFT, Gate.HARD]


def test_foreign_code_runs_in_a_thread_of_its_own() -> None:
    """Ours runs where the caller is."""
    seen: list[str] = []

    class Foreign:
        name = "Foreign"

        def run(self, evidence: Evidence) -> Finding:
            seen.append(threading.current_thread().name)
            return Finding("Foreign", "passed")

    observe(Foreign())

    assert seen == ["stillme-validator"]


@pytest.mark.parametrize(("answer", "docs"), [(None, []), ("a", "a document"), (5, [])])
def test_run_with_the_wrong_types_is_an_input_error(answer: Any, docs: Any) -> None:
    """A single text instead of a list is the usual mistake."""
    with pytest.raises(InputError, match="takes a text and a list"):
        ValidatorChain([]).run(answer, docs)
