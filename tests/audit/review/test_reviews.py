"""Labels on verdicts are records of their own: chained, never overwriting, with notes that can be erased."""

from __future__ import annotations

import json

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import verify_store
from stillme.audit.retention import erase
from stillme.audit.review.reviews import LABELS, MOST_NOTE_CHARS, review
from stillme.errors import InputError
from tests.audit.support import trace, verdicts


def test_the_labels() -> None:
    """Those that the reviewers were promised."""
    assert LABELS == ("correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear")


@pytest.mark.parametrize("label", LABELS)
def test_a_review_is_a_record(store: AuditStore, label: str) -> None:
    """It says on what, by whom, when and why, and the chain holds."""
    verdict = verdicts()[0]
    store.record([verdict])

    made = review(store, trace(verdict), label, " Lan ", "Nguồn nói 30 ngày.\nĐúng.")
    kept = store.find(made.id).entry

    assert kept is not None
    assert (kept.kind, kept.ref, kept.label, kept.caller) == ("review", trace(verdict), label, "Lan")
    assert kept.body is not None
    assert json.loads(kept.body.text) == {"note": "Nguồn nói 30 ngày.\nĐúng."}
    assert verify_store(store).ok


def test_a_second_review_stands_beside_the_first(store: AuditStore) -> None:
    """Who changes their mind adds a record."""
    verdict = verdicts()[0]
    store.record([verdict])

    made = [review(store, trace(verdict), label, "lan") for label in ("correct", "unclear", "correct")]

    found = [record.entry for record in store.records(Filter(ref=trace(verdict))) if record.entry]
    assert [(entry.id, entry.label, entry.body) for entry in found] == [(e.id, e.label, None) for e in made]


@pytest.mark.parametrize("note", ["", "  ", "\n"])
def test_a_blank_note_is_no_text(store: AuditStore, note: str) -> None:
    """Nothing is kept of it, so nothing is missing."""
    verdict = verdicts()[0]
    store.record([verdict])

    made = review(store, trace(verdict), "correct", "lan", note)

    assert (made.body, made.body_digest) == (None, None)
    assert verify_store(store).erased == 0


def test_odd_characters_in_names_and_notes(store: AuditStore) -> None:
    """NUL and lone surrogates are written out, on any engine."""
    verdict = verdicts()[0]
    store.record([verdict])

    made = review(store, trace(verdict), "correct", "a\0b\ud800", "x\0\udfff")
    kept = store.find(made.id).entry

    assert kept is not None
    assert kept.caller == "a\\x00b\\ud800"
    assert kept.body is not None
    assert json.loads(kept.body.text) == {"note": "x\\x00\\udfff"}
    assert verify_store(store).ok


def test_a_verdict_is_named_by_its_request_or_the_beginning_of_its_id(store: AuditStore) -> None:
    """The review is kept under the whole id."""
    verdict = verdicts(request_id="call-7")[0]
    store.record([verdict])

    assert review(store, "call-7", "correct", "lan").ref == trace(verdict)
    assert review(store, trace(verdict)[:14], "correct", "lan").ref == trace(verdict)


@pytest.mark.parametrize(
    ("label", "who", "note", "problem"),
    [
        pytest.param("corect", "lan", "", "'corect' is no label: did you mean correct?", id="a label misspelt"),
        pytest.param("zzz", "lan", "", "is no label: correct, false_refusal,", id="a label that is none"),
        pytest.param("", "lan", "", "is no label", id="no label"),
        pytest.param("correct", " ", "", "a review needs a reviewer: say who labels", id="nobody"),
        pytest.param("correct", "lan", "x" * (MOST_NOTE_CHARS + 1), "at most 10000 are kept: shorten it", id="a note too long"),
    ],
)  # fmt: skip
def test_bad_reviews_are_refused(store: AuditStore, label: str, who: str, note: str, problem: str) -> None:
    """Nothing is written."""
    verdict = verdicts()[0]
    store.record([verdict])
    before = store.head()

    with pytest.raises(InputError, match=problem):
        review(store, trace(verdict), label, who, note)

    assert store.head() == before


def test_only_verdicts_are_reviewed(store: AuditStore) -> None:
    """Not reviews, not the first record of a store, not what is not there."""
    verdict = verdicts()[0]
    store.record([verdict])
    made = review(store, trace(verdict), "correct", "lan")

    for name, problem in ((made.id, "is no verdict"), ("store-", "is no verdict"), ("trace-none", "no record begins")):
        with pytest.raises(InputError, match=problem):
            review(store, name, "correct", "lan")


def test_a_verdict_without_texts_can_still_be_reviewed(store: AuditStore) -> None:
    """An erased verdict keeps its decision, and that can be judged."""
    verdict = verdicts()[0]
    store.record([verdict])
    erase(store, Filter(id=trace(verdict)), who="a customer", why="asked")

    made = review(store, trace(verdict), "wrong_reason", "lan", "seen before it was erased")

    assert made.ref == trace(verdict)
    assert verify_store(store).ok
