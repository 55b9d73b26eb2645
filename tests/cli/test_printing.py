"""What commands say does nothing to a terminal, and their codes have an order."""

from __future__ import annotations

import sys

import pytest

from stillme.cli.printing import Exit, complain


def test_the_codes_stand_in_their_order_of_precedence() -> None:
    assert list(Exit)[:8] == [
        Exit.INPUT,
        Exit.POLICY,
        Exit.TAMPERED,
        Exit.DIFFERENT,
        Exit.NOT_VERIFIED,
        Exit.REFUSE,
        Exit.ASK_CLARIFY,
        Exit.ANSWER,
    ]


def test_a_complaint_is_one_line_for_each_problem_and_does_nothing_to_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    complain("in \x1b[31mfile\nline two \u202e")

    assert capsys.readouterr() == ("", "error: in \\x1b[31mfile\nerror: line two \\u202e\n")


def test_a_complaint_without_a_stderr_is_lost_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    complain("nobody hears this")
