"""What was decided lately, counted inside the database from its indexes: by day, by reason, and how long the newest verdicts took."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from stillme.audit.chain.record import from_word, instant
from stillme.audit.store import AuditStore
from stillme.errors import InputError
from stillme.storage.audit.database import REASON, RECORD

__all__ = ["MOST_DAYS", "Day", "Traffic", "traffic_of"]

MOST_DAYS: Final = 92
# How many of the newest verdicts the figures of time rest on.
NEWEST: Final = 500


@dataclass(frozen=True, slots=True)
class Day:
    """The verdicts of one day in UTC, by decision."""

    day: str
    decisions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was decided in some days; `times_ms` are the 50th and 95th percentile of the newest `timed` verdicts.

    `by_model` is how many of the `judged` claims among these a model had to decide, the others being clear by rules.
    """

    since: str
    until: str
    days: tuple[Day, ...]
    reasons: tuple[tuple[str, int], ...]
    total: int
    times_ms: tuple[float, float] | None
    timed: int
    judged: int
    by_model: int


def traffic_of(store: AuditStore, now: datetime, days: int) -> Traffic:
    """Count the last days, today among them."""
    if not 1 <= days <= MOST_DAYS:
        raise InputError(f"days must be from 1 to {MOST_DAYS}, got {days}")
    store.prepare()
    first = (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    since, until = instant(first), instant(now + timedelta(minutes=1))
    named = [(first + timedelta(days=n)).date().isoformat() for n in range(days)]
    counted = _by_day(store, since, until)
    found = tuple(Day(day, dict(counted.get(day, {}))) for day in named)
    times, judged, by_model = _newest(store, since, until)
    return Traffic(
        since,
        until,
        found,
        tuple(_reasons(store, since, until).most_common()),
        sum(sum(day.decisions.values()) for day in found),
        (_percentile(times, 0.5), _percentile(times, 0.95)) if times else None,
        len(times),
        judged,
        by_model,
    )


def _by_day(store: AuditStore, since: str, until: str) -> dict[str, Counter[str]]:
    sql = (
        f"SELECT substr(at, 1, 10), decision, count(*) FROM {RECORD} "  # noqa: S608  (names of ours)
        "WHERE kind = 'verdict' AND at >= ? AND at < ? GROUP BY substr(at, 1, 10), decision"
    )
    found: dict[str, Counter[str]] = {}
    for day, decision, number in store.database.rows(sql, [since, until]):
        found.setdefault(day, Counter())[decision] += number
    return found


def _reasons(store: AuditStore, since: str, until: str) -> Counter[str]:
    sql = f"SELECT code, count(*) FROM {REASON} WHERE at >= ? AND at < ? GROUP BY code ORDER BY code"  # noqa: S608
    found = store.database.rows(sql, [since, until])
    return Counter({from_word(code): number for code, number in found if " " not in code})  # labels have a space


def _newest(store: AuditStore, since: str, until: str) -> tuple[list[float], int, int]:
    sql = (
        f"SELECT meta FROM {RECORD} WHERE kind = 'verdict' AND at >= ? AND at < ? "  # noqa: S608
        f"ORDER BY at DESC, seq DESC LIMIT {NEWEST}"
    )
    times: list[float] = []
    judged = by_model = 0
    for (text,) in store.database.rows(sql, [since, until]):
        meta = json.loads(text)
        times.append(float(meta["metrics"]["elapsed_ms"]))
        deciders = [claim[4] for claim in meta["claims"] if claim[4]]
        judged += len(deciders)
        by_model += sum(str(decider).startswith("model") for decider in deciders)
    return sorted(times), judged, by_model


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
