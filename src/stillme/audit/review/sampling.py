"""The weekly review sample: all refusals and questions back up to a quota, and answers drawn from every kind of answer.

Answers are stratified by language, confidence band and whether anything was flagged; refusals and questions back by
decision. Each stratum is given at least one place while the quota allows (largest strata first), the rest in proportion to
size, so that a larger quota only adds rows. Within a stratum rows are taken in the order of SHA-256 of seed and trace: the
same seed and the same records give the same sample on any machine, and later records do not change the order of earlier ones.
Every drawn row carries its inclusion probability; a stratum that got no place is listed too, since no weight speaks for it.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Final

from stillme.errors import InputError, nearest, shown
from stillme.reasons import Decision

__all__ = ["Candidate", "Drawn", "Sample", "Stratum", "draw", "week_bounds", "week_of"]

WEEK: Final = re.compile(r"([0-9]{4})-W([0-9]{2})")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A verdict as far as sampling needs it; `flagged`: some validator flagged something."""

    trace: str
    at: str
    decision: str
    language: str
    band: str
    flagged: bool
    domain: str | None = None

    @property
    def stratum(self) -> str:
        """The name of the stratum it is drawn from."""
        if self.decision != Decision.ANSWER:
            return self.decision
        return f"{self.decision}/{self.language}/{self.band}/{'flagged' if self.flagged else 'clean'}"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A kind of verdict: how many there are, and how many of them were drawn."""

    name: str
    size: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A verdict to review, the stratum it was drawn from, and the probability that a verdict of it is drawn."""

    candidate: Candidate
    stratum: str
    stratum_size: int
    probability: float

    @property
    def weight(self) -> float:
        """How many verdicts of the week it speaks for."""
        return 1 / self.probability


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows in the order in which they are to be reviewed (that of the draw, so that decisions mix), and all strata."""

    seed: str
    rows: tuple[Drawn, ...]
    strata: tuple[Stratum, ...]


def draw(candidates: Iterable[Candidate], *, seed: str, answers: int = 50, others: int = 50) -> Sample:
    """The sample of `candidates`: up to `answers` answers, and up to `others` refusals and questions back."""
    _check_quota("answers", answers)
    _check_quota("others", others)
    strata = _strata(candidates, seed)
    answered = {name: len(rows) for name, rows in strata.items() if name.startswith(f"{Decision.ANSWER}/")}
    turned_down = {name: len(rows) for name, rows in strata.items() if name not in answered}
    places = _places(answered, answers) | _places(turned_down, others)
    drawn = [
        (rank, Drawn(candidate, name, len(rows), places[name] / len(rows)))
        for name, rows in strata.items()
        for rank, candidate in rows[: places[name]]
    ]
    return Sample(
        seed,
        tuple(row for _, row in sorted(drawn, key=lambda pair: pair[0])),
        tuple(Stratum(name, len(strata[name]), places[name]) for name in sorted(strata)),
    )


def _check_quota(name: str, quota: int) -> None:
    if isinstance(quota, bool) or not isinstance(quota, int) or quota < 0:
        raise InputError(f"{name} must be a whole number of rows, 0 or more, got {shown(quota)}")


Rank = tuple[bytes, str]


def _strata(candidates: Iterable[Candidate], seed: str) -> Mapping[str, Sequence[tuple[Rank, Candidate]]]:
    """The candidates by stratum, each in the order in which they are drawn."""
    known = {decision.value for decision in Decision}
    strata: dict[str, list[tuple[Rank, Candidate]]] = defaultdict(list)
    traces: set[str] = set()
    for candidate in candidates:
        if candidate.decision not in known:
            guess = nearest(candidate.decision, known)
            hint = f"did you mean {guess}?" if guess else f"decisions are {', '.join(sorted(known))}"
            raise InputError(f"{shown(candidate.trace)} has the decision {shown(candidate.decision)}: {hint}")
        if candidate.trace in traces:
            raise InputError(f"{shown(candidate.trace)} stands among the candidates twice: give each verdict once")
        traces.add(candidate.trace)
        strata[candidate.stratum].append((_rank(seed, candidate.trace), candidate))
    for rows in strata.values():
        rows.sort(key=lambda row: row[0])
    return strata


def _rank(seed: str, trace: str) -> Rank:
    # The length keeps seed and trace apart: no other pair gives the same text.
    text = f"{len(seed)}:{seed}:{trace}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), trace


def _places(sizes: Mapping[str, int], quota: int) -> dict[str, int]:
    """How many rows each stratum gives: one each, largest first, then always the one that is furthest behind its share."""
    if sum(sizes.values()) <= quota:
        return dict(sizes)
    places = dict.fromkeys(sizes, 0)
    for name in sorted(sizes, key=lambda name: (-sizes[name], name))[:quota]:
        places[name] = 1
    waiting = [(-_claim(size, 1), name) for name, size in sizes.items() if size > 1]
    heapq.heapify(waiting)
    for _ in range(quota - sum(places.values())):
        _, name = heapq.heappop(waiting)
        places[name] += 1
        if places[name] < sizes[name]:
            heapq.heappush(waiting, (-_claim(sizes[name], places[name]), name))
    return places


def _claim(size: int, places: int) -> Fraction:
    """The claim of a stratum to its next place, by the method of Sainte-Laguë; exact, so that ties are ties everywhere."""
    return Fraction(size, 2 * places + 1)


# weeks


def week_bounds(text: str) -> tuple[datetime, datetime]:
    """The first moment of an ISO week such as `2026-W46`, and that of the week after it, in UTC."""
    match = WEEK.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise InputError(f"a week is written as year and ISO week, such as 2026-W46, got {shown(text)}")
    year, week = int(match[1]), int(match[2])
    if not 1 <= year < date.max.year:
        raise InputError(f"the year of a week must be from 0001 to {date.max.year - 1}, got {shown(text)}")
    weeks = date(year, 12, 28).isocalendar().week  # the last week of a year is the one with 28 December
    if not 1 <= week <= weeks:
        raise InputError(f"{year:04} has the weeks {year:04}-W01 to {year:04}-W{weeks}, got {shown(text)}")
    start = datetime.combine(date.fromisocalendar(year, week, 1), time(), UTC)
    return start, start + timedelta(days=7)


def week_of(moment: datetime) -> str:
    """The ISO week of a moment in UTC, as `week_bounds` reads it; a naive one is read as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    year, week, _ = aware.isocalendar()
    return f"{year:04}-W{week:02}"
