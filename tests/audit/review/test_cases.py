"""A record is shown with what belongs to it: texts as far as they are kept, reviews, and its place in the chain."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Body, Entry, instant
from stillme.audit.chain.seals import HmacKey, Keyring
from stillme.audit.retention import erase, prune
from stillme.audit.review.cases import (
    altered,
    case_of,
    facts_of,
    request_of,
    reviews_of,
    standing_of,
    text_words,
    verdict_of,
)
from stillme.errors import InputError
from stillme.guard import Occurrence
from stillme.pages.packet import packet
from stillme.policy.sections import Retention
from stillme.storage.audit.database import BODY, RECORD
from tests.audit.conftest import KEY, QUESTION, occurrence

RING = Keyring((KEY,))
HASHED, BARE = {"audit": {"content": "hashed"}}, {"audit": {"content": "none"}}
VIETNAMESE = {"query": "Đổi trả trong bao lâu?", "metadata": {"language": "vi"}}


def recorded(store: AuditStore, policy: Any = None, **changes: Any) -> Occurrence:
    made = occurrence(policy, **changes)
    store.record([made])
    return made


def review(trace: str, label: str, note: str = "") -> Entry:
    body = Body.of(f'{{"note":"{note}"}}') if note else None
    kept = {"body": body, "body_digest": body.digest if body else None}
    return Entry("review", f"review-{label}", instant(), "{}", ref=trace, label=label, caller="Lan", **kept)  # type: ignore[arg-type]


def test_a_kept_verdict_comes_back_as_it_was(store: AuditStore) -> None:
    """Request and verdict are read back as models, equal to what was recorded."""
    made = recorded(store)
    entry = store.find(str(made.verdict.validator_trace_id)).entry

    assert entry is not None
    assert verdict_of(entry) == type(made.verdict).model_validate(made.verdict.model_dump())
    assert request_of(entry) == made.request


@pytest.mark.parametrize(
    ("policy", "changes", "words"),
    [
        pytest.param(HASHED, {}, "Only salted hashes of the texts were kept: audit.content was hashed.", id="hashes"),
        pytest.param(BARE, {}, "The texts were not kept: audit.content was none.", id="nothing"),
        pytest.param(BARE, VIETNAMESE, "Văn bản không được lưu: audit.content là none.", id="nothing, in Vietnamese"),
    ],
)
def test_a_verdict_without_texts_says_so_and_makes_none_up(
    store: AuditStore, policy: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    """The packet has the decision and the hashes, and a notice instead of the texts."""
    made = recorded(store, policy, **changes)
    record = store.find(str(made.verdict.validator_trace_id))

    case = case_of(store, record, RING)

    assert (case.request, case.notice) == (None, words)
    assert record.entry is not None
    assert request_of(record.entry) is None
    assert [claim.text for claim in verdict_of(record.entry).claims] == [""] * len(made.verdict.claims)
    assert "sha256:" not in packet(case)


def test_a_redacted_verdict_shows_what_is_left_and_says_that_it_is_not_all(store: AuditStore) -> None:
    """Blanked places stay where they were, so that the page still fits."""
    pytest.importorskip("stillme.redaction")
    policy = {"audit": {"redact": {"email": True}}}
    made = recorded(store, policy, query="How long do I have? Write to lan@example.com.")
    record = store.find(str(made.verdict.validator_trace_id))

    case = case_of(store, record, RING)

    assert case.request is not None
    assert case.request.query.startswith("How long do I have? Write to █")
    assert case.notice == "Parts of the texts were blanked (█) before they were kept: audit.redact."
    assert "lan@example.com" not in packet(case)


def test_lost_texts_name_what_took_them(store: AuditStore) -> None:
    """An erasure names who asked and why, retention its day."""
    erased, expired = (str(recorded(store).verdict.validator_trace_id) for _ in range(2))
    erase(store, Filter(id=erased), who="Lan", why="request 17")
    day = f"{occurrence().at:%Y-%m-%d}"
    prune(store, Retention.model_validate({"verdict": {"text_days": 1}}), occurrence().at + timedelta(days=3))

    words = [text_words(store, store.find(name), language) for name in (erased, expired) for language in ("en", "vi")]

    assert words == [
        f"The texts are gone: erased on {day}, asked for by Lan: request 17.",
        f"Văn bản không còn: đã xóa ngày {day} theo yêu cầu của Lan: request 17.",
        f"The texts are gone: removed by retention on {day}.",
        f"Văn bản không còn: đã hết thời hạn lưu ngày {day}.",
    ]


def test_reviews_come_in_their_order_with_their_notes(store: AuditStore) -> None:
    """A note that was erased with the verdict says so."""
    trace = str(recorded(store).verdict.validator_trace_id)
    store.add([review(trace, "correct"), review(trace, "unclear", "không rõ")])

    before = [(line.label, line.who, line.note) for line in reviews_of(store, trace)]
    erase(store, Filter(id=trace), who="Lan", why="a request")
    after = [line.note for line in reviews_of(store, trace)]

    assert before == [("correct", "Lan", ""), ("unclear", "Lan", "không rõ")]
    assert after[0] == ""
    assert after[1].startswith("The texts are gone: erased on ")


def test_a_record_stands_between_its_neighbours_and_under_a_seal(store: AuditStore) -> None:
    """The seal that covers it may stand on a later record of the same commit."""
    store.record([occurrence(), occurrence(), occurrence()])
    record = next(found for found in store.records() if found.seq == 3)

    standing = standing_of(store, record, RING)

    assert (standing.sealed_by, standing.seal_state, standing.fault) == (4, "good", None)
    assert standing.before == next(found.hash for found in store.records() if found.seq == 2)
    assert standing_of(store, record, Keyring()).seal_state == "not checked: no key was given"
    assert standing_of(store, record, Keyring((HmacKey(b"x" * 32),))).seal_state == "unknown key"
    assert dict(facts_of(store, record, standing))["seq"] == "3"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param((RECORD, "action", "block", 3), "its content is not", id="edited"),
        pytest.param((BODY, "text", "{}", 3), "its texts are not what they were", id="texts edited"),
        pytest.param((RECORD, "hash", "0", 2), "does not follow", id="the one before it edited"),
        pytest.param((RECORD, "hash", "0", 4), "does not follow", id="the one after it edited"),
    ],
)
def test_a_changed_record_has_a_fault(store: AuditStore, change: tuple[str, str, str, int], problem: str) -> None:
    """Its own content and its links up to the seal are looked at."""
    table, column, value, seq = change
    store.record([occurrence(), occurrence(), occurrence()])
    sql = f"UPDATE {table} SET {column} = ? WHERE seq = ?"  # noqa: S608  (names of ours)
    store.database.write(lambda writing: writing.rows(sql, [value, seq]))
    record = next(found for found in store.records() if found.seq == 3)

    fault = standing_of(store, record, RING).fault

    assert fault is not None
    assert problem in fault.problem
    assert (altered(record) is not None) == ("follow" not in problem)


def test_only_a_verdict_has_a_packet(store: AuditStore) -> None:
    """Other records are told what they are."""
    first = next(iter(store.records()))

    with pytest.raises(InputError, match="record 1 is a store: an evidence packet is of a verdict"):
        case_of(store, first, RING)


def test_a_whole_packet_holds_question_policy_reviews_and_hashes(store: AuditStore) -> None:
    """What an incident review attaches."""
    made = recorded(store)
    trace = str(made.verdict.validator_trace_id)
    store.add([review(trace, "correct", "seen")])
    record = store.find(trace)

    page = packet(case_of(store, record, RING))

    assert all(word in page for word in (QUESTION, trace, record.hash, "seen", "content: full"))
