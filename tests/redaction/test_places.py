"""Offsets of a blanked record still point at what they said."""

from __future__ import annotations

import json

from stillme import Guard
from stillme.redaction import BLANK, Redacted, Redactor
from tests.redaction.support import EVERYTHING, REQUEST


def test_claims_still_stand_where_they_say() -> None:
    """The text of a claim is the part of the draft between its offsets, before and after."""
    verdict = json.loads(Guard().verify(REQUEST).model_dump_json())

    redacted = EVERYTHING.record({"request": REQUEST, "verdict": verdict}).value

    draft = redacted["request"]["draft_answer"]
    assert [c["text"] for c in redacted["verdict"]["claims"]] == [
        draft[c["start"] : c["end"]] for c in verdict["claims"]
    ]
    assert BLANK in draft


def test_findings_may_be_sentences_alone() -> None:
    """A body that keeps only the texts of a verdict is redacted by the same rules."""
    record = {
        "request": {"query": "a.b@mailhost.vn"},
        "findings": ["not in the context: mailhost", None],
        "claims": [{"quote": "b@mailhost.vn"}],
    }

    assert Redactor.of({"email": True}).record(record) == Redacted(
        {
            "request": {"query": "███████████████"},
            "findings": ["not in the context: ████████", None],
            "claims": [{"quote": "█████████████"}],
        },
        places=3,
    )
