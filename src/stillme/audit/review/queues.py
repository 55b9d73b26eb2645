"""What waits for a reviewer: queues of verdicts, given out one at a time, so that no two people get the same one unasked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args
from uuid import uuid4

from stillme.audit.chain.record import Body, Entry, compact, instant, storable
from stillme.audit.query import Filter
from stillme.audit.review.agreement import agreement
from stillme.audit.review.listing import candidates, reviews
from stillme.audit.review.sampling import draw, week_bounds, week_of
from stillme.audit.store import AuditStore
from stillme.errors import InputError, shown
from stillme.storage.audit.database import ASSIGNMENT, RECORD, Writing
from stillme.version import __version__

__all__ = ["QUEUES", "Progress", "Queue", "appeal", "hand_out", "latest_week", "progress_of", "queue_of"]

Queue = Literal["sample", "low_margin", "disagreements", "appeals", "second"]
QUEUES: Final[tuple[str, ...]] = get_args(Queue)
QUOTA: Final = 50
# A claim counts as close to the line if its probability of support is this far from one half at most.
CLOSE: Final = 0.25
HELD: Final = timedelta(minutes=30)
"""So long a verdict is kept for whoever got it."""
MOST_NOTE_CHARS: Final = 10_000
# Queues whose verdicts somebody else has labelled already.
OF_OTHERS: Final = frozenset({"disagreements", "second"})


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a queue is done."""

    total: int
    done: int


def latest_week(store: AuditStore, now: datetime) -> str:
    """The last whole week if anything was recorded in it, else the running one."""
    week = week_of(now - timedelta(days=7))
    start, end = map(instant, week_bounds(week))
    sql = f"SELECT 1 FROM {RECORD} WHERE kind = 'verdict' AND at >= ? AND at < ? LIMIT 1"  # noqa: S608  (names of ours)
    store.prepare()
    return week if store.database.rows(sql, [start, end]) else week_of(now)


def queue_of(store: AuditStore, queue: str, week: str) -> list[str]:
    """The traces of a queue in the order to review them; disagreements and appeals are of any week."""
    if queue not in QUEUES:
        raise InputError(f"{shown(queue)} is no queue: {', '.join(QUEUES)}")
    start, end = map(instant, week_bounds(week))
    of_week = Filter(since=start, until=end)
    if queue == "low_margin":
        return _low_margin(store, of_week)
    if queue == "disagreements":
        return _disagreements(store)
    if queue == "appeals":
        return _appeals(store)
    drawn = draw(candidates(store, of_week), seed=week, answers=QUOTA, others=QUOTA)
    return [row.candidate.trace for row in drawn.rows]


def _low_margin(store: AuditStore, wanted: Filter) -> list[str]:
    """Verdicts with a claim that came out close to the line, the closest first."""
    found = []
    for record in store.records(Filter(kind="verdict", since=wanted.since, until=wanted.until), bodies=False):
        if record.entry is not None:
            margin = min(_margins(record.entry), default=1.0)
            if margin <= CLOSE:
                found.append((margin, record.seq, record.entry.id))
    return [trace for _, _, trace in sorted(found)[: 2 * QUOTA]]


def _margins(entry: Entry) -> Iterator[float]:
    for claim in json.loads(entry.meta).get("claims", ()):
        if isinstance(claim[3], float) and claim[2] != "not_factual":
            yield abs(claim[3] - 0.5)


def _disagreements(store: AuditStore) -> list[str]:
    """Verdicts on which reviewers differ and no label has most of them behind it."""
    found = agreement(reviews(store, Filter()))
    return [each.trace for each in found.disagreements if not _has_majority([label for _, label in each.labels])]


def _has_majority(labels: Sequence[str]) -> bool:
    return any(2 * labels.count(label) > len(labels) for label in labels)


def _appeals(store: AuditStore) -> list[str]:
    """Verdicts that somebody appealed against, the first appeal first."""
    sql = f"SELECT ref FROM {RECORD} WHERE kind = 'appeal' AND ref IS NOT NULL ORDER BY seq"  # noqa: S608
    store.prepare()
    return list(dict.fromkeys(row[0] for row in store.database.rows(sql)))


def appeal(store: AuditStore, trace: str, note: str, who: str | None) -> Entry:
    """Record that somebody contests a verdict; the note is kept like a text and can be erased."""
    verdict = store.find(trace).entry
    if verdict is None or verdict.kind != "verdict":
        raise InputError(f"{shown(trace)} is no verdict: appeals are against verdicts")
    if not note.strip() or len(note) > MOST_NOTE_CHARS:
        raise InputError(f"note must have from 1 to {MOST_NOTE_CHARS} characters, got {len(note)}: say what is wrong")
    body = Body.of(compact({"note": storable(note)}))
    entry = Entry(
        kind="appeal",
        id=f"appeal-{uuid4()}",
        at=instant(),
        meta="{}",
        ref=verdict.id,
        caller=storable(who) if who else None,
        version=__version__,
        body_digest=body.digest,
        body=body,
    )
    store.add([entry])
    return entry


# who gets which


def hand_out(
    store: AuditStore,
    queue: str,
    traces: Sequence[str],
    reviewer: str,
    now: datetime,
    skip: Collection[str] = (),
    holder: str | None = None,
) -> str | None:
    """The next trace for a reviewer, kept for a while for them, or for the holder where several go by one name.

    The one they have in hand comes first, so that none is lost.
    """
    keeper = holder or reviewer

    def work(writing: Writing) -> str | None:
        at, until = instant(now), instant(now + HELD)
        named = _reviewers(writing, queue, traces)
        open_ones = _waiting(named, queue, traces, reviewer)
        rows = writing.rows(f"SELECT trace, reviewer FROM {ASSIGNMENT} WHERE until > ?", [at])  # noqa: S608
        held = {trace: who for trace, who in rows if who not in named.get(trace, ())}
        free = [trace for trace in open_ones if trace not in skip and held.get(trace, keeper) == keeper]
        chosen = next((trace for trace in free if trace in held), free[0] if free else None)
        writing.rows(f"DELETE FROM {ASSIGNMENT} WHERE until <= ? OR reviewer = ?", [at, keeper])  # noqa: S608
        if chosen is not None:
            writing.insert(ASSIGNMENT, ("trace", "reviewer", "until"), [(chosen, keeper, until)])
        return chosen

    store.prepare()
    return store.database.write(work)


def progress_of(store: AuditStore, queue: str, traces: Sequence[str]) -> Progress:
    """How many verdicts of a queue are reviewed, by anybody."""
    named = _reviewers(store.database, queue, traces)
    enough = 1 if queue not in OF_OTHERS else 2 if queue == "second" else 3
    done = sum(len(named[trace]) >= enough for trace in traces)
    return Progress(len(traces), done)


def _waiting(named: Mapping[str, set[str]], queue: str, traces: Sequence[str], reviewer: str) -> list[str]:
    if queue == "second":
        return [trace for trace in traces if len(named[trace]) == 1 and reviewer not in named[trace]]
    if queue == "disagreements":
        return [trace for trace in traces if reviewer not in named[trace]]
    return [trace for trace in traces if not named[trace]]


def _reviewers(reading: Any, queue: str, traces: Sequence[str]) -> Mapping[str, set[str]]:
    """Who has labelled each verdict; an appeal is against the labels before it too, so that only later ones answer it."""
    found: dict[str, set[str]] = {trace: set() for trace in traces}
    last_appeal = f"SELECT max(a.seq) FROM {RECORD} a WHERE a.ref = v.ref AND a.kind = 'appeal'"  # noqa: S608
    later = f" AND v.seq > ({last_appeal})" if queue == "appeals" else ""
    for start in range(0, len(traces), 500):
        chunk = list(traces[start : start + 500])
        marks = ",".join("?" * len(chunk))
        sql = f"SELECT v.ref, v.caller FROM {RECORD} v WHERE v.kind = 'review' AND v.ref IN ({marks}){later}"  # noqa: S608
        for trace, who in reading.rows(sql, chunk):
            found[trace].add(who)
    return found
