"""The stages honour what a validator declares of itself, whoever wrote it, and nobody looks at its name or its words."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import stillme
from stillme import Evidence, Finding, Gate, Guard
from stillme.validators.base import declared
from stillme.validators.registry import BUILT_IN

SOURCE = Path(stillme.__file__).parent
EXACT: dict[str, Any] = {"mode": "enforce", "grounding": {"model": "none"}}
FERRY = {
    "query": "When does the ferry leave?",
    "draft_answer": "The ferry leaves at 7 a.m. [1].",
    "retrieved_context": [{"source_id": "f", "text": "The ferry leaves at 7 a.m."}],
}
PHA = {
    "query": "Phà chạy lúc mấy giờ?",
    "draft_answer": "Phà chạy lúc 7 giờ sáng [1].",
    "retrieved_context": [{"source_id": "p", "text": "Phà chạy lúc 7 giờ sáng."}],
}


@dataclass(frozen=True)
class Plain:
    """A validator that derives from nothing of ours."""

    name: ClassVar[str] = "Plain"
    outcome: Any = "passed"

    def run(self, evidence: Evidence) -> Finding:
        return Finding("Plain", self.outcome, "draft", Gate.HARD, "own" if self.outcome == "flagged" else None)


@dataclass(frozen=True)
class Ending(Plain):
    """Ends the chain where it flags."""

    name: ClassVar[str] = "Ending"
    early_exit: ClassVar[bool] = True


@dataclass(frozen=True)
class Constant(Plain):
    """Runs whatever ended the chain."""

    name: ClassVar[str] = "Constant"
    runs_always: ClassVar[bool] = True


@dataclass(frozen=True)
class Judging(Plain):
    """Vouches for the claims."""

    name: ClassVar[str] = "Judging"
    judges_claims: ClassVar[bool] = True


@dataclass(frozen=True)
class Asking(Plain):
    """Judges the question alone."""

    name: ClassVar[str] = "Asking"
    stage: ClassVar[str] = "query"


def outcomes(guard: Guard, request: dict[str, Any] = FERRY) -> dict[str, str]:
    return {f.validator: f.outcome for f in guard.verify(request).findings}


@pytest.mark.parametrize("request_", [FERRY, PHA], ids=["en", "vi"])
def test_an_early_exit_of_a_plugin_leaves_the_claims_unjudged(request_: dict[str, Any]) -> None:
    """Those behind it are skipped, those that always run do, and no claim reads as supported."""
    guard = Guard(EXACT, validators=[Ending("flagged"), Plain(), Constant()])

    verdict = guard.verify(request_)
    found = {f.validator: f.outcome for f in verdict.findings}

    assert (found["Plain"], found["Constant"], found["EthicsAdapter"]) == ("skipped", "passed", "passed")
    assert (verdict.decision, verdict.claims, verdict.citations) == ("refuse", [], [])


def test_a_detail_that_reads_like_an_early_exit_is_none() -> None:
    """What happened is not read out of a message."""

    @dataclass(frozen=True)
    class Teller:
        name: ClassVar[str] = "Teller"

        def run(self, evidence: Evidence) -> Finding:
            return Finding("Teller", "skipped", detail="not run: nothing ended the chain", left_out=True)

    verdict = Guard(EXACT, validators=[Teller()]).verify(FERRY)

    assert (verdict.verified, verdict.metrics.claims_supported) == (True, 1)


def test_claims_are_verified_by_whoever_declares_to_judge_them() -> None:
    """Without Gate 4 nothing vouches for a claim, unless another validator says that it does."""
    off = {**EXACT, "validators": {"FactualHallucinationValidator": {"enabled": False}}}

    assert not Guard(off).verify(FERRY).verified
    assert not Guard(off, validators=[Plain()]).verify(FERRY).verified
    assert Guard(off, validators=[Judging()]).verify(FERRY).verified


def test_a_finding_cannot_declare_what_its_validator_does_not() -> None:
    """The chain fills in what the class says."""

    @dataclass(frozen=True)
    class Boaster:
        name: ClassVar[str] = "Boaster"

        def run(self, evidence: Evidence) -> Finding:
            return Finding("Boaster", "passed", judges_claims=True)

    off = {**EXACT, "validators": {"FactualHallucinationValidator": {"enabled": False}}}

    assert not Guard(off, validators=[Boaster()]).verify(FERRY).verified


def test_a_validator_of_the_question_runs_in_a_precheck() -> None:
    """And one of the draft does not."""
    guard = Guard(EXACT, validators=[Asking(), Plain()])
    asked = {key: value for key, value in FERRY.items() if key != "draft_answer"}

    assert "Asking" in outcomes(guard, asked)
    assert "Plain" not in outcomes(guard, asked)
    assert {"Asking", "Plain"} <= outcomes(guard).keys()


def test_what_a_class_leaves_out_has_the_defaults() -> None:
    """A foreign class that declares nothing judges drafts, is hard, and is nothing special."""
    what = declared(Plain())

    assert (what.name, what.stage, what.gate, what.foreign) == ("Plain", "draft", Gate.HARD, True)
    assert not any((what.early_exit, what.runs_always, what.whole_answer, what.judges_claims, what.idle))


def strings(tree: ast.AST) -> set[str]:
    """The texts that an expression compares or looks for."""
    return {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


# A policy has sections that stand for a validator, calibration sets the parameters of three, and a figure of the weekly samples is
# about citations: they name validators as policies and records do.
NAME_SETTINGS = {"policy/model.py", "evaluation/calibration/thresholds.py", "evaluation/rollout/weeks.py"}


def names_or_messages(path: Path) -> list[str]:
    """What a module does that only what is declared may decide."""
    tree, where = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(SOURCE).as_posix()
    nodes = list(ast.walk(tree))
    compared = [n for n in nodes if isinstance(n, ast.Compare)]
    prefixed = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "startswith"]
    stored = [
        n for n in nodes
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and getattr(n.value, "attr", "") == "__dict__"
    ]  # fmt: skip
    found = {
        "compares a validator's name": where not in NAME_SETTINGS and any(strings(n) & set(BUILT_IN) for n in compared),
        "looks how a detail begins": any(text.startswith("not run") for n in prefixed for text in strings(n)),
        "sets an attribute behind another's back": bool(stored) and where != "lazy.py",
    }
    return [f"{where} {what}" for what, does in found.items() if does]


def test_nothing_is_decided_by_a_name_or_a_message() -> None:
    """No comparison with a validator's name, none with the beginning of a detail, no attribute of another object set behind its back."""
    paths = sorted(SOURCE.rglob("*.py"))

    assert len(paths) > len(BUILT_IN)
    assert [found for path in paths for found in names_or_messages(path)] == []


def test_a_module_that_decides_by_a_name_or_a_message_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each of the three."""
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    written = tmp_path / "sneaky.py"
    written.write_text(
        "def decide(f, other):\n"
        "    other.__dict__['seen'] = True\n"
        "    return f.validator == 'EthicsAdapter' or f.detail.startswith('not run: ')\n",
        encoding="utf-8",
    )

    assert names_or_messages(written) == [
        "sneaky.py compares a validator's name",
        "sneaky.py looks how a detail begins",
        "sneaky.py sets an attribute behind another's back",
    ]
