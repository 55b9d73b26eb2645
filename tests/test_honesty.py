"""Whatever a validator does, an answer that was not checked never reads as verified."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Evidence, Finding, Gate, Guard, InputError, Reason, Repair
from stillme.contract import parse_request
from stillme.validators.chain import ConfiguredValidator, ValidatorChain
from tests.soak import examples
from tests.test_guard import request

CLEAN = request("Unused gear can be returned within 30 days of delivery [1].")


@dataclass(frozen=True)
class Foreign:
    """A validator that does what it is told."""

    act: Callable[[], Any]
    name: ClassVar[str] = "Foreign"

    def run(self, evidence: object) -> Any:
        """Do it."""
        return self.act()


def crash() -> Any:
    """Raise what nobody expects."""
    raise RuntimeError("boom\x1b[31m")


OVER = threading.Event()


def hang() -> Any:
    """Never come back in time: not before the test is over."""
    OVER.wait(600)


GARBAGE: list[Any] = [
    None, True, 0, "passed", b"x", {}, {"outcome": "passed"}, [None], ["passed"], object(),
    Finding("Foreign", "fine"),  # type: ignore[arg-type]
    Finding("Foreign", "flagged"),
    Finding("Foreign", "passed", spans=((1, "x"),)),  # type: ignore[arg-type]
    Finding("Foreign", "passed", detail=5),  # type: ignore[arg-type]
    Finding("Foreign", "flagged", reason="own", repairs="abc"),  # type: ignore[arg-type]
    Finding("Foreign", "flagged", reason="own", repairs=(Repair(5, 2, "x"),)),
    [],
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_an_error(garbage: Any) -> None:
    """What is no finding becomes an errored one: refused, and not verified."""
    verdict = Guard(validators=[Foreign(lambda: garbage)]).verify(CLEAN)
    (finding,) = [f for f in verdict.findings if f.validator == "Foreign"]

    assert (finding.outcome, finding.reason) == ("errored", "validator_error")
    assert (verdict.decision, verdict.verified, verdict.confidence_band) == ("refuse", False, "low")


def test_a_crash_is_an_error_without_a_traceback() -> None:
    """The finding names the exception, in one printable line."""
    verdict = Guard(validators=[Foreign(crash)]).verify(CLEAN)
    (finding,) = [f for f in verdict.findings if f.validator == "Foreign"]

    assert (verdict.decision, verdict.verified) == ("refuse", False)
    assert "RuntimeError" in (finding.detail or "")
    assert "\x1b" not in (finding.detail or "")


def test_a_hang_is_an_error_after_its_time() -> None:
    """The chain goes on when the time is over."""
    slow = ConfiguredValidator(Foreign(hang), timeout_s=0.05)

    findings = ValidatorChain([slow]).observe(Evidence(parse_request(CLEAN), datetime.now(UTC)))
    OVER.set()

    assert [(f.outcome, f.detail) for f in findings] == [("errored", "took longer than 0.05 s")]


def test_on_error_deliver_answers_but_never_as_verified() -> None:
    """The fallback of spec 3 is a choice that the verdict shows."""
    verdict = Guard({"on_error": "deliver"}, validators=[Foreign(crash)]).verify(CLEAN)

    assert (verdict.decision, verdict.verified) == ("answer", False)
    assert verdict.reasons == ["passed_with_warnings", "validator_error"]


def test_a_soft_gate_that_crashes_warns_only() -> None:
    """It asks for nothing when it works, so it blocks nothing when it does not."""

    @dataclass(frozen=True)
    class Soft(Foreign):
        gates: ClassVar[dict[Reason, Gate]] = {Reason.OVERLY_VERBOSE: Gate.SOFT}

    verdict = Guard(validators=[Soft(crash)]).verify(CLEAN)

    assert (verdict.decision, verdict.verified) == ("answer", True)
    assert "validator_error" in verdict.reasons


ACTS: dict[str, Callable[[], Any]] = {
    "crash": crash,
    "nothing": lambda: None,
    "text": lambda: "passed",
    "pass": lambda: Finding("Foreign", "passed"),
    "skip": lambda: Finding("Foreign", "skipped", detail="not for me"),
    "flag": lambda: Finding("Foreign", "flagged", gate=Gate.HARD, reason="own_code", detail="seen"),
    "exit": lambda: (_ for _ in ()).throw(SystemError("out")),
}
BROKEN = {"crash", "nothing", "text", "exit"}


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(sorted(ACTS)), min_size=1, max_size=6),
    st.sampled_from(["refuse", "deliver"]),
    st.booleans(),
)
def test_no_combination_yields_a_verified_answer(acts: list[str], on_error: str, wrong: bool) -> None:
    """A broken validator, alone or among others, never leaves a verified answer behind; a flag always refuses."""
    draft = "Unused gear can be returned within 90 days of delivery [1]." if wrong else CLEAN["draft_answer"]
    guard = Guard({"on_error": on_error}, validators=[Foreign(ACTS[act]) for act in acts])

    verdict = guard.verify({**CLEAN, "draft_answer": draft})

    if BROKEN & set(acts):
        assert not verdict.verified
        assert "validator_error" in verdict.reasons
        assert on_error == "deliver" or verdict.decision == "refuse"
    if "flag" in acts or wrong:
        assert verdict.decision == "refuse"
    if not wrong and set(acts) <= {"pass", "skip"}:
        assert (verdict.decision, verdict.verified) == ("answer", True)


def test_a_validator_without_run_is_refused_when_the_guard_is_made() -> None:
    """A mistake in wiring is not found at the first request."""
    with pytest.raises(InputError, match="run method"):
        Guard(validators=[object()])  # type: ignore[list-item]


def test_nothing_checked_is_not_verified() -> None:
    """With every validator switched off there is no verdict to rely on."""
    names = {f.validator for f in Guard().verify(CLEAN).findings}
    verdict = Guard({"validators": {name: {"enabled": False} for name in names}}).verify(CLEAN)

    assert (verdict.findings, verdict.verified) == ([], False)


def test_gate_4_switched_off_is_not_verified() -> None:
    """Claims that no grounding looked at are not verified claims."""
    verdict = Guard({"validators": {"FactualHallucinationValidator": {"enabled": False}}}).verify(CLEAN)

    assert not verdict.verified


@dataclass(frozen=True)
class BrokenGrounder:
    """A grounder that does what it is told."""

    act: Callable[[], Any]
    id: str = "broken"

    def judge(self, tasks: object) -> Any:
        """Do it."""
        return self.act()


@pytest.mark.parametrize(
    "act", [crash, lambda: None, list, lambda: [[]], lambda: [["supported"]], lambda: "x"], ids=range(6)
)
def test_a_broken_grounder_refuses_unverified(act: Callable[[], Any]) -> None:
    """Alone and in a batch: no exception, no claims, no verified answer."""
    guard = Guard(grounder=BrokenGrounder(act))

    for verdict in (guard.verify(CLEAN), *guard.verify_batch([CLEAN, CLEAN])):
        assert (verdict.decision, verdict.verified, verdict.claims, verdict.confidence_band) == (
            "refuse",
            False,
            [],
            "low",
        )
        assert "validator_error" in verdict.reasons
