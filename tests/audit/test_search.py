"""Lists of verdicts: every filter, page after page, on both engines, from indexes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

import pytest

from stillme.audit import AuditStore, signatures
from stillme.audit import search as searching
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import Record
from stillme.audit.content import entry_of
from stillme.audit.query import Filter
from stillme.audit.retention import erase, prune
from stillme.audit.review.reviews import review
from stillme.audit.search import Search, labels_of, search
from stillme.audit.signatures import Signing
from stillme.errors import InputError
from stillme.guard import Occurrence
from stillme.policy.sections import Retention
from stillme.storage.audit import database
from stillme.storage.audit.database import REASON, SIGNATURE
from tests.audit.conftest import NewStore, occurrence

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def copy(given: Occurrence, number: int, **columns: str) -> Occurrence:
    """The same verdict as another record, a minute later for each number."""
    verdict = given.verdict.model_copy(update={"validator_trace_id": f"trace-{number:04}", **columns})
    return replace(given, verdict=verdict, at=NOON + timedelta(minutes=number))


@pytest.fixture
def filled(store: AuditStore) -> AuditStore:
    """Twelve verdicts: answers and refusals in turn, the last one in Vietnamese and by another caller."""
    right = occurrence()
    wrong = occurrence(draft_answer="Unused gear can be returned within 90 days of delivery [1].")
    rows = [copy(wrong if n % 2 else right, n) for n in range(11)]
    store.record([*rows, replace(copy(right, 11, language="vi"), caller="key:branch")])
    return store


def traces(store: AuditStore, **wanted: str) -> list[int]:
    """The numbers of the verdicts that a search finds, the newest first."""
    found = search(store, Search(**wanted), clock=lambda: 0.0).records
    return [int(record.entry.id.removeprefix("trace-")) for record in found]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        pytest.param({}, list(range(11, -1, -1)), id="without a filter everything, the newest first"),
        pytest.param({"decision": "refuse"}, [9, 7, 5, 3, 1], id="by decision"),
        pytest.param({"reason": "contradicted_claim"}, [9, 7, 5, 3, 1], id="by reason"),
        pytest.param(
            {"reason": "contradicted_claim", "since": "2026-03-01T12:04:00Z"}, [9, 7, 5], id="by reason and time"
        ),
        pytest.param({"language": "vi"}, [11], id="by language"),
        pytest.param({"caller": "key:branch"}, [11], id="by caller"),
        pytest.param({"mode": "enforce"}, [], id="by mode"),
        pytest.param({"since": "2026-03-01T12:03:00Z", "until": "2026-03-01T12:05:00Z"}, [4, 3], id="by time"),
        pytest.param({"text": "90 DAYS"}, [9, 7, 5, 3, 1], id="by text, whatever the case"),
        pytest.param({"label": "unreviewed", "decision": "refuse"}, [9, 7, 5, 3, 1], id="by what nobody reviewed"),
        pytest.param({"reason": "nothing' OR 1=1 --"}, [], id="a hostile filter is only a text"),
    ],
)
def test_each_filter_finds_what_it_names(filled: AuditStore, wanted: dict[str, str], numbers: list[int]) -> None:
    """In the order of time."""
    assert traces(filled, **wanted) == numbers


def test_a_label_finds_what_was_given_it(filled: AuditStore) -> None:
    """And the list shows the labels of each."""
    review(filled, "trace-0003", "false_refusal", "Lan")
    review(filled, "trace-0003", "correct", "Minh")

    assert traces(filled, label="false_refusal") == [3]
    assert traces(filled, label="unreviewed", decision="refuse") == [9, 7, 5, 1]
    assert labels_of(filled, ["trace-0003", "trace-0004"]) == {
        "trace-0003": ["false_refusal", "correct"],
        "trace-0004": [],
    }


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("wanted", [{}, {"decision": "refuse"}, {"reason": "contradicted_claim"}, {"text": "gear"}])
def test_pages_together_are_the_whole_list(filled: AuditStore, order: searching.Order, wanted: dict[str, str]) -> None:
    """Each verdict once, in order, whatever the size of a page; new records do not move what was seen."""
    whole = [record.seq for record in search(filled, Search(**wanted), order=order, most=200).records]
    seen: list[int] = []
    after = None
    while True:
        page = search(filled, Search(**wanted), order=order, after=after, most=2)
        seen += [record.seq for record in page.records]
        after = page.next
        if after is None:
            break

    assert seen == whole
    assert len(whole) in (12, 5)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four records."""
    monkeypatch.setattr(signatures, "BLOCK", 4)
    monkeypatch.setattr(searching, "BLOCK", 4)
    monkeypatch.setattr(searching, "LEAST_READ", 1)


@pytest.mark.usefixtures("small_blocks")
def test_a_search_for_a_text_stops_when_its_time_is_over_and_says_where(filled: AuditStore) -> None:
    """The next page goes on from there; nothing is passed over."""
    first = search(filled, Search(text="12,000 words that nobody wrote"), clock=count(0.0, 1.0).__next__)

    assert first.records == ()
    assert first.searched_to == "2026-03-01T12:10:00.000000Z"
    assert (
        search(filled, Search(text="90 days"), after=first.next, clock=lambda: 0.0).records[0].entry.id == "trace-0009"
    )


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"text": "90 days"}, id="a text"),
        pytest.param({"text": "UNUSED, Gear"}, id="whatever the case and the signs between"),
        pytest.param({"text": "gear", "decision": "refuse"}, id="and a value"),
        pytest.param(
            {"text": "gear", "since": "2026-03-01T12:05:00Z", "until": "2026-03-01T12:09:00Z"}, id="and a time"
        ),
        pytest.param({"text": "nobody wrote this"}, id="nowhere"),
        pytest.param({"min_score": 0.9}, id="a high score"),
        pytest.param({"max_score": 0.5}, id="a low score"),
    ],
)
def test_signatures_change_nothing_but_what_is_read(
    filled: AuditStore, wanted: dict[str, Any], order: searching.Order
) -> None:
    """The same verdicts in the same order, before and after, a page at a time too."""
    before = [record.seq for record in search(filled, Search(**wanted), order=order, clock=lambda: 0.0).records]
    made = Signing(filled).make()
    after: list[int] = []
    place = None
    while True:
        page = search(filled, Search(**wanted), order=order, after=place, most=2, clock=count(0.0, 1.0).__next__)
        after += [record.seq for record in page.records]
        place = page.next
        if place is None:
            break

    assert made == 3
    assert after == before


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("ends", [[0.0], [0.0, 1.0]], ids=["in one go", "a stretch at a time"])
@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"decision": "refuse", "reason": "contradicted_claim"}, id="a value and a reason"),
        pytest.param({"decision": "answer", "reason": "contradicted_claim"}, id="what never meets"),
        pytest.param({"decision": "answer", "language": "vi", "caller": "key:branch"}, id="three values"),
        pytest.param({"label": "unreviewed", "decision": "refuse"}, id="a value without a review"),
        pytest.param({"decision": "refuse", "mode": "monitor", "since": "2026-03-01T12:04:00Z"}, id="and a time"),
    ],
)
def test_filters_that_have_to_meet_find_what_each_of_them_finds(
    filled: AuditStore,
    monkeypatch: pytest.MonkeyPatch,
    wanted: dict[str, Any],
    order: searching.Order,
    ends: list[float],
) -> None:
    """Whether the time is over after every stretch or never: nothing is passed over and nothing comes twice."""
    monkeypatch.setattr(searching, "PART_FIRST", 2)
    monkeypatch.setattr(searching, "PART_MOST", 3)
    times = {name: wanted[name] for name in ("since",) if name in wanted}
    alone = [
        [record.seq for record in search(filled, Search(**{name: value}, **times), order=order).records]
        for name, value in wanted.items()
        if name not in times
    ]
    found: list[int] = []
    place = None
    while True:
        page = search(filled, Search(**wanted), order=order, after=place, most=2, clock=cycle(ends).__next__)
        found += [record.seq for record in page.records]
        place = page.next
        assert len(page.records) == 2 or bool(page.searched_to) is bool(place)
        if place is None:
            break

    assert found == [seq for seq in alone[0] if all(seq in each for each in alone)]


@pytest.mark.usefixtures("small_blocks")
def test_a_block_that_cannot_hold_a_text_is_not_read(filled: AuditStore) -> None:
    """Only the one that has no signature yet may."""
    Signing(filled).make()

    assert signatures.candidates(filled, ["zebra"], 0, 3) == {3}
    assert signatures.candidates(filled, ["gear"], 0, 3) == {0, 1, 2, 3}
    assert signatures.candidates(filled, ["caller=key:branch"], 0, 2) == set()
    assert signatures.candidates(filled, [], 0, 2, since="2026-03-01T12:08:00Z") == {2}


@pytest.mark.parametrize(
    ("said", "word"),
    [
        pytest.param("first line\nsecond line", "second", id="behind a line break"),
        pytest.param('a "quoted" word', "quoted", id="in quotes"),
        pytest.param("C:\\new\\table", "new", id="behind a backslash"),
        pytest.param("tab\there", "here", id="behind a tab"),
        pytest.param("bell\u0007ring", "ring", id="behind a control character"),
        pytest.param("PHÍ RÚT TIỀN", "rut", id="with accents, in capitals"),
        pytest.param("Đường dây nóng", "duong", id="with a letter of Vietnamese"),
    ],
)
def test_a_word_is_in_the_signature_wherever_it_stands(said: str, word: str) -> None:
    """However JSON writes it."""
    entry = entry_of(occurrence(query=said))

    assert word in signatures.tokens_of(Record(1, entry, "", ""))


@pytest.mark.usefixtures("small_blocks")
def test_what_is_erased_is_in_no_signature(filled: AuditStore) -> None:
    """It goes in the same transaction, and a new one is made from what is left; the chain holds."""
    Signing(filled).make()
    erase(filled, Filter(id="trace-0005"), who="the customer", why="asked for it")
    gone = filled.database.rows(f"SELECT block FROM {SIGNATURE} ORDER BY block")  # noqa: S608
    Signing(filled).make()

    assert [row[0] for row in gone] == [0, 2]
    assert 5 not in traces(filled, text="90 days")
    assert verify_store(filled).fault is None


@pytest.mark.usefixtures("small_blocks")
def test_a_signature_that_was_made_while_a_text_was_erased_is_not_kept(filled: AuditStore) -> None:
    """It would tell of words that are gone."""
    stale = Signing(filled)._signed(1)
    erase(filled, Filter(id="trace-0005"), who="the customer", why="asked for it")
    filled.database.write(lambda writing: signatures._put(writing, [stale]))

    assert filled.database.rows(f"SELECT block FROM {SIGNATURE}") == []  # noqa: S608


def test_a_label_that_two_reviewers_gave_lists_its_verdict_once(filled: AuditStore) -> None:
    """Together with a reason and a time, too."""
    for who in ("Lan", "Minh"):
        review(filled, "trace-0003", "false_refusal", who)
    review(filled, "trace-0005", "false_refusal", "Lan")

    assert traces(filled, label="false_refusal") == [5, 3]
    assert traces(filled, label="false_refusal", reason="contradicted_claim", until="2026-03-01T12:04:00Z") == [3]
    assert traces(filled, label="correct") == []


@pytest.mark.parametrize(
    ("wanted", "options", "words"),
    [
        pytest.param({"label": "corect"}, {}, "'corect' is no label", id="a label that there is not"),
        pytest.param({"since": "soon"}, {}, "'soon' is no point in time", id="a time that is none"),
        pytest.param({}, {"after": "x"}, "no place in a list", id="a place that is none"),
        pytest.param({}, {"most": 0}, "limit must be from 1 to 200, got 0", id="a page of nothing"),
    ],
)
def test_a_bad_search_says_what_is_wrong(
    store: AuditStore, wanted: dict[str, str], options: dict[str, Any], words: str
) -> None:
    """With the value and the way out."""
    with pytest.raises(InputError, match=words):
        search(store, Search(**wanted), **options)


def test_what_retention_removes_is_gone_from_the_index_of_reasons(filled: AuditStore) -> None:
    """No code of a verdict outlives it."""
    rule = Retention.model_validate({"verdict": {"days": 1}})

    prune(filled, rule, NOON + timedelta(days=30))

    assert filled.database.rows(f"SELECT count(*) FROM {REASON}")[0][0] == 0  # noqa: S608
    assert traces(filled, reason="contradicted_claim") == []


def test_a_store_of_the_first_schema_is_upgraded_with_its_reasons(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that were there before the index are found by it."""
    first = [step for step in database.migrations() if step[0] == 1]
    wrong = occurrence(draft_answer="Unused gear can be returned within 90 days of delivery [1].")
    with monkeypatch.context() as patch:
        patch.setattr(database, "migrations", lambda: first)
        patch.setattr("stillme.audit.store.add_reasons", lambda *_: None)
        new_store().record([copy(wrong, n) for n in range(3)])

    upgraded = new_store()

    assert traces(upgraded, reason="contradicted_claim") == [2, 1, 0]
    assert database.is_current(upgraded.database)


def test_every_filter_is_answered_from_an_index(filled: AuditStore) -> None:
    """SQLite's own plan names an index and sorts nothing."""
    if "://" in filled.where:
        pytest.skip("the plan of SQLite")
    for wanted in (
        {},
        {"decision": "refuse"},
        {"mode": "warn"},
        {"language": "vi"},
        {"band": "low"},
        {"caller": "x"},
        {"reason": "y"},
    ):
        sql, values = searching._query(Search(**wanted), "newest", ("2026-03-01T12:07:00.000000Z", 7))
        plan = " ".join(str(row[3]) for row in filled.database.rows(f"EXPLAIN QUERY PLAN {sql} LIMIT 51", values))
        assert "USING INDEX stillme_audit_" in plan or "COVERING INDEX stillme_audit_" in plan, plan
        assert "TEMP B-TREE" not in plan, (wanted, plan)


def test_what_has_to_be_read_is_read_by_its_place(filled: AuditStore) -> None:
    """However much else the caller of a text asked: no index on a value is taken, which would lead through all of it."""
    if "://" in filled.where:
        pytest.skip("the plan of SQLite")
    wanted = Search(text="gear", caller="x", decision="refuse", since="2026-03-01", until="2026-03-02")
    reading = searching._Reading(filled, wanted, "newest", lambda: 0.0)

    rows = filled.database.rows(f"EXPLAIN QUERY PLAN {reading._sql}", [0, 127, *reading._values])

    assert [str(row[3]) for row in rows] == [
        "SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "SEARCH b USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
    ]
