"""What a run leaves behind."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from stillme.evaluation.runs.records import CaseRecord, ClaimRecord


def test_unsupported_claims_are_counted_whether_a_claim_of_the_verdict_covers_them_or_not() -> None:
    """Two claims are labelled unsupported, one has no label, and one labelled part stands in no claim."""
    claims = tuple(
        ClaimRecord(start=0, end=1, status="supported", score=0.9, supported=label) for label in (False, False, None)
    )

    assert CaseRecord(id="a", claims=claims, unlabelled_unsupported=1).unsupported == 3


def test_a_record_is_read_as_it_was_written_or_not_at_all() -> None:
    """A key of another version is no record."""
    written = CaseRecord(id="a", error="it crashed").model_dump_json()

    assert CaseRecord.model_validate_json(written).error == "it crashed"
    with pytest.raises(ValidationError):
        CaseRecord.model_validate_json(written.replace('"error"', '"problem"'))
