"""The codes of reasons: each is written once, and says what a hard finding asks for."""

from __future__ import annotations

import re

import pytest

from stillme.reasons import WEAK_EVIDENCE, Decision, Reason, asked_by


def test_codes_are_words_joined_by_underscores_and_each_is_there_once() -> None:
    codes = [reason.value for reason in Reason]

    assert [code for code in codes if not re.fullmatch("[a-z]+(_[a-z]+)*", code)] == []
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(
    ("code", "decision"),
    [
        pytest.param(Reason.AMBIGUOUS_QUERY, Decision.ASK_CLARIFY, id="a question that may mean two things is asked back"),
        pytest.param(Reason.CONTEXT_CONFLICT, Decision.ASK_CLARIFY, id="sources that disagree are asked about"),
        pytest.param(Reason.CONTRADICTED_CLAIM, Decision.REFUSE, id="a contradicted claim is refused"),
        pytest.param("a_code_of_a_plugin", Decision.REFUSE, id="a code of another package is refused"),
    ],
)  # fmt: skip
def test_what_a_hard_finding_asks_for(code: str, decision: Decision) -> None:
    assert asked_by(code) is decision


def test_weak_evidence_never_asks_back() -> None:
    assert {asked_by(code) for code in WEAK_EVIDENCE} == {Decision.REFUSE}
