"""What a validator declares of itself, and the findings that it gives."""

from __future__ import annotations

from stillme.reasons import Gate, Reason
from stillme.validators.base import declared
from stillme.validators.citation_required import CitationRequired


class Foreign:
    """A validator of another package that declares nothing but its name."""

    name = "Foreign"


def test_findings_carry_the_name_and_the_gate_of_their_validator() -> None:
    """Passed, skipped, flagged and errored are states of their own."""
    validator = CitationRequired()
    findings = [
        validator.passed(),
        validator.skipped("no factual claims"),
        validator.flagged(Reason.CITATION_MISSING, "1 of 1 claims cite no source"),
        validator.errored("it crashed"),
    ]

    assert [f.outcome for f in findings] == ["passed", "skipped", "flagged", "errored"]
    assert {f.validator for f in findings} == {"CitationRequired"}
    assert {f.gate for f in findings} == {Gate.HARD}


def test_what_a_class_declares_is_read_once_for_all_who_run_it() -> None:
    """A class of another package that names no reason is taken to be one that blocks."""
    ours, foreign = declared(CitationRequired()), declared(Foreign())

    assert (ours.name, ours.stage, ours.gate, ours.foreign) == ("CitationRequired", "draft", Gate.HARD, False)
    assert (foreign.name, foreign.stage, foreign.gate, foreign.foreign) == ("Foreign", "draft", Gate.HARD, True)
