"""Records are found by everything that is said of them, and by nothing else, the same on both engines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Body, Entry, compact, instant
from stillme.audit.query import PAGE, moment, pages, records
from stillme.audit.retention import prune
from stillme.audit.review.reviews import review
from stillme.errors import InputError
from stillme.policy.sections import Retention
from tests.audit.conftest import KEY, NewStore
from tests.audit.support import VIETNAMESE, again, places, trace, verdicts

__all__ = ["places"]  # a fixture

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(name: str, **values: Any) -> Entry:
    """A verdict with what a filter looks at, and nothing else."""
    said = values.pop("said", None)
    body = Body.of(compact({"request": {"query": said}})) if said is not None else None
    meta = compact({"content": values.pop("content", "full")})
    values = {"kind": "verdict", "at": instant(NOW), "meta": meta, **values}
    return Entry(id=name, body=body, body_digest=body.digest if body else None, **values)


ENTRIES = [
    entry("trace-1", decision="answer", action="deliver", mode="monitor", band="high", verified=1, language="en", domain="shop", session="s_1", caller="teller", request_id="r%1", model="m-1", version="1.0", reasons=" low_context "),
    entry("trace-2", decision="refuse", action="block", mode="enforce", band="low", verified=0, language="vi", domain="Shop", session="s-1", caller="Teller", request_id="r-1", model="m-2", version="2.0", reasons=" low_context_similarity passed "),
    entry("trace-3", at=instant(NOW + timedelta(days=1)), reasons=" LOW_CONTEXT ", said="Hàng đã Đổi TRẢ \"trong\" 30\nngày 100%"),
    entry("trace-4", at=instant(NOW - timedelta(days=1)), reasons=None, said="returned within 30_days"),
    entry("trace-5", content="hashed", said="sha256:abcdef"),
    entry("review-1", kind="review", ref="trace-1", label="correct", meta="{}", caller="minh", session="a\\x00b"),
    entry("trace-6", reasons=" two%20;words ", session="\\ud800"),
]  # fmt: skip


@pytest.fixture(scope="module")
def filled(places: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditStore]:
    """A store with the entries above."""
    store = AuditStore(places("query"), key=KEY, journal=tmp_path_factory.mktemp("query"))
    store.prepare()
    store.add(ENTRIES)
    yield store
    store.close()


def names(store: AuditStore, wanted: Filter) -> list[str]:
    return [record.entry.id for record in store.records(wanted) if record.entry]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param({"kind": "review"}, ["review-1"], id="by kind"),
        pytest.param({"id": "trace-2"}, ["trace-2"], id="by id"),
        pytest.param({"id": "trace-"}, [], id="the beginning of an id is not an id"),
        pytest.param({"ref": "trace-1"}, ["review-1"], id="by what it is about"),
        pytest.param({"label": "correct"}, ["review-1"], id="by label"),
        pytest.param({"decision": "refuse"}, ["trace-2"], id="by decision"),
        pytest.param({"action": "block"}, ["trace-2"], id="by action"),
        pytest.param({"mode": "monitor"}, ["trace-1"], id="by mode"),
        pytest.param({"band": "low"}, ["trace-2"], id="by confidence"),
        pytest.param({"verified": True}, ["trace-1"], id="verified"),
        pytest.param({"verified": False}, ["trace-2"], id="not verified"),
        pytest.param({"language": "vi"}, ["trace-2"], id="by language"),
        pytest.param({"domain": "shop"}, ["trace-1"], id="by domain, in this very spelling"),
        pytest.param({"session": "s_1"}, ["trace-1"], id="by session, where _ is no wildcard"),
        pytest.param({"session": "a\0b"}, ["review-1"], id="by a session with a NUL, as it was stored"),
        pytest.param({"session": "\ud800"}, ["trace-6"], id="by a session with a lone surrogate, as it was stored"),
        pytest.param({"caller": "Teller"}, ["trace-2"], id="by caller"),
        pytest.param({"request_id": "r%1"}, ["trace-1"], id="by request id, where % is no wildcard"),
        pytest.param({"model": "m-1"}, ["trace-1"], id="by model"),
        pytest.param({"version": "2.0"}, ["trace-2"], id="by version"),
        pytest.param({"reason": "low_context"}, ["trace-1"], id="by reason: not those that it begins"),
        pytest.param({"reason": "low_context_similarity"}, ["trace-2"], id="by the first of two reasons"),
        pytest.param({"reason": "passed"}, ["trace-2"], id="by the second of two reasons"),
        pytest.param({"reason": "low_context_similarity passed"}, [], id="two reasons are not one"),
        pytest.param({"reason": "LOW_CONTEXT"}, ["trace-3"], id="capitals count in reasons"),
        pytest.param({"reason": "low%"}, [], id="% is no wildcard in reasons"),
        pytest.param({"reason": "low_contex_"}, [], id="_ is no wildcard in reasons"),
        pytest.param({"reason": "context"}, [], id="a part of a reason"),
        pytest.param({"reason": ""}, [], id="no reason"),
        pytest.param({"reason": "two words"}, ["trace-6"], id="a reason of two words"),
        pytest.param({"since": "2026-03-02"}, ["trace-3"], id="since a day"),
        pytest.param({"since": "2026-03-02T12:00:00Z"}, ["trace-3"], id="since its very moment"),
        pytest.param({"since": "2026-03-02T12:00:00.000001Z"}, [], id="since a moment later"),
        pytest.param({"until": "2026-02-28T12:00:00.000001Z"}, ["trace-4"], id="until a moment later"),
        pytest.param({"until": "2026-02-28T12:00:00Z"}, [], id="until its very moment, which is not included"),
        pytest.param({"until": "2026-02-28T19:00:00.000001+07:00"}, ["trace-4"], id="until a time in Vietnam"),
        pytest.param({"text": "đổi trả"}, ["trace-3"], id="a text, whatever its capitals"),
        pytest.param({"text": "doi tra"}, ["trace-3"], id="a text without its accents"),
        pytest.param({"text": unicodedata.normalize("NFD", "Đổi trả")}, ["trace-3"], id="a text with its accents apart"),
        pytest.param({"text": '"trong" 30\nngày'}, ["trace-3"], id="a text with quotation marks and a line break"),
        pytest.param({"text": "100%"}, ["trace-3"], id="a text with a percent sign"),
        pytest.param({"text": "30_days"}, ["trace-4"], id="a text with an underscore"),
        pytest.param({"text": "30xdays"}, [], id="an underscore is no wildcard in a text"),
        pytest.param({"text": "abcdef"}, [], id="no text in hashes"),
        pytest.param({"text": "query"}, [], id="no text in the names of fields"),
        pytest.param({"decision": "answer", "language": "vi"}, [], id="everything has to hold"),
        pytest.param({"kind": "verdict", "text": "30", "since": "2026-03-01"}, ["trace-3"], id="a text and a time"),
        pytest.param({"session": "'; DROP TABLE stillme_audit_record; --"}, [], id="a value is never SQL"),
    ],
)  # fmt: skip
def test_filters(filled: AuditStore, wanted: dict[str, Any], found: list[str]) -> None:
    """Each filter takes what it says, on both engines alike."""
    chosen = Filter(**{"until": "2026-06-01", **wanted} if "kind" not in wanted else wanted)

    assert [name for name in names(filled, chosen) if not name.startswith("store-")] == found


def test_every_filter_is_tested() -> None:
    """A filter that is added needs a row above."""
    used = {name for mark in test_filters.pytestmark for row in mark.args[1] for name in row.values[0]}

    assert used == {field.name for field in fields(Filter)}


def test_a_filter_on_real_verdicts(store: AuditStore) -> None:
    """What the guard records is found by decision, language, session and text."""
    one, other = verdicts()[0], verdicts("strict", **VIETNAMESE)[0]
    store.record([one, other])

    assert names(store, Filter(language="vi")) == [trace(other)]
    assert names(store, Filter(session="phiên-2")) == [trace(other)]
    assert names(store, Filter(text="TRA HANG")) == [trace(other)]
    assert names(store, Filter(text="unused gear", domain="shop")) == [trace(one)]
    assert names(store, Filter(decision="answer", mode="monitor")) == [trace(one)]


@pytest.mark.parametrize("count", [PAGE - 2, PAGE - 1, PAGE, 2 * PAGE + 1])
def test_pages_leave_nothing_out(new_store: NewStore, count: int) -> None:
    """However many records there are, each comes once, in order."""
    store, one = new_store(), verdicts()[0]
    store.record([again(one) for _ in range(count)])

    found = [record.seq for record in store.records()]

    assert found == list(range(1, count + 2))
    assert [len(page) for page in pages(store.database)][:-1] == [PAGE] * (
        len(found) // PAGE - (len(found) % PAGE == 0)
    )
    assert [r.seq for r in records(store.database, after=3, upto=9, page=2)] == [4, 5, 6, 7, 8, 9]
    assert [r.seq for r in records(store.database, Filter(text="unused gear"), page=3)] == found[1:]


def test_without_bodies_no_text_is_read(store: AuditStore) -> None:
    """A search over decisions does not read the texts, unless one is looked for."""
    store.record(verdicts())

    assert [r.entry.body for r in store.records(Filter(kind="verdict"), bodies=False) if r.entry] == [None]
    assert len(list(store.records(Filter(text="gear"), bodies=False))) == 1


def test_what_retention_removed_is_not_found(store: AuditStore) -> None:
    """A removed record has a place and no content, and no filter takes it."""
    store.record(verdicts())
    old = verdicts(days_ago=400)[0]
    store.record([old])
    review(store, trace(old), "correct", "minh")
    prune(store, Retention.model_validate({"verdict": {"days": 365}}))

    assert names(store, Filter(id=trace(old))) == []
    assert [record.entry for record in store.records() if record.seq == 3] == [None]
    assert names(store, Filter(text="gear")) == names(store, Filter(kind="verdict"))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-02-01", "2026-02-01T00:00:00.000000Z"),
        (" 2026-02-01T09:30 ", "2026-02-01T09:30:00.000000Z"),
        ("2026-02-01T09:30:00+07:00", "2026-02-01T02:30:00.000000Z"),
        ("2026-02-01T02:30:00.000005Z", "2026-02-01T02:30:00.000005Z"),
        ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_days_and_times(given: str, read: str) -> None:
    """A day is its beginning in UTC, and what records write is read as it is."""
    assert moment(given) == read


@pytest.mark.parametrize("given", ["", "yesterday", "2026-02-30", "01/02/2026", "2026", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "\0", "２０２６-02-01x"])  # fmt: skip
def test_bad_days_are_refused(filled: AuditStore, given: str) -> None:
    """It says how to write one; a filter refuses them too, before anything is read."""
    for call in (
        lambda: moment(given),
        lambda: names(filled, Filter(since=given)),
        lambda: names(filled, Filter(until=given)),
    ):
        with pytest.raises(InputError, match="is no point in time: write it like 2026-02-01 or 2026-02-01T09:00:00Z"):
            call()
