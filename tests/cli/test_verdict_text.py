"""The exit code of a verdict, and what goes to stderr."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from stillme.cli.printing import Exit
from stillme.cli.verdict_text import exit_code
from stillme.contract import FindingRecord, Metrics, Verdict
from stillme.reasons import Decision, Gate


def verdict(decision: str, *, verified: bool = True, reasons: tuple[str, ...] = (), **finding: Any) -> Verdict:
    """A verdict with that decision and, if anything is said of one, one finding."""
    record = {"validator": "EthicsAdapter", "stage": "draft", **finding}
    return Verdict(
        request_id="r",
        decision=Decision(decision),
        mode="monitor",
        action="deliver",
        source_required=False,
        confidence_band="low",
        reasons=list(reasons),
        validator_trace_id=None,
        citations=[],
        safe_response=None,
        metrics=Metrics(max_similarity=None, context_count=0),
        claims=[],
        findings=[FindingRecord(**record)] if finding else [],
        conflicts=[],
        verified=verified,
        language="en",
        as_of=datetime(2026, 2, 1, tzinfo=UTC),
        policy_hash="",
        model_id="",
        version="",
        calibrated=False,
    )


ERRORED: dict[str, Any] = {"outcome": "errored", "reason": "validator_error", "gate": Gate.HARD}
SOFT: dict[str, Any] = {**ERRORED, "gate": Gate.SOFT}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param(verdict("answer"), Exit.ANSWER, id="an answer"),
        pytest.param(verdict("refuse"), Exit.REFUSE, id="a refusal"),
        pytest.param(verdict("ask_clarify"), Exit.ASK_CLARIFY, id="a question back"),
        pytest.param(verdict("answer", verified=False), Exit.NOT_VERIFIED, id="an answer that nothing verified"),
        pytest.param(verdict("answer", **SOFT), Exit.ANSWER, id="a soft gate that errored changes nothing"),
        pytest.param(verdict("refuse", verified=False, **ERRORED), Exit.NOT_VERIFIED, id="a hard gate that errored"),
        pytest.param(
            verdict("refuse", verified=False, reasons=("validator_error",)),
            Exit.NOT_VERIFIED,
            id="a hard gate that errored where the policy hides findings",
        ),
        pytest.param(
            verdict("refuse", verified=False, outcome="flagged", reason="language_mismatch", gate=Gate.HARD),
            Exit.REFUSE,
            id="a refusal that left claims unjudged is a refusal",
        ),
    ],
)
def test_the_exit_code_of_a_verdict(given: Verdict, code: Exit) -> None:
    assert exit_code(given) is code
